// A training log in words: its steps, what is unusual, what its own figures are based on.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/time_scale.hpp"
#include "compare/term_spread.hpp"
#include "logs/training_log.hpp"
#include "measure/detective.hpp"
#include "measure/log_summary.hpp"
#include "mfu/quantity.hpp"
#include "mfu/report.hpp"
#include "report/measure/calc_section.hpp"
#include "report/measure/calc_wording.hpp"
#include "report/measure/log_section.hpp"

namespace mfu {
namespace {

std::string count_text(std::int64_t count) { return format_grouped(static_cast<double>(count)); }

std::string title_of(const LogSection& section, const TrainingLog& log) {
  const CalcInput& input = section.calc.calculation.input;
  std::string title = section.format;
  for (const std::string& other : log.also) title += " + " + other;
  if (input.model && !input.model->name.empty()) title += "   " + input.model->name;
  const std::string chip = input.peak ? peak_used_name(*input.peak) : std::string();
  if (input.gpus) {
    title +=
        fmt::format("   {} {}", format_grouped(*input.gpus),
                    chip.empty() ? std::string(*input.gpus == 1 ? "GPU" : "GPUs") : "x " + chip);
  } else if (!chip.empty()) {
    title += "   " + chip;
  }
  return title;
}

std::string steps_line_of(const LogSummary& summary) {
  const std::int64_t all = summary.used + summary.left_out.total();
  return fmt::format(
      "steps {}..{} ({})", summary.first_iteration, summary.last_iteration,
      all == summary.used ? count_text(all) : count_text(summary.used) + " of " + count_text(all));
}

std::string_view missing_name(MissingInput missing) {
  switch (missing) {
    case MissingInput::measurement:
      return "its speed in tokens or steps (--seq-len, --batch)";
    case MissingInput::tokens:
      return "the tokens per step (--batch with --seq-len, or --tokens-per-step)";
    case MissingInput::gpus:
      return "the number of GPUs (--gpus)";
    case MissingInput::model:
      return "the model (--model or --params)";
    case MissingInput::seq_len:
      return "the sequence length (--seq-len)";
    case MissingInput::peak:
      return "the peak (--chip or --peak)";
  }
  return "";
}

std::string missing_of(const Calculation& calculation) {
  std::string text;
  for (const MissingInput missing : calculation.missing) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", missing_name(missing));
  }
  return text.empty() ? text : "MFU needs what the log does not say: " + text;
}

// Costs in what people read: seconds of a step, or a rate.
class Costs {
 public:
  Costs(const LogSummary& summary, std::optional<double> seconds_of_cost)
      : basis_(summary.basis), factor_(seconds_of_cost) {
    if (factor_) scale_ = time_scale(summary.cost * *factor_);
  }
  [[nodiscard]] std::string text(double cost) const {
    if (factor_) {
      return fmt::format("{:.{}f} {}", cost * *factor_ / scale_.unit_seconds, scale_.decimals,
                         scale_.unit);
    }
    switch (basis_) {
      case StepBasis::sample:
        return fmt::format("{:.4g} samples/s", 1 / cost);
      case StepBasis::token:
        return format_grouped(1 / cost) + " tokens/s";
      case StepBasis::token_per_gpu:
        return format_grouped(1 / cost) + " tokens/s per GPU";
      default:
        return teraflops(1 / cost) + " per GPU";
    }
  }
  [[nodiscard]] std::string range(double low, double high) const {
    return factor_ ? text(low) + " to " + text(high) : text(high) + " to " + text(low);
  }

 private:
  StepBasis basis_;
  std::optional<double> factor_;
  TimeScale scale_;
};

std::string left_out_text(const LeftOutSteps& out) {
  std::string text;
  const auto add = [&](std::int64_t count, std::string_view why) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count_text(count), why);
  };
  add(out.warmup, "warm-up (compilation, first steps)");
  add(out.skipped, "skipped as asked");
  add(out.too_short, "implausibly short");
  add(out.over_peak, "above the hardware's peak");
  add(out.other_batch, "of another batch size");
  add(out.without, "without a time");
  return text;
}

