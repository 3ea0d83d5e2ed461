// The command line as a whole: which commands there are, help, and what errors look like.
#pragma once

#include <string>
#include <vector>

#include "mfu/error.hpp"

namespace mfu::app {

// The exit code. Throws Error, ClosedPipe.
[[nodiscard]] int run_command_line(const std::vector<std::string>& arguments);

// Says what went wrong: on standard error, and as an object on standard output where JSON was asked
// for. The exit code.
[[nodiscard]] int report_error(const Error& error, const std::vector<std::string>& arguments);
[[nodiscard]] int report_bug(const char* what);

}  // namespace mfu::app
