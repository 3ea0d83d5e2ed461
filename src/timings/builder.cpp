#include "timings/builder.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "base/note_code.hpp"
#include "timings/layout.hpp"

namespace mfu {

namespace {

// How far rounding to microseconds in a recorder can add up.
constexpr double kRoundingSeconds = 2e-6;
constexpr double kGroupTolerance = 0.02;

std::string rank_text(std::int64_t rank) { return "rank " + std::to_string(rank); }

}  // namespace

std::vector<double>& telemetry_of(RankTelemetry& telemetry, std::size_t series) {
  switch (series) {
    case kSmClock:
      return telemetry.sm_clock_mhz;
    case kTemperature:
      return telemetry.temperature_c;
    case kMemoryTemperature:
      return telemetry.memory_temperature_c;
    default:
      return telemetry.power_w;
  }
}

StepList StepList::following(std::shared_ptr<std::vector<std::int64_t>> shared) {
  StepList list;
  list.ids_ = std::move(shared);
  return list;
}

void StepList::push_back(std::int64_t id) {
  if (!ids_) ids_ = std::make_shared<std::vector<std::int64_t>>();
  if (count_ == ids_->size()) {
    ids_->push_back(id);  // nobody else reads beyond its own count
  } else if ((*ids_)[count_] != id) {
    // Parts ways with the others.
    const auto shared_end = ids_->begin() + static_cast<std::ptrdiff_t>(count_);
    ids_ = std::make_shared<std::vector<std::int64_t>>(ids_->begin(), shared_end);
    ids_->push_back(id);
  }
  ++count_;
}

bool StepList::same(const StepList& other) const noexcept {
  if (count_ != other.count_) return false;
  if (ids_ == other.ids_ || count_ == 0) return true;
  return std::equal(ids_->begin(), ids_->begin() + static_cast<std::ptrdiff_t>(count_),
                    other.ids_->begin());
}

std::size_t RunBuilder::add_source(std::string file, bool repeats_allowed) {
  sources_.push_back({std::move(file), repeats_allowed});
  return sources_.size() - 1;
}

std::size_t RunBuilder::group_series(std::string_view name) {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i] == name) return kFixedSeries + i;
  }
  if (groups_.size() >= 256) {
    throw Error(ErrorKind::format, "comm_by_group names more than 256 kinds", {},
                "name kinds (tp, dp, pp, world), not single groups");
  }
  groups_.emplace_back(name);
  return kFixedSeries + groups_.size() - 1;
}

std::string RunBuilder::series_name(std::size_t id) const {
  if (id < kFixedSeries) return std::string(kSeriesNames[id]);
  return "comm_by_group." + groups_[id - kFixedSeries];
}

RankRecord& RunBuilder::add(std::size_t source) {
  records_.emplace_back();
  records_.back().source = source;
  return records_.back();
}

Place RunBuilder::place(const RankRecord& record, std::string_view series,
                        std::optional<std::size_t> index) const {
  Place where;
  where.file = sources_[record.source].file;
  where.line = record.line;
  where.column = record.column;
  where.what = rank_text(record.info.rank);
  if (!series.empty()) {
    for (std::size_t id = 0; id < record.series.size(); ++id) {
      if (record.series[id].line > 0 && series_name(id) == series) {
        where.line = record.series[id].line;
        where.column = record.series[id].column;
      }
    }
    where.what += ", " + std::string(series);
  }
  if (index) where.what += ", index " + std::to_string(*index);
  return where;
}

bool RunBuilder::recorded_anywhere(std::size_t id) const noexcept {
  return std::any_of(records_.begin(), records_.end(),
                     [id](const RankRecord& record) { return record.has(id); });
}

void RunBuilder::check_lengths() const {
  for (const RankRecord& record : records_) {
    for (std::size_t id = 0; id < record.series.size(); ++id) {
      const RecordedSeries& series = record.series[id];
      if (series.values.size() == record.steps.size()) continue;
      if (series.values.empty() && series.line == 0) continue;
      const std::string name = series_name(id);
      throw Error(ErrorKind::format,
                  name + " has " + std::to_string(series.values.size()) + " values for " +
                      std::to_string(record.steps.size()) + " steps",
                  place(record, name),
                  "every series has one value per step; write null for a missing one");
    }
  }
}

