// The renderers that registry.cpp lists: one file each.
#pragma once

#include <string>

#include "mfu/render.hpp"

namespace mfu::render {

[[nodiscard]] std::string render_text(const Report& report, const RenderStyle& style);
[[nodiscard]] std::string render_json(const Report& report, const RenderStyle& style);
[[nodiscard]] std::string render_markdown(const Report& report, const RenderStyle& style);
[[nodiscard]] std::string render_csv(const Report& report, const RenderStyle& style);
[[nodiscard]] std::string render_github(const Report& report, const RenderStyle& style);
[[nodiscard]] std::string render_junit(const Report& report, const RenderStyle& style);
[[nodiscard]] std::string render_line(const Report& report, const RenderStyle& style);
[[nodiscard]] std::string render_prometheus(const Report& report, const RenderStyle& style);

}  // namespace mfu::render
