#include "diagnose/worth/placement.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace mfu::diagnosis {

namespace {

constexpr std::array kByTraffic{Axis::tp, Axis::cp, Axis::ep, Axis::dp};
constexpr std::array kRings{false, true, false, true};  // of kByTraffic: neighbours talk
constexpr std::size_t kAxisCount = kByTraffic.size();
// Every nesting of the axes is tried up to here; above, the run's own and the usual one.
constexpr std::size_t kMostRanksSearched = 4096;

// Lower is better, from the left: places that the groups of each axis lie in, then the hops between
// places along their rings.
using Price = std::array<std::int64_t, 2 * kAxisCount>;

// One place index for each rank.
using Places = std::vector<int>;

struct RingGroup {
  std::vector<std::size_t> ranks;  // in the order of the axis
};

class AxisGroups {
 public:
  explicit AxisGroups(const Job& job) {
    for (std::size_t a = 0; a < kAxisCount; ++a) {
      const Axis axis = kByTraffic[a];
      for (Group& group : job.groups_along(axis)) {
        const auto index = [&](std::size_t r) { return job.run().ranks[r].coords[axis]; };
        if (group.ranks.size() < 2 || index(group.ranks.front()) < 0) continue;
        std::stable_sort(group.ranks.begin(), group.ranks.end(),
                         [&](std::size_t x, std::size_t y) { return index(x) < index(y); });
        of_axis_[a].push_back({std::move(group.ranks)});
      }
    }
  }
  [[nodiscard]] const std::vector<RingGroup>& of_axis(std::size_t a) const { return of_axis_[a]; }
  [[nodiscard]] bool any() const {
    return std::any_of(of_axis_.begin(), of_axis_.end(),
                       [](const auto& groups) { return !groups.empty(); });
  }

 private:
  std::array<std::vector<RingGroup>, kAxisCount> of_axis_;
};

std::int64_t spans(const RingGroup& group, const Places& place) {
  std::vector<int> seen;
  for (const std::size_t r : group.ranks) seen.push_back(place[r]);
  std::sort(seen.begin(), seen.end());
  return std::unique(seen.begin(), seen.end()) - seen.begin();
}

// Hops between places along the ring. Libraries go through all ranks of an item (a node) before
// they leave it, whatever their numbers.
std::int64_t hops(const RingGroup& group, const Places& place, const std::vector<int>& item_of) {
  std::vector<int> ring;
  std::set<int> seen;
  for (const std::size_t r : group.ranks) {
    if (seen.insert(item_of[r]).second) ring.push_back(place[r]);
  }
  std::int64_t count = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) count += ring[i] != ring[(i + 1) % ring.size()];
  return count;
}

// What is moved as one: a rank, or all ranks of a node.
struct Item {
  std::vector<std::size_t> ranks;
  Coords first;  // of its first rank
};

// Items and the places that they are on.
struct Board {
  std::vector<Item> items;
  std::vector<int> place_of_item;
  std::vector<std::string> place_names;
  std::vector<std::string> hosts;  // by name: what an item sits on, a node or a place
  std::vector<std::size_t> host_of_item;
  std::vector<int> item_of_rank;
  bool of_switches = false;
};

void number_ranks(Board& board, std::size_t ranks) {
  board.item_of_rank.assign(ranks, 0);
  for (std::size_t i = 0; i < board.items.size(); ++i) {
    for (const std::size_t r : board.items[i].ranks) board.item_of_rank[r] = static_cast<int>(i);
  }
}

// The order of the rings inside a node is up to the library.
bool counts_rings(const Board& board, std::size_t axis) {
  return board.of_switches && kRings[axis];
}

Price price_of(const AxisGroups& groups, const Board& board, const Places& place) {
  Price price{};
  for (std::size_t a = 0; a < kAxisCount; ++a) {
    for (const RingGroup& group : groups.of_axis(a)) {
      price[a] += spans(group, place);
      if (counts_rings(board, a)) {
        price[kAxisCount + a] += hops(group, place, board.item_of_rank);
      }
    }
  }
  return price;
}

using Nesting = std::array<Axis, 5>;  // innermost first

bool comes_before(const Coords& a, const Coords& b, const Nesting& nesting) {
  for (auto axis = nesting.rbegin(); axis != nesting.rend(); ++axis) {
    if (a[*axis] != b[*axis]) return a[*axis] < b[*axis];
  }
  return false;
}