void RunBuilder::settle_repeats(Notes& notes) {
  std::size_t replaced = 0;
  const RankRecord* first = nullptr;
  for (RankRecord& record : records_) {
    if (record.ascending) continue;
    const std::size_t here = settle_order(record);
    replaced += here;
    if (here > 0 && (first == nullptr || record.info.rank < first->info.rank)) first = &record;
  }
  if (replaced == 0) return;
  Place where = place(*first);
  where.line = first->disorder_line;
  where.column = 0;
  notes.add(NoteCode::repeated_samples,
            std::to_string(replaced) +
                " samples were replaced by later ones for the same rank and step (a resumed job "
                "repeats steps)",
            std::move(where), static_cast<std::int64_t>(replaced));
}

void RunBuilder::drop_empty_ranks(Notes& notes) {
  std::int64_t dropped = 0;
  Place first;
  std::int64_t lowest = 0;
  for (const RankRecord& record : records_) {
    if (record.steps.size() > 0) continue;
    if (dropped == 0 || record.info.rank < lowest) {
      lowest = record.info.rank;
      first = place(record);
    }
    ++dropped;
  }
  if (dropped == 0) return;
  std::erase_if(records_, [](const RankRecord& record) { return record.steps.size() == 0; });
  if (records_.empty()) {
    throw Error(ErrorKind::insufficient, "no rank has a step", std::move(first),
                "the recorder wrote no samples");
  }
  notes.add(NoteCode::rank_without_samples,
            std::to_string(dropped) +
                " ranks have no samples and are left out, the first is rank " +
                std::to_string(lowest),
            std::move(first), dropped);
}

void RunBuilder::merge_same_ranks(Notes& notes) {
  // The steps in second place and the name in third make the order independent of the files' order.
  std::stable_sort(records_.begin(), records_.end(),
                   [this](const RankRecord& a, const RankRecord& b) {
                     if (a.info.rank != b.info.rank) return a.info.rank < b.info.rank;
                     if (a.steps[0] != b.steps[0]) return a.steps[0] < b.steps[0];
                     if (a.steps.back() != b.steps.back()) return a.steps.back() < b.steps.back();
                     return sources_[a.source].file < sources_[b.source].file;
                   });
  const auto same_rank = [](const RankRecord& a, const RankRecord& b) {
    return a.info.rank == b.info.rank;
  };
  if (std::adjacent_find(records_.begin(), records_.end(), same_rank) == records_.end()) return;
  std::deque<RankRecord> merged;
  for (RankRecord& record : records_) {
    if (merged.empty() || !same_rank(merged.back(), record)) {
      merged.push_back(std::move(record));
      continue;
    }
    const bool repeats =
        sources_[merged.back().source].repeats_allowed && sources_[record.source].repeats_allowed;
    merged.back() =
        merge_records(*this, std::move(merged.back()), std::move(record), repeats, notes);
  }
  records_ = std::move(merged);
}

void RunBuilder::check_required() const {
  const bool separate = run.waits_in == WaitsIn::separate;
  for (const RankRecord& record : records_) {
    for (const std::size_t id : {kCompute, kComm, kStall}) {
      if (record.has(id)) continue;
      throw Error(ErrorKind::format, std::string(kSeriesNames[id]) + " is missing", place(record),
                  "compute, comm and stall are required; write null where a sample is missing");
    }
    if (separate && !record.has(kWait)) {
      throw Error(ErrorKind::format, "wait is missing, and waits_in is \"separate\"", place(record),
                  "record wait, or set waits_in to \"comm\" or \"stall\"");
    }
    if (!separate && record.has(kWait)) {
      throw Error(ErrorKind::format,
                  std::string("wait is present, but waits_in is ") +
                      (run.waits_in == WaitsIn::comm ? "\"comm\"" : "\"stall\"") +
                      (run.waits_in_given ? "" : " (the default)"),
                  place(record, "wait"), "set waits_in to \"separate\"");
    }
  }
}

