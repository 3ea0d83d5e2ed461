// Whatever the bytes are: a run, or an mfu::Error; and the size of the window changes neither.
// Build with -fsanitize=fuzzer for libFuzzer; replay.cpp runs it as an ordinary test.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "mfu/error.hpp"
#include "mfu/timings.hpp"
#include "readers/reader.hpp"

namespace {

std::string outcome(std::string_view bytes, std::size_t window) {
  mfu::Notes notes;
  std::string text;
  try {
    const mfu::ReadResult result = mfu::read_sources(
        1, [bytes](std::size_t) { return mfu::ByteSource::from_memory(bytes, "input"); }, notes,
        window);
    const mfu::RunTimings& run = result.run;
    if (run.ranks.empty() || run.steps.empty() || run.compute.empty()) std::abort();
    for (std::size_t s = 0; s < run.steps.size(); ++s) {
      for (const double value : run.compute.row(s)) {
        if (value < 0.0 || value > 1e9) std::abort();  // NaN is a missing sample
      }
    }
    text = std::to_string(run.ranks.size()) + " ranks " + std::to_string(run.steps.size());
  } catch (const mfu::Error& error) {
    text = error.what();
  }
  for (const mfu::Note& note : notes.all()) text += "\n" + note.code.str() + note.first.str();
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (outcome(bytes, 256 * 1024) != outcome(bytes, 1)) std::abort();
  return 0;
}
