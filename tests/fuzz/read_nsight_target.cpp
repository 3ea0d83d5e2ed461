// Whatever the bytes are: reduced traces whose parts sum, or an mfu::Error, and the same twice.
// Build with -fsanitize=fuzzer for libFuzzer; replay.cpp runs it as an ordinary test.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "mfu/error.hpp"
#include "traces/nsight.hpp"

namespace {

using mfu::traces::RankTrace;
using mfu::traces::StepSplit;

void check(const StepSplit& step) {
  const mfu::traces::Split& split = step.split;
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

std::string outcome(std::string_view bytes) {
  mfu::Notes notes;
  std::string text;
  try {
    const auto traces = mfu::traces::read_nsight_bytes(bytes, "rank3.sqlite", notes);
    if (traces.empty()) std::abort();
    for (const RankTrace& trace : traces) {
      if (trace.steps.empty() || !trace.has_gpu) std::abort();
      check(trace.gpu_span);
      for (const StepSplit& step : trace.host_steps) check(step);
      for (const StepSplit& step : trace.steps) {
        check(step);
        text += std::to_string(step.begin_ns) + " " + std::to_string(step.split.compute_ns) + "\n";
      }
      for (const mfu::traces::CollectiveSpan& span : trace.collectives) {
        if (span.end_ns < span.start_ns) std::abort();
        if (span.step != mfu::traces::kNoStep && span.step >= trace.steps.size()) std::abort();
        text += trace.kinds.at(span.kind) + trace.groups.at(span.group) +
                std::to_string(span.start_ns) + "\n";
      }
    }
  } catch (const mfu::Error& error) {
    text = error.what();
  }
  for (const mfu::Note& note : notes.all()) {
    text += "\n" + note.code + std::to_string(note.count) + note.first.str();
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)mfu::traces::sniff_nsight(bytes);
  (void)mfu::traces::sniff_nsys_stats(bytes);
  if (outcome(bytes) != outcome(bytes)) std::abort();
  return 0;
}
