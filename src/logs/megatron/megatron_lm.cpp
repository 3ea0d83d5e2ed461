// Megatron-LM, 2020 to 2026: "iteration N/ M | consumed samples: .. | elapsed time per iteration
// (ms): .. | throughput per GPU (TFLOP/s/GPU): .. | ... |". The time is a mean over the log
// interval; the throughput counts model FLOPs, without recomputation.
#include "logs/megatron/megatron.hpp"
#include "logs/registry.hpp"

namespace mfu {

namespace {

class MegatronLm : public MegatronFamily {
 public:
  explicit MegatronLm(const LogReadOptions& options) : MegatronFamily(options) {
    found.convention_hints = {"megatron-lm", "narayanan-2021"};
  }

 protected:
  bool accept(const MegatronLine& parsed, LoggedStep&, const LogLine&) override {
    // Lines of the forks, which have formats of their own.
    return !parsed.in_seconds && !parsed.samples_first && !parsed.approx_flops &&
           !parsed.compute_per_gpu && !parsed.hardware_tflops;
  }
};

}  // namespace

LogFormatRow megatron_lm_format() {
  return {"megatron-lm",
          "Megatron-LM, 2020 to 2026",
          LogTier::framework,
          megatron_words({"elapsed time per iteration (ms):"}),
          {"iteration ", "elapsed time per iteration (ms):"},
          make_format<MegatronLm>};
}

}  // namespace mfu
