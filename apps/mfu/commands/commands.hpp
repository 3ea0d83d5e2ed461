// The commands: one file each, one line each in command_line.cpp.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace mfu::app {

[[nodiscard]] std::function<int()> add_calc(CLI::App& parent);
[[nodiscard]] std::function<int()> add_compare(CLI::App& parent);
[[nodiscard]] std::function<int()> add_diagnose(CLI::App& parent);
[[nodiscard]] std::function<int()> add_explain(CLI::App& parent);
[[nodiscard]] std::function<int()> add_flops(CLI::App& parent);
[[nodiscard]] std::function<int()> add_history(CLI::App& parent);
[[nodiscard]] std::function<int()> add_log(CLI::App& parent);
[[nodiscard]] std::function<int()> add_list(CLI::App& parent);
[[nodiscard]] std::function<int()> add_peak(CLI::App& parent);
[[nodiscard]] std::function<int()> add_plan(CLI::App& parent);
[[nodiscard]] std::function<int()> add_reduce(CLI::App& parent);
[[nodiscard]] std::function<int()> add_whatif(CLI::App& parent);

}  // namespace mfu::app
