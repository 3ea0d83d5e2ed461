#include "outputs/regression_gate.hpp"

#include <fmt/format.h>

#include <cmath>

#include "compare/comparison.hpp"
#include "mfu/quantity.hpp"

namespace mfu::app {

Gate judge_regression(const Comparison& comparison, const RegressionLimit& limit) {
  const Regression found = regression_of(comparison, limit.ratio);
  Gate gate{"max-regression", limit.text.limit, found.slowdown, "",
            limit.passes(found.slowdown, found.certain)};
  std::string& text = gate.value_text;
  text = fmt::format("{} {}", format_percent(std::fabs(found.slowdown), 2),
                     found.slowdown >= 0 ? "slower" : "faster");
  if (!found.interval) {
    text += "; how much of it is noise is not known";
    return gate;
  }
  // The ends in the direction of the word: a minus is the other.
  const bool slower = found.slowdown >= 0;
  text += fmt::format(" (95 %: {:+.2f} to {:+.2f} %)",
                      slower ? 100 * found.interval->lo : 0.0 - 100 * found.interval->hi,
                      slower ? 100 * found.interval->hi : 0.0 - 100 * found.interval->lo);
  if (found.beyond_limit && !found.certain) {
    text += "; beyond the limit, but noise alone could do that";
  } else if (!found.beyond_limit && found.slowdown > 0 && found.certain) {
    text += "; within the limit";
  }
  return gate;
}

}  // namespace mfu::app
