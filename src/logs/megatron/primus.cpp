// Primus (AMD): Megatron's line with an instant value and a mean in each field,
// "elapsed time per iteration (ms): 1460.8/1450.4 | compute per GPU (TFLOP/s/GPU): X (avg Y) |
// tokens/s/GPU inst/harmonic mean: X/Y", older "throughput per GPU (TFLOP/s/GPU): X/Y | tokens per
// GPU (tokens/s/GPU): X/Y". The first number is this interval's. Written from the framework's
// source; no log of it has been seen.
#include "logs/megatron/megatron.hpp"
#include "logs/registry.hpp"

namespace mfu {

namespace {

class Primus : public MegatronFamily {
 public:
  explicit Primus(const LogReadOptions& options) : MegatronFamily(options) {
    found.convention_hints = {"megatron-lm"};
  }

 protected:
  bool accept(const MegatronLine& parsed, LoggedStep&, const LogLine&) override {
    return parsed.compute_per_gpu || parsed.iteration_mean_s.has_value();
  }
};

}  // namespace

LogFormatRow primus_format() {
  return {"primus",
          "Primus on AMD",
          LogTier::framework,
          megatron_words({"compute per GPU (TFLOP/s/GPU):", "tokens per GPU (tokens/s/GPU):",
                          "inst/harmonic mean:", "hip mem usage"}),
          {"compute per GPU (TFLOP/s/GPU):", "elapsed time per iteration (ms):"},
          make_format<Primus>};
}

}  // namespace mfu
