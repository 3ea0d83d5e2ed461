// nanotron: "iteration: 991 / 1000 | consumed_tokens: 634K | elapsed_time_per_iteration_ms: 11.5K |
// tokens_per_sec: 14.2K | tokens_per_sec_per_gpu: 1.78K | global_batch_size: 20 | ... |
// model_tflops_per_gpu: .. | hardware_tflops_per_gpu: .." Three digits and a suffix: a step time is
// known to half a per cent.
#include <cmath>

#include "logs/registry.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

class Nanotron : public LogFormat {
 public:
  explicit Nanotron(const LogReadOptions& options) : LogFormat(options) {
    found.convention_hints = {"nanotron"};
  }

  void line(const LogLine& line) override {
    LogText at(line.text);
    if (!at.find("iteration:")) return;
    const auto iteration = at.integer();
    if (!iteration || *iteration < 0) return;
    const std::string_view rest = at.rest();
    const auto seconds = positive(si_number_after(rest, "elapsed_time_per_iteration_ms:", -3));
    if (!seconds) return;
    LoggedStep step = step_at(line, *iteration);
    step.step_s = seconds;
    step.tokens_per_s = positive(si_number_after(rest, "tokens_per_sec:"));
    step.tokens_per_s_per_gpu = positive(si_number_after(rest, "tokens_per_sec_per_gpu:"));
    step.global_batch = positive(si_number_after(rest, "global_batch_size:"));
    step.model_flops_per_s_per_gpu = positive(si_number_after(rest, "model_tflops_per_gpu:", 12));
    step.hardware_flops_per_s_per_gpu =
        positive(si_number_after(rest, "hardware_tflops_per_gpu:", 12));
    if (step.tokens_per_s && step.tokens_per_s_per_gpu && !found.gpus) {
      // Two rounded numbers: only a ratio that can be no other whole number says anything.
      const double ratio = *step.tokens_per_s / *step.tokens_per_s_per_gpu;
      const double whole = std::round(ratio);
      if (whole >= 1.0 && whole <= 48.0 && std::fabs(ratio - whole) <= 0.01 * whole) {
        set(found.gpus, "gpus", whole, "tokens_per_sec over tokens_per_sec_per_gpu", line.number);
      }
    }
    steps.add(step, line.origin);
  }
};

}  // namespace

LogFormatRow nanotron_format() {
  return {"nanotron",
          "nanotron",
          LogTier::framework,
          {"elapsed_time_per_iteration_ms:"},
          {"iteration:", "elapsed_time_per_iteration_ms:", "tokens_per_sec:"},
          make_format<Nanotron>};
}

}  // namespace mfu
