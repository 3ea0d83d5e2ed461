// Hugging Face Trainer, accelerate and axolotl on a console: a progress bar
// " 32%|##  | 283/873 [25:44<47:06, 4.79s/it]" (s/it is smoothed), Python dicts "{'loss': 1.2, ..}"
// (axolotl adds 'tokens_per_second_per_gpu', divided by the logging interval in some versions), and
// at the end "{'train_runtime': 273.0148, 'train_samples_per_second': 3.663, ..}", once per rank,
// or as a table "train_runtime = 0:54:00.24". What is particular to axolotl is written from its
// source; no log of it has been seen.
#include "base/note_code.hpp"
#include "logs/bars/progress_bar.hpp"
#include "logs/registry.hpp"
#include "logs/run_summary.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

// By how many steps the bars of several ranks may be apart.
constexpr std::int64_t kLag = 8;

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
    if (text.find("s/it") != std::string_view::npos ||
        text.find("it/s") != std::string_view::npos) {
      take_bar(line);
    }
    if (text.find("{'loss'") != std::string_view::npos) take_dict(line);
  }

  void end() override {
    flush_table();
    if (bars_ >= 2) return;
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
        main_ = total_;
      }
    }
  }

  void take_bar(const LogLine& line) {
    const auto bar = parse_progress_bar(line.text);
    if (!bar || bar->described || !bar->step_s || bar->done < 1) return;
    // Evaluation has bars of its own, with another total.
    if (main_ == 0) main_ = bar->total;
    if (bar->total != main_) return;
    total_ = main_;
    if (bar->done <= last_ && bar->done > last_ - kLag) return;
    last_ = bar->done;
    LoggedStep step = step_at(line, bar->done);
    step.step_s = bar->step_s;
    if (bars_++ == 0) {
      note(NoteCode::smoothed_time, "s/it of a progress bar is a running mean", line);
    }
    steps.add(step, line.origin);
  }

  void take_dict(const LogLine& line) {
    auto rate = positive(number_after(line.text, "'tokens_per_second_per_gpu':"));
    if (!rate) rate = positive(number_after(line.text, "'tokens/train_per_sec_per_gpu':"));
    LoggedStep* const last = steps.last();
    if (!rate) return;
    if (last != nullptr && bars_ > 0) {
      last->tokens_per_s_per_gpu = rate;
      return;
    }
    LoggedStep step = step_at(line, ++dicts_);
    step.tokens_per_s_per_gpu = rate;
    note(NoteCode::steps_not_numbered, "dicts without a step number: counted from 1", line);
    steps.add(step, line.origin);
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

  std::int64_t main_ = 0;   // the total of the training bar
  std::int64_t total_ = 0;  // steps of the run
  std::int64_t last_ = 0;
  std::int64_t bars_ = 0;
  std::int64_t dicts_ = 0;
  std::vector<Summary> summaries_;
  Summary table_;
};

}  // namespace

LogFormatRow hf_trainer_format() {
  return {"hf-trainer",
          "Hugging Face Trainer, accelerate, axolotl on a console",
          LogTier::framework,
          {"s/it]", "it/s]", "train_runtime", "train_samples_per_second", "train_steps_per_second",
           "{'loss'", "Total train batch size", "Total optimization steps"},
          {"s/it]", "{'loss'", "train_runtime"},
          make_format<HfTrainer>};
}

}  // namespace mfu
