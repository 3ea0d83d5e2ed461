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

double headline_cost(const LogSummary& summary) {
  switch (summary.statistic) {
    case LogStatistic::median:
      return summary.median_cost;
    case LogStatistic::wall:
      if (summary.wall_cost) return *summary.wall_cost;
      throw Error(ErrorKind::insufficient, "the log's lines have no time stamps to tell it from",
                  Place{.what = "--statistic wall"}, "--statistic mean is total time over steps");
    case LogStatistic::mean:
      break;
  }
  return summary.mean_cost;
}

}  // namespace mfu
