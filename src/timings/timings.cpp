#include "mfu/timings.hpp"

#include <algorithm>
#include <map>

#include "timings/trace.hpp"

namespace mfu {

std::string_view to_string(Axis axis) noexcept {
  switch (axis) {
    case Axis::tp:
      return "tp";
    case Axis::cp:
      return "cp";
    case Axis::ep:
      return "ep";
    case Axis::dp:
      return "dp";
    case Axis::pp:
      return "pp";
  }
  return "unknown";
}

std::size_t RunTimings::column_bytes() const noexcept {
  const auto bytes = [](const Column& column) {
    return column.steps() * column.ranks() * sizeof(double);
  };
  std::size_t total = 0;
  for (const Column* column :
       {&compute, &comm, &stall, &wait, &step, &forward, &backward, &overlapped_comm}) {
    total += bytes(*column);
  }
  for (const auto& [kind, column] : comm_by_group) total += bytes(column);
  return total;
}

std::string_view to_string(Recompute recompute) noexcept {
  switch (recompute) {
    case Recompute::none:
      return "none";
    case Recompute::selective:
      return "selective";
    case Recompute::full:
      return "full";
  }
  return "";
}

std::string_view to_string(ClockRule rule) noexcept {
  switch (rule) {
    case ClockRule::datasheet:
      return "datasheet";
    case ClockRule::max:
      return "max";
    case ClockRule::base:
      return "base";
    case ClockRule::mhz:
      return "mhz";
    case ClockRule::measured:
      return "measured";
  }
  return "";
}

std::string_view to_string(TraceSteps source) noexcept {
  switch (source) {
    case TraceSteps::gpu_annotation:
      return "gpu-annotation";
    case TraceSteps::host_annotation:
      return "host-annotation";
    case TraceSteps::nvtx:
      return "nvtx";
    case TraceSteps::scheduler:
      return "scheduler";
    case TraceSteps::captured_span:
      return "captured-span";
  }
  return "";
}

std::string_view to_string(TracePairing pairing) noexcept {
  switch (pairing) {
    case TracePairing::none:
      return "none";
    case TracePairing::paired:
      return "paired";
    case TracePairing::durations:
      return "durations";
    case TracePairing::refused:
      return "refused";
  }
  return "";
}

void count_late(TraceEvidence& trace) {
  std::map<std::int64_t, TraceLate> found;
  trace.nobody_late = 0;
  for (const TraceCollective& one : trace.list) {
    if (one.last_ranks.empty()) ++trace.nobody_late;
    for (const std::int64_t rank : one.last_ranks) {
      const double late_s = one.late_s.value_or(0.0);
      TraceLate& late =
          found.try_emplace(rank, TraceLate{rank, 0, 0.0, late_s, one.index}).first->second;
      ++late.collectives;
      late.late_s += late_s;
    }
  }
  trace.late.clear();
  for (const auto& [rank, late] : found) trace.late.push_back(late);
  std::stable_sort(
      trace.late.begin(), trace.late.end(),
      [](const TraceLate& a, const TraceLate& b) { return a.collectives > b.collectives; });
}

}  // namespace mfu
