// What is asked of the table of fixes: --worth, --price, --steps-left, --tokens-left.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>

#include "diagnose/setup.hpp"
#include "mfu/report.hpp"
#include "options.hpp"
#include "report/diagnose/worth_section.hpp"

namespace mfu::app {

struct WorthText {
  bool show = false;
  std::string price, steps_left, tokens_left;
};
void add_worth_options(CLI::App& command, WorthText& text);

struct WorthLimits {
  WorthAsk ask;
  std::optional<double> tokens_left;
};
[[nodiscard]] WorthLimits parse_worth(const WorthText& text, Problems& problems);

// Tokens as steps of this run. Throws Error{insufficient} where it does not say how many a step
// has.
[[nodiscard]] WorthAsk worth_ask(const WorthLimits& limits, const Setup& setup);

}  // namespace mfu::app
