// What must hold of a reduced trace whatever the bytes were, and the trace as text, to be compared
// with another reading of the same bytes.
#pragma once

#include <cstdlib>
#include <string>

#include "mfu/error.hpp"
#include "traces/rank_trace.hpp"

namespace mfu::fuzz {

inline void check(const traces::StepSplit& step) {
  const traces::Split& split = step.split;
  if (split.window_ns != step.end_ns - step.begin_ns || split.window_ns < 0) std::abort();
  if (split.compute_ns < 0 || split.exposed_comm_ns < 0 || split.exposed_memory_ns < 0 ||
      split.idle_ns < 0 || split.overlapped_comm_ns > split.compute_ns) {
    std::abort();
  }
  if (split.compute_ns + split.exposed_comm_ns + split.exposed_memory_ns + split.idle_ns !=
      split.window_ns) {
    std::abort();
  }
}

inline std::string told(const traces::RankTrace& trace) {
  if (trace.steps.empty()) std::abort();
  if (trace.has_gpu) check(trace.gpu_span);
  for (const traces::StepSplit& step : trace.host_steps) check(step);
  std::string text;
  for (const traces::StepSplit& step : trace.steps) {
    check(step);
    text += std::to_string(step.begin_ns) + " " + std::to_string(step.split.compute_ns) + "\n";
  }
  for (const traces::CollectiveSpan& span : trace.collectives) {
    if (span.end_ns < span.start_ns) std::abort();
    if (span.step != traces::kNoStep && span.step >= trace.steps.size()) std::abort();
    text += trace.kinds.at(span.kind) + trace.groups.at(span.group) +
            std::to_string(span.start_ns) + "\n";
  }
  return text;
}

inline std::string told(const Notes& notes) {
  std::string text;
  for (const Note& note : notes.all()) {
    text += "\n" + note.code.str() + std::to_string(note.count) + note.first.str();
  }
  return text;
}

}  // namespace mfu::fuzz
