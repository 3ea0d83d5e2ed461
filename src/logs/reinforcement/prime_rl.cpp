// prime-rl: "step: 8, loss: .., tokens_per_second: 76957.79, mfu: 42.46", later "Step 8 |
// Time: 10.2s | Loss: .. | Throughput: 76957 tokens/s | MFU: 42.5%". The rate is that of the whole
// job. Builds that took it for one GPU's printed an MFU of 337 %: kept as printed, and noted.
#include "logs/registry.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

class PrimeRl : public LogFormat {
 public:
  using LogFormat::LogFormat;

  void line(const LogLine& line) override {
    LogText at(line.text);
    const bool rows = line.text.find("Throughput:") != std::string_view::npos;
    if (!at.find(rows ? "Step " : "step:")) return;
    const auto iteration = at.integer();
    if (!iteration || *iteration < 0) return;
    const std::string_view rest = at.rest();
    LoggedStep step = step_at(line, *iteration);
    step.tokens_per_s = positive(number_after(rest, rows ? "Throughput:" : "tokens_per_second:"));
    step.mfu = positive(number_after(rest, rows ? "MFU:" : "mfu:", -2));
    if (!step.tokens_per_s) return;
    if (rows) {
      LogText time(rest);
      if (time.find("Time:")) {
        const auto seconds = positive(time.number());
        if (seconds && time.take("s")) step.step_s = seconds;
      }
    }
    steps.add(step, line.origin);
  }
};

}  // namespace

LogFormatRow prime_rl_format() {
  return {"prime-rl",
          "prime-rl",
          LogTier::framework,
          {"tokens_per_second:", "Throughput:"},
          {"step:", "tokens_per_second:", "mfu:"},
          make_format<PrimeRl>};
}

}  // namespace mfu
