// A step without a pipeline: all ranks run the same blocks, and meet for parameters, gradients,
// tokens of experts, keys and values of a ring.
#include <algorithm>
#include <cmath>

#include "engine.hpp"

namespace second {
namespace {

struct Groups {
  std::vector<int> all;
  std::vector<std::vector<int>> gather;     // that shard the parameters
  std::vector<std::vector<int>> replicate;  // that hold the same shard
  std::vector<std::vector<int>> experts;
};

Groups groups_of(const Setting& setting) {
  const Layout& layout = setting.layout;
  Groups groups;
  for (int rank = 0; rank < layout.ranks; ++rank) groups.all.push_back(rank);
  if (setting.shape == Shape::hybrid) {
    groups.gather.resize(static_cast<std::size_t>(layout.nodes()));
    groups.replicate.resize(static_cast<std::size_t>(layout.per_node));
    for (int rank : groups.all) {
      at(groups.gather, layout.node_of(rank)).push_back(rank);
      at(groups.replicate, rank % layout.per_node).push_back(rank);
    }
  } else if (setting.shape == Shape::sharded || setting.shape == Shape::ring) {
    groups.gather.push_back(groups.all);
  }
  if (setting.shape == Shape::expert) {
    groups.experts.resize(static_cast<std::size_t>(layout.ranks / layout.ep));
    for (int rank : groups.all) at(groups.experts, rank / layout.ep).push_back(rank);
  }
  return groups;
}

// One step in the making: what the blocks share.
class FlatStep {
 public:
  FlatStep(const Setting& setting, const Effects& effects, Engine& engine, int step)
      : setting_(setting),
        effects_(effects),
        engine_(engine),
        step_(step),
        groups_(groups_of(setting)),
        gather_free_(engine.now),
        reduce_free_(engine.now),
        gathered_(engine.now),
        next_gathered_(engine.now),
        before_last_(engine.now),
        last_(engine.now),
        work_s_(engine.now.size()),
        forward_s_(setting.compute_s * 0.32 / (setting.blocks * setting.accumulation)),
        axis_(setting.shape == Shape::hybrid ? shard : data) {}

  void run() {
    for (int microbatch = 0; microbatch < setting_.accumulation; ++microbatch) pass(microbatch);
    // The gradient norm: everybody meets, then the optimizer runs.
    std::vector<double> ready = engine_.compute;
    for (int rank : groups_.all)
      at(ready, rank) = std::max(at(ready, rank), at(reduce_free_, rank));
    engine_.meet(groups_.all, world, setting_.latency_s * std::log2(setting_.layout.ranks), ready);
    for (int rank : groups_.all) {
      engine_.kernel(rank, at(ready, rank), setting_.compute_s * 0.04, 0.0, true);
    }
  }

 private:
  int block_at(int place) const {
    return place < setting_.blocks ? place : 2 * setting_.blocks - 1 - place;
  }

  // The first block is small (embedding): what cannot be hidden behind anything is little.
  double transfer_s(int place) const {
    return forward_s_ * setting_.transfer_share * (block_at(place) == 0 ? 0.25 : 1.0);
  }

  // Launched before the block ahead of it; held back until memory of two blocks earlier is free.
  void gather(int place) {
    if (groups_.gather.empty()) return;
    std::vector<double> ready = gather_free_;
    for (int rank : groups_.all) {
      at(ready, rank) = std::max({at(ready, rank), at(engine_.host, rank), at(before_last_, rank)});
    }
    for (const auto& members : groups_.gather)
      engine_.meet(members, axis_, transfer_s(place), ready);
    gather_free_ = ready;
    next_gathered_ = ready;
  }

  void pass(int microbatch) {
    const int places = 2 * setting_.blocks;
    gather(0);
    gathered_ = next_gathered_;
    for (int place = 0; place < places; ++place) {
      if (place + 1 < places) gather(place + 1);
      compute(place, microbatch);
      gathered_ = next_gathered_;
      before_last_ = last_;
      last_ = engine_.compute;
      if (place >= setting_.blocks) reduce(place, microbatch + 1 == setting_.accumulation);
    }
  }