void RunBuilder::check_groups(Notes& notes) const {
  if (groups_.empty()) return;
  std::int64_t cells = 0;
  double worst = 0.0;
  const RankRecord* worst_record = nullptr;
  std::size_t worst_index = 0;
  double worst_sum = 0.0;
  for (const RankRecord& record : records_) {
    bool any = false;
    for (std::size_t id = kFixedSeries; id < record.series.size(); ++id)
      any = any || record.has(id);
    if (!any) continue;
    const std::vector<double>& comm = record.series[kComm].values;
    for (std::size_t i = 0; i < comm.size(); ++i) {
      double sum = 0.0;
      for (std::size_t id = kFixedSeries; id < record.series.size(); ++id) {
        if (record.has(id)) sum += record.series[id].values[i];
      }
      const double off = std::fabs(sum - comm[i]);
      // A missing sample makes this NaN, and the comparison false.
      if (!(off > kGroupTolerance * comm[i] + kRoundingSeconds)) continue;
      ++cells;
      if (off > worst) {
        worst = off;
        worst_record = &record;
        worst_index = i;
        worst_sum = sum;
      }
    }
  }
  if (cells == 0) return;
  Place where = place(*worst_record, {}, {});
  where.what += ", step " + std::to_string(worst_record->steps[worst_index]);
  notes.add(
      NoteCode::comm_by_group_sum,
      "comm_by_group does not sum to comm within 2 % in " + std::to_string(cells) +
          " samples; comm is used as the total. Worst: " + rank_text(worst_record->info.rank) +
          ", step " + std::to_string(worst_record->steps[worst_index]) + ": groups sum to " +
          std::to_string(worst_sum) + " s, comm is " +
          std::to_string(worst_record->series[kComm].values[worst_index]) + " s",
      std::move(where), cells);
}

void RunBuilder::note_partial_series(Notes& notes) const {
  for (std::size_t id = kWait; id < kFixedSeries + groups_.size(); ++id) {
    if (!is_seconds(id)) continue;
    std::int64_t without = 0;
    const RankRecord* first = nullptr;
    for (const RankRecord& record : records_) {
      if (record.has(id)) continue;
      if (without++ == 0) first = &record;
    }
    if (without == 0 || static_cast<std::size_t>(without) == records_.size()) continue;
    // Not every rank takes part in every kind of group: the last stage has no one to send to.
    notes.add(NoteCode::series_not_on_all_ranks,
              series_name(id) + " is not recorded on " + std::to_string(without) + " of " +
                  std::to_string(records_.size()) + " ranks, the first is " +
                  rank_text(first->info.rank) + "; it is missing there, not zero",
              place(*first));
  }
}

void RunBuilder::find_common_steps(Notes& notes) {
  const StepList& first = records_.front().steps;
  const bool all_same =
      std::all_of(records_.begin(), records_.end(),
                  [&first](const RankRecord& record) { return record.steps.same(first); });
  run.steps.clear();
  if (all_same) {
    for (std::size_t i = 0; i < first.size(); ++i) run.steps.push_back(first[i]);
    return;
  }
  std::vector<std::int64_t> common;
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < first.size(); ++i) common.push_back(first[i]);
  all = common;
  const StepList* seen = &first;
  for (const RankRecord& record : records_) {
    if (record.steps.same(*seen)) continue;
    seen = &record.steps;
    std::vector<std::int64_t> own;
    for (std::size_t i = 0; i < record.steps.size(); ++i) own.push_back(record.steps[i]);
    std::vector<std::int64_t> both;
    std::set_intersection(common.begin(), common.end(), own.begin(), own.end(),
                          std::back_inserter(both));
    std::vector<std::int64_t> either;
    std::set_union(all.begin(), all.end(), own.begin(), own.end(), std::back_inserter(either));
    common = std::move(both);
    all = std::move(either);
  }
  const auto fewest = std::min_element(
      records_.begin(), records_.end(),
      [](const RankRecord& a, const RankRecord& b) { return a.steps.size() < b.steps.size(); });
  const std::string has_fewest =
      rank_text(fewest->info.rank) + " has the fewest: " + std::to_string(fewest->steps.size()) +
      ", from " + std::to_string(fewest->steps[0]) + " to " + std::to_string(fewest->steps.back());
  if (common.empty()) {
    throw Error(
        ErrorKind::insufficient,
        "no step is recorded by all " + std::to_string(records_.size()) + " ranks; " + has_fewest,
        place(*fewest), "leave out the files of ranks that stopped early");
  }
  const auto left_out = static_cast<std::int64_t>(all.size() - common.size());
  notes.add(NoteCode::steps_not_on_all_ranks,
            std::to_string(left_out) + " of " + std::to_string(all.size()) +
                " steps are not recorded by every rank and are left out; " + has_fewest,
            place(*fewest), left_out);
  picked_.resize(records_.size());
  for (std::size_t r = 0; r < records_.size(); ++r) {
    const StepList& own = records_[r].steps;
    if (own.size() == common.size()) continue;
    picked_[r].reserve(common.size());
    std::size_t at = 0;
    for (const std::int64_t id : common) {
      while (own[at] != id) ++at;
      picked_[r].push_back(at);
    }
  }
  run.steps = std::move(common);
}

