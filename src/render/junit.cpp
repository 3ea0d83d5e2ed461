// JUnit XML: each gate is a test case; without gates, that there is an answer is the one.
#include <fmt/format.h>

#include "render/columns.hpp"
#include "render/figures.hpp"
#include "render/renderers.hpp"

namespace mfu::render {
namespace {

// XML 1.0 has no control characters at all, not even as references: printable() takes them out.
std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&apos;";
        break;
      default:
        out += c;
    }
  }
  // U+FFFE and U+FFFF are not XML characters either.
  for (const std::string_view none : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (std::size_t at = out.find(none); at != std::string::npos; at = out.find(none)) {
      out.replace(at, none.size(), "?");
    }
  }
  return out;
}

}  // namespace

std::string render_junit(const Report& report, const RenderStyle& /*style*/) {
  const Gist gist = gist_of(report, "junit");
  std::size_t failed = 0;
  for (const Gate& gate : report.gates) failed += gate.passed ? 0U : 1U;
  const std::size_t cases = report.gates.empty() ? 1 : report.gates.size();
  const std::string suite = "mfu " + report.command;
  const std::string counts = fmt::format(
      "tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"0\" time=\"0\"", cases, failed);
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format("<testsuites name=\"mfu\" {}>\n", counts);
  out += fmt::format("  <testsuite name=\"{}\" {}>\n    <properties>\n", xml_text(suite), counts);
  for (const Figure& figure : gist.figures) {
    out += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", xml_text(figure.id),
                       figure.value);
  }
  for (const Fact& fact : gist.setup) {
    out += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", xml_text(fact.id),
                       xml_text(fact.text));
  }
  out += "    </properties>\n";
  const std::string group = "mfu." + report.command;
  if (report.gates.empty()) {
    out += fmt::format("    <testcase classname=\"{}\" name=\"answered\" time=\"0\"/>\n",
                       xml_text(group));
  }
  for (const Gate& gate : report.gates) {
    const std::string head =
        fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"0\"", xml_text(group),
                    xml_text(fmt::format("--{} {}", gate.id, gate.limit)));
    if (gate.passed) {
      out += head + "/>\n";
      continue;
    }
    out += fmt::format(
        "{}>\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n"
        "    </testcase>\n",
        head, xml_text(gate.id), xml_text(gate.value_text), xml_text(gist.answer));
  }
  out += fmt::format("    <system-out>{}</system-out>\n  </testsuite>\n</testsuites>\n",
                     xml_text(gist.answer));
  return out;
}

}  // namespace mfu::render
