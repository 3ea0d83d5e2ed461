// nanochat: "step 00010/21400 (0.05%) | loss: 10.59 | lrm: 1.00 | dt: 490.49ms | tok/sec: 1,068,941
// | mfu: 47.92 | total time: 0.00m". The rate is that of the whole job, the MFU in per cent of an
// H100's 989 TFLOP/s. Written from the program's source; no log of it has been seen.
#include "logs/registry.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

class Nanochat : public LogFormat {
 public:
  explicit Nanochat(const LogReadOptions& options) : LogFormat(options) {
    found.convention_hints = {"nanogpt", "palm"};
  }

  void line(const LogLine& line) override {
    LogText at(line.text);
    if (at.take("Total batch size ")) {
      if (const auto tokens = positive(at.number())) tokens_ = tokens;
      return;
    }
    if (!at.find("step ")) return;
    const auto iteration = at.integer();
    if (!iteration || *iteration < 0 || !at.find("| dt:")) return;
    const auto seconds = positive(at.number(-3));
    if (!seconds || !at.take("ms")) return;
    LoggedStep step = step_at(line, *iteration);
    step.step_s = seconds;
    step.tokens = tokens_;
    step.tokens_per_s = positive(number_after(at.rest(), "tok/sec:"));
    step.mfu = positive(number_after(at.rest(), "mfu:", -2));
    if (step.mfu) {
      set(found.peak_flops_assumed, "peak_flops_assumed", 989e12,
          "nanochat divides by an H100's peak on every GPU", line.number);
    }
    steps.add(step, line.origin);
  }

 private:
  std::optional<double> tokens_;
};

}  // namespace

LogFormatRow nanochat_format() {
  return {"nanochat",
          "nanochat",
          LogTier::framework,
          {"| dt:", "Total batch size "},
          {"step ", "| dt:", "tok/sec:"},
          make_format<Nanochat>};
}

}  // namespace mfu
