// Whatever the bytes are: reduced traces whose parts sum, or an mfu::Error, and the same twice.
// Build with -fsanitize=fuzzer for libFuzzer; replay.cpp runs it as an ordinary test.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fuzz/told_trace.hpp"
#include "mfu/error.hpp"
#include "traces/nsight/nsight.hpp"

namespace {

std::string outcome(std::string_view bytes) {
  mfu::Notes notes;
  std::string text;
  try {
    const auto traces = mfu::traces::read_nsight_bytes(bytes, "rank3.sqlite", notes);
    if (traces.empty()) std::abort();
    for (const mfu::traces::RankTrace& trace : traces) {
      if (!trace.has_gpu) std::abort();
      text += mfu::fuzz::told(trace);
    }
  } catch (const mfu::Error& error) {
    text = error.what();
  }
  return text + mfu::fuzz::told(notes);
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
