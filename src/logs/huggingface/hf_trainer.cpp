// Hugging Face Trainer, accelerate, axolotl, and any loop with tqdm's progress bar on a console: a
// bar " 32%|##  | 283/873 [25:44<47:06, 4.79s/it]", Python dicts "{'loss': 1.2, ..}" (axolotl adds
// 'tokens_per_second_per_gpu', divided by the logging interval in some versions), and at the end
// "{'train_runtime': 273.0148, 'train_samples_per_second': 3.663, ..}", once per rank, or as a
// table "train_runtime = 0:54:00.24". What is particular to axolotl is written from its source; no
// log of it has been seen.
#include <cmath>

#include "base/note_code.hpp"
#include "logs/bars/training_bars.hpp"
#include "logs/registry.hpp"
#include "logs/run_summary.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

class HfTrainer : public LogFormat {
 public:
  using LogFormat::LogFormat;

  void line(const LogLine& line) override {
    const std::string_view text = line.text;
    take_header(line);
    if (text.find("train_runtime") != std::string_view::npos ||
        text.find("train_samples_per_second") != std::string_view::npos ||
        text.find("train_steps_per_second") != std::string_view::npos) {
      take_summary(line);
      return;
    }
    // Lightning's bars are another format's.
    if (text.find("v_num=") != std::string_view::npos) lightning_ = true;
    if (lightning_) {
      every_line = false;
      return;
    }
    const bool bar = text.find('[') != std::string_view::npos && bars_.take(line);
    // From here on any line may have the loss that goes with it.
    every_line = bars_.any();
    if (text.find("{'loss'") != std::string_view::npos) take_dict(line);
    if (const std::size_t at = text.find("'eval_runtime'"); at != std::string_view::npos) {
      bars_.evaluated(positive(number_after(text, "'eval_runtime':")));
    } else if (!bar && bars_.any()) {
      bars_.beside(text);
    }
  }

  void end() override {
    flush_table();
    const std::size_t told = take_bars();
    batch_of_summary();
    if (told == 0) {
      for (const Dict& dict : dicts_) {
        const LoggedStep& step = dict.step;
        notes.add(NoteCode::steps_not_numbered, "dicts without a step number: counted from 1",
                  Place{.line = step.line});
        steps.add(step, dict.origin);
      }
    }
    if (told >= 2) return;
    for (const Summary& summary : summaries_) {
      RunSummary run = summary.run;
      run.steps_per_s_text = summary.rate_text;
      if (!run.steps && total_ > 0) run.steps = static_cast<double>(total_);
      auto mean = mean_step(run);
      if (!mean) continue;
      mean->step.line = summary.line;
      if (!mean->exact) {
        notes.add(
            NoteCode::coarse_rate,
            "train_steps_per_second has too few digits: the step time is known to more than 1 "
            "% only",
            Place{.line = summary.line});
      }
      if (steps.count() == 0) {
        notes.add(NoteCode::mean_of_run,
                  "only the run summary has times: one mean, start-up included",
                  Place{.line = summary.line});
      }
      steps.add(mean->step, 0);
    }
  }

 private:
  struct Summary {
    RunSummary run;
    std::string rate_text;
    std::int64_t line = 0;
  };
  static constexpr std::size_t kMostSummaries = 20'000;

  // Samples a second over steps a second, where their digits leave one whole number.
  void batch_of_summary() {
    for (const Summary& summary : summaries_) {
      const auto samples = positive(summary.run.samples_per_s);
      const auto rate = positive(summary.run.steps_per_s);
      if (found.global_batch || !samples || !rate) continue;
      constexpr double kHalfDigit = 0.0005;
      const double least = std::ceil((*samples - kHalfDigit) / (*rate + kHalfDigit));
      const double most = std::floor((*samples + kHalfDigit) / (*rate - kHalfDigit));
      if (*rate <= kHalfDigit || least != most || least < 1.0) continue;
      set(found.global_batch, "global_batch", least,
          "train_samples_per_second over train_steps_per_second", summary.line);
    }
  }

  void take_header(const LogLine& line) {
    LogText at(line.text);
    if (at.find("Total train batch size") && at.find("=")) {
      set(found.global_batch, "global_batch", positive(at.number()), "Total train batch size",
          line.number);
    }
    LogText count(line.text);
    if (count.find("Total optimization steps = ")) {
      if (const auto steps_said = count.integer(); steps_said && *steps_said > 0) {
        total_ = *steps_said;
        bars_.announce(total_);
      }
    }
    if (line.text.find("Running training") != std::string_view::npos) bars_.run_starts();
  }

