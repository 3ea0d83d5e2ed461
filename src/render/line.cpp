// One line of a diagnosis, for chat and pagers.
#include "render/renderers.hpp"
#include "report/diagnose/diagnose_section.hpp"
#include "report/diagnose/scores_section.hpp"

namespace mfu::render {

std::string render_line(const Report& report, const RenderStyle& /*style*/) {
  if (report.diagnose) return report.diagnose->one_line + "\n";
  if (report.scores) return report.scores->verdict_line + "\n";
  throw Error(ErrorKind::usage, "mfu " + report.command + " has no line output", {},
              "mfu diagnose has; others have text, json and md");
}

}  // namespace mfu::render
