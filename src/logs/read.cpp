// One pass over a log: every line is offered to every format whose words it has; the format that
// explains the log best wins.
#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <utility>

#include "base/foreign.hpp"
#include "base/nearest.hpp"
#include "base/note_code.hpp"
#include "logs/needles.hpp"
#include "logs/registry.hpp"
#include "logs/stated_setup.hpp"
#include "logs/tables/columns.hpp"

namespace mfu {

namespace {

struct Candidate {
  const LogFormatRow* row = nullptr;
  std::unique_ptr<LogFormat> format;
  std::vector<std::size_t> needed;  // literals
};

constexpr double kTierWeight[] = {1.0, 0.5, 0.25, 0.0, 0.01};

// How well a format explains the log: what its steps tell, and how many they are.
double score(const Candidate& candidate, bool framework_steps) {
  const StepCollector& steps = candidate.format->steps;
  if (steps.count() == 0 || (candidate.format->unsure && framework_steps)) return 0.0;
  return kTierWeight[static_cast<std::size_t>(candidate.row->tier)] * steps.richness() *
         std::log2(1.0 + static_cast<double>(steps.count()));
}

Place place_in(const ByteSource& source, std::int64_t line = 0) {
  Place where;
  where.file = source.name();
  where.line = line;
  return where;
}

void refuse_what_is_no_text(ByteSource& source) {
  if (const ForeignBytes* foreign = foreign_bytes(source.peek(8))) {
    throw foreign_error(*foreign, "log", "write it as JSON Lines or CSV", place_in(source));
  }
}

std::string quoted_list(const std::vector<std::string_view>& words) {
  std::string list;
  for (const std::string_view word : words) {
    if (!list.empty()) list += ", ";
    list += "'" + std::string(word) + "'";
  }
  return list;
}

std::string known_formats() {
  std::string list;
  for (const LogFormatRow& row : log_format_rows()) {
    if (row.tier == LogTier::generic) continue;
    if (!list.empty()) list += ", ";
    list += row.name;
  }
  return list;
}

// Which formats come nearest to a log that none explains, and what each misses.
[[noreturn]] void fail_unknown(const std::vector<Candidate>& candidates, const Needles& needles,
                               const ByteSource& source, const LogReadOptions& options,
                               bool any_text) {
  if (!any_text) {
    throw Error(ErrorKind::format,
                source.cut_off() ? "the gzip data is cut off" : "the log is empty",
                place_in(source), "a training log has one line per step");
  }
  if (!options.columns.empty()) {
    // The names that there are make the better error.
    std::vector<LogSegment> none;
    for (const Candidate& candidate : candidates) candidate.format->finish(none);
    throw Error(ErrorKind::format, "no line has the columns that were named", place_in(source),
                "JSON Lines has one object per line; CSV has the names in its first line");
  }
  if (!options.format.empty()) {
    throw Error(ErrorKind::format, "no line is a step as " + options.format + " prints it",
                place_in(source), "without --format it is detected");
  }
  struct Near {
    const Candidate* candidate;
    std::vector<std::string_view> has;
    std::vector<std::string_view> lacks;
    double share;
  };
  std::vector<Near> near;
  for (const Candidate& candidate : candidates) {
    Near one{&candidate, {}, {}, 0.0};
    for (std::size_t i = 0; i < candidate.needed.size(); ++i) {
      (needles.seen(candidate.needed[i]) ? one.has : one.lacks).push_back(candidate.row->needed[i]);
    }
    if (one.has.empty()) continue;
    one.share = static_cast<double>(one.has.size()) /
                static_cast<double>(one.has.size() + one.lacks.size());
    near.push_back(std::move(one));
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const Near& a, const Near& b) { return a.share > b.share; });
  if (near.empty()) {
    throw Error(ErrorKind::format,
                "not a training log of a known kind: no format's words are in it", place_in(source),
                "known: " + known_formats() + "; JSON Lines and CSV are read with --columns");
  }
  std::string message = "not a training log of a known kind; nearest: ";
  for (std::size_t i = 0; i < near.size() && i < 2; ++i) {
    if (i > 0) message += "; ";
    message += std::string(near[i].candidate->row->name) + " (has " + quoted_list(near[i].has);
    message += near[i].lacks.empty() ? ", but no line with all of them and numbers"
                                     : ", lacks " + quoted_list(near[i].lacks);
    message += ")";
  }
  throw Error(ErrorKind::format, std::move(message), place_in(source),
              "JSON Lines and CSV are read with --columns");
}

std::vector<Candidate> make_candidates(const LogReadOptions& options, const ByteSource& source) {
  std::vector<Candidate> candidates;
  std::vector<std::string_view> names;
  for (const LogFormatRow& row : log_format_rows()) {
    names.push_back(row.name);
    if (!options.format.empty() && options.format != row.name && row.tier != LogTier::per_rank) {
      continue;
    }
    // Columns that are told leave no choice of another format.
    if (!options.columns.empty() && row.tier != LogTier::generic) continue;
    candidates.push_back({&row, row.make(options), {}});
  }
  if (!options.format.empty() &&
      std::find(names.begin(), names.end(), options.format) == names.end()) {
    throw Error(ErrorKind::usage, "no log format is called '" + options.format + "'",
                place_in(source), name_hint(options.format, names));
  }
  return candidates;
}

void pass_on(const Notes& from, Notes& to, const ByteSource& source) {
  for (Note said : from.all()) {
    said.first.file = source.name();
    to.add(std::move(said));
  }
}

void note_impossible(const TrainingLog& log, Notes& notes, const ByteSource& source) {
  std::int64_t count = 0;
  std::int64_t line = 0;
  for (const LogSegment& segment : log.segments) {
    for (const LoggedStep& step : segment.steps) {
      if (!step.mfu || *step.mfu <= 1.0) continue;
      if (count++ == 0) line = step.line;
    }
  }
  if (count > 0) {
    notes.add(NoteCode::logged_mfu_above_100,
              "the log's own MFU is above 100 %, which is impossible", place_in(source, line),
              count);
  }
}

// What no job can be: a number from a broken line or a mistyped argument is not a fact.
void drop_implausible(TrainingLog& log, Notes& notes, const ByteSource& source) {
  struct Bound {
    std::optional<double> TrainingLog::*field;
    const char* what;
    double most;
  };
  static constexpr std::array<Bound, 5> kBounds{{
      {&TrainingLog::global_batch, "global_batch", 1e12},
      {&TrainingLog::seq_len, "seq_len", 1e9},
      {&TrainingLog::gpus, "gpus", 1e7},
      {&TrainingLog::microbatches, "microbatches", 1e9},
      {&TrainingLog::peak_flops_assumed, "peak_flops_assumed", 1e21},
  }};
  for (const Bound& bound : kBounds) {
    std::optional<double>& value = log.*bound.field;
    if (!value || (*value >= 1.0 && *value <= bound.most)) continue;
    value.reset();
    log.said_by.erase(bound.what);
    notes.add(NoteCode::implausible_setup,
              std::string(bound.what) + ": an implausible figure is left out", place_in(source));
  }
}

// Steps that a log only counts, or of which it gives a rate alone.
void time_by_timestamps(TrainingLog& log, Notes& notes, const ByteSource& source) {
  for (const LogSegment& segment : log.segments) {
    for (const LoggedStep& step : segment.steps) {
      if (step.step_s) return;
    }
  }
  times_from_timestamps(log.segments);
  std::int64_t line = 0;
  std::int64_t count = 0;
  for (const LogSegment& segment : log.segments) {
    for (const LoggedStep& step : segment.steps) {
      if (step.step_s && count++ == 0) line = step.line;
    }
  }
  if (count == 0) return;
  log.said_by["step_time"] = "derived, the distance of the lines' timestamps";
  notes.add(NoteCode::times_from_timestamps,
            "the log prints no step times: they are the distances of its lines' timestamps",
            place_in(source, line), count);
}

}  // namespace

