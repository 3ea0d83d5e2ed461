// One rank out of several files, or out of several lines that repeat a step.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/note_code.hpp"
#include "timings/builder.hpp"

namespace mfu {

namespace {

bool same_value(double a, double b) noexcept { return a == b || (std::isnan(a) && std::isnan(b)); }

double value_at(const RankRecord& record, std::size_t id, std::size_t index) {
  return record.has(id) ? record.series[id].values[index] : kMissing;
}

std::string place_of(const RankInfo& info) {
  std::string text = info.node.empty() ? "an unnamed node" : "node " + info.node;
  if (info.gpu) text += " GPU " + std::to_string(*info.gpu);
  return text;
}

// `later` holds the later steps: where the two differ, it is where the rank is now.
RankInfo merge_info(const RunBuilder& builder, const RankRecord& earlier_record,
                    const RankRecord& later_record, Notes& notes) {
  const RankInfo& earlier = earlier_record.info;
  RankInfo merged = later_record.info;
  for (const Axis axis : kAxes) {
    if (merged.coords[axis] < 0) {
      merged.coords[axis] = earlier.coords[axis];
    } else if (earlier.coords[axis] >= 0 && earlier.coords[axis] != merged.coords[axis]) {
      throw Error(ErrorKind::format,
                  "rank " + std::to_string(merged.rank) + " has two values for coords." +
                      std::string(to_string(axis)) + ": " + std::to_string(earlier.coords[axis]) +
                      " here and " + std::to_string(merged.coords[axis]) + " at " +
                      builder.place(later_record).str(),
                  builder.place(earlier_record), "are these files of one run?");
    }
  }
  const bool moved =
      (!earlier.node.empty() && !merged.node.empty() && earlier.node != merged.node) ||
      (earlier.gpu && merged.gpu && earlier.gpu != merged.gpu);
  if (moved) {
    notes.add(NoteCode::rank_moved,
              "rank " + std::to_string(merged.rank) + " ran on " + place_of(earlier) +
                  " and later on " + place_of(merged) + "; the later place is used for all steps",
              builder.place(later_record));
  }
  if (merged.node.empty()) merged.node = earlier.node;
  if (!merged.gpu) merged.gpu = earlier.gpu;
  if (merged.leaf_switch.empty()) merged.leaf_switch = earlier.leaf_switch;
  RankTelemetry& telemetry = merged.telemetry;
  const auto keep = [](auto& into, const auto& from) {
    if (into.empty()) into = from;
  };
  keep(telemetry.sm_clock_mhz, earlier.telemetry.sm_clock_mhz);
  keep(telemetry.temperature_c, earlier.telemetry.temperature_c);
  keep(telemetry.memory_temperature_c, earlier.telemetry.memory_temperature_c);
  keep(telemetry.power_w, earlier.telemetry.power_w);
  // Faults are facts about the run: those of both parts count.
  const auto unite = [](auto& into, const auto& from) {
    for (const auto& value : from) {
      if (std::find(into.begin(), into.end(), value) == into.end()) into.push_back(value);
    }
    std::sort(into.begin(), into.end());
  };
  unite(telemetry.throttle_reasons, earlier.telemetry.throttle_reasons);
  unite(telemetry.xid, earlier.telemetry.xid);
  telemetry.throttle_recorded |= earlier.telemetry.throttle_recorded;
  telemetry.xid_recorded |= earlier.telemetry.xid_recorded;
  if (earlier.telemetry.ecc_uncorrected) {
    telemetry.ecc_uncorrected =
        std::max(telemetry.ecc_uncorrected.value_or(0), *earlier.telemetry.ecc_uncorrected);
  }
  return merged;
}

}  // namespace

std::size_t settle_order(RankRecord& record) {
  const std::size_t count = record.steps.size();
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&record](std::size_t a, std::size_t b) {
    return record.steps[a] < record.steps[b];
  });
  std::vector<std::size_t> kept;
  kept.reserve(count);
  for (const std::size_t index : order) {
    if (!kept.empty() && record.steps[kept.back()] == record.steps[index]) {
      kept.back() = index;
    } else {
      kept.push_back(index);
    }
  }
  StepList steps;
  for (const std::size_t index : kept) steps.push_back(record.steps[index]);
  for (RecordedSeries& series : record.series) {
    if (series.values.empty()) continue;
    std::vector<double> values;
    values.reserve(kept.size());
    for (const std::size_t index : kept) values.push_back(series.values[index]);
    series.values = std::move(values);
  }
  record.steps = std::move(steps);
  record.ascending = true;
  return count - kept.size();
}

RankRecord merge_records(const RunBuilder& builder, RankRecord first, RankRecord second,
                         bool repeats_allowed, Notes& notes) {
  const std::size_t ids = std::max(first.series.size(), second.series.size());
  RankRecord merged;
  merged.source = first.source;
  merged.line = first.line;
  merged.column = first.column;
  merged.series.resize(ids);
  std::vector<std::pair<const RankRecord*, std::size_t>> sequence;
  sequence.reserve(first.steps.size() + second.steps.size());
  std::int64_t repeated = 0;
  std::size_t a = 0;
  std::size_t b = 0;
  while (a < first.steps.size() || b < second.steps.size()) {
    const bool a_left = a < first.steps.size();
    const bool b_left = b < second.steps.size();
    if (a_left && b_left && first.steps[a] == second.steps[b]) {
      const std::string step = std::to_string(first.steps[a]);
      const std::string rank = "rank " + std::to_string(first.info.rank);
      if (!repeats_allowed) {
        throw Error(ErrorKind::format,
                    rank + " is recorded twice for step " + step + ", also at " +
                        builder.place(second).str(),
                    builder.place(first), "a rank may be split over files only by its steps");
      }
      for (std::size_t id = 0; id < ids; ++id) {
        if (same_value(value_at(first, id, a), value_at(second, id, b))) continue;
        // The order of names on a command line does not say which of the two is
        // line.
        throw Error(ErrorKind::format,
                    rank + ", step " + step + " has two values for " + builder.series_name(id) +
                        ", the other at " + builder.place(second).str(),
                    builder.place(first),
                    "join the files in time order (cat); then the later sample counts");
      }
      ++repeated;
      ++b;
      continue;
    }
    if (a_left && (!b_left || first.steps[a] < second.steps[b])) {
      sequence.emplace_back(&first, a++);
    } else {
      sequence.emplace_back(&second, b++);
    }
  }
  if (repeated > 0) {
    notes.add(NoteCode::repeated_samples,
              std::to_string(repeated) + " samples of rank " + std::to_string(first.info.rank) +
                  " are the same in two files",
              builder.place(first), repeated);
  }
  StepList steps;
  for (const auto& [record, index] : sequence) steps.push_back((*record).steps[index]);
  merged.steps = std::move(steps);
  for (std::size_t id = 0; id < ids; ++id) {
    if (!first.has(id) && !second.has(id)) continue;
    RecordedSeries& into = merged.series[id];
    const RecordedSeries& from = first.has(id) ? first.series[id] : second.series[id];
    into.line = from.line;
    into.column = from.column;
    into.values.reserve(sequence.size());
    for (const auto& [record, index] : sequence)
      into.values.push_back(value_at(*record, id, index));
  }
  const bool second_is_later = second.steps.back() >= first.steps.back();
  merged.info = second_is_later ? merge_info(builder, first, second, notes)
                                : merge_info(builder, second, first, notes);
  return merged;
}

}  // namespace mfu
