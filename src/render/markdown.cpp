// Markdown for a comment on a pull request: the answer, the gates, then the figures.
#include <fmt/format.h>

#include "render/columns.hpp"
#include "render/figures.hpp"
#include "render/plan_forms.hpp"
#include "render/renderers.hpp"

namespace mfu::render {
namespace {

// Names come from files: none of it is markup, a mention or a link.
std::string escaped(std::string_view text) {
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
      case '@':
        out += "&#64;";
        break;
      case '|':
      case '\\':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
      case '#':
      case '~':
      case '!':
        out += '\\';
        out += c;
        break;
      case ':':
        out += "&#58;";  // no bare address becomes a link
        break;
      default:
        out += c;
    }
  }
  return out;
}

void row(std::string& out, std::string_view left, std::string_view right) {
  out += fmt::format("| {} | {} |\n", escaped(left), escaped(right));
}

std::string code(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) out += c == '`' ? '\'' : c;
  return "`" + out + "`";
}

}  // namespace

std::string render_markdown(const Report& report, const RenderStyle& /*style*/) {
  const Gist gist = gist_of(report, "markdown");
  std::string out =
      fmt::format("### mfu {}: {}\n\n", escaped(report.command), escaped(gist.answer));
  for (const Gate& gate : report.gates) {
    out += fmt::format("- {} {}\n", gate.passed ? "passed:" : "**FAILED:**",
                       escaped(fmt::format("--{} {}, {}", gate.id, gate.limit, gate.value_text)));
  }
  if (!report.gates.empty()) out += '\n';
  if (!gist.missing.empty()) out += escaped(gist.missing) + "\n\n";
  if (!gist.impossible_because.empty()) {
    out += "No GPU does more than its peak. What would explain it, likeliest first:\n\n";
    int number = 0;
    for (const std::string& line : gist.impossible_because) {
      out += fmt::format("{}. {}\n", ++number, escaped(line));
    }
    out += '\n';
  }
  out += "| | |\n|---|---:|\n";
  for (const Figure& figure : gist.figures) row(out, figure.label, figure.text);
  out += '\n';
  for (const Fact& remark : gist.remarks) {
    out += fmt::format("- {}: {}\n", escaped(remark.label), escaped(remark.text));
  }
  if (!gist.remarks.empty()) out += '\n';
  if (report.plan) out += plan_markdown(*report.plan);
  for (const Fact& fact : gist.setup) {
    if (fact.id == "fingerprint") out += code(fact.text) + "\n\n";
  }
  std::string notes;
  for (const Note& note : report.notes) {
    if (note.severity != Severity::info) notes += "- " + escaped(note.text) + "\n";
  }
  if (!notes.empty()) out += "Notes:\n\n" + notes + "\n";
  out += fmt::format("mfu {}\n", escaped(report.tool_version));
  return out;
}

}  // namespace mfu::render
