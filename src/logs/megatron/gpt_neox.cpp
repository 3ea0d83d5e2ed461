// GPT-NeoX: "samples/sec: 7.799 | iteration 34/ 10000 | elapsed time per iteration (ms): .. |
// approx flops per GPU: 112.9TFLOPS | lm_loss: .. |". The batch is not printed: it is the rate
// times the time, to the digits of both.
#include <cmath>

#include "logs/megatron/megatron.hpp"
#include "logs/registry.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

class GptNeox : public MegatronFamily {
 public:
  explicit GptNeox(const LogReadOptions& options) : MegatronFamily(options) {
    found.convention_hints = {"gpt-neox"};
  }

 protected:
  bool accept(const MegatronLine& parsed, LoggedStep& step, const LogLine& line) override {
    if (!parsed.samples_first && !parsed.approx_flops) return false;
    if (parsed.approx_flops && *parsed.approx_flops > 0.0) {
      // Its formula has recomputation in it where the run recomputes; it says "approx".
      step.model_flops_per_s_per_gpu = parsed.approx_flops;
    }
    if (!step.global_batch && parsed.samples_per_s && step.step_s) {
      // Four digits of each: whole samples, if they are near enough to whole.
      const double batch = *parsed.samples_per_s * *step.step_s;
      const double whole = std::round(batch);
      if (whole >= 1.0 && std::fabs(batch - whole) < 0.002 * whole) {
        step.global_batch = whole;
        set(found.global_batch, "global_batch", whole, "samples/sec times iteration time",
            line.number);
      }
    }
    return true;
  }
};

}  // namespace

LogFormatRow gpt_neox_format() {
  return {"gpt-neox",
          "GPT-NeoX",
          LogTier::framework,
          megatron_words({"samples/sec:", "approx flops per GPU:"}),
          {"samples/sec:", "iteration ", "elapsed time per iteration (ms):"},
          make_format<GptNeox>};
}

}  // namespace mfu
