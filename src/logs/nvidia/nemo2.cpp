// NeMo 2: "Training epoch 0, iteration 0/19 | lr: .. | global_batch_size: 512 | global_step: 0 |
// reduced_train_loss: .. | train_step_timing in s: 7.56 | consumed_samples: 1024 | TFLOPS_per_GPU:
// ..".
#include "logs/registry.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

class Nemo2 : public LogFormat {
 public:
  explicit Nemo2(const LogReadOptions& options) : LogFormat(options) {
    found.convention_hints = {"nemo", "nemo-24.07"};
  }

  void line(const LogLine& line) override {
    LogText at(line.text);
    if (!at.find("Training epoch ") || !at.find("iteration ")) return;
    auto iteration = at.integer();
    const std::string_view rest = at.rest();
    LogText global(rest);
    // The iteration counts within an epoch.
    if (global.find("global_step:")) iteration = global.integer();
    const auto seconds = positive(number_after(rest, "train_step_timing in s:"));
    if (!iteration || *iteration < 0 || !seconds) return;
    LoggedStep step = step_at(line, *iteration);
    step.step_s = seconds;
    step.global_batch = positive(number_after(rest, "global_batch_size:"));
    if (const auto tflops = positive(number_after(rest, "TFLOPS_per_GPU:"))) {
      step.model_flops_per_s_per_gpu = *tflops * 1e12;
    }
    steps.add(step, line.origin);
  }
};

}  // namespace

LogFormatRow nemo2_format() {
  return {"nemo2",
          "NeMo 2",
          LogTier::framework,
          {"train_step_timing in s:"},
          {"Training epoch ", "train_step_timing in s:"},
          make_format<Nemo2>};
}

}  // namespace mfu