std::string change_text(double change) {
  return fmt::format("{} {}", format_percent(std::fabs(change)), change > 0 ? "slower" : "faster");
}

std::string levels_text(const LogLevels& levels, const Costs& costs) {
  std::string text = fmt::format("{} of the lines take {}, the others {}: {} of the time is theirs",
                                 format_percent(levels.slow_share), costs.text(levels.slow_cost),
                                 costs.text(levels.quick_cost), format_percent(levels.time_share));
  if (levels.period_lines) text += fmt::format("; every {:.0f} lines", *levels.period_lines);
  return text;
}

std::string outliers_text(const LogSummary& summary, const Costs& costs) {
  const OutlierSteps& out = summary.outliers;
  std::string text = fmt::format(
      "{} of {} lines take {} of the time, {} of it beyond the usual; the longest {} at step {}",
      count_text(out.count), count_text(summary.lines), format_percent(out.time_share),
      format_percent(out.excess_share), costs.text(out.largest_cost), out.largest_iteration);
  if (out.period_steps) {
    text += fmt::format("; every {:.0f} steps", *out.period_steps);
  } else if (out.period_seconds) {
    text += fmt::format("; every {}", format_seconds(*out.period_seconds));
  } else if (out.count >= 6) {
    text += "; not periodic";
  }
  if (out.beside_pauses > 0) {
    text += fmt::format("; {} next to an evaluation, checkpoint or profiler",
                        count_text(out.beside_pauses));
  }
  return text;
}

std::string pauses_text(const std::vector<PauseSummary>& pauses) {
  std::string text;
  for (const PauseSummary& pause : pauses) {
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", count_text(pause.count), pause.kind);
    if (pause.timed > 0) text += " " + format_seconds(pause.seconds);
    if (pause.timed < pause.count) text += pause.timed > 0 ? " at least" : " (time not printed)";
  }
  return text + "; not included in any figure above";
}

void add_lines(LogSection& section, const Costs& costs) {
  const LogSummary& s = section.summary;
  const auto add = [&](std::string label, std::string text, bool blamed = false) {
    section.lines.push_back({std::move(label), std::move(text), blamed});
  };
  std::string step = "mean " + costs.text(s.mean_cost);
  if (section.spread) {
    const Interval& ci = section.spread->mean;
    step += " (95 %: " + costs.range(s.mean_cost * (1 + ci.lo), s.mean_cost * (1 + ci.hi)) + ")";
  }
  step += ", usual (median) " + costs.text(s.median_cost) + ", slowest 5 % from " +
          costs.text(s.p95_cost);
  if (s.wall_cost) step += ", with everything between (wall) " + costs.text(*s.wall_cost);
  if (s.steps_a_line > 1) {
    step += fmt::format("; each line is the mean of {} steps", s.steps_a_line);
  }
  add("step", std::move(step));
  // Slow lines that are few are told as outliers.
  if (s.levels && s.levels->slow_share * static_cast<double>(s.lines) >
                      2.0 * static_cast<double>(s.outliers.count)) {
    add("two speeds", levels_text(*s.levels, costs), true);
  }
  if (s.left_out.total() > 0) add("left out", left_out_text(s.left_out));
  if (s.outliers.count > 0) {
    add("outliers", outliers_text(s, costs), s.outliers.excess_share >= 0.05);
  }
  if (s.drift) {
    add("drift", change_text(s.drift->change) + " in the last fifth than in the first", true);
  }
  if (s.segments.size() > 1) {
    std::string text = fmt::format("{} segments (a resumed run, or several)", s.segments.size());
    std::size_t shown = 0;
    for (const SegmentSummary& segment : s.segments) {
      if (!segment.change || ++shown > 3) continue;
      text += fmt::format("; segment {} (line {}) is {} than the one before", segment.number,
                          count_text(segment.first_line), change_text(*segment.change));
    }
    if (shown > 3) text += fmt::format("; {} more changes", shown - 3);
    add("segments", text + "; --segment N or last selects one", shown > 0);
  }
  if (!s.pauses.empty()) add("pauses", pauses_text(s.pauses));
}

