#include "outputs/regression_limit.hpp"

namespace mfu::app {

void add_regression_options(CLI::App& command, RegressionText& text, const std::string& help) {
  command.add_option("--max-regression", text.limit, help)->type_name("RATIO");
  command.add_flag("--beyond-noise", text.beyond_noise, "Only what noise alone could not do");
}

}  // namespace mfu::app
