#include <string>
#include <string_view>

#include "measure/log_summary.hpp"
#include "mfu/error.hpp"

namespace mfu {

std::string_view to_string(LogStatistic statistic) noexcept {
  switch (statistic) {
    case LogStatistic::mean:
      return "mean";
    case LogStatistic::median:
      return "median";
    case LogStatistic::wall:
      return "wall";
  }
  return "";
}

LogStatistic parse_log_statistic(std::string_view text) {
  for (const LogStatistic one : {LogStatistic::mean, LogStatistic::median, LogStatistic::wall}) {
    if (text == to_string(one)) return one;
  }
  throw Error(ErrorKind::usage, "'" + std::string(text.substr(0, 40)) + "' is no statistic",
              Place{.what = "--statistic"}, "mean, median or wall");
}

}  // namespace mfu
