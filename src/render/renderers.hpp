// The renderers that registry.cpp lists: one file each.
#pragma once

#include <string>

#include "mfu/render.hpp"

namespace mfu::render {

[[nodiscard]] std::string render_text(const Report& report, const RenderStyle& style);
[[nodiscard]] std::string render_json(const Report& report, const RenderStyle& style);

}  // namespace mfu::render
