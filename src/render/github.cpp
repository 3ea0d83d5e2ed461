// GitHub Actions: the summary of a step is Markdown; annotations are workflow commands.
#include <fmt/format.h>

#include "render/figures.hpp"
#include "render/renderers.hpp"

namespace mfu {
namespace {

// GitHub shows ten annotations of a step; more would push out those of other tools.
constexpr std::size_t kMostAnnotations = 10;
constexpr std::size_t kMostMessageBytes = 4096;

std::string escaped_data(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '%':
        out += "%25";
        break;
      case '\r':
        out += "%0D";
        break;
      case '\n':
        out += "%0A";
        break;
      default:
        // Other control characters have no escape and no use.
        out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
    }
  }
  return out;
}

std::string escaped_property(std::string_view text) {
  std::string out;
  for (const char c : escaped_data(text)) {
    if (c == ':') {
      out += "%3A";
    } else if (c == ',') {
      out += "%2C";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string render_github_annotations(const Report& report) {
  const render::Gist gist = render::gist_of(report, "github");
  std::string out;
  std::size_t count = 0;
  const auto add = [&](std::string_view level, std::string_view title, std::string message) {
    if (count++ >= kMostAnnotations) return;
    out += fmt::format("::{} title={}::{}\n", level, escaped_property(title),
                       escaped_data(render::cut_to_bytes(std::move(message), kMostMessageBytes)));
  };
  // Failures first: the cap must not hide them.
  for (const Gate& gate : report.gates) {
    if (!gate.passed) add("error", "mfu " + report.command, render::gate_text(gate));
  }
  if (gist.impossible) {
    add("warning", "mfu " + report.command,
        gist.answer + (gist.impossible_because.empty() ? std::string()
                                                       : ": " + gist.impossible_because.front()));
  }
  std::string answer = gist.answer;
  for (const Gate& gate : report.gates) {
    if (gate.passed) answer += "\n" + render::gate_text(gate);
  }
  add("notice", "mfu " + report.command, std::move(answer));
  for (const Note& note : report.notes) {
    if (note.severity == Severity::loss) add("warning", "mfu " + report.command, note.text);
  }
  return out;
}

namespace render {

std::string render_github(const Report& report, const RenderStyle& style) {
  constexpr std::size_t kMostBytes = 65536;
  constexpr std::string_view kCut = "\n\n(cut: the summary is longer than 64 KiB)\n";
  std::string out = render_markdown(report, style);
  if (out.size() <= kMostBytes) return out;
  return cut_to_bytes(std::move(out), kMostBytes - kCut.size()) + std::string(kCut);
}

}  // namespace render
}  // namespace mfu
