// A step of a pipeline: one forward, one backward, plain or interleaved over virtual stages.
#include <algorithm>
#include <cmath>

#include "engine.hpp"

namespace second {
namespace {

// The work of one stage in the order in which it does it.
std::vector<PipelineOp> order_of_stage(int stage, int stages, int chunks, int microbatches) {
  const int total = microbatches * chunks;
  const int warmup = chunks == 1
                         ? std::min(total, stages - stage - 1)
                         : std::min(total, (stages - stage - 1) * 2 + (chunks - 1) * stages);
  const auto forward = [&](int k) {
    if (chunks == 1) return PipelineOp{stage, 0, k, false};
    const int round = stages * chunks;
    return PipelineOp{stage, k % round / stages, k / round * stages + k % stages, false};
  };
  const auto backward = [&](int k) {
    PipelineOp op = forward(k);
    op.chunk = chunks - 1 - op.chunk;
    op.backward = true;
    return op;
  };
  std::vector<PipelineOp> order;
  for (int k = 0; k < warmup; ++k) order.push_back(forward(k));
  for (int k = warmup; k < total; ++k) {
    order.push_back(forward(k));
    order.push_back(backward(k - warmup));
  }
  for (int k = total - warmup; k < total; ++k) order.push_back(backward(k));
  return order;
}

}  // namespace

std::vector<PipelineOp> pipeline_order(int stages, int chunks, int microbatches) {
  std::vector<std::vector<PipelineOp>> per_stage;
  for (int stage = 0; stage < stages; ++stage) {
    per_stage.push_back(order_of_stage(stage, stages, chunks, microbatches));
  }
  // All stages' work in an order in which nothing comes before what it needs.
  const int virtual_stages = stages * chunks;
  Table<char> forward_done(virtual_stages, microbatches, 0);
  Table<char> backward_done(virtual_stages, microbatches, 0);
  std::vector<std::size_t> next(per_stage.size(), 0);
  std::vector<PipelineOp> order;
  for (bool moved = true; moved;) {
    moved = false;
    for (int stage = 0; stage < stages; ++stage) {
      while (at(next, stage) < at(per_stage, stage).size()) {
        const PipelineOp op = at(per_stage, stage)[at(next, stage)];
        const int place = op.chunk * stages + stage;
        if (!op.backward) {
          if (place > 0 && forward_done(place - 1, op.microbatch) == 0) break;
          forward_done(place, op.microbatch) = 1;
        } else {
          if (forward_done(place, op.microbatch) == 0) break;
          if (place + 1 < virtual_stages && backward_done(place + 1, op.microbatch) == 0) break;
          backward_done(place, op.microbatch) = 1;
        }
        order.push_back(op);
        ++at(next, stage);
        moved = true;
      }
    }
  }
  return order;
}

void run_pipeline(const Setting& setting, const Effects& effects,
                  const std::vector<PipelineOp>& order, Engine& engine, int step) {
  const Layout& layout = setting.layout;
  const int width = layout.per_replica();
  const int virtual_stages = layout.pp * setting.virtual_stages;
  const double forward_s =
      setting.compute_s * 0.32 / (setting.microbatches * setting.virtual_stages);
  std::vector<double> ready(engine.now);
  std::vector<std::vector<int>> cells(static_cast<std::size_t>(layout.pp));
  Table<double> forward_end(virtual_stages, setting.microbatches);
  Table<double> backward_end(virtual_stages, setting.microbatches);

  for (int rank = 0; rank < layout.ranks; ++rank) engine.pause(rank);
  for (int replica = 0; replica < layout.replicas(); ++replica) {
    for (int stage = 0; stage < layout.pp; ++stage) {
      at(cells, stage).clear();
      for (int index = 0; index < width; ++index) {
        at(cells, stage).push_back(stage * layout.per_stage() + replica * width + index);
      }
    }
    for (const PipelineOp& op : order) {
      const int place = op.chunk * layout.pp + op.stage;
      const int row = replica * setting.microbatches + op.microbatch;
      const double work_s = forward_s * (op.backward ? 2.0 : 1.0) * at(effects.stage, op.stage) *
                            static_cast<double>(effects.length(step, row));
      const bool waits = op.backward ? place + 1 < virtual_stages : place > 0;
      const int from_stage = (op.stage + (op.backward ? 1 : layout.pp - 1)) % layout.pp;
      const double sent = !waits        ? 0.0
                          : op.backward ? backward_end(place + 1, op.microbatch)
                                        : forward_end(place - 1, op.microbatch);
      double end = 0;
      for (int index = 0; index < width; ++index) {
        const int rank = at(at(cells, op.stage), index);
        double here = 0;
        if (waits) {
          // Receiving is launched with the block that needs it.
          const double asked = std::max(at(engine.compute, rank), at(engine.host, rank));
          const int from = at(at(cells, from_stage), index);
          here = engine.receive(rank, from, asked, sent, forward_s * 0.01, pipe);
        }
        end = at(ready, rank) =
            engine.kernel(rank, here, work_s, work_s * setting.launch_share, op.backward);
      }
      if (width > 1) {
        engine.meet(at(cells, op.stage), tensor, work_s * setting.exchange_share, ready);
        for (int rank : at(cells, op.stage)) end = at(engine.compute, rank) = at(ready, rank);
      }
      (op.backward ? backward_end : forward_end)(place, op.microbatch) = end;
    }
  }

  ready = engine.compute;
  if (layout.replicas() > 1) {
    // Most of the gradients' reduction hides behind the last backward passes: the rest is seen.
    std::vector<int> members;
    for (int stage = 0; stage < layout.pp; ++stage) {
      for (int index = 0; index < width; ++index) {
        members.clear();
        for (int replica = 0; replica < layout.replicas(); ++replica) {
          members.push_back(stage * layout.per_stage() + replica * width + index);
        }
        engine.meet(members, data, setting.compute_s * 0.03 * setting.transfer_share, ready);
      }
    }
  }
  std::vector<int> all;
  for (int rank = 0; rank < layout.ranks; ++rank) all.push_back(rank);
  engine.meet(all, world, setting.latency_s * std::log2(layout.ranks), ready);
  for (int rank : all) {
    engine.kernel(rank, at(ready, rank), setting.compute_s * 0.04, 0.0, true);
  }
}

}  // namespace second
