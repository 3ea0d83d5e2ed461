#include <array>

#include "base/nearest.hpp"
#include "mfu/render.hpp"
#include "render/renderers.hpp"

namespace mfu {
namespace {

constexpr std::array kRenderers{
    Renderer{"text", render::render_text},       Renderer{"json", render::render_json},
    Renderer{"md", render::render_markdown},     Renderer{"csv", render::render_csv},
    Renderer{"github", render::render_github},   Renderer{"junit", render::render_junit},
    Renderer{"prom", render::render_prometheus}, Renderer{"line", render::render_line},
};

}  // namespace

std::span<const Renderer> renderers() noexcept { return kRenderers; }

const Renderer& find_renderer(std::string_view format) {
  std::array<std::string_view, kRenderers.size()> names;
  for (std::size_t i = 0; i < kRenderers.size(); ++i) {
    if (kRenderers[i].format == format) return kRenderers[i];
    names[i] = kRenderers[i].format;
  }
  throw Error(ErrorKind::usage, "unknown output format '" + std::string(format.substr(0, 80)) + "'",
              {}, name_hint(format, names));
}

}  // namespace mfu
