// Markdown for a comment on a pull request: the answer, the gates, then the figures.
#include <fmt/format.h>

#include <algorithm>

#include "base/time_scale.hpp"
#include "mfu/quantity.hpp"
#include "render/columns.hpp"
#include "render/figures.hpp"
#include "render/plan_forms.hpp"
#include "render/renderers.hpp"
#include "render/shown_sums.hpp"
#include "report/compare/history_section.hpp"
#include "report/diagnose/diagnose_section.hpp"
#include "report/diagnose/trace_section.hpp"
#include "report/plan/plan_section.hpp"

namespace mfu::render {
namespace {

bool ends_with_www(std::string_view text) {
  if (text.size() < 3) return false;
  text = text.substr(text.size() - 3);
  return std::all_of(text.begin(), text.end(), [](char c) { return c == 'w' || c == 'W'; });
}

// Names come from files: they must not act as markup, a mention or a link.
std::string markdown_text(std::string_view text) {
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
      // Mentions and references are looked for in what is shown: only a character between breaks
      // them.
      case '@':
        out += "&#64;&#8203;";
        break;
      case '#':
        out += "\\#&#8203;";
        break;
      case '|':
      case '\\':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
      case '~':
      case '!':
        out += '\\';
        out += c;
        break;
      case ':':
        out += "&#58;";  // no bare address becomes a link
        break;
      case '.':
        out += ends_with_www(out) ? "&#46;" : ".";
        break;
      default:
        out += c;
    }
  }
  return out;
}

void row(std::string& out, std::string_view left, std::string_view right) {
  out += fmt::format("| {} | {} |\n", markdown_text(left), markdown_text(right));
}

// Where the step goes. As on the screen, what is shown adds up to what is shown.
void parts(std::string& out, const DiagnoseSection& section) {
  const Diagnosis& diagnosis = section.diagnosis;
  const TimeScale scale = time_scale(diagnosis.headline.step_seconds);
  std::vector<double> seconds;
  std::vector<double> shares;
  for (const Part& part : diagnosis.parts) {
    seconds.push_back(part.seconds / scale.unit_seconds);
    shares.push_back(part.share * 100);
  }
  const std::vector<std::int64_t> shown_seconds =
      shown_units(seconds, diagnosis.headline.step_seconds / scale.unit_seconds, scale.decimals);
  const std::vector<std::int64_t> shown_shares = shown_units(shares, 100.0, 1);
  out += "| where a step goes | |\n|---|---:|\n";
  for (std::size_t i = 0; i < diagnosis.parts.size() && i < section.part_texts.size(); ++i) {
    row(out, section.part_texts[i].label,
        fmt::format("{} {}, {} %", unit_text(shown_seconds[i], scale.decimals), scale.unit,
                    unit_text(shown_shares[i], 1)));
  }
  out += '\n';
}

void records(std::string& out, const HistorySection& section) {
  out += "| job | record | |\n|---|---|---|\n";
  for (std::size_t i = 0; i < section.series.size(); ++i) {
    for (const HistorySection::EntryText& entry : section.texts[i].entries) {
      out += fmt::format("| {} | {} | {} |\n", markdown_text(section.series[i].job),
                         markdown_text(entry.name), markdown_text(entry.text));
    }
  }
  out += '\n';
}

// What traces or a replayed schedule show beside the verdict.
void block(std::string& out, const std::string& title,
           const std::vector<TraceSection::Line>& lines) {
  out += fmt::format("**{}**\n\n", markdown_text(title));
  for (const TraceSection::Line& line : lines) {
    out += fmt::format("- {}: {}\n", markdown_text(line.label), markdown_text(line.text));
  }
  out += '\n';
}

std::string code(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) out += c == '`' ? '\'' : c;
  return "`" + out + "`";
}

}  // namespace

std::string render_markdown(const Report& report, const RenderStyle& /*style*/) {
  const Gist gist = gist_of(report, "md");
  std::string out =
      fmt::format("### mfu {}: {}\n\n", markdown_text(report.command), markdown_text(gist.answer));
  for (const Gate& gate : report.gates) {
    out += fmt::format(
        "- {} {}\n", gate.passed ? "passed:" : "**FAILED:**",
        markdown_text(fmt::format("--{} {}, {}", gate.id, gate.limit, gate.value_text)));
  }
  if (!report.gates.empty()) out += '\n';
  if (!gist.missing.empty()) out += markdown_text(gist.missing) + "\n\n";
  if (!gist.impossible_because.empty()) {
    out += "No GPU exceeds its peak. Possible explanations, likeliest first:\n\n";
    int number = 0;
    for (const std::string& line : gist.impossible_because) {
      out += fmt::format("{}. {}\n", ++number, markdown_text(line));
    }
    out += '\n';
  }
  if (!gist.figures.empty()) out += "| | |\n|---|---:|\n";
  for (const Figure& figure : gist.figures) row(out, figure.label, figure.text);
  if (!gist.figures.empty()) out += '\n';
  if (is_of_history(report)) records(out, *report.history);
  if (report.diagnose) parts(out, *report.diagnose);
  for (const Fact& remark : gist.remarks) {
    out += fmt::format("- {}: {}\n", markdown_text(remark.label), markdown_text(remark.text));
  }
  if (!gist.remarks.empty()) out += '\n';
  if (report.diagnose && report.diagnose->trace) {
    block(out, report.diagnose->trace->title, report.diagnose->trace->lines);
  }
  if (report.diagnose && report.diagnose->replay) {
    block(out, report.diagnose->replay->title, report.diagnose->replay->lines);
  }
  if (report.plan) out += plan_markdown(*report.plan);
  for (const Fact& fact : gist.setup) {
    if (fact.id == "fingerprint") out += code(fact.text) + "\n\n";
  }
  std::string notes;
  for (const Note& note : report.notes) {
    if (note.severity != Severity::info) notes += "- " + markdown_text(note.text) + "\n";
  }
  if (!notes.empty()) out += "Notes:\n\n" + notes + "\n";
  out += fmt::format("mfu {}\n", markdown_text(report.tool_version));
  return out;
}

}  // namespace mfu::render