  void compute(int place, int microbatch) {
    const bool backward = place >= setting_.blocks;
    const double block_s = forward_s_ * (backward ? 2.0 : 1.0);
    const Layout& layout = setting_.layout;
    for (int rank : groups_.all) {
      if (place == setting_.blocks / 2 && microbatch == 0) engine_.pause(rank);
      const int row = layout.replica_of(rank) * setting_.accumulation + microbatch;
      at(work_s_, rank) = block_s * static_cast<double>(effects_.length(step_, row));
    }
    const double launch_s = block_s * setting_.launch_share;
    if (setting_.shape == Shape::expert) return experts(launch_s, block_s, backward);
    if (setting_.shape == Shape::ring) return ring(launch_s, block_s, backward);
    for (int rank : groups_.all) {
      engine_.kernel(rank, at(gathered_, rank), at(work_s_, rank), launch_s, backward);
    }
  }

  // Tokens go to their experts and come back; the device has nothing else to do meanwhile.
  void experts(double launch_s, double block_s, bool backward) {
    std::vector<double> ready = engine_.now;
    const auto exchange = [&] {
      for (const auto& members : groups_.experts) {
        engine_.meet(members, expert_axis, block_s * setting_.exchange_share / 2, ready);
      }
    };
    for (int rank : groups_.all) {
      at(ready, rank) = engine_.kernel(rank, 0.0, at(work_s_, rank) * 0.5, launch_s / 2, backward);
    }
    exchange();
    for (int rank : groups_.all) {
      const double work_s =
          at(work_s_, rank) * 0.5 * static_cast<double>(effects_.expert(step_, rank));
      at(ready, rank) = engine_.kernel(rank, at(ready, rank), work_s, launch_s / 2, backward);
    }
    exchange();
    for (int rank : groups_.all) at(engine_.compute, rank) = at(ready, rank);
  }

  // Attention in chunks: while one is worked on, the next keys and values come from the neighbour.
  void ring(double launch_s, double block_s, bool backward) {
    const int cp = setting_.layout.cp;
    const int tp = setting_.layout.tp;
    std::vector<double> begun(engine_.now.size()), here(engine_.now);
    for (int rank : groups_.all) {
      at(here, rank) = at(gathered_, rank);
      engine_.kernel(rank, at(here, rank), at(work_s_, rank) * 0.5, launch_s / 2, backward);
    }
    for (int chunk = 0; chunk < cp; ++chunk) {
      for (int rank : groups_.all) {
        at(begun, rank) = std::max(at(engine_.compute, rank), at(here, rank));
        engine_.kernel(rank, at(here, rank), at(work_s_, rank) * 0.5 / cp, launch_s / 2 / cp,
                       backward);
      }
      if (chunk + 1 == cp) break;
      for (int rank : groups_.all) {
        const int index = setting_.layout.cp_of(rank);
        const int from = rank + ((index + cp - 1) % cp - index) * tp;
        at(here, rank) = engine_.receive(rank, from, at(begun, rank), at(begun, from),
                                         block_s * 0.2 / cp * setting_.transfer_share, context);
      }
    }
  }

  void reduce(int place, bool last_microbatch) {
    const bool gathers = !groups_.gather.empty();
    if (!gathers && !last_microbatch) return;  // no_sync: gradients are summed locally
    std::vector<double> ready = engine_.compute;
    for (int rank : groups_.all)
      at(ready, rank) = std::max(at(ready, rank), at(reduce_free_, rank));
    if (gathers) {
      for (const auto& members : groups_.gather) {
        engine_.meet(members, axis_, transfer_s(place), ready);
      }
    } else {
      engine_.meet(groups_.all, data, 1.5 * transfer_s(place), ready);
    }
    if (last_microbatch) {
      for (const auto& members : groups_.replicate) {
        engine_.meet(members, replicate, 0.5 * transfer_s(place), ready);
      }
    }
    reduce_free_ = ready;
  }

  const Setting& setting_;
  const Effects& effects_;
  Engine& engine_;
  int step_;
  Groups groups_;
  std::vector<double> gather_free_, reduce_free_;  // [rank] when the streams are free
  std::vector<double> gathered_, next_gathered_;   // [rank] when a block's parameters are there
  std::vector<double> before_last_, last_;         // [rank] ends of the blocks before
  std::vector<double> work_s_;
  double forward_s_;
  Axis axis_;
};

}  // namespace

void run_flat(const Setting& setting, const Effects& effects, Engine& engine, int step) {
  FlatStep(setting, effects, engine, step).run();
}

}  // namespace second
