#include "fault.hpp"

namespace second {

const std::vector<KindRow>& kinds() {
  using enum Shape;
  using enum Sort;
  static const std::vector<Shape> any = {sharded, hybrid, ddp, expert, ring, pipeline, pipeline};
  static const std::vector<Shape> replicas = {sharded, hybrid, ddp, pipeline, pipeline};
  static const std::vector<Shape> one_group = {sharded, ddp};
  static const std::vector<KindRow> rows = {
      {"healthy", nothing, any},
      {"healthy-pipeline", nothing, {pipeline}},
      {"healthy-warmup", nothing, any},
      {"slow-rank", compute_place, any},
      {"slow-ranks-few", compute_place, any},
      {"slow-ranks-many", compute_place, any},
      {"slow-node", compute_place, any},
      {"slow-nodes", compute_place, any},
      {"half-of-nodes", compute_place, any},
      {"stage-of-nodes", compute_place, {pipeline}},
      {"replica-of-nodes", compute_place, {pipeline}},
      {"power-capped-rack", compute_place, any},
      {"power-capped-rack-silent", compute_place, any},
      {"node-heats-up", compute_place, any},
      {"two-devices", compute_place, any},
      {"lengths-moving", moving, replicas},
      {"microbatches-unequal", moving, {pipeline}},
      {"jitter", moving, any},
      {"experts-moving", moving, {expert}},
      {"stage-uneven", logical_place, {pipeline}},
      {"expert-hot", logical_place, {expert}},
      {"ring-uneven", logical_place, {ring}},
      {"loader-of-node", stall_place, any},
      {"loader-of-some", stall_place, any},
      {"host-bound-node", stall_place, any},
      {"checkpoint-by-one", stall_place, any},
      {"stall-once", stall_place, any},
      {"loader-of-all", stall_all, any},
      {"host-bound", stall_all, any},
      {"gc-together", stall_all, any},
      {"gc-apart", stall_all, any},
      {"checkpoint-by-all", stall_all, any},
      {"evaluation", stall_all, any},
      {"slow-nvlink", link, {hybrid, pipeline, expert}},
      {"slow-rail", link, {hybrid}},
      {"flapping-rail", link, {hybrid}},
      {"network-slow", network, {sharded, ddp, hybrid}},
      {"network-at-times", network, one_group},
      {"clocks-of-all", clocks, any},
      {"slower-from-some-step", clocks, any},
      {"poor-kernels", kernels, any},
      {"rank-missing", missing, one_group},
      {"comm-not-recorded", comm_zero, {ddp, sharded}},
      {"two-faults", two, one_group},
  };
  return rows;
}

}  // namespace second