  // How many steps the bars have told.
  std::size_t take_bars() {
    if (lightning_ || !bars_.any()) return 0;
    TrainingBars::Choice choice = bars_.choose();
    refusal = std::move(choice.refusal);
    if (!choice.certain && found.said_by.empty() && dicts_.empty() && summaries_.empty()) {
      unsure = true;
    }
    std::size_t dict = 0;
    for (TrainingBars::Step& one : choice.steps) {
      // Dicts between two lines of the bar belong to the first.
      double sum = 0.0;
      int count = 0;
      for (; dict < dicts_.size() && dicts_[dict].order < one.to_order; ++dict) {
        if (dicts_[dict].order < one.from_order) continue;
        sum += *dicts_[dict].step.tokens_per_s_per_gpu;
        ++count;
      }
      if (count > 0) one.step.tokens_per_s_per_gpu = sum / count;
      steps.add(one.step, 0);
    }
    tell_bars(choice, *this);
    return choice.steps.size();
  }

  void take_dict(const LogLine& line) {
    auto rate = positive(number_after(line.text, "'tokens_per_second_per_gpu':"));
    for (const char* key : {"'tokens/train_per_sec_per_gpu':", "'tokens_per_sec_per_gpu':",
                            "'train/tokens_per_sec_per_gpu':"}) {
      if (!rate) rate = positive(number_after(line.text, key));
    }
    if (!rate || dicts_.size() >= kMostDicts) return;
    Dict dict;
    dict.step = step_at(line, static_cast<std::int64_t>(dicts_.size()) + 1);
    dict.step.tokens_per_s_per_gpu = rate;
    dict.order = bars_.order();
    dict.origin = line.origin;
    dicts_.push_back(dict);
  }

  void take_summary(const LogLine& line) {
    if (line.text.find("'train_runtime'") != std::string_view::npos) {
      Summary summary;
      summary.line = line.number;
      summary.run.runtime_s = number_after(line.text, "'train_runtime':");
      summary.run.samples_per_s = number_after(line.text, "'train_samples_per_second':");
      LogText at(line.text);
      if (at.find("'train_steps_per_second':")) {
        summary.rate_text = trimmed(at.rest().substr(0, at.rest().find_first_of(",}")));
        summary.run.steps_per_s = at.number();
      }
      keep(std::move(summary));
      return;
    }
    // The table has a value a line: "  train_runtime            = 0:54:00.24".
    LogText at(line.text);
    if (!at.find("=")) return;
    table_.line = line.number;
    if (line.text.find("train_runtime") != std::string_view::npos) {
      flush_table();
      table_.line = line.number;
      double seconds = 0.0;
      while (const auto part = at.number()) {
        seconds = seconds * 60.0 + *part;
        if (!at.take(":")) break;
      }
      if (seconds > 0.0) table_.run.runtime_s = seconds;
    } else if (line.text.find("train_samples_per_second") != std::string_view::npos) {
      table_.run.samples_per_s = at.number();
    } else {
      table_.rate_text = trimmed(at.rest());
      table_.run.steps_per_s = at.number();
    }
  }
  void flush_table() {
    if (table_.run.runtime_s) keep(std::move(table_));
    table_ = {};
  }
  void keep(Summary summary) {
    if (summaries_.size() < kMostSummaries) summaries_.push_back(std::move(summary));
  }

  struct Dict {
    LoggedStep step;
    std::int64_t order = 0;  // of the bar before it
    std::uint64_t origin = 0;
  };
  static constexpr std::size_t kMostDicts = 200'000;

  TrainingBars bars_;
  bool lightning_ = false;
  std::int64_t total_ = 0;  // steps of the run
  std::vector<Dict> dicts_;
  std::vector<Summary> summaries_;
  Summary table_;
};

}  // namespace

LogFormatRow hf_trainer_format() {
  return {"hf-trainer",
          "Hugging Face Trainer, accelerate, axolotl on a console; any loop's tqdm bar",
          LogTier::framework,
          {"%|", "s/it", "it/s", "it [", "/? [", "train_runtime", "train_samples_per_second",
           "train_steps_per_second", "{'loss'", "'eval_runtime'", "Total train batch size",
           "Total optimization steps", "Running training"},
          {"s/it]", "{'loss'", "train_runtime"},
          make_format<HfTrainer>};
}

}  // namespace mfu
