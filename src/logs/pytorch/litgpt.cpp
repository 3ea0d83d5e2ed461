// litgpt: "Epoch 1 | iter 2 step 1 | loss train: 1.660, val: n/a | iter time: 548.72 ms (step)". An
// iteration is a micro-batch; the one marked "(step)" ran the optimizer: a step's time is the sum
// up to it. 2023: "iter 0 step 1: loss 10.9, iter time: 1234.56ms (optimizer.step)".
#include "logs/registry.hpp"
#include "logs/values.hpp"
#include "statistics/robust.hpp"

namespace mfu {

namespace {

class Litgpt : public LogFormat {
 public:
  explicit Litgpt(const LogReadOptions& options) : LogFormat(options) {
    found.convention_hints = {"litgpt"};
  }

  void line(const LogLine& line) override {
    LogText at(line.text);
    if (!at.find("iter ")) return;
    const auto iteration = at.integer();
    if (!iteration || !at.find("step ")) return;
    const auto number = at.integer();
    if (!number || *number < 0 || !at.find("iter time:")) return;
    const auto seconds = positive(at.number(-3));
    at.blanks();
    if (!seconds || !at.take("ms")) return;
    // What came before the first line seen is not known.
    if (first_ && *iteration > 1) incomplete_ = true;
    first_ = false;
    sum_.add(*seconds);
    ++parts_;
    const bool stepped = at.rest().find("(step)") != std::string_view::npos ||
                         at.rest().find("(optimizer.step)") != std::string_view::npos;
    if (!stepped) return;
    if (!incomplete_) {
      LoggedStep step = step_at(line, *number);
      step.step_s = sum_.value();
      steps.add(step, line.origin);
      if (parts_ > 1) found.microbatches = parts_;
    }
    incomplete_ = false;
    sum_ = Sum();
    parts_ = 0;
  }

 private:
  Sum sum_;
  double parts_ = 0.0;
  bool first_ = true;
  bool incomplete_ = false;
};

}  // namespace

LogFormatRow litgpt_format() {
  return {"litgpt",
          "litgpt",
          LogTier::framework,
          {"iter time:"},
          {"iter ", "iter time:", "step)"},
          make_format<Litgpt>};
}

}  // namespace mfu
