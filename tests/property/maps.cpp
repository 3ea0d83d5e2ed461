// No cliffs: the verdict of a fault that is swept over its sizes. `mfu_make_job --map NAME` prints
// them.
#include "faults/maps/maps.hpp"

#include "catch.hpp"

using namespace mfu::faults;

TEST_CASE("no verdict changes with confidence where the truth does not", "[maps]") {
  for (const FaultMap& map : fault_maps()) {
    const std::vector<MapPoint> points = map.draw();
    INFO(map.name << "\n" << drawn(points));
    for (const std::string& cliff : cliffs(points)) FAIL_CHECK(cliff);
    CHECK_FALSE(points.empty());
  }
}
