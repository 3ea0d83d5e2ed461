// Whatever the bytes are: a reduced trace whose parts sum, or an mfu::Error; and the size of the
// window changes neither. Build with -fsanitize=fuzzer for libFuzzer; replay.cpp runs it as an
// ordinary test.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fuzz/told_trace.hpp"
#include "mfu/error.hpp"
#include "traces/kineto/kineto.hpp"

namespace {

std::string outcome(std::string_view bytes, std::size_t window) {
  mfu::Notes notes;
  std::string text;
  try {
    mfu::ByteSource source = mfu::ByteSource::from_memory(bytes, "rank3.json");
    text = mfu::fuzz::told(mfu::traces::read_kineto(source, notes, window));
  } catch (const mfu::Error& error) {
    text = error.what();
  }
  return text + mfu::fuzz::told(notes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)mfu::traces::sniff_kineto(bytes);
  if (outcome(bytes, 256 * 1024) != outcome(bytes, 1)) std::abort();
  return 0;
}
