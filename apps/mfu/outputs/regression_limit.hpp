// --max-regression, of whatever it is held against, and whether only what noise alone could not do
// counts (--beyond-noise).
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace mfu::app {

struct RegressionText {
  std::string limit;
  bool beyond_noise = false;
};
// `help`: of --max-regression.
void add_regression_options(CLI::App& command, RegressionText& text, const std::string& help);

struct RegressionLimit {
  double ratio = 0.0;
  RegressionText text;

  // `slower`: share of the speed that is lost; `certain`: its 95 % interval excludes none.
  [[nodiscard]] bool passes(double slower, bool certain) const noexcept {
    return slower <= ratio || (text.beyond_noise && !certain);
  }
};

}  // namespace mfu::app
