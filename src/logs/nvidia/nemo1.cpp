// NeMo 1 (and PyTorch Lightning's bar): "Epoch 0: 3%| | 9000/301500 [1:42:42<.., v_num=0,
// global_step=9e+3, train_step_timing in s=0.615]", before that only "41.36s/it", which tqdm
// smooths. A bar is printed again and again: the first of each step counts.
#include "base/note_code.hpp"
#include "logs/bars/progress_bar.hpp"
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
    const auto bar = parse_progress_bar(line.text);
    if (!bar || !bar->described) return;
    const bool ours = bar->inside.find("train_step_timing in s=") != std::string_view::npos ||
                      bar->inside.find("v_num=") != std::string_view::npos ||
                      bar->inside.find("reduced_train_loss=") != std::string_view::npos;
    if (!ours) return;
    auto seconds = positive(number_after(bar->inside, "train_step_timing in s="));
    if (!seconds) {
      seconds = bar->step_s;
      if (seconds) {
        note(NoteCode::smoothed_time, "s/it of a progress bar is a running mean", line);
      }
    }
    if (!seconds) return;
    LoggedStep step = step_at(line, iteration(*bar));
    if (step.iteration == last_ && line.origin == origin_) return;
    last_ = step.iteration;
    origin_ = line.origin;
    step.step_s = seconds;
    steps.add(step, line.origin);
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

  std::int64_t last_ = -1;
  std::uint64_t origin_ = 0;
};

}  // namespace

LogFormatRow nemo1_format() {
  return {"nemo1",
          "NeMo 1 and Lightning progress bars",
          LogTier::framework,
          {"train_step_timing in s=", "s/it,", "it/s,", "v_num="},
          {"Epoch ", "v_num=", "train_step_timing in s="},
          make_format<Nemo1>};
}

}  // namespace mfu
