#include "report/diagnose/worth_wording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/time_scale.hpp"
#include "diagnose/detail.hpp"
#include "diagnose/evidence.hpp"
#include "diagnose/worth/fix_worth.hpp"
#include "mfu/quantity.hpp"
#include "report/wording.hpp"

namespace mfu {
namespace {

// An amount that people compare: three digits at least, grouped, millions shortened.
std::string amount(double value) {
  const double size = std::fabs(value);
  if (size >= 999'999.5) return format_si(value, "");
  if (size >= 99.95) return format_grouped(std::round(value));
  return fmt::format("{:.{}f}", value, size < 9.995 ? 2 : 1);
}

std::string duration(double seconds) {
  if (seconds >= 86400.0) return fmt::format("{:.3g} days", seconds / 86400.0);
  if (seconds >= 3600.0) return fmt::format("{:.3g} hours", seconds / 3600.0);
  return format_seconds(seconds);
}

std::string stage_label(FixStage stage, double target) {
  switch (stage) {
    case FixStage::actual:
      return "as it is";
    case FixStage::bursts_and_links:
      return "1 slow places, stalls";
    case FixStage::balanced:
      return "2 balanced work";
    case FixStage::gpu_at_target:
      return fmt::format("3 GPUs at {}", format_percent(target, 0));
  }
  return "";
}

class Table {
 public:
  Table(const Diagnosis& diagnosis, WorthSection& section)
      : section_(section),
        has_mfu_(diagnosis.headline.mfu.has_value()),
        scale_(time_scale(section.basis.step_seconds)) {
    std::vector<std::string>& headers = section_.headers;
    headers = {"step"};
    if (has_mfu_) headers.emplace_back("MFU");
    headers.emplace_back("factor");
    const CostBasis& basis = section_.basis;
    headers.emplace_back(basis.steps_left ? "GPU-h left" : "GPU-h a day");
    if (basis.price_per_gpu_hour)
      headers.emplace_back(basis.steps_left ? "cost left" : "cost a day");
  }

  void heading(std::string text) { section_.rows.push_back({std::move(text), {}}); }

  // `saved`: seconds a step that this row adds; nothing: the job as it is.
  void row(std::string label, double step, const std::optional<double>& mfu,
           std::optional<double> saved, double ratio) {
    std::vector<std::string> cells{
        fmt::format("{:.{}f} {}", step / scale_.unit_seconds, scale_.decimals, scale_.unit)};
    if (has_mfu_) cells.push_back(mfu ? format_percent(*mfu) : std::string());
    cells.push_back(saved ? fmt::format("x {:.3f}", ratio) : std::string());
    if (saved) {
      const Cost cost = cost_of(*saved, section_.basis);
      cells.push_back(amount(cost.gpu_hours_left.value_or(cost.gpu_hours_a_day)));
      const std::optional<double>& money = cost.money_left ? cost.money_left : cost.money_a_day;
      if (money) cells.push_back(amount(*money));
    }
    cells.resize(section_.headers.size());
    section_.rows.push_back({std::move(label), std::move(cells)});
  }

 private:
  WorthSection& section_;
  bool has_mfu_;
  TimeScale scale_;
};

std::string title_of(const CostBasis& basis, const std::optional<EndState>& end_state) {
  std::string text = "What a fix is worth";
  if (end_state) text += fmt::format(" from step {} on", end_state->first_step);
  std::string by;
  const auto add = [&by](const std::string& piece) { by += (by.empty() ? "" : ", ") + piece; };
  if (basis.price_per_gpu_hour || basis.steps_left) {
    add(fmt::format("{} {}", basis.gpus, basis.gpus == 1 ? "GPU" : "GPUs"));
  }
  if (basis.price_per_gpu_hour) add(fmt::format("{:.6g} an hour each", *basis.price_per_gpu_hour));
  if (basis.steps_left) add(format_grouped(*basis.steps_left) + " steps left");
  return by.empty() ? text : text + " (" + by + ")";
}

// Why the table covers other steps than the rest of the screen.
void add_end_state(const Diagnosis& diagnosis, WorthSection& section) {
  if (!section.end_state) return;
  section.remarks.push_back(fmt::format(
      "as the run is at its end, {} {} from step {} on: the rest of the job continues like this "
      "({} a step; over all steps {})",
      section.end_state->steps, section.end_state->steps == 1 ? "step" : "steps",
      section.end_state->first_step, format_seconds(section.basis.step_seconds),
      format_seconds(diagnosis.headline.step_seconds)));
  for (const Finding& finding : diagnosis.detail->findings) {
    if (!finding.gone_since_step || !finding.material) continue;
    const Subject subject =
        subject_of(finding.locality, finding.culprits, diagnosis.detail->setup.stages);
    section.remarks.push_back(fmt::format(
        "{}{}{}: gone since step {}, nothing is left to save", family_name(finding.family),
        subject.name.empty() ? "" : ", ", subject.name, *finding.gone_since_step));
  }
}

void add_remarks(const Diagnosis& diagnosis, const FixWorth& worth, WorthSection& section) {
  const double actual = worth.chain.front().step_seconds;
  for (const FamilyWorth& entry : worth.alone) {
    const double alone = actual - entry.step_seconds;
    if (entry.in_order_seconds < 0.01 * actual || alone > 0.5 * entry.in_order_seconds) continue;
    section.remarks.push_back(fmt::format("{}: {} a step once what comes before it is fixed",
                                          family_name(entry.family),
                                          format_seconds(entry.in_order_seconds)));
  }
  if (diagnosis.verdict.family == Family::inconclusive) {
    section.remarks.emplace_back(
        "the verdict is open: this holds only if the measurement confirms it");
  }
  const Cost whole = cost_of(actual - worth.chain.back().step_seconds, section.basis);
  if (whole.seconds_left && *whole.seconds_left > 0.0) {
    section.remarks.push_back(
        fmt::format("all of them: the job ends {} earlier", duration(*whole.seconds_left)));
  }
}

}  // namespace

std::optional<WorthSection> describe_worth(const Diagnosis& diagnosis, const WorthAsk& ask) {
  if (!diagnosis.detail->worth) return std::nullopt;
  WorthSection section;
  section.worth = *diagnosis.detail->worth;
  section.end_state = diagnosis.detail->end_state;
  const FixWorth& worth =
      diagnosis.detail->end_state ? diagnosis.detail->end_state->worth : *diagnosis.detail->worth;
  const double actual = worth.chain.front().step_seconds;
  section.basis = {diagnosis.detail->setup.gpus,
                   diagnosis.detail->end_state ? actual : diagnosis.headline.step_seconds,
                   ask.steps_left, ask.price_per_gpu_hour};
  section.title = title_of(section.basis, section.end_state);
  const std::vector<FamilyWorth>& alone = worth.alone;
  const bool all =
      ask.show || std::none_of(alone.begin(), alone.end(),
                               [](const FamilyWorth& entry) { return entry.material; });
  const auto material = std::count_if(alone.begin(), alone.end(),
                                      [](const FamilyWorth& entry) { return entry.material; });
  section.on_screen = ask.show || ask.price_per_gpu_hour || ask.steps_left ||
                      (material > 1 && diagnosis.verdict.family != Family::inconclusive);

  Table table(diagnosis, section);
  if (!alone.empty()) table.heading("Each alone");
  for (const FamilyWorth& entry : alone) {
    // A remark says what it is worth after the others.
    if (!entry.material && !all) continue;
    table.row(family_name(entry.family), entry.step_seconds, entry.mfu, actual - entry.step_seconds,
              entry.step_seconds / actual);
  }
  table.heading("All of them, in this order");
  double before = actual;
  for (const ChainStep& step : worth.chain) {
    const bool first = step.stage == FixStage::actual;
    table.row(stage_label(step.stage, diagnosis.detail->target_efficiency), step.step_seconds,
              step.mfu, first ? std::nullopt : std::optional(before - step.step_seconds),
              step.ratio);
    before = step.step_seconds;
  }
  add_end_state(diagnosis, section);
  add_remarks(diagnosis, worth, section);
  return section;
}

}  // namespace mfu
