// Hugging Face's trainer_state.json, as it is written: one key a line, sorted. Its log_history has
// no times but those of the summary at the end: one mean over the run.
#include "base/note_code.hpp"
#include "logs/registry.hpp"
#include "logs/run_summary.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

class TrainerState : public LogFormat {
 public:
  using LogFormat::LogFormat;

  void line(const LogLine& line) override {
    if (line.text.find("\"log_history\"") != std::string_view::npos) history_ = true;
    take(line, "train_runtime", summary_.runtime_s);
    take(line, "train_samples_per_second", summary_.samples_per_s);
    take(line, "global_step", summary_.steps);
    if (take(line, "train_steps_per_second", summary_.steps_per_s)) {
      rate_text_ = json_value(line.text, "train_steps_per_second");
    }
  }

  void end() override {
    if (!history_) return;
    summary_.steps_per_s_text = rate_text_;
    auto mean = mean_step(summary_);
    if (!mean) return;
    mean->step.line = line_;
    notes.add(NoteCode::mean_of_run, "only the run summary has times: one mean, start-up included",
              Place{.line = line_});
    steps.add(mean->step, 0);
  }

 private:
  bool take(const LogLine& line, std::string_view key, std::optional<double>& value) {
    const std::string_view text = json_value(line.text, key);
    if (text.empty()) return false;
    if (const auto number = LogText(text).number()) {
      value = number;
      if (key == "train_runtime") line_ = line.number;
      return true;
    }
    return false;
  }

  RunSummary summary_;
  std::string rate_text_;
  std::int64_t line_ = 0;
  bool history_ = false;
};

}  // namespace

LogFormatRow trainer_state_format() {
  return {"trainer-state",
          "Hugging Face's trainer_state.json",
          LogTier::framework,
          {"\"log_history\"", "\"train_runtime\"", "\"global_step\"",
           "\"train_samples_per_second\"", "\"train_steps_per_second\""},
          {"\"log_history\"", "\"train_runtime\""},
          make_format<TrainerState>};
}

}  // namespace mfu
