// Whatever the bytes are: a reduced trace whose parts sum, or an mfu::Error; and the size of the
// window changes neither. Build with -fsanitize=fuzzer for libFuzzer; replay.cpp runs it as an
// ordinary test.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "mfu/error.hpp"
#include "traces/kineto.hpp"

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

std::string outcome(std::string_view bytes, std::size_t window) {
  mfu::Notes notes;
  std::string text;
  try {
    mfu::ByteSource source = mfu::ByteSource::from_memory(bytes, "rank3.json");
    const RankTrace trace = mfu::traces::read_kineto(source, notes, window);
    if (trace.steps.empty()) std::abort();
    if (trace.has_gpu) check(trace.gpu_span);
    for (const StepSplit& step : trace.steps) {
      check(step);
      text += std::to_string(step.begin_ns) + " " + std::to_string(step.split.compute_ns) + "\n";
    }
    for (const StepSplit& step : trace.host_steps) check(step);
    for (const mfu::traces::CollectiveSpan& span : trace.collectives) {
      if (span.end_ns < span.start_ns) std::abort();
      text += trace.kinds.at(span.kind) + trace.groups.at(span.group) +
              std::to_string(span.start_ns) + "\n";
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
  (void)mfu::traces::sniff_kineto(bytes);
  if (outcome(bytes, 256 * 1024) != outcome(bytes, 1)) std::abort();
  return 0;
}
