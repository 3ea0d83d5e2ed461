// DeepSpeed: "epoch=0/micro_step=34/global_step=34, RunningAvgSamplesPerSec=..,
// CurrSamplesPerSec=.." (2020: "0/50, SamplesPerSec=..") and, with wall_clock_breakdown, "time (ms)
// | forward: .. | backward: .. | step: ..". Both leave out what happens outside the engine, loading
// above all: a log has said 13.2 samples/s where the clock said 3.3.
#include "base/note_code.hpp"
#include "logs/registry.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

class Deepspeed : public LogFormat {
 public:
  using LogFormat::LogFormat;

  void line(const LogLine& line) override {
    const std::string_view text = line.text;
    if (text.find("SamplesPerSec=") != std::string_view::npos) {
      take_rate(line);
    } else if (text.find("time (ms) |") != std::string_view::npos) {
      take_timers(line);
    } else if (LogText at(text); at.find("train_batch_size ..")) {
      while (at.take(".")) {
      }
      set(found.global_batch, "global_batch", positive(at.number()), "DeepSpeed's configuration",
          line.number);
    }
  }

 private:
  void outside(const LogLine& line) {
    note(NoteCode::engine_time_only,
         "DeepSpeed's rates and timers leave out data loading and everything else outside its "
         "engine",
         line);
  }

  void take_rate(const LogLine& line) {
    const std::string_view text = line.text;
    std::optional<double> rate = positive(number_after(text, "CurrSamplesPerSec="));
    if (!rate) rate = positive(number_after(text, "SamplesPerSec="));
    if (!rate) return;
    std::optional<std::int64_t> number;
    LogText at(text);
    if (at.find("global_step=")) {
      number = at.integer();
    } else {
      // "0/2650, SamplesPerSec": epoch and micro-step.
      LogText old(text);
      if (old.integer() && old.take("/")) number = old.integer();
    }
    if (!number || *number < 0) return;
    LoggedStep step = step_at(line, *number);
    step.samples_per_s = rate;
    steps.add(step, line.origin);
    untimed_ = true;
    next_ = *number + 1;
    outside(line);
  }

  void take_timers(const LogLine& line) {
    const auto forward = positive(number_after(line.text, "| forward:", -3));
    const auto backward = positive(number_after(line.text, "| backward:", -3));
    const auto update = positive(number_after(line.text, "| step:", -3));
    if (!forward || !backward || !update) return;
    const double seconds = *forward + *backward + *update;
    LoggedStep* const last = steps.last();
    if (untimed_ && last != nullptr && !last->step_s) {
      last->step_s = seconds;
      steps.tells_time();
    } else {
      LoggedStep step = step_at(line, next_++);
      step.step_s = seconds;
      steps.add(step, line.origin);
      note(NoteCode::steps_not_numbered, "timers without a step number: counted from 1", line);
    }
    untimed_ = false;
    outside(line);
  }

  bool untimed_ = false;  // the last step has a rate and waits for its timers
  std::int64_t next_ = 1;
};

}  // namespace

LogFormatRow deepspeed_format() {
  return {"deepspeed",
          "DeepSpeed's engine",
          LogTier::library,
          {"SamplesPerSec=", "time (ms) |", "train_batch_size .."},
          {"SamplesPerSec=", "time (ms) |"},
          make_format<Deepspeed>};
}

}  // namespace mfu
