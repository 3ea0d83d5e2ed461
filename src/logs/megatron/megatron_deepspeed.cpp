// Megatron-DeepSpeed as BigScience ran it: time in seconds, "samples per second", and "TFLOPs" that
// count hardware FLOPs, recomputation included.
#include "logs/megatron/megatron.hpp"
#include "logs/registry.hpp"

namespace mfu {

namespace {

class MegatronDeepspeed : public MegatronFamily {
 public:
  explicit MegatronDeepspeed(const LogReadOptions& options) : MegatronFamily(options) {
    found.convention_hints = {"bigscience-2021"};
  }

 protected:
  bool accept(const MegatronLine& parsed, LoggedStep& step, const LogLine&) override {
    if (!parsed.in_seconds && !parsed.hardware_tflops) return false;
    if (parsed.samples_first || parsed.compute_per_gpu) return false;
    if (parsed.hardware_tflops) step.hardware_flops_per_s_per_gpu = *parsed.hardware_tflops * 1e12;
    return true;
  }
};

}  // namespace

LogFormatRow megatron_deepspeed_format() {
  return {"megatron-deepspeed",
          "Megatron-DeepSpeed and BigScience",
          LogTier::framework,
          megatron_words({"elapsed time per iteration (s):", "TFLOPs:"}),
          {"iteration ", "elapsed time per iteration (s):"},
          make_format<MegatronDeepspeed>};
}

}  // namespace mfu
