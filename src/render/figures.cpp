#include "render/figures.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "mfu/quantity.hpp"
#include "render/plan_forms.hpp"
#include "report/compare/compare_section.hpp"
#include "report/compare/history_section.hpp"
#include "report/diagnose/diagnose_section.hpp"
#include "report/measure/calc_section.hpp"
#include "report/measure/log_section.hpp"
#include "report/plan/plan_section.hpp"

namespace mfu::render {
namespace {

using Value = std::optional<double>;

std::string bare(double value) { return fmt::format("{:.6g}", value); }

class Gathering {
 public:
  explicit Gathering(Gist& gist) : gist_(gist) {}

  void ratio(std::string_view id, std::string_view label, const Value& value,
             std::string_view help) {
    add(id, label, value, help, [](double v) { return format_percent(v, 2); });
  }
  void seconds(std::string_view id, std::string_view label, const Value& value,
               std::string_view help) {
    add(id, label, value, help, [](double v) { return format_seconds(v); });
  }
  void count(std::string_view id, std::string_view label, const Value& value,
             std::string_view help) {
    add(id, label, value, help, [](double v) { return format_grouped(v); });
  }
  void flops(std::string_view id, std::string_view label, const Value& value,
             std::string_view help) {
    add(id, label, value, help, [](double v) { return fmt::format("{:.5g} TFLOP/s", v / 1e12); });
  }
  void change(std::string_view id, std::string_view label, const Value& value,
              std::string_view help) {
    add(id, label, value, help, [](double v) { return fmt::format("{:+.2f} %", 100 * v); });
  }
  void setup(std::string_view id, std::string_view label, std::string text) {
    if (!text.empty()) gist_.setup.push_back({id, label, std::move(text)});
  }
  void remark(std::string_view id, std::string_view label, std::string text) {
    if (!text.empty()) gist_.remarks.push_back({id, label, std::move(text)});
  }

