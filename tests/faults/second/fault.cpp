// Where, when and how much: the draw of a fault.
#include "fault.hpp"

#include <algorithm>
#include <cmath>

namespace second {
namespace {

std::vector<float> level_of(int steps, float value) {
  return std::vector<float>(static_cast<std::size_t>(steps), value);
}

Course steady(const Setting& setting) { return {"steady", level_of(setting.steps, 1.0F)}; }

Course from_some_step(const Setting& setting, Random& random) {
  Course course{"onset", level_of(setting.steps, 0.0F)};
  const int first = random.between(setting.steps / 4, setting.steps * 2 / 3);
  std::fill(course.level.begin() + first, course.level.end(), 1.0F);
  return course;
}

Course until_some_step(const Setting& setting, Random& random) {
  Course course{"ended", level_of(setting.steps, 1.0F)};
  // Fewer slow steps than this at the start would pass for a warm-up.
  const int first = random.between(std::max(5, setting.steps / 3), setting.steps * 3 / 4);
  std::fill(course.level.begin() + first, course.level.end(), 0.0F);
  return course;
}

Course growing(const Setting& setting, Random& random) {
  Course course{"drift", level_of(setting.steps, 0.0F)};
  const int first = random.between(0, setting.steps / 3);
  for (int step = first; step < setting.steps; ++step) {
    at(course.level, step) =
        static_cast<float>(step - first + 1) / static_cast<float>(setting.steps - first);
  }
  return course;
}

// Every few steps, at a steady distance.
Course periodic(const Setting& setting, Random& random) {
  Course course{"bursts", level_of(setting.steps, 0.0F)};
  const int period = random.between(3, std::max(3, std::min(10, setting.steps / 3)));
  for (int step = random.between(1, period); step < setting.steps; step += period) {
    at(course.level, step) = 1.0F;
  }
  return course;
}

Course at_times(const Setting& setting, Random& random) {
  Course course{"bursts", level_of(setting.steps, 0.0F)};
  const int bursts = std::max(2, static_cast<int>(setting.steps * random.uniform(0.12, 0.4)));
  for (int step : random.some_of(setting.steps - 1, bursts)) at(course.level, step + 1) = 1.0F;
  return course;
}

Course once(const Setting& setting, Random& random) {
  Course course{"once", level_of(setting.steps, 0.0F)};
  at(course.level, random.between(1, setting.steps - 2)) = 1.0F;
  return course;
}

Course any_course(const Setting& setting, Random& random) {
  const double dice = random.unit();
  if (setting.warmup > 0 || dice < 0.5) return steady(setting);
  if (dice < 0.65) return from_some_step(setting, random);
  if (dice < 0.73) return until_some_step(setting, random);
  if (dice < 0.83) return periodic(setting, random);
  if (dice < 0.93) return at_times(setting, random);
  return growing(setting, random);
}

void place_on(const Setting& setting, std::vector<int> nodes, Fault& fault) {
  fault.ranks = setting.layout.ranks_of(nodes);
  fault.nodes = std::move(nodes);
}

bool whole_nodes(const Layout& layout, const std::vector<int>& ranks) {
  return count_of(ranks) % layout.per_node == 0 && ranks.front() % layout.per_node == 0;
}

bool place_compute(const Setting& setting, Random& random, Fault& fault) {
  const Layout& layout = setting.layout;
  const std::string& kind = fault.kind;
  const int nodes = layout.nodes();
  if (kind == "slow-rank") {
    fault.ranks = {random.below(layout.ranks)};
  } else if (kind == "slow-ranks-few") {
    fault.ranks = random.some_of(layout.ranks, random.between(2, std::max(2, layout.ranks / 8)));
  } else if (kind == "slow-ranks-many") {
    const int least = std::max(3, layout.ranks / 8 + 1);
    fault.ranks = random.some_of(layout.ranks, random.between(least, layout.ranks - 1));
  } else if (kind == "slow-node" || kind == "node-heats-up") {
    if (nodes < 2) return false;
    place_on(setting, {random.below(nodes)}, fault);
  } else if (kind == "slow-nodes") {
    if (nodes < 5) return false;
    place_on(setting, random.some_of(nodes, random.between(2, (nodes - 1) / 2)), fault);
  } else if (kind == "half-of-nodes") {
    if (nodes < 2) return false;
    place_on(setting, random.some_of(nodes, random.between((nodes + 1) / 2, nodes - 1)), fault);
  } else if (kind == "two-devices") {
    if (nodes < 3) return false;
    place_on(setting, random.some_of(nodes, random.between(1, nodes - 1)), fault);
  } else if (kind == "stage-of-nodes") {
    const int stage = random.below(layout.pp);
    for (int i = 0; i < layout.per_stage(); ++i) {
      fault.ranks.push_back(stage * layout.per_stage() + i);
    }
    if (layout.pp == 1 || !whole_nodes(layout, fault.ranks)) return false;
    for (int rank : fault.ranks) {
      if (rank % layout.per_node == 0) fault.nodes.push_back(layout.node_of(rank));
    }
  } else if (kind == "replica-of-nodes") {
    if (layout.per_replica() != layout.per_node || layout.replicas() < 3) return false;
    const int replica = random.below(layout.replicas());
    std::vector<int> which;
    for (int stage = 0; stage < layout.pp; ++stage) {
      which.push_back(stage * layout.replicas() + replica);
    }
    place_on(setting, which, fault);
  } else {  // a rack
    const int rack_nodes = layout.per_rack == 0 ? 2 : layout.per_rack;
    if (nodes < 3 * rack_nodes) return false;
    const int rack = random.below(nodes / rack_nodes);
    std::vector<int> which;
    for (int i = 0; i < rack_nodes; ++i) which.push_back(rack * rack_nodes + i);
    place_on(setting, which, fault);
  }
  return true;
}

bool draw_compute(const Setting& setting, bool small, Random& random, Fault& fault) {
  if (!place_compute(setting, random, fault)) return false;
  const std::string& kind = fault.kind;
  fault.course = any_course(setting, random);
  fault.size = small ? random.uniform(0.01, 0.035) : random.log_uniform(0.08, 1.2);
  const bool several = fault.nodes.empty() && count_of(fault.ranks) > 1 && random.chance(0.5);
  for (int i = 0; i < count_of(fault.ranks); ++i) {
    fault.of_member.push_back(several ? random.uniform(0.85, 1.15) : 1.0);
  }
  if (kind == "two-devices") {
    fault.course = steady(setting);
    fault.size = random.one_of({0.25, 0.5, 0.9, 1.4, 2.1}) * random.uniform(0.9, 1.1);
  } else if (kind == "power-capped-rack" || kind == "power-capped-rack-silent") {
    if (!small) fault.size = random.uniform(0.1, 0.5);
    if (fault.course.name == "drift") fault.course = steady(setting);
    fault.telemetry_explains = kind == "power-capped-rack";
    fault.reason = "sw_power_cap";
    fault.cause = fault.telemetry_explains ? "power" : "";
  } else if (kind == "node-heats-up") {
    if (!small) fault.size = random.uniform(0.2, 0.8);
    fault.course = growing(setting, random);
    fault.telemetry_explains = random.chance(0.6);
    fault.reason = random.chance(0.5) ? "hw_thermal_slowdown" : "sw_thermal_slowdown";
    fault.cause = fault.telemetry_explains ? "thermal" : "";
  }
  return true;
}

bool draw_stall(const Setting& setting, bool small, Random& random, Fault& fault) {
  const Layout& layout = setting.layout;
  const std::string& kind = fault.kind;
  const int nodes = layout.nodes();
  const double share = small ? random.uniform(0.005, 0.03) : random.log_uniform(0.08, 1.0);
  fault.course = any_course(setting, random);
  if (kind == "loader-of-node" || kind == "host-bound-node") {
    if (nodes < 2) return false;
    place_on(setting, {random.below(nodes)}, fault);
  } else if (kind == "loader-of-some") {
    const bool many = random.chance(0.4);
    const int half = layout.ranks / 2;
    fault.ranks = random.some_of(layout.ranks, many ? random.between(half, layout.ranks - 1)
                                                    : random.between(1, std::max(1, half / 2)));
  } else if (kind == "checkpoint-by-one") {
    fault.ranks = {0};
  } else if (kind == "stall-once") {
    const int node = random.below(nodes);
    const int first = node * layout.per_node + random.below(layout.per_node - 1);
    fault.ranks = {first};
    if (random.chance(0.5)) fault.ranks.push_back(first + 1);
  } else {
    for (int rank = 0; rank < layout.ranks; ++rank) fault.ranks.push_back(rank);
  }
  if (kind == "host-bound" || kind == "host-bound-node") {
    fault.course = steady(setting);
    fault.size = small ? 1.0 : (1.0 + share) / setting.launch_share;
    fault.cause = "";
    return !small;
  }
  if (kind == "checkpoint-by-one" || kind == "checkpoint-by-all" || kind == "evaluation") {
    fault.course = periodic(setting, random);
    fault.cause = kind == "evaluation" ? "" : "checkpoint";
  } else if (kind == "gc-together") {
    fault.course = random.chance(0.7) ? periodic(setting, random) : at_times(setting, random);
    fault.cause = "gc";
  } else if (kind == "gc-apart") {
    fault.course = steady(setting);
    fault.course.name = "moving";
    fault.cause = "gc";
  } else if (kind == "stall-once") {
    fault.course = once(setting, random);
  } else if (kind == "loader-of-all" || kind == "loader-of-node" || kind == "loader-of-some") {
    if (fault.course.name == "drift") fault.course = steady(setting);
    fault.cause = "input";
  }
  // Rare events are long: the mean step is what counts.
  double sum = 0;
  for (float level : fault.course.level) sum += static_cast<double>(level);
  fault.size = share * setting.compute_s * setting.steps / std::max(1.0, sum);
  return true;
}

}  // namespace

bool draw_fault(const KindRow& kind, const Setting& setting, bool small, Random& random,
                Fault& fault) {
  const Layout& layout = setting.layout;
  fault.kind = kind.name;
  fault.sort = kind.sort;
  fault.course = steady(setting);
  switch (kind.sort) {
    case Sort::compute_place:
      return draw_compute(setting, small, random, fault);
    case Sort::stall_place:
    case Sort::stall_all:
      return draw_stall(setting, small, random, fault);
    case Sort::moving:
      fault.course.name = "moving";
      fault.size = small ? random.uniform(0.002, 0.01) : random.uniform(0.06, 0.35);
      if (fault.kind == "microbatches-unequal") fault.size *= 2.0;
      fault.cause = fault.kind == "jitter" ? "jitter" : "";
      return fault.kind == "jitter" || fault.kind == "experts-moving" || layout.replicas() > 2;
    case Sort::logical_place: {
      fault.size = small ? random.uniform(0.005, 0.03) : random.log_uniform(0.12, 1.0);
      const bool by_stage = fault.kind == "stage-uneven";
      const bool by_expert = fault.kind == "expert-hot";
      if (by_stage && layout.pp == 1) return false;
      if (!by_stage && !by_expert && layout.cp != 2) return false;
      fault.stage = by_stage    ? (random.chance(0.6) ? layout.pp - 1 : random.below(layout.pp))
                    : by_expert ? random.below(layout.ep)
                                : layout.cp - 1;
      for (int rank = 0; rank < layout.ranks; ++rank) {
        const int index = by_stage    ? layout.pp_of(rank)
                          : by_expert ? layout.ep_of(rank)
                                      : layout.cp_of(rank);
        if (index == fault.stage) fault.ranks.push_back(rank);
      }
      // Whole nodes can be told from slow devices by nothing: fewer of those.
      if (by_stage && whole_nodes(layout, fault.ranks) && random.chance(0.7)) return false;
      fault.cause = by_stage ? "stage-partition" : by_expert ? "expert-load" : "";
      return count_of(fault.ranks) > (by_stage ? 1 : 2);
    }
    case Sort::link:
      if (fault.kind == "slow-nvlink") {
        // There has to be a group inside nodes that uses it.
        if (setting.shape == Shape::pipeline && layout.tp == 1) return false;
        if (setting.shape == Shape::expert && layout.ep > layout.per_node) return false;
        place_on(setting, {random.below(layout.nodes())}, fault);
      } else {
        const int index = random.below(layout.per_node);
        fault.stage = random.below(layout.nodes()) * layout.per_node + index;  // whose NIC it is
        for (int rank = index; rank < layout.ranks; rank += layout.per_node) {
          fault.ranks.push_back(rank);
        }
      }
      if (fault.kind == "flapping-rail") {
        fault.course = random.chance(0.5) ? periodic(setting, random) : at_times(setting, random);
      } else if (random.chance(0.3)) {
        fault.course = from_some_step(setting, random);
      }
      fault.size = small ? random.uniform(0.5, 0.9) : random.log_uniform(0.02, 0.3);
      fault.cause = "link";
      return layout.nodes() > 2;
    case Sort::network:
    case Sort::missing:
    case Sort::comm_zero:
      fault.size = small ? random.uniform(0.7, 0.95) : random.log_uniform(0.03, 0.3);
      if (fault.kind == "network-at-times") {
        fault.course = random.chance(0.5)   ? from_some_step(setting, random)
                       : random.chance(0.5) ? at_times(setting, random)
                                            : until_some_step(setting, random);
      }
      if (kind.sort == Sort::missing) {
        fault.ranks = {random.below(layout.ranks)};
        fault.of_member = {1.0};
        fault.course = any_course(setting, random);
        fault.size = random.log_uniform(0.12, 1.0);
      }
      return kind.sort != Sort::comm_zero || !small;
    case Sort::clocks:
      fault.size = small ? random.uniform(0.005, 0.03) : random.log_uniform(0.12, 0.8);
      if (fault.kind == "clocks-of-all") {
        if (setting.warmup == 0 && random.chance(0.3)) fault.course = growing(setting, random);
        fault.telemetry_explains = true;
        fault.reason = random.one_of({"sw_power_cap", "sw_thermal_slowdown"});
        fault.cause = fault.reason == "sw_power_cap" ? "power" : "thermal";
      } else {
        fault.course =
            random.chance(0.7) ? from_some_step(setting, random) : until_some_step(setting, random);
      }
      for (int rank = 0; rank < layout.ranks; ++rank) fault.ranks.push_back(rank);
      fault.of_member.assign(fault.ranks.size(), 1.0);
      return true;
    case Sort::kernels:
      fault.size = random.uniform(0.16, 0.31);  // of the peak, while kernels run
      fault.cause = "kernels";
      return !small;
    case Sort::nothing:
    case Sort::two:
      return true;
  }
  return false;
}

}  // namespace second