std::string figure_name(const LoggedFigure& figure) {
  if (!figure.is_ratio) {
    return teraflops(figure.value) + " per GPU" +
           (figure.hardware ? " (hardware FLOPs, with recomputation)" : "");
  }
  std::string text = "MFU " + format_percent(figure.value, 2);
  if (figure.value > 1) text += " (impossible)";
  if (figure.against_flops) text += " of " + teraflops(*figure.against_flops);
  return text;
}

std::string hypothesis_of(const Match& match, const Calculation& calculation) {
  return match_convention(match) + match_changes(match, calculation);
}

std::string figure_text(const LoggedFigure& figure, const Calculation& calculation,
                        std::optional<std::string>& reproduced_by) {
  std::string text = figure_name(figure);
  if (!figure.recounted) return text + ": not recounted, without a model and its measurement";
  const std::vector<Match>& matches = figure.detection.matches;
  if (const Match* match = figure.match()) {
    reproduced_by = hypothesis_of(*match, calculation);
    text += ": reproduced by " + *reproduced_by;
    if (figure.detection.ties > 1) {
      text += fmt::format(", and by {} other hypotheses", figure.detection.ties - 1);
    }
    return text;
  }
  text += ": not reproduced";
  if (!matches.empty()) {
    text += fmt::format("; nearest {}, {:+.1f} %", hypothesis_of(matches.front(), calculation),
                        100 * matches.front().relative_error);
  }
  return text;
}

}  // namespace

LogSection describe_log(const TrainingLog& log, LogSummary summary, Calculation calculation,
                        std::vector<LogSource> sources) {
  LogSection section;
  section.format = log.format;
  section.sources = std::move(sources);
  const std::string missing = missing_of(calculation);
  section.calc = describe_calc(std::move(calculation));
  const Calculation& c = section.calc.calculation;
  section.reported = logged_figures(summary, log, c);
  section.summary = std::move(summary);
  const LogSummary& s = section.summary;
  if (!missing.empty()) section.calc.mfu_missing = missing;
  if (c.results.empty() && c.ratio) {
    // The log's own count: only its framework is known.
    section.calc.fingerprint = fingerprint_of("as-logged:" + log.format, "", c.input.peak);
    section.calc.advice = {
        fmt::format("The TFLOP/s are the log's own ({}): with --model, --seq-len and --batch they "
                    "are recounted under a named convention.",
                    log.format)};
  }

  if (c.results.empty() && !c.ratio) section.calc.advice.clear();

  std::optional<double> seconds_of_cost;
  if (s.basis == StepBasis::step) {
    seconds_of_cost = 1.0;
  } else if (c.step_seconds) {
    seconds_of_cost = *c.step_seconds / s.cost;
  } else {
    section.seconds_missing =
        "the log prints rates but no times, and the tokens per step are not known";
  }
  if (seconds_of_cost) {
    section.p50_seconds = s.median_cost * *seconds_of_cost;
    section.mean_seconds = s.mean_cost * *seconds_of_cost;
    section.p95_seconds = s.p95_cost * *seconds_of_cost;
    if (s.interval_known) {
      section.p50_seconds_ci =
          Interval{s.median_ci.lo * *seconds_of_cost, s.median_ci.hi * *seconds_of_cost};
    }
  }
  section.spread = spread_of(s);
  if (seconds_of_cost) section.headline_seconds = s.cost * *seconds_of_cost;
  section.wall_seconds = s.wall_cost;
  if (s.statistic == LogStatistic::median) {
    section.headline_relative = s.median_relative();
  } else if (s.statistic == LogStatistic::mean && section.spread) {
    section.headline_relative = section.spread->mean;
  }
  section.parallel = log.parallel;
  section.title = title_of(section, log);
  section.steps_line = steps_line_of(s);
  add_lines(section, Costs(s, seconds_of_cost));
  for (const LoggedFigure& figure : section.reported) {
    std::optional<std::string> by;
    section.reported_texts.push_back(figure_text(figure, c, by));
    if (&figure == &section.reported.front()) section.reproduced_by = by;
  }
  return section;
}

}  // namespace mfu
