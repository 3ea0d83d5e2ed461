// Prometheus text format for node_exporter's textfile collector: gauges without a timestamp. A
// figure that is not known has no sample.
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "render/columns.hpp"
#include "render/figures.hpp"
#include "render/renderers.hpp"
#include "report/compare/compare_section.hpp"
#include "report/diagnose/diagnose_section.hpp"

namespace mfu::render {
namespace {

std::string label_value(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return "\"" + out + "\"";
}

std::string help_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') out += '\\';
    out += c;
  }
  return out;
}

class Metrics {
 public:
  void head(std::string_view name, std::string_view help) {
    out_ += fmt::format("# HELP mfu_{} {}\n# TYPE mfu_{} gauge\n", name, help_text(help), name);
  }
  void sample(std::string_view name, std::string_view labels, double value) {
    out_ += fmt::format("mfu_{}{} {}\n", name,
                        labels.empty() ? std::string() : fmt::format("{{{}}}", labels), value);
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

}  // namespace

std::string render_prometheus(const Report& report, const RenderStyle& /*style*/) {
  const Gist gist = gist_of(report, "prom");
  // One series for each run that is watched: by what was read, which does not change from one
  // scrape to the next.
  const std::string run = fmt::format("command={},input={}", label_value(report.command),
                                      label_value(main_input(report)));
  Metrics metrics;
  metrics.head("report_info", "The run that the other samples describe");
  std::string labels =
      run + ",version=" + label_value(report.tool_version) + ",status=" + label_value(gist.status);
  for (const Fact& fact : gist.setup) {
    labels += fmt::format(",{}={}", fact.id, label_value(fact.text));
  }
  metrics.sample("report_info", labels, 1);
  for (const Figure& figure : gist.figures) {
    // mfu_mfu_ratio would stutter.
    const std::string_view name = figure.id == "mfu_ratio" ? "utilization_ratio" : figure.id;
    metrics.head(name, figure.help);
    metrics.sample(name, run, figure.value);
  }
  if (report.diagnose) {
    const Diagnosis& diagnosis = report.diagnose->diagnosis;
    metrics.head("part_seconds", "Seconds of a typical step by part; they sum to the step");
    for (const Part& part : diagnosis.parts) {
      metrics.sample("part_seconds",
                     fmt::format("{},part={}", run, label_value(to_string(part.id))), part.seconds);
    }
    metrics.head("factor_ratio", "Factors of the MFU; their product is the MFU");
    for (const Factor& factor : diagnosis.factors) {
      metrics.sample("factor_ratio",
                     fmt::format("{},factor={}", run, label_value(to_string(factor.id))),
                     factor.value);
    }
    metrics.head("verdict_confidence_ratio", "Confidence in the verdict, 0 to 1");
    metrics.sample("verdict_confidence_ratio", run, diagnosis.verdict.confidence);
  }
  if (report.compare && report.compare->comparison.comparable) {
    metrics.head("factor_change_ratio",
                 "Factors after over before; their product is the speed ratio");
    for (const FactorChange& factor : report.compare->comparison.factors) {
      metrics.sample("factor_change_ratio",
                     fmt::format("{},factor={}", run, label_value(factor.id)),
                     std::exp(factor.log_ratio));
    }
  }
  if (!report.gates.empty()) {
    metrics.head("gate_passed", "1 if the limit is met, 0 if not");
    for (const Gate& gate : report.gates) {
      metrics.sample(
          "gate_passed",
          fmt::format("{},gate={},limit={}", run, label_value(gate.id), label_value(gate.limit)),
          gate.passed ? 1 : 0);
    }
  }
  return metrics.take();
}

}  // namespace mfu::render
