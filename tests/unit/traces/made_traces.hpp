// Traces of a data-parallel job that a test makes: in each step every rank computes, then meets the
// others in a few collectives. Times in nanoseconds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "traces/rank_trace.hpp"

struct MadeJob {
  std::size_t ranks = 4;
  std::size_t steps = 3;
  std::size_t collectives = 4;  // a step
  bool numbered = false;        // process group, sequence and size in the trace
  std::int64_t transfer_ns = 100'000;
  std::int64_t compute_ns = 5'000'000;
  // When a rank comes to a collective, after the step's common time.
  std::function<std::int64_t(std::size_t rank, std::size_t index)> late = [](std::size_t rank,
                                                                             std::size_t index) {
    return static_cast<std::int64_t>((rank * 7 + index * 3) % 5) * 20'000;
  };
  // What a rank's clock shows beside the true time.
  std::function<std::int64_t(std::size_t rank, std::int64_t time)> skew =
      [](std::size_t, std::int64_t) { return std::int64_t{0}; };
};

inline std::vector<mfu::traces::RankTrace> make_traces(const MadeJob& job) {
  using namespace mfu::traces;
  std::vector<RankTrace> traces(job.ranks);
  const std::int64_t slot = 4 * (job.transfer_ns + 1'000'000);
  const std::int64_t step_ns = job.compute_ns + static_cast<std::int64_t>(job.collectives) * slot;
  std::int64_t number = 0;
  for (std::size_t s = 0; s < job.steps; ++s) {
    const std::int64_t begin = static_cast<std::int64_t>(s) * step_ns;
    for (std::size_t c = 0; c < job.collectives; ++c, ++number) {
      const std::int64_t at = begin + job.compute_ns + static_cast<std::int64_t>(c) * slot;
      const std::size_t index = s * job.collectives + c;
      std::int64_t latest = 0;
      for (std::size_t r = 0; r < job.ranks; ++r) latest = std::max(latest, job.late(r, index));
      for (std::size_t r = 0; r < job.ranks; ++r) {
        CollectiveSpan span;
        // Ends differ by a few microseconds, as they do.
        const std::int64_t end =
            at + latest + job.transfer_ns + static_cast<std::int64_t>((r * 5 + index) % 4) * 1'000;
        const std::int64_t start = at + job.late(r, index);
        span.start_ns = start + job.skew(r, start);
        span.end_ns = end + job.skew(r, end);
        span.stream = 20;
        span.step = static_cast<std::uint32_t>(s);
        if (job.numbered) {
          span.group = 1;
          span.sequence = number;
          span.bytes = 4096;
          span.group_size = static_cast<std::int32_t>(job.ranks);
        }
        traces[r].collectives.push_back(span);
      }
    }
    for (std::size_t r = 0; r < job.ranks; ++r) {
      StepSplit step;
      step.id = static_cast<std::int64_t>(s) + 10;
      step.begin_ns = begin;
      step.end_ns = begin + step_ns;
      step.split.window_ns = step_ns;
      step.split.compute_ns = job.compute_ns;
      for (std::size_t c = 0; c < job.collectives; ++c) {
        const CollectiveSpan& span = traces[r].collectives[s * job.collectives + c];
        step.split.exposed_comm_ns += span.end_ns - span.start_ns;
      }
      step.split.exposed_memory_ns = 1'000;
      step.split.idle_ns = step_ns - step.split.compute_ns - step.split.exposed_comm_ns - 1'000;
      traces[r].steps.push_back(step);
    }
  }
  for (std::size_t r = 0; r < job.ranks; ++r) {
    RankTrace& trace = traces[r];
    trace.file = "rank" + std::to_string(r) + ".json";
    trace.format = "kineto";
    trace.rank = static_cast<std::int64_t>(r);
    trace.world_size = static_cast<std::int64_t>(job.ranks);
    trace.has_gpu = true;
    trace.epoch_offset_ns = 1'700'000'000'000'000'000;
    trace.step_source = StepSource::gpu_annotation;
    trace.kinds = {"allreduce", "allgather", "send"};
    trace.groups = {"", "default_pg"};
    trace.gpu_span = trace.steps.front();
    trace.gpu_span.split.idle_ns -= 500'000;
    trace.gpu_span.split.window_ns -= 500'000;
    trace.host_steps = trace.steps;
  }
  return traces;
}

// The ids of all steps, as they are.
inline std::vector<std::vector<std::int64_t>> step_ids(
    const std::vector<mfu::traces::RankTrace>& traces) {
  std::vector<std::vector<std::int64_t>> all;
  for (const auto& trace : traces) {
    std::vector<std::int64_t> ids;
    for (const auto& step : trace.steps) ids.push_back(step.id);
    all.push_back(ids);
  }
  return all;
}
