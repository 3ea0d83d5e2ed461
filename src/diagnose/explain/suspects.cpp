#include "diagnose/explain/suspects.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {

constexpr double kLeastSuspectShare = 0.02;  // of the step: smaller mean excesses are not looked at
constexpr double kLeastBurstShare = 0.01;
constexpr double kSuspectBurstFloor = 0.05;      // of the step
constexpr double kBurstConcentration = 0.7;      // of all burst seconds
constexpr double kBurstsAlone = 0.8;             // of a place's mean excess
constexpr std::size_t kLeastSuspectsAtOnce = 4;  // ranks of a node
constexpr std::size_t kLeastSlices = 3;  // of one tensor-parallel index: fewer can be chance
constexpr std::size_t kMostNamed = 8;    // ranks or nodes in one name

double spread_of(std::vector<double> values) {
  if (values.size() < 2) return 0.0;
  const double high = quantile_inplace(values, 0.98);
  return high - quantile_inplace(values, 0.02);
}

// Members above half of the largest, if they are few enough and the rest is close together.
std::vector<std::size_t> standouts(std::span<const double> effect, std::size_t most, double least) {
  std::vector<std::size_t> chosen;
  if (effect.size() < 2) return chosen;
  const double largest = *std::max_element(effect.begin(), effect.end());
  if (largest < least) return chosen;
  std::vector<double> rest;
  std::vector<double> high;
  for (std::size_t i = 0; i < effect.size(); ++i) {
    if (effect[i] > 0.5 * largest) {
      chosen.push_back(i);
      high.push_back(effect[i]);
    } else {
      rest.push_back(effect[i]);
    }
  }
  if (chosen.size() > most || rest.empty()) return {};
  const double gap = mean(high) - median(rest);
  if (spread_of(rest) >= 0.5 * gap) return {};
  return chosen;
}

// Whole nodes that stand out: every rank of the node does, and other nodes are there to compare
// with.
std::optional<Suspects> node_suspects(const Job& job, std::span<const double> effect,
                                      double least) {
  const auto& nodes = job.nodes();
  if (nodes.size() < 2) return std::nullopt;
  std::vector<double> node_effect;
  for (const Job::Node& node : nodes) {
    if (node.ranks.size() < 2) return std::nullopt;
    double total = 0.0;
    for (const std::size_t r : node.ranks) total += effect[r];
    node_effect.push_back(total / static_cast<double>(node.ranks.size()));
  }
  const std::size_t most = std::max<std::size_t>(1, nodes.size() / 4);
  const auto chosen = standouts(node_effect, most, least);
  if (chosen.empty()) return std::nullopt;
  std::vector<double> rest;
  for (std::size_t r = 0; r < effect.size(); ++r) {
    const int n = job.node_of(r);
    if (n < 0 ||
        std::find(chosen.begin(), chosen.end(), static_cast<std::size_t>(n)) == chosen.end()) {
      rest.push_back(effect[r]);
    }
  }
  if (rest.empty()) return std::nullopt;
  const double usual = median(rest);
  // Graded shards spread alike inside the nodes and between them.
  double weakest = std::numeric_limits<double>::infinity();
  for (const std::size_t n : chosen) {
    for (const std::size_t r : nodes[n].ranks) {
      if (effect[r] - usual < 0.4 * (node_effect[n] - usual)) return std::nullopt;
      weakest = std::min(weakest, effect[r] - usual);
    }
  }
  if (nodes.size() < 4 && spread_of(rest) >= 0.5 * weakest) return std::nullopt;
  Suspects result;
  name_nodes(job, chosen, result);
  return result;
}

std::optional<Suspects> rank_suspects(const Job& job, std::span<const double> effect,
                                      double least) {
  const std::size_t most = std::max<std::size_t>(1, effect.size() / 4);
  const auto chosen = standouts(effect, most, least);
  if (chosen.empty()) return std::nullopt;
  Suspects result;
  result.ranks = chosen;
  name_ranks(job, result);
  return result;
}

// "node n1", "ranks 2, 5, 6 and 4 more".
std::string in_words(std::string_view what, const std::vector<std::string>& names) {
  std::string text = std::string(what) + (names.size() > 1 ? "s " : " ");
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i) {
    text += (i > 0 ? ", " : "") + names[i];
  }
  if (names.size() > kMostNamed) {
    text += " and " + std::to_string(names.size() - kMostNamed) + " more";
  }
  return text;
}