TrainingLog read_log(ByteSource& source, const LogReadOptions& options, Notes& notes,
                     std::vector<LogEvidence>* evidence) {
  check_columns(options.columns);
  refuse_what_is_no_text(source);
  std::vector<Candidate> candidates = make_candidates(options, source);
  Needles needles;
  std::uint64_t hungry = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    for (const std::string_view word : candidates[i].row->words) needles.add(word, bit);
    for (const std::string_view word : candidates[i].row->needed) {
      candidates[i].needed.push_back(needles.add(word, 0));
    }
    if (candidates[i].format->every_line) hungry |= bit;
  }
  StatedSetup stated;
  constexpr std::uint64_t kStated = std::uint64_t{1} << 63;
  for (const std::string_view word : StatedSetup::words()) needles.add(word, kStated);
  needles.build();

  LineReader reader(source, options.tee);
  LogLine line;
  std::string_view text;
  bool any_text = false;
  while (reader.next(text, line.number)) {
    any_text = true;
    std::uint64_t asked = needles.scan(text) | hungry;
    if (asked == 0) continue;
    line.text = text;
    strip_prefixes(line);
    if ((asked & kStated) != 0) {
      stated.line(line);
      asked &= ~kStated;
    }
    for (; asked != 0; asked &= asked - 1) {
      const auto i = static_cast<std::size_t>(__builtin_ctzll(asked));
      LogFormat& format = *candidates[i].format;
      const std::size_t before = format.steps.count();
      format.line(line);
      if (format.steps.count() != before) line.iteration = format.steps.last()->iteration;
      const std::uint64_t bit = std::uint64_t{1} << i;
      hungry = format.every_line ? hungry | bit : hungry & ~bit;
    }
  }
  for (Candidate& candidate : candidates) candidate.format->end();

  const Candidate* best = nullptr;
  const Candidate* second = nullptr;
  bool any_rank_values = false;
  const bool framework_steps =
      std::any_of(candidates.begin(), candidates.end(), [](const Candidate& candidate) {
        return candidate.row->tier == LogTier::framework && !candidate.format->unsure &&
               candidate.format->steps.count() > 0;
      });
  for (const Candidate& candidate : candidates) {
    const double value = score(candidate, framework_steps);
    if (evidence != nullptr) {
      evidence->push_back({candidate.row->name, candidate.format->steps.count(),
                           candidate.format->found.rank_values.size(), value});
    }
    any_rank_values = any_rank_values || !candidate.format->found.rank_values.empty();
    if (value <= 0.0) continue;
    if (best == nullptr || value > score(*best, framework_steps)) {
      second = best;
      best = &candidate;
    } else if (second == nullptr || value > score(*second, framework_steps)) {
      second = &candidate;
    }
  }
  if (best != nullptr && second != nullptr &&
      score(*best, framework_steps) == score(*second, framework_steps)) {
    throw Error(ErrorKind::format,
                "two formats explain this log equally well: " + std::string(best->row->name) +
                    " and " + std::string(second->row->name),
                place_in(source), "say which with --format");
  }
  if (best == nullptr) {
    for (const Candidate& candidate : candidates) {
      if (!candidate.format->refusal) continue;
      const LogRefusal& refusal = *candidate.format->refusal;
      throw Error(ErrorKind::format, refusal.message, place_in(source, refusal.line), refusal.hint);
    }
  }
  if (best == nullptr && any_rank_values) {
    for (const Candidate& candidate : candidates) {
      if (best == nullptr ||
          candidate.format->found.rank_values.size() > best->format->found.rank_values.size()) {
        best = &candidate;
      }
    }
  }
  if (best == nullptr) {
    // A log that stops before its first step still says what its banner says.
    for (const Candidate& candidate : candidates) {
      const std::size_t facts = candidate.format->found.said_by.size();
      if (facts > 0 && (best == nullptr || facts > best->format->found.said_by.size())) {
        best = &candidate;
      }
    }
  }
  if (best == nullptr) fail_unknown(candidates, needles, source, options, any_text);

  std::vector<LogSegment> segments = best->format->steps.finish(source.name(), notes);
  best->format->finish(segments);
  TrainingLog log = std::move(best->format->found);
  log.format = best->row->name;
  log.path = source.name();
  log.segments = std::move(segments);
  stated.add_to(log);
  time_by_timestamps(log, notes, source);
  drop_implausible(log, notes, source);
  pass_on(best->format->notes, notes, source);
  if (log.segments.empty() && log.rank_values.empty()) {
    notes.add(NoteCode::no_steps,
              "only the start of a " + log.format + " log: there is no step in it",
              place_in(source));
  }
  for (const Candidate& candidate : candidates) {
    if (&candidate == best || candidate.row->tier == LogTier::any_line) continue;
    std::vector<LoggedRankValue>& values = candidate.format->found.rank_values;
    if (candidate.format->steps.count() > 0 || !values.empty()) {
      log.also.emplace_back(candidate.row->name);
    }
    if (candidate.row->tier == LogTier::per_rank) {
      pass_on(candidate.format->notes, notes, source);
      std::move(values.begin(), values.end(), std::back_inserter(log.rank_values));
      values.clear();
    }
    if (candidate.format->steps.count() > 0) {
      notes.add(NoteCode::two_signatures,
                "lines of " + std::string(candidate.row->name) + " are in it too; " + log.format +
                    " says more and is used",
                place_in(source));
    }
  }
  if (reader.cut_last_line()) {
    notes.add(NoteCode::cut_last_line,
              "the last line has no end: what may be half of a number is left out",
              place_in(source, line.number));
  }
  if (reader.long_lines() > 0) {
    notes.add(NoteCode::long_line, "lines of more than 64 KiB: the rest of each is not read",
              place_in(source, reader.first_long_line()), reader.long_lines());
  }
  if (source.cut_off()) {
    notes.add(NoteCode::truncated_tail, "the gzip data is cut off", place_in(source));
  }
  note_impossible(log, notes, source);
  return log;
}

TrainingLog read_log(const std::string& path, const LogReadOptions& options, Notes& notes) {
  try {
    ByteSource source = ByteSource::open(path);
    return read_log(source, options, notes);
  } catch (const std::bad_alloc&) {
    Place where;
    where.file = path;
    throw Error(ErrorKind::io, "not enough memory for the steps of this log", std::move(where));
  }
}

}  // namespace mfu
