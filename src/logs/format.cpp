#include "logs/format.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/note_code.hpp"

namespace mfu {

namespace {

constexpr std::size_t kMostPauses = 100'000;
constexpr std::size_t kMostRankValues = 1'000'000;
constexpr double kSurelyTold = 0.1;  // of a time: what the clock may be off

}  // namespace

void LogFormat::pause(const char* kind, const LogLine& line, double seconds) {
  if (found.pauses.size() >= kMostPauses) {
    notes.add(NoteCode::pauses_capped, "only the first 100,000 pauses are kept");
    return;
  }
  // 0: how long is not known.
  const bool plausible = seconds >= 0.0 && seconds <= kLongestStep_s;
  found.pauses.push_back({kind, line.number, plausible ? seconds : 0.0, line.iteration});
}

void LogFormat::rank_value(std::string series, std::int64_t iteration, std::int64_t rank,
                           double value, RankUnit unit) {
  const bool time = unit == RankUnit::seconds;
  if (rank < 0 || !std::isfinite(value) || (time && !(value >= 0.0 && value <= kLongestStep_s))) {
    notes.add(NoteCode::implausible_values, "per-rank values without a valid rank are left out");
    return;
  }
  if (found.rank_values.size() >= kMostRankValues) {
    notes.add(NoteCode::rank_values_capped, "only the first million per-rank values are kept");
    return;
  }
  found.rank_values.push_back({std::move(series), iteration, rank, value, unit});
}

namespace {

// Whole seconds are not enough for steps that are shorter.
double resolution_of(const std::vector<LogSegment>& segments) {
  for (const LogSegment& segment : segments) {
    for (const LoggedStep& step : segment.steps) {
      if (step.timestamp_s && *step.timestamp_s != std::floor(*step.timestamp_s)) return 1e-3;
    }
  }
  return 1.0;
}

// Steps `from` + 1 to `to`, all with the mean of their time.
void share_time(std::vector<LoggedStep>& steps, std::size_t from, std::size_t to) {
  // Microseconds are more than any log prints, and hide what seconds since 1970 round off.
  const double elapsed =
      std::round((*steps[to].timestamp_s - *steps[from].timestamp_s) * 1e6) / 1e6;
  const double each = elapsed / static_cast<double>(steps[to].iteration - steps[from].iteration);
  if (!(each > 0.0 && each <= kLongestStep_s)) return;
  for (std::size_t i = from + 1; i <= to; ++i) steps[i].step_s = each;
}

}  // namespace

void times_from_timestamps(std::vector<LogSegment>& segments) {
  const double resolution = resolution_of(segments);
  for (LogSegment& segment : segments) {
    std::vector<LoggedStep>& steps = segment.steps;
    std::size_t from = 0;    // the stretch of steps that are told together starts behind it
    std::size_t before = 0;  // and the one before it, where it ends at `from`
    for (std::size_t i = 1; i < steps.size(); ++i) {
      const std::int64_t distance = steps[i].iteration - steps[i - 1].iteration;
      // Farther apart than any logging interval is a gap in the log.
      if (distance > 0 && steps[i].steps_averaged == 1 && distance <= 1'000'000) {
        steps[i].steps_averaged = static_cast<int>(distance);
      }
      if (distance <= 0 || steps[i].step_s || !steps[i].timestamp_s || !steps[from].timestamp_s) {
        from = before = i;
        continue;
      }
      const double elapsed = *steps[i].timestamp_s - *steps[from].timestamp_s;
      if (elapsed < 0.0) {
        from = before = i;  // the clock was set
      } else if (elapsed * kSurelyTold >= resolution) {
        share_time(steps, from, i);
        before = from;
        from = i;
      }
    }
    // What is left at the end is told with the stretch before it.
    if (from + 1 < steps.size() && before < from && steps.back().timestamp_s &&
        !steps.back().step_s) {
      share_time(steps, before, steps.size() - 1);
    }
  }
}

void averages_from_distance(std::vector<LogSegment>& segments) {
  // Gaps are longer than the interval, never shorter.
  std::int64_t least = 0;
  std::int64_t seen = 0;
  for (const LogSegment& segment : segments) {
    for (std::size_t i = 1; i < segment.steps.size(); ++i) {
      const std::int64_t distance = segment.steps[i].iteration - segment.steps[i - 1].iteration;
      if (least == 0 || distance < least) least = distance;
      ++seen;
    }
  }
  if (seen < 2 || least <= 1 || least > 1'000'000) return;
  for (LogSegment& segment : segments) {
    for (LoggedStep& step : segment.steps) {
      if (step.steps_averaged == 1) step.steps_averaged = static_cast<int>(least);
    }
  }
}

void tokens_from_total(std::vector<LogSegment>& segments) {
  for (LogSegment& segment : segments) {
    std::optional<double> before;
    std::int64_t iteration = 0;
    for (LoggedStep& step : segment.steps) {
      const std::optional<double> total = std::exchange(step.tokens, std::nullopt);
      if (total && before && *total > *before && step.iteration > iteration) {
        step.tokens = (*total - *before) / static_cast<double>(step.iteration - iteration);
      }
      before = total;
      iteration = step.iteration;
    }
  }
}

}  // namespace mfu
