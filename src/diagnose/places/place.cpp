#include "diagnose/places/place.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include "diagnose/places/split.hpp"
#include "diagnose/thresholds.hpp"
#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {

constexpr std::size_t kLeastSlices = 3;  // of one tensor-parallel index: fewer can be chance

// The nodes that are exactly these ranks, where others are there.
std::vector<std::size_t> nodes_filled(const Job& job, const RankSet& place) {
  std::vector<std::size_t> filled;
  std::size_t ranks = 0;
  for (std::size_t n = 0; n < job.nodes().size(); ++n) {
    const auto& here = job.nodes()[n].ranks;
    if (here.size() < 2 || !std::all_of(here.begin(), here.end(),
                                        [&](std::size_t r) { return bool{place.holds[r]}; })) {
      continue;
    }
    filled.push_back(n);
    ranks += here.size();
  }
  if (ranks != place.ranks.size() || filled.size() == job.nodes().size()) return {};
  return filled;
}

std::optional<LogicalPlace> logical_place(const Job& job, const RankSet& place) {
  for (const Axis axis : {Axis::ep, Axis::cp, Axis::tp, Axis::dp}) {
    std::map<int, std::size_t> holders;  // of the place's indices
    std::set<int> others;
    for (std::size_t r = 0; r < job.ranks(); ++r) {
      const int index = job.run().ranks[r].coords[axis];
      if (place.holds[r]) {
        ++holders[index];
      } else {
        others.insert(index);
      }
    }
    if (holders.contains(-1) || others.contains(-1) || others.empty()) continue;
    const auto all_hold = [&](std::size_t least) {
      return std::all_of(holders.begin(), holders.end(),
                         [&](const auto& held) { return held.second >= least; });
    };
    if (std::any_of(holders.begin(), holders.end(),
                    [&](const auto& held) { return others.contains(held.first); })) {
      continue;
    }
    if (axis == Axis::tp && !all_hold(kLeastSlices)) continue;
    if (axis == Axis::dp) {
      // Data moves between replicas: a replica of one rank, or of one node, is that rank or node,
      // and whole nodes are replicas only where each of them is several.
      const bool several_nodes = place.nodes.size() > holders.size();
      const bool parts_of_nodes = place.nodes.empty();
      const bool no_nodes = job.node_of(place.ranks.front()) < 0;
      if (!all_hold(2) || !(several_nodes || parts_of_nodes) || (no_nodes && job.stages() == 1)) {
        continue;
      }
    }
    LogicalPlace result{axis, {}, axis == Axis::tp};
    bool one_each = true;
    for (const auto& [index, held] : holders) {
      result.indices.push_back(index);
      one_each = one_each && held == 1;
    }
    result.one_each = result.one_each || one_each;
    return result;
  }
  return std::nullopt;
}

// The fast level of some values: low enough for any share of slow ones, and not the one lowest of
// many.
double fast_level(std::vector<double> values) {
  const std::size_t at = (values.size() - 1) / 10;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

std::vector<UnitLevel> levels_of_ranks(const Column& excess) {
  std::vector<UnitLevel> levels;
  std::vector<double> series(excess.steps());
  for (std::size_t r = 0; r < excess.ranks(); ++r) {
    for (std::size_t s = 0; s < excess.steps(); ++s) series[s] = excess.at(s, r);
    levels.push_back(level_of(series));
  }
  return levels;
}

// Whole nodes that are slow: every rank of each is.
std::vector<std::size_t> ranks_of_slow_nodes(const Job& job, const Column& excess,
                                             std::span<const UnitLevel> ranks, double least) {
  const auto& nodes = job.nodes();
  if (nodes.size() < 2) return {};
  std::vector<UnitLevel> levels;
  std::vector<double> series(excess.steps());
  for (const Job::Node& node : nodes) {
    if (node.ranks.size() < 2) return {};
    for (std::size_t s = 0; s < excess.steps(); ++s) {
      series[s] = 0.0;
      for (const std::size_t r : node.ranks) series[s] += excess.at(s, r);
      series[s] /= static_cast<double>(node.ranks.size());
    }
    levels.push_back(level_of(series));
  }
  const auto slow = slow_units(levels, excess.steps(), least);
  if (!slow) return {};
  std::vector<bool> is_slow(nodes.size(), false);
  for (const std::size_t n : *slow) is_slow[n] = true;
  std::vector<double> rest;
  for (std::size_t r = 0; r < job.ranks(); ++r) {
    const int n = job.node_of(r);
    if (n < 0 || !is_slow[static_cast<std::size_t>(n)]) rest.push_back(ranks[r].mean);
  }
  const double usual = median_inplace(rest);
  std::vector<std::size_t> result;
  for (const std::size_t n : *slow) {
    for (const std::size_t r : nodes[n].ranks) {
      const double node_excess = levels[n].mean - usual;
      if (ranks[r].mean - usual < limits::kWeakestOfPlace * node_excess) return {};
      result.push_back(r);
    }
  }
  return result;
}

}  // namespace

