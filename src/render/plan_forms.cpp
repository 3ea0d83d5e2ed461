// A plan in the other forms: its gist, its tables in Markdown, its schedule as CSV.
#include "render/plan_forms.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "mfu/quantity.hpp"
#include "report/plan/plan_section.hpp"

namespace mfu::render {
namespace {

// Cells hold words and numbers of ours, but names come from the user.
std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
      continue;
    }
    if (c == '|' || c == '\\' || c == '`' || c == '*' || c == '_') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

Gist plan_gist(const PlanSection& section) {
  const PlanFindings& f = section.findings;
  const Plan& plan = f.plan;
  Gist gist;
  gist.status = section.status;
  gist.impossible = plan.impossible;
  gist.missing = section.open_text;
  for (const std::string& piece : section.headline) {
    gist.answer += (gist.answer.empty() ? "" : ", ") + piece;
  }
  const auto figure = [&](std::string_view id, std::string_view label,
                          const std::optional<double>& value, std::string text,
                          std::string_view help) {
    if (!value || !std::isfinite(*value)) return;
    gist.figures.push_back({id, label, *value, std::move(text), help});
  };
  figure("plan_seconds", "time", plan.seconds, long_time_text(plan.seconds.value_or(0.0)),
         "Wall time of the run");
  const double whole_gpus = plan.gpus_at_most ? std::floor(plan.gpus.value_or(0.0) * (1.0 + 1e-9))
                                              : std::ceil(plan.gpus.value_or(0.0) * (1.0 - 1e-9));
  figure("plan_gpus", "GPUs", plan.gpus, format_grouped(whole_gpus), "GPUs of the run");
  // An MFU over 1 is not a figure of a run: the answer and the status say so in words.
  if (plan.mfu.value_or(0.0) <= 1.0) {
    figure("mfu_ratio", "MFU", plan.mfu, format_percent(plan.mfu.value_or(0.0), 2),
           "Model FLOPs utilization, 0 to 1");
  }
  figure("plan_tokens", "tokens", plan.tokens, format_grouped(plan.tokens.value_or(0.0)),
         "Tokens of the run");
  if (plan.gpu_seconds) {
    const double hours = *plan.gpu_seconds / 3600.0;
    figure("plan_gpu_hours", "GPU-hours", hours, format_grouped(hours), "GPU-hours of the run");
  }
  figure("plan_cost", "cost", plan.cost, money_text(plan.cost.value_or(0.0), f.currency),
         "Cost of the run, in the currency of its price");
  figure("plan_energy_joules", "energy at most", plan.energy_joules,
         format_si(plan.energy_joules.value_or(0.0) / 3600.0, "Wh"),
         "Energy of the GPUs at their power limit: an upper bound");
  figure("plan_flops", "work", plan.total_flops, flop_text(plan.total_flops.value_or(0.0)),
         "Model FLOPs of the run");
  // Without failures there is no goodput to show.
  figure("goodput_ratio", "goodput",
         plan.input.failures || plan.input.goodput ? plan.goodput : std::nullopt,
         format_percent(plan.goodput.value_or(0.0), 2), "Step time over wall time, 0 to 1");
  const auto setup = [&](std::string_view id, std::string_view label, std::string text) {
    if (!text.empty()) gist.setup.push_back({id, label, std::move(text)});
  };
  setup("model", "model", f.model);
  setup("chip", "chip",
        f.peak && f.peak->chip != nullptr ? std::string(f.peak->chip->id) : std::string());
  setup("gpus", "GPUs", plan.gpus ? fmt::format("{:.6g}", *plan.gpus) : std::string());
  setup("convention", "convention",
        f.convention != nullptr ? std::string(f.convention->id) : std::string());
  setup("fingerprint", "fingerprint", to_text(section.fingerprint));
  for (const PlanLine& line : section.lines) {
    if (line.in_short_forms) gist.remarks.push_back({line.label, line.label, line.text});
  }
  for (const std::string* text : {&section.optimal_missing, &section.batch_missing}) {
    if (!text->empty()) gist.remarks.push_back({"missing", "note", *text});
  }
  for (const std::string& line : section.advice) {
    gist.remarks.push_back({"advice", "note", line});
  }
  return gist;
}

std::string plan_markdown(const PlanSection& section) {
  std::string out;
  for (const PlanTable& table : section.tables) {
    out += fmt::format("#### {}\n\n| |", markdown_cell(table.title));
    for (const std::string& head : table.heads) out += fmt::format(" {} |", markdown_cell(head));
    out += "\n|---|";
    for (std::size_t i = 0; i < table.heads.size(); ++i) out += "---:|";
    out += '\n';
    for (const PlanTable::Row& row : table.rows) {
      out += '|';
      for (std::size_t i = 0; i < row.cells.size(); ++i) {
        const bool own = i == 0 && row.own;
        out +=
            fmt::format(" {}{}{} |", own ? "**" : "", markdown_cell(row.cells[i]), own ? "**" : "");
      }
      out += '\n';
    }
    out += '\n';
    for (const std::string& remark : table.remarks)
      out += fmt::format("{}\n\n", markdown_cell(remark));
  }
  if (!section.left_out.empty()) out += "Left out:\n\n";
  for (const PlanLine& line : section.left_out) {
    out += fmt::format("- {}: {}\n", markdown_cell(line.label), markdown_cell(line.text));
  }
  return out.empty() ? out : out + "\n";
}

std::string plan_csv(const PlanSection& section) {
  if (!section.findings.schedule) {
    Place place;
    place.what = "--out";
    throw Error(ErrorKind::unsupported, "the csv of mfu plan is its schedule, and there is none",
                place, "--schedule cosine asks for one; json has the rest");
  }
  const ScheduleInput& schedule = *section.findings.schedule;
  std::string out = "step,tokens,share_of_peak,learning_rate,phase\n";
  for (const SchedulePoint& point : section.schedule) {
    out += fmt::format("{},", point.step);
    if (schedule.tokens_per_step) out += fmt::format("{}", point.step * *schedule.tokens_per_step);
    out += fmt::format(",{},", point.share);
    if (schedule.peak_rate) out += fmt::format("{}", point.share * *schedule.peak_rate);
    out += fmt::format(",{}\n", point.phase);
  }
  return out;
}

}  // namespace mfu::render