// Places that are bad for one reason burst in the same steps; pauses at random do not.
bool act_together(const Job& job, const Column& excess, const std::vector<std::size_t>& ranks) {
  if (ranks.size() < 2) return true;
  const double floor = kSuspectBurstFloor * job.mean_step();
  std::size_t any = 0;
  std::size_t acting = 0;
  for (std::size_t s = 0; s < excess.steps(); ++s) {
    std::size_t here = 0;
    for (const std::size_t r : ranks) here += excess.at(s, r) > floor;
    any += here > 0;
    acting += here;
  }
  return static_cast<double>(acting) >=
         0.5 * static_cast<double>(any) * static_cast<double>(ranks.size());
}

}  // namespace

void name_nodes(const Job& job, const std::vector<std::size_t>& nodes, Suspects& suspects) {
  suspects.locality = Locality::node;
  for (const std::size_t n : nodes) {
    const Job::Node& node = job.nodes()[n];
    suspects.named.nodes.push_back(node.name);
    suspects.ranks.insert(suspects.ranks.end(), node.ranks.begin(), node.ranks.end());
  }
  std::sort(suspects.named.nodes.begin(), suspects.named.nodes.end());
  std::sort(suspects.ranks.begin(), suspects.ranks.end());
}

void name_ranks(const Job& job, Suspects& suspects) {
  suspects.locality = Locality::rank;
  for (const std::size_t r : suspects.ranks) {
    suspects.named.ranks.push_back(job.run().ranks[r].rank);
  }
}

void mark_culprits(const Job& job, Suspects& suspects) {
  suspects.is_culprit.assign(job.ranks(), false);
  for (const std::size_t r : suspects.ranks) suspects.is_culprit[r] = true;
}

std::vector<std::size_t> nodes_filled(const Job& job, const Suspects& suspects) {
  std::vector<std::size_t> filled;
  std::size_t ranks = 0;
  for (std::size_t n = 0; n < job.nodes().size(); ++n) {
    const auto& here = job.nodes()[n].ranks;
    if (here.size() < 2 || !std::all_of(here.begin(), here.end(), [&](std::size_t r) {
          return static_cast<bool>(suspects.is_culprit[r]);
        })) {
      continue;
    }
    filled.push_back(n);
    ranks += here.size();
  }
  if (ranks != suspects.ranks.size() || filled.size() == job.nodes().size()) return {};
  return filled;
}

std::string place_name(const Culprits& culprits) {
  if (!culprits.nodes.empty()) return in_words("node", culprits.nodes);
  if (!culprits.groups.empty()) {
    return culprits.groups.size() == 1 ? culprits.groups.front()
                                       : in_words("group", culprits.groups);
  }
  std::vector<std::string> ranks;
  for (const std::int64_t rank : culprits.ranks) ranks.push_back(std::to_string(rank));
  return ranks.empty() ? std::string() : in_words("rank", ranks);
}

void excess_over_peers(const Job& job, std::span<const double> row, std::span<double> excess) {
  std::vector<double> peers;
  for (const auto& ranks : job.stage_ranks()) {
    if (ranks.empty()) continue;
    peers.clear();
    for (const std::size_t r : ranks) peers.push_back(row[r]);
    const double usual = lower_quartile_inplace(peers);
    for (const std::size_t r : ranks) excess[r] = row[r] - usual;
  }
}

std::optional<Suspects> find_suspects(const Job& job, std::span<const double> effect,
                                      double least) {
  auto result = node_suspects(job, effect, least);
  if (!result) result = rank_suspects(job, effect, least);
  if (result) mark_culprits(job, *result);
  return result;
}

std::optional<Suspects> find_suspects(const Job& job, const Column& excess) {
  const std::size_t steps = excess.steps();
  const double mean_step = job.mean_step();
  std::vector<double> effect(job.ranks());
  std::vector<double> burst_effect(job.ranks());
  std::vector<double> any_burst(job.ranks());
  std::vector<double> series(steps);
  Sum all_bursts;
  for (std::size_t r = 0; r < job.ranks(); ++r) {
    for (std::size_t s = 0; s < steps; ++s) series[s] = excess.at(s, r);
    // One step proves nothing about a place: the largest is left out, and a single burst does not
    // count.
    const double largest = *std::max_element(series.begin(), series.end());
    effect[r] = (sum(series) - largest) / static_cast<double>(std::max<std::size_t>(1, steps - 1));
    const BurstSplit split = split_bursts(series, kSuspectBurstFloor * mean_step);
    any_burst[r] = mean(split.excess);
    burst_effect[r] = split.on_count > 1 ? any_burst[r] : 0.0;
    all_bursts.add(mean(split.excess));
  }
  // A few random bursts fall on some rank by chance. A bad place has most of them.
  const auto holds_most = [&](const Suspects& suspects) {
    Sum theirs;
    for (const std::size_t r : suspects.ranks) theirs.add(any_burst[r]);
    return theirs.value() >= kBurstConcentration * all_bursts.value();
  };
  const auto only_bursts = [&](const Suspects& suspects) {
    Sum bursts;
    Sum all;
    for (const std::size_t r : suspects.ranks) {
      bursts.add(any_burst[r]);
      all.add(effect[r]);
    }
    return bursts.value() > kBurstsAlone * all.value();
  };
  auto result = find_suspects(job, effect, kLeastSuspectShare * mean_step);
  if (result && (!only_bursts(*result) || holds_most(*result))) return result;
  result = find_suspects(job, burst_effect, kLeastBurstShare * mean_step);
  // ... but it is no coincidence if all ranks of a node, and no others, burst at once.
  if (!result) {
    result = node_suspects(job, any_burst, kLeastBurstShare * mean_step);
    if (result && result->ranks.size() < kLeastSuspectsAtOnce) return std::nullopt;
    if (result) mark_culprits(job, *result);
  }
  if (!result) return result;
  if (!holds_most(*result)) return std::nullopt;
  if (!act_together(job, excess, result->ranks)) return std::nullopt;
  return result;
}