 private:
  template <typename Text>
  void add(std::string_view id, std::string_view label, const Value& value, std::string_view help,
           const Text& text) {
    if (!value || !std::isfinite(*value)) return;
    gist_.figures.push_back({id, label, *value, text(*value), help});
  }
  Gist& gist_;
};

std::string setup_number(const Value& value) { return value ? bare(*value) : std::string(); }

void gather_calc(Gist& gist, const CalcSection& section) {
  const Calculation& c = section.calculation;
  Gathering all(gist);
  gist.status = to_string(section.status);
  gist.impossible = section.status == CalcStatus::impossible;
  gist.missing = section.mfu_missing;
  gist.impossible_because = section.impossible_because;
  all.ratio("mfu_ratio", "MFU", c.mfu(), "Model FLOPs utilization, 0 to 1");
  all.ratio("hfu_ratio", "HFU", c.hfu(), "Hardware FLOPs utilization, with recomputation, 0 to 1");
  all.count("tokens_per_second", "tokens/s", c.tokens_per_second, "Tokens per second, whole job");
  all.count("tokens_per_second_per_gpu", "tokens/s per GPU", c.tokens_per_second_per_gpu,
            "Tokens per second per GPU");
  all.flops("achieved_flops_per_second_per_gpu", "achieved per GPU", c.achieved_flops,
            "Achieved FLOP/s per GPU under the convention");
  const CalcInput& input = c.input;
  if (input.peak) {
    all.flops("peak_flops_per_second_per_gpu", "peak per GPU", input.peak->flops,
              "Peak FLOP/s per GPU that the MFU refers to");
  }
  all.setup("model", "model", input.model ? input.model->name : std::string());
  all.setup("chip", "chip",
            input.peak && input.peak->chip != nullptr ? std::string(input.peak->chip->id)
                                                      : std::string());
  all.setup("gpus", "GPUs", setup_number(input.gpus));
  all.setup("seq_len", "sequence length", setup_number(input.seq_len));
  all.setup("tokens_per_step", "tokens a step", setup_number(c.tokens_per_step));
  all.setup("convention", "convention",
            c.results.empty() ? std::string() : std::string(c.results.front().convention->id));
  all.setup("fingerprint", "fingerprint", to_text(section.fingerprint));
  if (section.references) all.remark("references", "published", section.references->line);
}

void gather_log(Gist& gist, const LogSection& section) {
  gather_calc(gist, section.calc);
  Gathering all(gist);
  const LogSummary& s = section.summary;
  all.seconds(
      "step_seconds", "step of the headline", section.headline_seconds,
      "Step time of the headline: total time over total steps, unless another statistic was "
      "asked for");
  if (section.headline_seconds && section.headline_relative) {
    all.seconds("step_low_seconds", "step, 95 % from",
                *section.headline_seconds * (1 + section.headline_relative->lo),
                "Lower end of the 95 % interval of that step time");
    all.seconds("step_high_seconds", "step, 95 % to",
                *section.headline_seconds * (1 + section.headline_relative->hi),
                "Upper end of the 95 % interval of that step time");
  }
  all.seconds("step_mean_seconds", "step, mean", section.mean_seconds,
              "Total time over total steps");
  all.seconds("step_usual_seconds", "step, usual", section.p50_seconds, "Median step time");
  all.seconds("step_wall_seconds", "step, wall", section.wall_seconds,
              "From the first to the last step with everything between, a step");
  all.seconds("step_p95_seconds", "step, 95th percentile", section.p95_seconds,
              "95th percentile of the step time");
  all.ratio("outlier_time_ratio", "time in outlier steps", s.outliers.time_share,
            "Share of the time that outlier steps take");
  all.count("steps_used", "steps counted", static_cast<double>(s.used), "Steps that count");
  all.count("steps_left_out", "steps left out", static_cast<double>(s.left_out.total()),
            "Steps that do not count: warm-up, implausible, another batch");
  all.setup("statistic", "step of the headline is", std::string(to_string(s.statistic)));
  all.setup("format", "log", section.format);
  for (const std::string& text : section.reported_texts) all.remark("reported", "log says", text);
  for (const LogSection::Line& line : section.lines) all.remark("line", line.label, line.text);
}

void gather_compare(Gist& gist, const CompareSection& section) {
  const Comparison& c = section.comparison;
  Gathering all(gist);
  gist.status = c.comparable ? std::string(to_string(c.outcome)) : "refused";
  all.ratio("mfu_ratio", "MFU after", c.mfu_after, "Model FLOPs utilization after, 0 to 1");
  all.ratio("mfu_before_ratio", "MFU before", c.mfu_before,
            "Model FLOPs utilization before, 0 to 1");
  all.seconds("step_seconds", "step after", c.step_after, "Mean step time after");
  all.seconds("step_before_seconds", "step before", c.step_before, "Mean step time before");
  if (c.comparable) {
    all.change("speed_change_ratio", "change of speed", c.relative_change(),
               "Speed after over before, minus 1");
    if (const std::optional<Interval> ci = c.relative_ci()) {
      all.change("speed_change_low_ratio", "change, 95 % from", ci->lo,
                 "Lower end of the 95 % interval of the change of speed");
      all.change("speed_change_high_ratio", "change, 95 % to", ci->hi,
                 "Upper end of the 95 % interval of the change of speed");
    }
  }
  const Side& after = section.comparison.detail->after;
  all.setup("model", "model", after.model);
  all.setup("chip", "chip", after.chip);
  all.setup("gpus", "GPUs", setup_number(after.gpus));
  all.setup("seq_len", "sequence length", setup_number(after.seq_len));
  all.setup("tokens_per_step", "tokens a step", setup_number(after.tokens_per_step));
  all.setup("convention", "convention", counted_by(after.fingerprint));
  all.setup("fingerprint", "fingerprint", to_text(after.fingerprint));
  all.setup("verdict", "verdict", c.comparable ? std::string(to_string(c.outcome)) : "refused");
  all.remark("before", "before", section.before_title);
  all.remark("after", "after", section.after_title);
  all.remark("moved", "moved", section.moved_line);
  all.remark("aim", "aim", section.expected_line);
  all.remark("basis", "basis", section.restated_line);
  for (const std::string& reason : section.reason_texts) all.remark("reason", "reason", reason);
  for (std::size_t i = 0; i < c.factors.size(); ++i) {
    all.remark(
        "factor", "factor",
        section.factor_labels[i] + " " + fmt::format("x {:.4f}", std::exp(c.factors[i].log_ratio)));
  }
  all.remark("differs", "differs", section.credit);
  for (const std::string& text : section.difference_texts) all.remark("differs", "differs", text);
  for (const std::string& text : section.cautions) all.remark("note", "note", text);
  gist.answer = section.verdict_line;
}

void gather_diagnose(Gist& gist, const DiagnoseSection& section) {
  Gathering all(gist);
  const Headline& headline = section.diagnosis.headline;
  const Setup& setup = section.diagnosis.detail->setup;
  const Verdict& verdict = section.diagnosis.verdict;
  gist.status = to_string(section.status);
  gist.impossible = section.status == CalcStatus::impossible;
  gist.missing = section.mfu_missing;
  gist.impossible_because = section.impossible_because;
  all.ratio("mfu_ratio", "MFU", headline.mfu, "Model FLOPs utilization, 0 to 1");
  all.ratio("hfu_ratio", "HFU", section.hfu,
            "Hardware FLOPs utilization, with recomputation, 0 to 1");
  all.ratio("parallel_efficiency_ratio", "parallel efficiency", headline.parallel_efficiency,
            "What the job keeps of its ranks' own speed, 0 to 1");
  all.seconds("step_seconds", "step, typical", headline.step_seconds, "Typical step time");
  all.seconds("step_p95_seconds", "step, 95th percentile", headline.p95_seconds,
              "95th percentile of the step time");
  all.count("tokens_per_second", "tokens/s", headline.tokens_per_second,
            "Tokens per second, whole job");
  if (verdict.recoverable) {
    all.seconds("recoverable_step_seconds", "step if fixed", verdict.recoverable->step_seconds,
                "Step time that is left if the verdict's cause alone were fixed");
  }
  if (section.replay) {
    all.seconds("replay_ideal_step_seconds", "step, ideal schedule",
                section.replay->replay.ideal_step_s,
                "Step time of the recorded schedule with each kind of operation at its usual time");
  }
  all.count("steps_used", "steps counted",
            static_cast<double>(section.diagnosis.detail->steps_used.size()), "Steps that count");
  all.setup("model", "model", setup.model);
  all.setup("chip", "chip", setup.chip_id);
  all.setup("gpus", "GPUs", setup.gpus > 0 ? fmt::format("{}", setup.gpus) : std::string());
  all.setup("seq_len", "sequence length", setup_number(setup.seq_len));
  all.setup("tokens_per_step", "tokens a step", setup_number(setup.tokens_per_step));
  all.setup("convention", "convention", setup.convention);
  all.setup("fingerprint", "fingerprint", to_text(section.fingerprint));
  all.setup("verdict", "verdict", std::string(to_string(verdict.family)));
  all.remark("verdict", "verdict", section.verdict_line);
  for (const std::string& why : section.why) all.remark("why", "why", why);
  all.remark("worth", "worth", section.worth);
  for (const std::string& action : section.actions) all.remark("try", "try", action);
  all.remark("owner", "owner", section.owner);
  all.remark("verify", "verify", section.verify);
  for (const std::string& also : section.also) all.remark("also", "also", also);
  if (section.references) all.remark("references", "published", section.references->line);
}

// Each form places the records itself.
void gather_history(Gist& gist, const HistorySection& section) {
  Gathering all(gist);
  gist.answer = section.title;
  for (std::size_t i = 0; i < section.series.size(); ++i) {
    const HistorySection::SeriesText& words = section.texts[i];
    all.remark("job", words.title, words.baseline);
    for (const std::string& change : words.changes) {
      all.remark("change", section.series[i].job, change);
    }
    all.setup("fingerprint", "fingerprint", to_text(section.series[i].fingerprint));
  }
}

}  // namespace

const Figure* Gist::find(std::string_view id) const noexcept {
  for (const Figure& figure : figures) {
    if (figure.id == id) return &figure;
  }
  return nullptr;
}

std::string_view Gist::setup_text(std::string_view id) const noexcept {
  for (const Fact& fact : setup) {
    if (fact.id == id) return fact.text;
  }
  return {};
}

std::string_view main_input(const Report& report) noexcept {
  if (report.compare) return report.compare->comparison.detail->after.name;
  return report.inputs.empty() ? std::string_view() : report.inputs.front().path;
}

bool is_of_history(const Report& report) noexcept {
  return report.history && report.history->action != HistoryAction::against;
}

Gist gist_of(const Report& report, std::string_view form) {
  if (report.plan) return plan_gist(*report.plan);
  Gist gist;
  if (report.log) {
    gather_log(gist, *report.log);
  } else if (report.calc && !report.calc->rebase) {
    gather_calc(gist, *report.calc);
    Gathering(gist).seconds("step_seconds", "step", report.calc->calculation.step_seconds,
                            "Step time");
  } else if (report.diagnose) {
    gather_diagnose(gist, *report.diagnose);
  } else if (report.compare) {
    gather_compare(gist, *report.compare);
    return gist;
  } else if (report.history && form == "md") {
    gather_history(gist, *report.history);
    return gist;
  } else {
    Place place;
    place.what = "--out";
    throw Error(ErrorKind::unsupported,
                fmt::format("mfu {} has no {} output", report.command, form), place,
                report.history ? "it has text, json, md and csv" : "it has text and json");
  }
  if (report.history) {
    Gathering(gist).remark("history", "history", report.history->against_line);
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kAnswer{
      {{"mfu_ratio", "MFU "},
       {"hfu_ratio", "HFU "},
       {"step_seconds", "step "},
       {"tokens_per_second", ""}}};
  const Figure* mfu = gist.find("mfu_ratio");
  for (const auto& [id, before] : kAnswer) {
    const Figure* figure = gist.find(id);
    if (figure == nullptr) continue;
    // Without recomputation HFU is MFU.
    if (id == "hfu_ratio" && mfu != nullptr && figure->value <= mfu->value * (1 + 1e-9)) continue;
    const bool ratio = id == "mfu_ratio" || id == "hfu_ratio";
    gist.answer += (gist.answer.empty() ? "" : ", ") + std::string(before) +
                   (ratio ? format_percent(figure->value) : figure->text);
    if (id == "tokens_per_second") gist.answer += " tokens/s";
  }
  if (gist.impossible) gist.answer += " (impossible)";
  if (mfu == nullptr && gist.find("hfu_ratio") == nullptr) {
    gist.answer = "no MFU" + (gist.answer.empty() ? std::string() : ", " + gist.answer);
  }
  // An MFU over 1 is not a figure of a run or a plan: the answer and the status say so in words.
  std::erase_if(gist.figures, [](const Figure& figure) {
    return (figure.id == "mfu_ratio" || figure.id == "hfu_ratio") && figure.value > 1.0 + 1e-9;
  });
  return gist;
}

std::string gate_text(const Gate& gate) {
  return fmt::format("--{} {}: {}, {}", gate.id, gate.limit, gate.value_text,
                     gate.passed ? "passed" : "FAILED");
}

std::string cut_to_bytes(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  text.resize(most);
  return text;
}

}  // namespace mfu::render
