// Whatever the bytes are: a log, or an mfu::Error; and the pieces in which they arrive change
// neither. Build with -fsanitize=fuzzer for libFuzzer; replay.cpp runs it as an ordinary test.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "fuzz/text_input.hpp"
#include "logs/registry.hpp"
#include "logs/training_log.hpp"
#include "mfu/error.hpp"
#include "mfu/model.hpp"

namespace {

void check_step(const mfu::LoggedStep& step) {
  for (const auto& value :
       {step.step_s, step.tokens_per_s, step.tokens_per_s_per_gpu, step.samples_per_s, step.tokens,
        step.global_batch, step.model_flops_per_s_per_gpu, step.hardware_flops_per_s_per_gpu,
        step.mfu}) {
    if (value && !(*value > 0.0 && std::isfinite(*value))) std::abort();
  }
  if (step.iteration < 0 || step.line < 1 || step.copies < 1 || step.steps_averaged < 1) {
    std::abort();
  }
}

std::string outcome(std::string_view bytes, std::size_t piece) {
  mfu::Notes notes;
  std::string text;
  try {
    mfu::ByteSource source = mfu::ByteSource::from_memory(bytes, "input", piece);
    mfu::LogReadOptions options;
    options.max_steps = 256;
    const mfu::TrainingLog log = mfu::read_log(source, options, notes);
    text = log.format;
    for (const mfu::LogSegment& segment : log.segments) {
      if (segment.steps.empty()) std::abort();
      std::int64_t before = -1;
      for (const mfu::LoggedStep& step : segment.steps) {
        check_step(step);
        if (step.iteration <= before) std::abort();
        before = step.iteration;
        text += ' ' + std::to_string(step.iteration) + '@' + std::to_string(step.line) + '=' +
                std::to_string(step.step_s.value_or(-1.0));
      }
    }
    for (const mfu::LoggedRankValue& value : log.rank_values) {
      text += ' ' + value.series + std::to_string(value.rank) + '=' + std::to_string(value.value);
    }
    if (!log.model_json.empty()) {
      // Any shape that is no error, but well-formed JSON.
      mfu::Notes ignored;
      try {
        (void)mfu::parse_model(log.model_json, "input", ignored, mfu::MissingKeys::leave);
      } catch (const mfu::Error& error) {
        text += error.what();
      }
      text += log.model_json;
    }
  } catch (const mfu::Error& error) {
    text += "error: ";
    text += error.what();
  }
  return text + mfu::fuzz::told(notes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mfu::fuzz::check_in_pieces(data, size, outcome);
  return 0;
}
