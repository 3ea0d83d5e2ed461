#include "report/report_of.hpp"

#include <string>

#include "mfu/version.hpp"

namespace mfu {

Report report_of(std::string_view command) {
  Report report;
  report.tool_version = std::string(version());
  report.command = command;
  return report;
}

}  // namespace mfu