// Bins that the items fill become those places that already hold most of them, among places of one
// size.
std::vector<int> matched(const std::vector<std::vector<std::size_t>>& bins,
                         const std::vector<int>& place_of_item, const std::vector<int>& bin_place) {
  std::map<std::pair<int, int>, int> shared;  // (bin, place) -> items
  for (std::size_t b = 0; b < bins.size(); ++b) {
    for (const std::size_t item : bins[b]) ++shared[{static_cast<int>(b), place_of_item[item]}];
  }
  std::vector<std::pair<int, std::pair<int, int>>> pairs;
  for (const auto& [pair, count] : shared) pairs.emplace_back(-count, pair);
  std::sort(pairs.begin(), pairs.end());
  std::vector<std::size_t> size_of_place(bins.size());
  for (std::size_t b = 0; b < bins.size(); ++b) {
    size_of_place[static_cast<std::size_t>(bin_place[b])] = bins[b].size();
  }
  std::vector<int> place(bins.size(), -1);
  std::vector<bool> taken(bins.size(), false);
  for (const auto& [count, pair] : pairs) {
    const auto b = static_cast<std::size_t>(pair.first);
    const auto p = static_cast<std::size_t>(pair.second);
    if (place[b] >= 0 || taken[p] || size_of_place[p] != bins[b].size()) continue;
    place[b] = pair.second;
    taken[p] = true;
  }
  for (std::size_t b = 0; b < bins.size(); ++b) {
    for (std::size_t p = 0; place[b] < 0 && p < bins.size(); ++p) {
      if (taken[p] || size_of_place[p] != bins[b].size()) continue;
      place[b] = static_cast<int>(p);
      taken[p] = true;
    }
  }
  return place;
}

// The items in the order of `nesting`, filled into the places, which are taken in the order of what
// they hold now.
std::vector<int> filled(const std::vector<Item>& items, const std::vector<int>& place_of_item,
                        std::size_t places, const Nesting& nesting) {
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return comes_before(items[a].first, items[b].first, nesting);
  });
  std::vector<std::size_t> capacity(places, 0);
  std::vector<int> bin_place;  // in the order of their first item
  for (const std::size_t item : order) {
    const auto place = static_cast<std::size_t>(place_of_item[item]);
    if (capacity[place]++ == 0) bin_place.push_back(place_of_item[item]);
  }
  std::vector<std::vector<std::size_t>> bins;
  std::size_t next = 0;
  for (const int place : bin_place) {
    bins.emplace_back();
    for (std::size_t k = 0; k < capacity[static_cast<std::size_t>(place)]; ++k) {
      bins.back().push_back(order[next++]);
    }
  }
  const std::vector<int> chosen = matched(bins, place_of_item, bin_place);
  std::vector<int> result(items.size());
  for (std::size_t b = 0; b < bins.size(); ++b) {
    for (const std::size_t item : bins[b]) result[item] = chosen[b];
  }
  return result;
}

std::vector<Nesting> nestings(const Job& job) {
  std::vector<Nesting> all{kAxes, job.run().parallelism.order};
  if (job.ranks() > kMostRanksSearched) return all;
  Nesting nesting = kAxes;
  do {
    all.push_back(nesting);
  } while (std::next_permutation(nesting.begin(), nesting.end()));
  return all;
}

Places places_of_ranks(const Board& board, const std::vector<int>& place_of_item) {
  Places places;
  for (const int item : board.item_of_rank) {
    places.push_back(place_of_item[static_cast<std::size_t>(item)]);
  }
  return places;
}

struct Arrangement {
  std::vector<int> place_of_item;
  Price price{};
  std::int64_t moves = 0;
};

std::size_t first_difference(const Price& a, const Price& b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
}

// Better: mends the heavier axis, mends it further, moves less, mends more of the rest.
bool better(const Arrangement& a, const Arrangement& b, const Price& now) {
  const std::size_t at_a = first_difference(a.price, now);
  const std::size_t at_b = first_difference(b.price, now);
  if (at_a != at_b) return at_a < at_b;
  if (a.price[at_a] != b.price[at_a]) return a.price[at_a] < b.price[at_a];
  if (a.moves != b.moves) return a.moves < b.moves;
  return a.price < b.price;
}

