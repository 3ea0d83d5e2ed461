// Groups that cross nodes and switches and need not, on layouts made by hand.
#include "diagnose/worth/placement.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "catch.hpp"
#include "report/diagnose/placement_wording.hpp"

namespace {

using namespace mfu;

struct Sizes {
  int tp = 1, cp = 1, ep = 1, dp = 1, pp = 1;
};

// Ranks numbered tp-cp-ep-dp-pp; rank i on slot[i], `per_node` slots a node, `per_switch` nodes a
// switch (0: no switches).
RunTimings run_on(const Sizes& sizes, int per_node, int per_switch, std::vector<int> slot = {}) {
  RunTimings run;
  run.steps = {0};
  const int count = sizes.tp * sizes.cp * sizes.ep * sizes.dp * sizes.pp;
  const std::array<int, 5> size{sizes.tp, sizes.cp, sizes.ep, sizes.dp, sizes.pp};
  for (std::size_t a = 0; a < size.size(); ++a) run.parallelism.size[a] = size[a];
  for (int i = 0; i < count; ++i) {
    RankInfo info;
    info.rank = i;
    int rest = i;
    for (std::size_t a = 0; a < size.size(); ++a) {
      info.coords.at[a] = rest % size[a];
      rest /= size[a];
    }
    const int at = slot.empty() ? i : slot[static_cast<std::size_t>(i)];
    if (per_node > 0) info.node = "n" + std::to_string(at / per_node);
    if (per_switch > 0) {
      info.leaf_switch = "s" + std::to_string(at / (std::max(1, per_node) * per_switch));
    }
    run.ranks.push_back(info);
  }
  run.compute = Column(1, run.ranks.size(), 1.0);
  run.comm = Column(1, run.ranks.size(), 0.1);
  run.stall = Column(1, run.ranks.size(), 0.0);
  return run;
}

std::optional<Placement> placed(const RunTimings& run) {
  Notes notes;
  const diagnosis::Job job(run, notes);
  return diagnosis::placement_of(job);
}

// Does the run, with the exchanges made, have nothing left to mend?
void check_mends(RunTimings run, const Placement& placement) {
  for (const Exchange& exchange : placement.exchanges) {
    REQUIRE(exchange.ranks.size() == exchange.with_ranks.size());
    for (std::size_t i = 0; i < exchange.ranks.size(); ++i) {
      RankInfo& a = run.ranks[static_cast<std::size_t>(exchange.ranks[i])];
      RankInfo& b = run.ranks[static_cast<std::size_t>(exchange.with_ranks[i])];
      CHECK((a.node.empty() || a.node == exchange.place));
      CHECK((b.node.empty() || b.node == exchange.with_place));
      std::swap(a.node, b.node);
      std::swap(a.leaf_switch, b.leaf_switch);
    }
  }
  const auto after = placed(run);
  REQUIRE(after);
  CHECK(after->needless.empty());
  CHECK(after->exchanges.empty());
}

std::vector<int> in_order(int count) {
  std::vector<int> slot;
  for (int i = 0; i < count; ++i) slot.push_back(i);
  return slot;
}

}  // namespace

TEST_CASE("groups that lie where they should are not blamed") {
  // Tensor groups fill half a node, a node, two nodes; data-parallel groups cross because they
  // must.
  for (const Sizes& sizes : {Sizes{4, 1, 1, 8, 1}, Sizes{8, 1, 1, 4, 1}, Sizes{16, 1, 1, 2, 1},
                             Sizes{1, 1, 1, 32, 1}, Sizes{2, 1, 4, 4, 1}, Sizes{4, 2, 1, 2, 2}}) {
    for (const int per_switch : {0, 1, 2}) {
      const auto placement = placed(run_on(sizes, 8, per_switch));
      REQUIRE(placement);
      INFO("tp " << sizes.tp << " dp " << sizes.dp << ", " << per_switch << " nodes a switch");
      CHECK(placement->nodes_known);
      CHECK(placement->switches_known == (per_switch > 0));
      CHECK(placement->needless.empty());
      CHECK(placement->exchanges.empty());
      CHECK(placement_actions(*placement).empty());
    }
  }
}