Column RunBuilder::take_column(std::size_t id) {
  const std::size_t steps = run.steps.size();
  const std::size_t ranks = records_.size();
  Column column(steps, ranks, kMissing);
  // Eight ranks at a time: their values of one step share a cache line of the column.
  constexpr std::size_t kBlock = 8;
  for (std::size_t begin = 0; begin < ranks; begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, ranks);
    for (std::size_t r = begin; r < end; ++r) {
      RankRecord& record = records_[r];
      if (!record.has(id)) continue;
      std::vector<double>& values = record.series[id].values;
      const std::vector<std::size_t>* picked =
          picked_.empty() || picked_[r].empty() ? nullptr : &picked_[r];
      for (std::size_t s = 0; s < steps; ++s) {
        const std::size_t index = picked == nullptr ? s : (*picked)[s];
        const double value = values[index];
        if (value < 0.0 || value > kMostSeconds) {
          const std::string name = series_name(id);
          throw Error(ErrorKind::format,
                      value < 0.0 ? "a negative time" : "a time of over 30 years",
                      place(record, name, index),
                      value < 0.0 ? "write null for a missing sample"
                                  : "is time_unit right? s, ms, us or ns");
        }
        column.at(s, r) = value;
      }
      std::vector<double>().swap(values);  // the source goes as the column comes
    }
  }
  return column;
}

void RunBuilder::take_telemetry() {
  for (std::size_t r = 0; r < records_.size(); ++r) {
    RankRecord& record = records_[r];
    for (std::size_t id = kSmClock; id < kFixedSeries; ++id) {
      if (!record.has(id)) continue;
      std::vector<double>& values = record.series[id].values;
      if (!picked_.empty() && !picked_[r].empty()) {
        std::vector<double> kept;
        kept.reserve(picked_[r].size());
        for (const std::size_t index : picked_[r]) kept.push_back(values[index]);
        values = std::move(kept);
      }
      telemetry_of(record.info.telemetry, id) = std::move(values);
    }
  }
}

RunTimings RunBuilder::build(Notes& notes) {
  if (records_.empty()) {
    Place where;
    if (!sources_.empty()) where.file = sources_.front().file;
    throw Error(ErrorKind::insufficient, "there is no rank", std::move(where),
                "ranks needs one object per recorded rank");
  }
  check_lengths();
  settle_repeats(notes);
  drop_empty_ranks(notes);
  merge_same_ranks(notes);
  check_required();
  check_groups(notes);
  note_partial_series(notes);
  find_common_steps(notes);

  const std::array<Column*, kTimeSeries> columns{&run.compute,  &run.comm,           &run.stall,
                                                 &run.wait,     &run.step,           &run.forward,
                                                 &run.backward, &run.overlapped_comm};
  for (std::size_t id = 0; id < kTimeSeries; ++id) {
    if (recorded_anywhere(id)) *columns[id] = take_column(id);
  }
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (recorded_anywhere(kFixedSeries + i)) {
      run.comm_by_group.emplace(groups_[i], take_column(kFixedSeries + i));
    }
  }
  take_telemetry();
  run.ranks.reserve(records_.size());
  for (RankRecord& record : records_) run.ranks.push_back(std::move(record.info));
  run.recorded_ranks = run.ranks.size();
  records_.clear();
  picked_.clear();
  settle_layout(run, notes);
  return std::move(run);
}

}  // namespace mfu
