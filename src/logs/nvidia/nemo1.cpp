// NeMo 1 and PyTorch Lightning: "Epoch 0: 3%| | 9000/301500 [1:42:42<.., v_num=0, global_step=9e+3,
// train_step_timing in s=0.615]". A bar is printed again and again: the first of each step counts.
// Without that timing the bar's clock tells: its "41.36s/it" is a mean since the start.
#include "base/note_code.hpp"
#include "logs/bars/progress_bar.hpp"
#include "logs/bars/training_bars.hpp"
#include "logs/registry.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

class Nemo1 : public LogFormat {
 public:
  explicit Nemo1(const LogReadOptions& options) : LogFormat(options) {
    found.convention_hints = {"nemo-24.07"};
  }

  void line(const LogLine& line) override {
    const bool ours = line.text.find("v_num=") != std::string_view::npos ||
                      line.text.find("train_step_timing in s=") != std::string_view::npos ||
                      line.text.find("reduced_train_loss=") != std::string_view::npos;
    seen_ = seen_ || ours;
    if (!seen_) return;
    const auto bar = parse_progress_bar(line.text);
    if (!bar) return;
    const auto seconds = positive(number_after(bar->inside, "train_step_timing in s="));
    if (!seconds || !ours || bar->description.empty()) {
      if (!timed_) bars_.take(line);
      // The number that the log has for a step may count from 0.
      if (ours && !offset_ && bar->done > 0) offset_ = iteration(*bar) - bar->done;
      return;
    }
    if (!timed_) take_bars();
    timed_ = true;
    LoggedStep step = step_at(line, iteration(*bar));
    if (step.iteration == last_ && line.origin == origin_) return;
    last_ = step.iteration;
    origin_ = line.origin;
    step.step_s = seconds;
    steps.add(step, line.origin);
  }

  void end() override {
    if (!timed_) take_bars();
  }

 private:
  // global_step is printed with a few digits; the bar's own count is exact.
  static std::int64_t iteration(const ProgressBar& bar) {
    LogText at(bar.inside);
    if (at.find("global_step=")) {
      const std::string_view text = at.rest().substr(0, at.rest().find(','));
      const auto value = at.integer();
      if (value && *value >= 0 && text.find('e') == std::string_view::npos) return *value;
    }
    return bar.done;
  }

  void take_bars() {
    if (!bars_.any()) return;
    TrainingBars::Choice choice = bars_.choose();
    refusal = std::move(choice.refusal);
    const std::int64_t offset = offset_.value_or(0);
    for (TrainingBars::Step& one : choice.steps) {
      if (offset == -1) one.step.iteration -= 1;
      steps.add(one.step, 0);
    }
    tell_bars(choice, *this);
  }

  TrainingBars bars_;
  std::optional<std::int64_t> offset_;
  bool seen_ = false;
  bool timed_ = false;
  std::int64_t last_ = -1;
  std::uint64_t origin_ = 0;
};

}  // namespace

LogFormatRow nemo1_format() {
  return {"nemo1",
          "NeMo 1 and Lightning progress bars",
          LogTier::framework,
          {"train_step_timing in s=", "reduced_train_loss=", "s/it", "it/s", "v_num="},
          {"Epoch ", "v_num=", "train_step_timing in s="},
          make_format<Nemo1>};
}

}  // namespace mfu