RankSet place_of(const Job& job, std::vector<std::size_t> ranks) {
  RankSet place;
  std::sort(ranks.begin(), ranks.end());
  place.holds.assign(job.ranks(), false);
  for (const std::size_t r : ranks) place.holds[r] = true;
  place.ranks = std::move(ranks);
  place.nodes = nodes_filled(job, place);
  place.logical = logical_place(job, place);
  if (!place.nodes.empty()) {
    place.locality = Locality::node;
    for (const std::size_t n : place.nodes) place.named.nodes.push_back(job.nodes()[n].name);
    std::sort(place.named.nodes.begin(), place.named.nodes.end());
  } else {
    for (const std::size_t r : place.ranks) {
      place.named.ranks.push_back(job.run().ranks[r].rank);
    }
  }
  return place;
}

namespace {

std::vector<std::vector<std::size_t>> compared_sets(const Job& job, bool by_stage) {
  if (by_stage) return job.stage_ranks();
  std::vector<std::vector<std::size_t>> sets(1);
  for (std::size_t r = 0; r < job.ranks(); ++r) sets.front().push_back(r);
  return sets;
}

std::vector<double> means_of_ranks(const Column& rows) {
  std::vector<Sum> totals(rows.ranks());
  for (std::size_t s = 0; s < rows.steps(); ++s) {
    const auto row = rows.row(s);
    for (std::size_t r = 0; r < row.size(); ++r) totals[r].add(row[r]);
  }
  std::vector<double> means;
  for (const Sum& total : totals) {
    means.push_back(total.value() / static_cast<double>(rows.steps()));
  }
  return means;
}

}  // namespace

Column excess_over_fast(const Job& job, const RowOf& row_of, bool by_stage) {
  const std::size_t steps = job.steps();
  Column excess(steps, job.ranks());
  for (std::size_t s = 0; s < steps; ++s) {
    const auto row = row_of(s);
    std::copy(row.begin(), row.end(), excess.row(s).begin());
  }
  const std::vector<double> means = means_of_ranks(excess);
  std::vector<double> values;
  for (const auto& ranks : compared_sets(job, by_stage)) {
    if (ranks.empty()) continue;
    values.clear();
    for (const std::size_t r : ranks) values.push_back(means[r]);
    const double level = fast_level(values);
    for (std::size_t s = 0; s < steps; ++s) {
      // What each has beside its own mean.
      const auto row = excess.row(s);
      for (std::size_t i = 0; i < ranks.size(); ++i) values[i] = row[ranks[i]] - means[ranks[i]];
      const double common = median_inplace(values);
      for (const std::size_t r : ranks) row[r] -= level + common;
    }
  }
  return excess;
}

void take_out_the_least(const Job& job, Column& excess, bool by_stage) {
  const std::vector<double> means = means_of_ranks(excess);
  for (const auto& ranks : compared_sets(job, by_stage)) {
    if (ranks.empty()) continue;
    for (std::size_t s = 0; s < excess.steps(); ++s) {
      const auto row = excess.row(s);
      double least = std::numeric_limits<double>::infinity();
      for (const std::size_t r : ranks) least = std::min(least, row[r] - means[r]);
      for (const std::size_t r : ranks) row[r] -= least;
    }
  }
}

std::optional<RankSet> slow_place(const Job& job, const Column& excess, double least) {
  const std::vector<UnitLevel> levels = levels_of_ranks(excess);
  auto of_nodes = ranks_of_slow_nodes(job, excess, levels, least);
  if (!of_nodes.empty()) return place_of(job, std::move(of_nodes));
  auto ranks = slow_units(levels, excess.steps(), least);
  if (!ranks) return std::nullopt;
  return place_of(job, std::move(*ranks));
}

namespace {

// The median of each stage's ranks that are not of the place; of a stage that it fills, that of all
// other ranks. `use` gets a stage's ranks and that median.
template <class Use>
void with_peers(const Job& job, const std::vector<bool>& holds, std::span<const double> row,
                std::vector<double>& scratch, Use use) {
  for (const auto& ranks : job.stage_ranks()) {
    scratch.clear();
    for (const std::size_t r : ranks) {
      if (!holds[r]) scratch.push_back(row[r]);
    }
    if (scratch.size() == ranks.size()) continue;
    if (scratch.empty()) {
      for (std::size_t r = 0; r < row.size(); ++r) {
        if (!holds[r]) scratch.push_back(row[r]);
      }
    }
    if (!scratch.empty()) use(ranks, median_inplace(scratch));
  }
}

}  // namespace

RowEdit to_peers_median(const Job& job, const std::vector<bool>& holds) {
  return
      [&job, holds, scratch = std::vector<double>()](std::size_t, std::span<double> row) mutable {
        // The peers' values are not changed: a stage that is done does not alter the next one's.
        with_peers(job, holds, row, scratch, [&](const auto& ranks, double usual) {
          for (const std::size_t r : ranks) {
            if (holds[r]) row[r] = std::min(row[r], usual);
          }
        });
      };
}

Contrast contrast(const Job& job, const RankSet& place, std::span<const double> row) {
  Sum own;
  Sum peers;
  std::size_t compared = 0;
  std::vector<double> scratch;
  with_peers(job, place.holds, row, scratch, [&](const auto& ranks, double usual) {
    for (const std::size_t r : ranks) {
      if (!place.holds[r]) continue;
      own.add(row[r]);
      peers.add(usual);
      ++compared;
    }
  });
  if (compared == 0) return {};
  const auto count = static_cast<double>(compared);
  return {own.value() / count, peers.value() / count};
}

}  // namespace mfu::diagnosis