TEST_CASE("a group that fits in no node is not blamed for that") {
  // 6 ranks a group, 4 slots a node: every group crosses, wherever it is put.
  const auto placement = placed(run_on({6, 1, 1, 4, 1}, 4, 0));
  REQUIRE(placement);
  CHECK(placement->needless.empty());
}

TEST_CASE("two tensor groups with one rank each in the other's node: one exchange") {
  std::vector<int> slot = in_order(32);
  std::swap(slot[3], slot[12]);
  const RunTimings run = run_on({8, 1, 1, 4, 1}, 8, 0, slot);
  const auto placement = placed(run);
  REQUIRE(placement);
  REQUIRE_FALSE(placement->needless.empty());
  const NeedlessCrossing& crossing = placement->needless.front();
  CHECK(crossing.axis == Axis::tp);
  CHECK_FALSE(crossing.of_switches);
  CHECK(crossing.groups == 4);
  CHECK(crossing.needless == 2);
  CHECK(crossing.example_ranks == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(crossing.example_places == std::vector<std::string>{"n0", "n1"});
  CHECK(crossing.example_crossings == 2);
  CHECK(crossing.example_least == 1);
  REQUIRE(placement->exchanges.size() == 1);
  CHECK(placement->exchanges[0].ranks == std::vector<std::int64_t>{3});
  CHECK(placement->exchanges[0].with_ranks == std::vector<std::int64_t>{12});
  CHECK(placement->exchanges[0].place == "n1");
  CHECK(placement->exchanges[0].with_place == "n0");
  check_mends(run, *placement);
  const auto actions = placement_actions(*placement);
  REQUIRE(actions.size() == 2);
  CHECK(actions[0] ==
        "2 of 4 tp groups cross nodes needlessly: ranks 0-7 are on n0, n1, 1 node would do");
  CHECK(actions[1] == "exchange rank 3 on n1 with rank 12 on n0");
}

TEST_CASE("every tensor group split over two nodes") {
  // Ranks dealt round-robin over the nodes, as a scheduler without block distribution does.
  std::vector<int> slot;
  for (int i = 0; i < 16; ++i) slot.push_back((i % 2) * 8 + i / 2);
  const RunTimings run = run_on({8, 1, 1, 2, 1}, 8, 0, slot);
  const auto placement = placed(run);
  REQUIRE(placement);
  REQUIRE_FALSE(placement->needless.empty());
  CHECK(placement->needless.front().axis == Axis::tp);
  CHECK(placement->needless.front().needless == 2);
  CHECK(placement->exchanges.size() == 4);
  check_mends(run, *placement);
}

TEST_CASE("expert and context groups are put right after tensor groups, not at their cost") {
  // tp 4 x ep 2: an expert group fills a node. Halves of two nodes are exchanged.
  std::vector<int> slot = in_order(32);
  for (int i = 4; i < 8; ++i)
    std::swap(slot[static_cast<std::size_t>(i)], slot[static_cast<std::size_t>(i + 4)]);
  for (const Sizes& sizes : {Sizes{4, 1, 2, 4, 1}, Sizes{4, 2, 1, 4, 1}}) {
    const RunTimings run = run_on(sizes, 8, 0, slot);
    const auto placement = placed(run);
    REQUIRE(placement);
    REQUIRE_FALSE(placement->needless.empty());
    CHECK(placement->needless.front().axis == (sizes.ep > 1 ? Axis::ep : Axis::cp));
    for (const NeedlessCrossing& crossing : placement->needless) CHECK(crossing.axis != Axis::tp);
    CHECK(placement->exchanges.size() == 4);
    check_mends(run, *placement);
  }
}

TEST_CASE("whole nodes change switches where a data-parallel group need not cross") {
  // tp 8 = a node; two pipeline stages of four replicas; a switch holds four nodes: one stage.
  std::vector<int> slot = in_order(64);
  for (int i = 0; i < 8; ++i) {
    std::swap(slot[static_cast<std::size_t>(8 + i)], slot[static_cast<std::size_t>(40 + i)]);
  }
  const RunTimings run = run_on({8, 1, 1, 4, 2}, 8, 4, slot);
  const auto placement = placed(run);
  REQUIRE(placement);
  REQUIRE_FALSE(placement->needless.empty());
  const NeedlessCrossing& crossing = placement->needless.front();
  CHECK(crossing.axis == Axis::dp);
  CHECK(crossing.of_switches);
  CHECK_FALSE(crossing.rings);
  CHECK(crossing.groups == 16);
  CHECK(crossing.needless == 16);
  REQUIRE(placement->exchanges.size() == 1);
  CHECK(placement->exchanges[0].ranks.size() == 8);
  CHECK(placement->exchanges[0].place.front() == 'n');
  check_mends(run, *placement);
}

TEST_CASE("a data-parallel ring that goes to and fro between switches") {
  // Eight replicas of one node each, dealt to two switches in turn.
  std::vector<int> slot;
  for (int i = 0; i < 64; ++i) {
    const int node = i / 8;
    slot.push_back(((node % 2) * 4 + node / 2) * 8 + i % 8);
  }
  const RunTimings run = run_on({8, 1, 1, 8, 1}, 8, 4, slot);
  const auto placement = placed(run);
  REQUIRE(placement);
  REQUIRE(placement->needless.size() == 1);
  const NeedlessCrossing& crossing = placement->needless.front();
  CHECK(crossing.axis == Axis::dp);
  CHECK(crossing.rings);
  CHECK(crossing.example_crossings == 8);
  CHECK(crossing.example_least == 2);
  CHECK(placement->exchanges.size() == 2);
  check_mends(run, *placement);
  CHECK_THAT(placement_actions(*placement).front(), contains("8 times per round, 2 would do"));
}

TEST_CASE("switches alone are enough; missing places, coordinates or ranks are no ground") {
  std::vector<int> slot = in_order(16);
  std::swap(slot[0], slot[9]);
  RunTimings run = run_on({8, 1, 1, 2, 1}, 0, 8, slot);
  auto placement = placed(run);
  REQUIRE(placement);
  CHECK_FALSE(placement->nodes_known);
  REQUIRE(placement->exchanges.size() == 1);
  CHECK(placement->needless.front().of_switches);

  run.ranks[3].leaf_switch.clear();
  CHECK_FALSE(placed(run));

  RunTimings no_coords = run_on({8, 1, 1, 2, 1}, 8, 0, slot);
  for (RankInfo& info : no_coords.ranks) info.coords = {};
  CHECK_FALSE(placed(no_coords));

  RunTimings some = run_on({8, 1, 1, 2, 1}, 8, 0, slot);
  some.ranks.resize(10);
  some.compute = Column(1, 10, 1.0);
  some.comm = some.compute;
  some.stall = some.compute;
  CHECK_FALSE(placed(some));
}

TEST_CASE("rails are no switches that one could cross") {
  RunTimings run = run_on({8, 1, 1, 4, 1}, 8, 0);
  for (RankInfo& info : run.ranks) info.leaf_switch = "rail" + std::to_string(info.rank % 8);
  const auto placement = placed(run);
  REQUIRE(placement);
  CHECK(placement->nodes_known);
  CHECK_FALSE(placement->switches_known);
  CHECK(placement->needless.empty());
}

TEST_CASE("a layout of its own is mended in its own order") {
  // Pipeline stages innermost over the nodes, and one pair of ranks exchanged: that pair alone
  // moves.
  std::vector<int> slot;
  for (int i = 0; i < 32; ++i) {
    const int tp = i % 4;
    const int dp = (i / 4) % 4;
    const int pp = i / 16;
    slot.push_back((dp * 2 + pp) * 4 + tp);
  }
  std::swap(slot[0], slot[5]);
  const RunTimings run = run_on({4, 1, 1, 4, 2}, 8, 0, slot);
  const auto placement = placed(run);
  REQUIRE(placement);
  REQUIRE_FALSE(placement->needless.empty());
  CHECK(placement->needless.front().axis == Axis::tp);
  CHECK(placement->needless.front().needless == 2);
  CHECK(placement->exchanges.size() == 1);
}
