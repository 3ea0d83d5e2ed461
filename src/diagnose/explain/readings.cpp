#include "diagnose/explain/readings.hpp"

#include <algorithm>
#include <array>

#include "diagnose/thresholds.hpp"

namespace mfu::diagnosis {

bool fills_a_stage(const Job& job, const RankSet& place) {
  if (job.stages() < 2) return false;
  std::size_t inside = 0;
  for (const auto& ranks : job.stage_ranks()) {
    if (ranks.empty() || !std::all_of(ranks.begin(), ranks.end(),
                                      [&](std::size_t r) { return bool{place.holds[r]}; })) {
      continue;
    }
    inside += ranks.size();
  }
  return inside == place.ranks.size();
}

namespace {

// What a place is, by what it coincides with.
enum class Kind {
  ranks,          // single ranks, as few as devices are bad together
  many_ranks,     // more than that
  nodes,          // whole nodes, fewer than half of them
  most_nodes,     // half of them or more
  logical_nodes,  // whole nodes that are also a stage, an expert set or a replica of several nodes
  logical_ranks,  // single ranks that are also experts, slices of a context or slots of every node
  logical,        // holders of some indices that no hardware sets apart
};

enum Reading : unsigned { kStraggler = 1U, kImbalance = 2U, kStall = 4U };

struct Row {
  Kind kind;
  unsigned silent;  // by what the devices say
  unsigned sound;
};

// A bad device is a straggler wherever it is: those rows need no third column.
constexpr std::array kCompute{
    Row{Kind::ranks, kStraggler, kStraggler},
    Row{Kind::many_ranks, kStraggler | kImbalance, kImbalance},
    Row{Kind::nodes, kStraggler, kStraggler},
    // A node can be slow with sound GPUs: its host, its memory, its fabric.
    Row{Kind::most_nodes, kStraggler | kImbalance, kStraggler | kImbalance},
    Row{Kind::logical_nodes, kStraggler | kImbalance, kStraggler | kImbalance},
    Row{Kind::logical_ranks, kStraggler | kImbalance, kStraggler | kImbalance},
    Row{Kind::logical, kImbalance, kImbalance},
};

bool fewer_than_half(std::size_t count, std::size_t of) {
  return static_cast<double>(count) < limits::kFewerThanHalf * static_cast<double>(of);
}

bool few_enough(std::size_t count, std::size_t of) {
  return count <= limits::kSurelyPhysical ||
         static_cast<double>(count) <= limits::kPhysicalShare * static_cast<double>(of);
}

// One rank, or recordings of one rank a node: its ranks are whole nodes as far as anybody sees.
bool each_alone(const Job& job, const RankSet& place) {
  return place.ranks.size() == 1 ||
         std::all_of(place.ranks.begin(), place.ranks.end(), [&](std::size_t r) {
           const int node = job.node_of(r);
           return node >= 0 && job.nodes()[static_cast<std::size_t>(node)].ranks.size() == 1;
         });
}

Kind kind_of(const Job& job, const RankSet& place) {
  const bool stage = fills_a_stage(job, place);
  if (!place.nodes.empty()) {
    if (stage || place.logical) return Kind::logical_nodes;
    return fewer_than_half(place.nodes.size(), job.nodes().size()) ? Kind::nodes : Kind::most_nodes;
  }
  if (place.logical) return place.logical->one_each ? Kind::logical_ranks : Kind::logical;
  if (stage) return each_alone(job, place) ? Kind::logical_ranks : Kind::logical;
  return few_enough(place.ranks.size(), job.ranks()) ? Kind::ranks : Kind::many_ranks;
}

Readings readings_from(unsigned mask) {
  Readings result;
  if (mask & kStraggler) result.families.push_back(Family::straggler);
  if (mask & kImbalance) result.families.push_back(Family::imbalance);
  if (mask & kStall) result.families.push_back(Family::stall);
  return result;
}

}  // namespace

Readings readings_of_compute(const Job& job, const RankSet& place, DeviceStory devices) {
  if (devices == DeviceStory::bad) return readings_from(kStraggler);
  const Kind kind = kind_of(job, place);
  const auto row =
      std::find_if(kCompute.begin(), kCompute.end(), [&](const Row& r) { return r.kind == kind; });
  Readings result = readings_from(devices == DeviceStory::sound ? row->sound : row->silent);
  // A single place needs no majority of the others.
  result.near_boundary =
      place.units() > 1 &&
      ((kind == Kind::nodes && !fewer_than_half(place.nodes.size() + 1, job.nodes().size())) ||
       (kind == Kind::ranks && !few_enough(place.ranks.size() + 1, job.ranks())));
  return result;
}

Readings readings_of_stall(const Job& job, const RankSet& place) {
  if (fills_a_stage(job, place)) {
    // The stage's own loader or host, or the node; a stage of several nodes is no node.
    return readings_from(place.nodes.size() == 1 ? kStraggler | kStall : kStall);
  }
  // One rank alone is never all of them (of two ranks it is half).
  const bool few = place.ranks.size() == 1 || fewer_than_half(place.ranks.size(), job.ranks());
  Readings result = readings_from(few ? kStraggler : kStraggler | kStall);
  const std::size_t one_more =
      place.ranks.size() * (place.units() + 1) / std::max<std::size_t>(1, place.units());
  result.near_boundary = result.families.size() == 1 && !fewer_than_half(one_more, job.ranks());
  return result;
}

}  // namespace mfu::diagnosis
