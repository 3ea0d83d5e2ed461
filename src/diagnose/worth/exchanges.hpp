// Who lies where without need, and which ranks would change places.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mfu/timings.hpp"

namespace mfu {

// Groups of one axis that lie in more places (nodes, or leaf switches) than they need to, judged by
// an arrangement of the same ranks on the same hardware that was found. What fits in no place is
// never among them.
struct NeedlessCrossing {
  Axis axis = Axis::tp;
  bool of_switches = false;  // the places are leaf switches; else nodes
  bool rings = false;        // the groups reach as many places as they must, but to and fro
  std::int64_t groups = 0;   // of the axis
  std::int64_t needless = 0;
  // The first of those that have most to gain, in the order of the axis.
  std::vector<std::int64_t> example_ranks;
  std::vector<std::string> example_places;
  std::int64_t example_crossings = 0;  // places, or hops between places along the ring: now
  std::int64_t example_least = 0;      // and in the arrangement that was found
};

// Ranks that change places with one another: two, or all of two nodes.
struct Exchange {
  std::vector<std::int64_t> ranks, with_ranks;
  std::string place, with_place;  // nodes where they are known, else switches
};

struct Placement {
  bool nodes_known = false;                // of every rank
  bool switches_known = false;             // of every rank, and every node is under one of them
  std::vector<NeedlessCrossing> needless;  // the heaviest traffic first
  std::vector<Exchange> exchanges;         // in this order, they mend all of it
};

}  // namespace mfu
