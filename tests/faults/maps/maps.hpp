// Maps: one kind of fault swept over its sizes, and what the diagnosis says at each point. A
// verdict may change from a point to its neighbour only where the truth does, or by way of doubt.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mfu/diagnose.hpp"

namespace mfu::faults {

struct MapPoint {
  std::string row;      // the lines of a map; points of a row follow each other by size
  std::string column;   // the size
  double saving = 0.0;  // share of the step that the twin saves
  Verdict verdict;
};

struct FaultMap {
  std::string_view name;
  std::string_view what;
  std::vector<MapPoint> (*draw)();
};

[[nodiscard]] std::span<const FaultMap> fault_maps();

// One letter a point (. healthy, S straggler, I imbalance, T stall, C communication, ?
// inconclusive; small where the confidence is under 0.9), a line a row.
[[nodiscard]] std::string drawn(std::span<const MapPoint> points);

// What must not be: a confident change between neighbours of a row, or healthy where the twin saves
// half more than what is material.
[[nodiscard]] std::vector<std::string> cliffs(std::span<const MapPoint> points);

}  // namespace mfu::faults
