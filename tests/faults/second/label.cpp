#include "label.hpp"

#include <algorithm>
#include <set>

namespace second {
namespace {

using Ranks = std::vector<int>;

// Means of a column over the steps in which the fault is there, by rank.
std::vector<double> mean_of(const Evidence& evidence, const Table<double>& column) {
  const Setting& setting = evidence.setting;
  std::vector<double> means(static_cast<std::size_t>(setting.layout.ranks), 0.0);
  double weight = 0;
  for (int step = setting.warmup; step < setting.steps; ++step) {
    const double level = static_cast<double>(at(evidence.fault.course.level, step));
    weight += level;
    for (int rank = 0; rank < setting.layout.ranks; ++rank) {
      at(means, rank) += level * column(step, rank);
    }
  }
  for (double& mean : means) mean /= std::max(weight, 1e-9);
  return means;
}

// Whether the place's excess in this column is clear of the spread of both sides.
bool stands_out(const Evidence& evidence, const Table<double>& column, const Ranks& place) {
  const std::vector<double> means = mean_of(evidence, column);
  std::vector<char> in(means.size(), 0);
  for (int rank : place) at(in, rank) = 1;
  std::vector<double> inside, outside;
  for (int rank = 0; rank < count_of(means); ++rank) {
    (at(in, rank) != 0 ? inside : outside).push_back(at(means, rank));
  }
  if (inside.empty() || outside.empty()) return false;
  std::sort(inside.begin(), inside.end());
  std::sort(outside.begin(), outside.end());
  const double apart = inside[inside.size() / 2] - outside[outside.size() / 2];
  return apart > 0 && inside.front() - outside.back() > 0.5 * apart;
}

// Mean over the steps that count of the least value over the ranks.
double least_of(const Setting& setting, const Table<double>& column) {
  double sum = 0;
  for (int step = setting.warmup; step < setting.steps; ++step) {
    double least = column(step, 0);
    for (int rank = 1; rank < setting.layout.ranks; ++rank) {
      least = std::min(least, column(step, rank));
    }
    sum += least;
  }
  return sum / (setting.steps - setting.warmup);
}

// What the columns show of a loss by the slowest rank of each step.
double visible_spread(const Evidence& evidence) {
  const Setting& setting = evidence.setting;
  double sum = 0;
  for (int step = setting.warmup; step < setting.steps; ++step) {
    double most = 0, total = 0;
    for (int rank = 0; rank < setting.layout.ranks; ++rank) {
      most = std::max(most, evidence.columns.compute(step, rank));
      total += evidence.columns.compute(step, rank);
    }
    sum += most - total / setting.layout.ranks;
  }
  return sum / (setting.steps - setting.warmup) / evidence.step_s;
}

Ranks whole_nodes_of(const Layout& layout, const Ranks& ranks) {
  std::vector<int> members(static_cast<std::size_t>(layout.nodes()), 0);
  for (int rank : ranks) ++at(members, layout.node_of(rank));
  Ranks nodes;
  for (int node = 0; node < layout.nodes(); ++node) {
    if (at(members, node) == 0) continue;
    if (at(members, node) != count_of(layout.ranks_of({node}))) return {};
    nodes.push_back(node);
  }
  return nodes;
}

enum class Logical { none, stage, expert_set, replica, slice, several };

// Which logical place the ranks are. A replica of one rank is that rank, no place of its own.
Logical logical_of(const Layout& layout, const Ranks& ranks) {
  const std::set<int> set(ranks.begin(), ranks.end());
  // Whether the set is whole indices of this axis, and how many.
  const auto indices = [&](int size, auto of) {
    if (size < 2 || layout.ranks / size < 2) return 0;
    std::vector<int> members(static_cast<std::size_t>(size), 0);
    for (int rank : set) ++at(members, of(rank));
    int whole = 0;
    for (int count : members) {
      if (count == layout.ranks / size) ++whole;
      if (count != 0 && count != layout.ranks / size) return 0;
    }
    return whole;
  };
  const int stages = indices(layout.pp, [&](int rank) { return layout.pp_of(rank); });
  const int experts = indices(layout.ep, [&](int rank) { return layout.ep_of(rank); });
  // Nodes that hold whole replicas are nodes; only a replica of several nodes is another place.
  const bool in_nodes =
      layout.per_replica() * layout.pp <= layout.per_node && !whole_nodes_of(layout, ranks).empty();
  const int replicas =
      in_nodes ? 0 : indices(layout.replicas(), [&](int rank) { return layout.replica_of(rank); });
  const int slices = std::max(indices(layout.cp, [&](int rank) { return layout.cp_of(rank); }),
                              indices(layout.tp, [&](int rank) { return layout.tp_of(rank); }));
  if (stages > 1 || experts > 1 || replicas > 1) return Logical::several;
  if (stages == 1) return Logical::stage;
  if (experts == 1) return Logical::expert_set;
  if (replicas == 1) return Logical::replica;
  return slices > 0 ? Logical::slice : Logical::none;
}

Label placed(const Evidence& evidence, std::vector<std::string> readings, const Ranks& ranks,
             std::string why) {
  const Layout& layout = evidence.setting.layout;
  Label label;
  label.decidable = readings.size() == 1;
  label.readings = std::move(readings);
  label.ranks = ranks;
  const Ranks nodes = whole_nodes_of(layout, ranks);
  for (int node : nodes) label.nodes.push_back(at(layout.node_names, node));
  label.locality = nodes.empty() ? "rank" : "node";
  label.why = std::move(why);
  return label;
}

std::optional<Label> slow_devices(const Evidence& evidence) {
  const Layout& layout = evidence.setting.layout;
  const Ranks& ranks = evidence.fault.ranks;
  if (!stands_out(evidence, evidence.columns.compute, ranks)) return std::nullopt;
  // A stage of one rank: no rule says which of the two it is.
  if (layout.pp > 1 && layout.per_stage() == 1) return std::nullopt;
  const Ranks nodes = whole_nodes_of(layout, ranks);
  const Logical logical = logical_of(layout, ranks);
  if (evidence.fault.telemetry_explains) {
    return placed(evidence, {"straggler"}, ranks, "slow devices whose clocks explain it");
  }
  const std::vector<std::string> either = {"straggler", "imbalance"};
  if (!nodes.empty()) {
    if (logical == Logical::several || logical == Logical::slice) return std::nullopt;
    if (logical == Logical::stage || logical == Logical::expert_set) {
      return placed(evidence, either, ranks, "whole nodes that are a stage or an expert set");
    }
    if (logical == Logical::replica && nodes.size() > 1) {
      return placed(evidence, either, ranks, "whole nodes that are a replica");
    }
    if (2 * nodes.size() < static_cast<std::size_t>(layout.nodes())) {
      return placed(evidence, {"straggler"}, ranks, "fewer than half of the nodes");
    }
    return placed(evidence, either, ranks, "half of the nodes or more");
  }
  if (logical != Logical::none) return std::nullopt;
  if (count_of(ranks) <= std::max(2, layout.ranks / 8)) {
    return placed(evidence, {"straggler"}, ranks, "few single ranks");
  }
  return placed(evidence, either, ranks, "more than an eighth of the ranks, not whole nodes");
}

std::optional<Label> uneven_work(const Evidence& evidence) {
  const Layout& layout = evidence.setting.layout;
  const Ranks& ranks = evidence.fault.ranks;
  if (!stands_out(evidence, evidence.columns.compute, ranks)) return std::nullopt;
  if (!whole_nodes_of(layout, ranks).empty()) {
    return placed(evidence, {"straggler", "imbalance"}, ranks,
                  "a logical place that is whole nodes");
  }
  Label label = placed(evidence, {"imbalance"}, ranks, "a logical place across nodes, or in one");
  label.locality = evidence.fault.kind == "stage-uneven" ? "stage" : "group";
  return label;
}

std::optional<Label> late_hosts(const Evidence& evidence) {
  const Layout& layout = evidence.setting.layout;
  const Ranks& ranks = evidence.fault.ranks;
  if (!stands_out(evidence, evidence.columns.stall, ranks)) return std::nullopt;
  if (layout.pp > 1 && layout.per_stage() == 1) return std::nullopt;
  const std::vector<std::string> either = {"straggler", "stall"};
  const Logical logical = logical_of(layout, ranks);
  if (logical == Logical::stage) return placed(evidence, either, ranks, "the hosts of one stage");
  if (2 * count_of(ranks) < layout.ranks) {
    return placed(evidence, {"straggler"}, ranks, "hosts of fewer than half of the ranks");
  }
  return placed(evidence, either, ranks, "hosts of half of the ranks or more");
}

Label of_all(const std::string& family, const std::string& why) {
  Label label;
  label.readings = {family};
  label.locality = "all";
  label.why = why;
  return label;
}

Label cannot_say(std::vector<std::string> readings, const std::string& why) {
  Label label = of_all("", why);
  label.decidable = false;
  label.readings = std::move(readings);
  label.locality = "none";
  return label;
}

std::optional<Label> common_stall(const Evidence& evidence) {
  const Setting& setting = evidence.setting;
  const Table<double>& stall = evidence.columns.stall;
  if (evidence.fault.kind == "gc-apart") {
    // Each rank has to be seen pausing, or it is a matter of those that are.
    for (int rank = 0; rank < setting.layout.ranks; ++rank) {
      double most = 0;
      for (int step = 0; step < setting.steps; ++step) most = std::max(most, stall(step, rank));
      if (most < 0.5 * evidence.fault.size) return std::nullopt;
    }
    return of_all("stall", "each rank stops in its turn");
  }
  const double seen = least_of(setting, stall) - least_of(setting, evidence.twin.stall);
  if (seen < 0.6 * evidence.saving * evidence.step_s) return std::nullopt;
  return of_all("stall", "all ranks stop together");
}

// Nothing tells transfer from waiting, or one group from another. A document with several groups
// shows that one of them may be meant; one that knows a single group shows slow transfer.
Label some_transfer(const Evidence& evidence) {
  const std::vector<std::string> either = {"communication", "straggler"};
  if (evidence.setting.shape != Shape::hybrid) {
    return cannot_say(either, "several groups, and nothing tells them apart");
  }
  Label label = of_all("communication", "transfer, or waiting in it, on all ranks alike");
  label.or_inconclusive = either;
  return label;
}

std::optional<Label> slow_group(const Evidence& evidence) {
  const bool nvlink = evidence.fault.kind == "slow-nvlink";
  const Shape shape = evidence.setting.shape;
  const Axis inside = shape == Shape::pipeline ? tensor
                      : shape == Shape::expert ? expert_axis
                                               : shard;
  // The layout of a stage could be the reason as well.
  if (nvlink && logical_of(evidence.setting.layout, evidence.fault.ranks) != Logical::none) {
    return std::nullopt;
  }
  const Recorder& recorder = evidence.recorder;
  if (recorder.waits == Waits::apart || recorder.by_group) {
    const Table<double>& column = recorder.waits == Waits::apart
                                      ? evidence.columns.comm
                                      : evidence.columns.groups[nvlink ? inside : replicate];
    if (!stands_out(evidence, column, evidence.fault.ranks)) return std::nullopt;
    Label label = placed(evidence, {"straggler"}, evidence.fault.ranks,
                         "the transfer of one group is slow, of its like it is not");
    label.locality = nvlink ? "node" : "link";
    return label;
  }
  if (evidence.saving < surely_exposed) return std::nullopt;
  return some_transfer(evidence);
}

std::optional<Label> slow_network(const Evidence& evidence) {
  const Recorder& recorder = evidence.recorder;
  const double seen = least_of(evidence.setting, evidence.columns.comm) -
                      least_of(evidence.setting, evidence.twin.comm);
  if (seen < 0.6 * evidence.saving * evidence.step_s) return std::nullopt;
  const bool always = evidence.fault.course.name == "steady";
  if (always && evidence.saving < surely_exposed) return std::nullopt;
  const bool apart = recorder.waits == Waits::apart || recorder.by_group ||
                     (recorder.waits == Waits::in_stall && recorder.declared == "stall");
  if (evidence.setting.shape == Shape::hybrid && !apart) return some_transfer(evidence);
  Label label = of_all("communication", "transfer is exposed on all ranks alike");
  if (!always) label.or_inconclusive = {"communication", "straggler"};
  return label;
}

std::optional<Label> by_sort(const Evidence& evidence) {
  switch (evidence.fault.sort) {
    case Sort::compute_place:
      return slow_devices(evidence);
    case Sort::logical_place:
      return uneven_work(evidence);
    case Sort::moving: {
      const double seen = visible_spread(evidence);
      if (seen < 0.055 || seen < 0.5 * evidence.saving) return std::nullopt;
      return of_all("imbalance", "the slowest rank is another one in each step");
    }
    case Sort::stall_place:
      return late_hosts(evidence);
    case Sort::stall_all:
      return common_stall(evidence);
    case Sort::link:
      return slow_group(evidence);
    case Sort::network:
      return slow_network(evidence);
    case Sort::clocks:
      return of_all("single-gpu-efficiency", "all devices are slow alike");
    case Sort::kernels:
      return of_all("single-gpu-efficiency", "far below the peak while kernels run");
    case Sort::missing: {
      Label label = cannot_say({"straggler", "communication"},
                               "all that were recorded wait or transfer, one was not recorded");
      label.ranks = evidence.fault.ranks;
      label.locality = "rank";
      return label;
    }
    case Sort::comm_zero:
    case Sort::nothing:
    case Sort::two:
      break;
  }
  return std::nullopt;
}

}  // namespace

Label healthy_label(const std::string& why) {
  Label label;
  label.readings = {"healthy"};
  label.why = why;
  return label;
}

std::optional<Label> label_of(const Evidence& evidence) {
  if (evidence.fault.sort == Sort::comm_zero) {
    Label label = cannot_say({}, "communication is zero everywhere: it was not measured");
    label.place_matters = false;
    return label;
  }
  if (evidence.saving > surely_small && evidence.saving < surely_material) return std::nullopt;
  if (evidence.saving <= surely_small)
    return healthy_label("nothing to gain from " + evidence.fault.kind);
  std::optional<Label> label = by_sort(evidence);
  if (label) {
    label->persistence = {evidence.fault.course.name};
    label->cause = evidence.fault.cause;
  }
  return label;
}

}  // namespace second