// Nothing where no arrangement is better than the one there is.
std::optional<Arrangement> best_arrangement(const Job& job, const AxisGroups& groups,
                                            const Board& board) {
  const std::vector<int>& now = board.place_of_item;
  const Price price_now = price_of(groups, board, places_of_ranks(board, now));
  std::optional<Arrangement> best;
  std::set<std::vector<int>> tried;
  for (const Nesting& nesting : nestings(job)) {
    Arrangement arrangement;
    arrangement.place_of_item = filled(board.items, now, board.place_names.size(), nesting);
    if (!tried.insert(arrangement.place_of_item).second) continue;
    for (std::size_t i = 0; i < now.size(); ++i) {
      arrangement.moves += arrangement.place_of_item[i] != now[i];
    }
    arrangement.price = price_of(groups, board, places_of_ranks(board, arrangement.place_of_item));
    if (!(arrangement.price < price_now)) continue;
    if (!best || better(arrangement, *best, price_now)) best = std::move(arrangement);
  }
  return best;
}

// Exchanges of two items that lead from `now` to `wanted`; `now` goes along.
std::vector<std::pair<std::size_t, std::size_t>> exchanges_between(std::vector<int>& now,
                                                                   const std::vector<int>& wanted) {
  std::vector<std::pair<std::size_t, std::size_t>> swaps;
  // Items that have to leave a place, by where they are and where they belong.
  std::map<std::pair<int, int>, std::vector<std::size_t>> leaving;
  std::map<int, std::set<int>> leaving_to;
  const auto enter = [&](std::size_t item) {
    if (now[item] == wanted[item]) return;
    leaving[{now[item], wanted[item]}].push_back(item);
    leaving_to[now[item]].insert(wanted[item]);
  };
  for (std::size_t item = now.size(); item-- > 0;) enter(item);
  const auto take = [&](int from, int to) {
    std::vector<std::size_t>& waiting = leaving[{from, to}];
    const std::size_t item = waiting.back();
    waiting.pop_back();
    if (waiting.empty()) leaving_to[from].erase(to);
    return item;
  };
  for (std::size_t item = 0; item < now.size(); ++item) {
    while (now[item] != wanted[item]) {
      const int from = now[item];
      const int to = wanted[item];
      // One that belongs here, if there is one; else any that has to leave that place.
      const std::set<int>& out = leaving_to[to];
      const int partner_to = out.count(from) != 0 ? from : *out.begin();
      std::vector<std::size_t>& mine = leaving[{from, to}];
      mine.erase(std::find(mine.begin(), mine.end(), item));
      if (mine.empty()) leaving_to[from].erase(to);
      const std::size_t partner = take(to, partner_to);
      swaps.emplace_back(item, partner);
      std::swap(now[item], now[partner]);
      enter(partner);
    }
  }
  return swaps;
}

struct Named {
  std::vector<int> of_rank;  // -1: not known
  std::vector<std::string> names;
  [[nodiscard]] bool complete() const {
    return !of_rank.empty() &&
           std::none_of(of_rank.begin(), of_rank.end(), [](int place) { return place < 0; });
  }
};

Named named_places(const Job& job, std::string RankInfo::*name) {
  Named named;
  std::map<std::string, int> ids;
  for (const RankInfo& info : job.run().ranks) {
    if ((info.*name).empty()) {
      named.of_rank.push_back(-1);
      continue;
    }
    const auto [it, added] = ids.try_emplace(info.*name, static_cast<int>(named.names.size()));
    if (added) named.names.push_back(info.*name);
    named.of_rank.push_back(it->second);
  }
  return named;
}

class Mender {
 public:
  Mender(const Job& job, const AxisGroups& groups, Placement& placement)
      : job_(job), groups_(groups), placement_(placement) {}

  // Moves single ranks over `places`. Returns where each rank is afterwards.
  Places move_ranks(const Named& places, bool of_switches) {
    Board board;
    for (std::size_t r = 0; r < job_.ranks(); ++r) {
      board.items.push_back({{r}, job_.run().ranks[r].coords});
      board.host_of_item.push_back(static_cast<std::size_t>(places.of_rank[r]));
    }
    board.place_of_item = places.of_rank;
    board.place_names = places.names;
    board.hosts = places.names;
    board.of_switches = of_switches;
    return mend(board);
  }

  // Moves what runs on whole nodes over the switches. `node_of`: of each rank, after move_ranks.
  void move_nodes(const Named& nodes, const Places& node_of, const Named& switches) {
    Board board;
    board.items.resize(nodes.names.size());
    board.place_of_item.resize(nodes.names.size());
    for (std::size_t r = 0; r < job_.ranks(); ++r) {
      board.items[static_cast<std::size_t>(node_of[r])].ranks.push_back(r);
      board.place_of_item[static_cast<std::size_t>(nodes.of_rank[r])] = switches.of_rank[r];
    }
    for (Item& item : board.items) {
      if (item.ranks.size() != board.items.front().ranks.size()) return;  // no node for another
      item.first = job_.run().ranks[item.ranks.front()].coords;
      board.host_of_item.push_back(board.host_of_item.size());
    }
    board.place_names = switches.names;
    board.hosts = nodes.names;
    board.of_switches = true;
    (void)mend(board);
  }

