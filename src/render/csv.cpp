// CSV: a header and one row, the same columns for every command, so that rows of many runs can be
// put under one another. RFC 4180 with newlines; SI units; unknown is empty.
#include <fmt/format.h>

#include <array>

#include "render/columns.hpp"
#include "render/figures.hpp"
#include "render/plan_forms.hpp"
#include "render/renderers.hpp"
#include "report/compare/history_section.hpp"
#include "report/plan/plan_section.hpp"

namespace mfu::render {
namespace {

constexpr std::array<std::string_view, 13> kFigures{"mfu_ratio",
                                                    "hfu_ratio",
                                                    "parallel_efficiency_ratio",
                                                    "step_seconds",
                                                    "step_low_seconds",
                                                    "step_high_seconds",
                                                    "step_mean_seconds",
                                                    "step_p95_seconds",
                                                    "tokens_per_second",
                                                    "tokens_per_second_per_gpu",
                                                    "achieved_flops_per_second_per_gpu",
                                                    "outlier_time_ratio",
                                                    "steps_used"};
constexpr std::array<std::string_view, 9> kSetup{
    "model",      "chip",    "gpus",   "seq_len",    "tokens_per_step",
    "convention", "verdict", "format", "fingerprint"};

// Names come from files: a cell that a spreadsheet would take for a formula gets an apostrophe.
std::string csv_cell(std::string_view text) {
  std::string clean = printable(text);
  if (!clean.empty() && std::string_view("=+-@").find(clean.front()) != std::string_view::npos) {
    clean.insert(clean.begin(), '\'');
  }
  if (clean.find_first_of(",\"\r\n") == std::string::npos) return clean;
  std::string quoted = "\"";
  for (const char c : clean) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

// Of mfu history: a row a record, in the order of the screen.
std::string records(const HistorySection& section) {
  std::string out =
      "job,label,time,command,mfu_ratio,step_seconds,tokens_per_second,tokens_per_step,gpus,model,"
      "chip,verdict,fingerprint\n";
  const auto number = [](const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : std::string();
  };
  for (const HistorySeries& series : section.series) {
    for (const HistoryEntry& entry : series.entries) {
      out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_cell(entry.job),
                         csv_cell(entry.label), csv_cell(entry.time), csv_cell(entry.command),
                         number(entry.mfu), number(entry.step_seconds),
                         number(entry.tokens_per_second), number(entry.tokens_per_step),
                         number(entry.gpus), csv_cell(entry.model), csv_cell(entry.chip),
                         csv_cell(entry.verdict), csv_cell(to_text(entry.fingerprint)));
    }
  }
  return out;
}

}  // namespace

std::string render_csv(const Report& report, const RenderStyle& /*style*/) {
  if (report.plan) return plan_csv(*report.plan);
  if (is_of_history(report)) return records(*report.history);
  const Gist gist = gist_of(report, "csv");
  std::string header = "command,input";
  std::string row = csv_cell(report.command) + "," + csv_cell(main_input(report));
  header += ",status";
  row += "," + csv_cell(gist.status);
  for (const std::string_view id : kFigures) {
    header += fmt::format(",{}", id);
    const Figure* figure = gist.find(id);
    row += ",";
    if (figure != nullptr) row += fmt::format("{}", figure->value);
  }
  for (const std::string_view id : kSetup) {
    header += fmt::format(",{}", id);
    row += "," + csv_cell(gist.setup_text(id));
  }
  std::size_t failed = 0;
  for (const Gate& gate : report.gates) failed += gate.passed ? 0U : 1U;
  header += ",gates,gates_failed\n";
  row += fmt::format(",{},{}\n", report.gates.size(), failed);
  return header + row;
}

}  // namespace mfu::render