std::optional<LogicalPlace> logical_place(const Job& job, const Suspects& suspects) {
  for (const Axis axis : {Axis::ep, Axis::cp, Axis::tp, Axis::dp}) {
    std::map<int, std::size_t> holders;  // of the suspects' indices
    std::set<int> others;
    for (std::size_t r = 0; r < job.ranks(); ++r) {
      const int index = job.run().ranks[r].coords[axis];
      if (suspects.is_culprit[r]) {
        ++holders[index];
      } else {
        others.insert(index);
      }
    }
    if (holders.contains(-1) || others.contains(-1) || others.empty()) continue;
    if (std::any_of(holders.begin(), holders.end(),
                    [&](const auto& held) { return others.contains(held.first); })) {
      continue;
    }
    if (axis == Axis::tp && std::any_of(holders.begin(), holders.end(), [](const auto& held) {
          return held.second < kLeastSlices;
        })) {
      continue;
    }
    const std::vector<std::size_t> nodes = nodes_filled(job, suspects);
    // Data moves between replicas: a steady outlier that is one replica on one node is the node.
    if (axis == Axis::dp) {
      const bool no_nodes = job.node_of(suspects.ranks.front()) < 0;
      if (holders.size() != 1 || suspects.ranks.size() < 2 || nodes.size() == 1 ||
          (no_nodes && job.stages() == 1)) {
        continue;
      }
    }
    LogicalPlace place{.axis = axis};
    bool one_each = true;
    for (const auto& [index, held] : holders) {
      place.indices.push_back(index);
      one_each = one_each && held == 1;
    }
    if (axis == Axis::dp) return place;  // of several nodes, or of several stages: the work's
    if (!nodes.empty()) {
      for (const std::size_t n : nodes) place.nodes.push_back(job.nodes()[n].name);
      place.physical = in_words("node", place.nodes);
    } else if (one_each || axis == Axis::tp) {  // the same slots of all nodes, often
      std::vector<std::string> ranks;
      for (const std::size_t r : suspects.ranks) {
        ranks.push_back(std::to_string(job.run().ranks[r].rank));
      }
      place.physical = in_words("rank", ranks);
    }
    return place;
  }
  return std::nullopt;
}

RowEdit to_peers_median(const Job& job, const std::vector<bool>& is_culprit) {
  return [&job, is_culprit, peers = std::vector<double>()](std::size_t,
                                                           std::span<double> row) mutable {
    for (const auto& ranks : job.stage_ranks()) {
      peers.clear();
      for (const std::size_t r : ranks) {
        if (!is_culprit[r]) peers.push_back(row[r]);
      }
      if (peers.empty() || peers.size() == ranks.size()) continue;
      const double usual = median_inplace(peers);
      for (const std::size_t r : ranks) {
        if (is_culprit[r]) row[r] = std::min(row[r], usual);
      }
    }
  };
}

Contrast contrast(const Job& job, const Suspects& suspects, std::span<const double> row) {
  Sum culprits;
  Sum peer_levels;
  std::size_t compared = 0;
  std::vector<double> peers;
  for (const auto& ranks : job.stage_ranks()) {
    peers.clear();
    std::size_t here = 0;
    for (const std::size_t r : ranks) {
      if (suspects.is_culprit[r]) {
        ++here;
        culprits.add(row[r]);
      } else {
        peers.push_back(row[r]);
      }
    }
    if (here == 0) continue;
    compared += here;
    const double usual = peers.empty() ? 0.0 : median_inplace(peers);
    for (std::size_t i = 0; i < here; ++i) peer_levels.add(usual);
  }
  if (compared == 0) return {};
  const auto count = static_cast<double>(compared);
  return {culprits.value() / count, peer_levels.value() / count};
}

}  // namespace mfu::diagnosis
