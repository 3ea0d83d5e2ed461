// Renderers: pure functions from a Report to bytes. They know the report and nothing else.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "mfu/error.hpp"
#include "mfu/report.hpp"

namespace mfu {

struct RenderStyle {
  int width = 80;      // columns
  bool color = false;  // ANSI escape sequences
  bool utf8 = false;   // bars and arrows beyond ASCII
};

struct Renderer {
  std::string_view format;  // "text", "json", "md", "csv", "github", "junit", "prom"
  // Throws Error{unsupported} where this form has no sense for the report's command.
  std::string (*render)(const Report&, const RenderStyle&);
};

[[nodiscard]] std::span<const Renderer> renderers() noexcept;

// Throws Error{usage} that lists the known formats.
[[nodiscard]] const Renderer& find_renderer(std::string_view format);

// Workflow commands of GitHub Actions (::notice, ::warning, ::error), one a line, ten at most: the
// answer, each failed gate, notes of loss. Written to a stream that the runner reads.
[[nodiscard]] std::string render_github_annotations(const Report& report);

// The `mfu.report/1` object of a command that failed.
[[nodiscard]] std::string render_error_json(const Error& error, std::string_view command,
                                            std::string_view tool_version, int exit_code);

}  // namespace mfu
