#include "report/diagnose/placement_wording.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/wording.hpp"

namespace mfu {
namespace {

constexpr std::size_t kMostCrossings = 2;  // that are shown; --json has all
constexpr std::size_t kMostExchanges = 3;

std::string_view places_word(const NeedlessCrossing& crossing, bool one) {
  if (crossing.of_switches) return one ? "switch" : "switches";
  return one ? "node" : "nodes";
}

std::string crossing_text(const NeedlessCrossing& crossing) {
  const std::string who =
      fmt::format("{} of {} {} {}", crossing.needless, crossing.groups, to_string(crossing.axis),
                  crossing.groups == 1 ? "group" : "groups");
  const std::string ranks = number_list(crossing.example_ranks);
  if (crossing.rings) {
    return fmt::format(
        "{} pass between {} more often than needed: ranks {} {} times per round, {} would do", who,
        places_word(crossing, false), ranks, crossing.example_crossings, crossing.example_least);
  }
  return fmt::format("{} cross {} needlessly: ranks {} are on {}, {} {} would do", who,
                     places_word(crossing, false), ranks, name_list(crossing.example_places),
                     crossing.example_least, places_word(crossing, crossing.example_least == 1));
}

std::string side(const std::vector<std::int64_t>& ranks, const std::string& place) {
  return fmt::format("{} {} on {}", ranks.size() == 1 ? "rank" : "ranks", number_list(ranks),
                     shortened(place));
}

}  // namespace

std::vector<std::string> placement_actions(const Placement& placement) {
  std::vector<std::string> actions;
  for (const NeedlessCrossing& crossing : placement.needless) {
    if (actions.size() == kMostCrossings) break;
    actions.push_back(crossing_text(crossing));
  }
  if (actions.empty()) return actions;
  std::string text = "exchange ";
  const std::size_t shown = std::min(kMostExchanges, placement.exchanges.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Exchange& exchange = placement.exchanges[i];
    text +=
        fmt::format("{}{} with {}", i == 0 ? "" : ", then ", side(exchange.ranks, exchange.place),
                    side(exchange.with_ranks, exchange.with_place));
  }
  if (placement.exchanges.size() > shown) {
    text += fmt::format(" ... ({} exchanges in all: --json)", placement.exchanges.size());
  }
  actions.push_back(std::move(text));
  return actions;
}

}  // namespace mfu