 private:
  Places mend(Board& board) {
    number_ranks(board, job_.ranks());
    const Places before = places_of_ranks(board, board.place_of_item);
    if (board.place_names.size() < 2) return before;
    const auto best = best_arrangement(job_, groups_, board);
    if (!best) return before;
    const Places after = places_of_ranks(board, best->place_of_item);
    describe(board, before, after);
    std::vector<int> moving = board.place_of_item;
    std::vector<std::size_t>& host = board.host_of_item;
    for (const auto& [a, b] : exchanges_between(moving, best->place_of_item)) {
      placement_.exchanges.push_back({ids(board.items[a].ranks), ids(board.items[b].ranks),
                                      board.hosts[host[a]], board.hosts[host[b]]});
      std::swap(host[a], host[b]);
    }
    return after;
  }

  void describe(const Board& board, const Places& before, const Places& after) {
    for (std::size_t a = 0; a < kAxisCount; ++a) {
      for (const bool rings : {false, true}) {
        if (rings && !counts_rings(board, a)) continue;
        NeedlessCrossing found;
        found.axis = kByTraffic[a];
        found.of_switches = board.of_switches;
        found.rings = rings;
        found.groups = static_cast<std::int64_t>(groups_.of_axis(a).size());
        const RingGroup* worst = nullptr;
        for (const RingGroup& group : groups_.of_axis(a)) {
          const auto count = [&](const Places& place) {
            return rings ? hops(group, place, board.item_of_rank) : spans(group, place);
          };
          const std::int64_t now = count(before);
          const std::int64_t least = count(after);
          // Fewer places mean fewer hops: said once.
          const bool told = rings && spans(group, before) > spans(group, after);
          if (now <= least || told) continue;
          ++found.needless;
          if (worst == nullptr || now - least > found.example_crossings - found.example_least) {
            worst = &group;
            found.example_crossings = now;
            found.example_least = least;
          }
        }
        if (worst == nullptr) continue;
        found.example_ranks = ids(worst->ranks);
        std::set<std::string> names;
        for (const std::size_t r : worst->ranks) {
          names.insert(board.place_names[static_cast<std::size_t>(before[r])]);
        }
        found.example_places.assign(names.begin(), names.end());
        placement_.needless.push_back(std::move(found));
      }
    }
  }

  [[nodiscard]] std::vector<std::int64_t> ids(const std::vector<std::size_t>& ranks) const {
    std::vector<std::int64_t> result;
    for (const std::size_t r : ranks) result.push_back(job_.run().ranks[r].rank);
    return result;
  }

  const Job& job_;
  const AxisGroups& groups_;
  Placement& placement_;
};

}  // namespace

std::optional<Placement> placement_of(const Job& job) {
  if (static_cast<std::int64_t>(job.ranks()) < expected_ranks(job.run())) return std::nullopt;
  const AxisGroups groups(job);
  if (!groups.any()) return std::nullopt;
  const Named nodes = named_places(job, &RankInfo::node);
  const Named switches = named_places(job, &RankInfo::leaf_switch);
  Placement placement;
  placement.nodes_known = nodes.complete();
  // Rails, where each GPU of a node has a switch of its own, are reached from every node: there is
  // nothing to cross.
  bool rails = false;
  if (placement.nodes_known && switches.complete()) {
    std::vector<int> of_node(nodes.names.size(), -1);
    for (std::size_t r = 0; r < job.ranks(); ++r) {
      int& seen = of_node[static_cast<std::size_t>(nodes.of_rank[r])];
      if (seen < 0) seen = switches.of_rank[r];
      rails = rails || seen != switches.of_rank[r];
    }
  }
  placement.switches_known = switches.complete() && !rails;
  if (!placement.nodes_known && !placement.switches_known) return std::nullopt;

  Mender mender(job, groups, placement);
  if (placement.nodes_known) {
    const Places after = mender.move_ranks(nodes, false);
    if (placement.switches_known) mender.move_nodes(nodes, after, switches);
  } else {
    (void)mender.move_ranks(switches, true);
  }
  return placement;
}

}  // namespace mfu::diagnosis
