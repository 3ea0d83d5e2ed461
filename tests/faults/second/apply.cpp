// What a fault does to the times of a job.
#include <algorithm>
#include <cmath>

#include "fault.hpp"

namespace second {
namespace {

// A factor around 1 with the given spread of its logarithm, never far out: a sequence or a routing
// table is bounded.
float spread_factor(const Noise& noise, double spread, int a, int b, int c) {
  return static_cast<float>(std::exp(spread * std::clamp(noise.normal(a, b, c), -2.5, 2.5)));
}

// Replaces factors by their mean: the same work, spread evenly.
void even_out(std::vector<float*>& factors) {
  double sum = 0;
  for (const float* factor : factors) sum += static_cast<double>(*factor);
  const double mean = sum / static_cast<double>(factors.size());
  for (float* factor : factors) *factor = static_cast<float>(mean);
}

void move_work(const Fault& fault, const Setting& setting, bool evened, Effects& effects) {
  const Layout& layout = setting.layout;
  const Noise noise(setting.seed, 11);
  const bool lengths = fault.kind == "lengths-moving" || fault.kind == "microbatches-unequal";
  const int per_replica =
      setting.shape == Shape::pipeline ? setting.microbatches : setting.accumulation;
  std::vector<float*> even;
  for (int step = 0; step < setting.steps; ++step) {
    even.clear();
    if (lengths) {
      // A replica's microbatches go together, or each goes its own way.
      const bool each = fault.kind == "microbatches-unequal";
      for (int row = 0; row < layout.replicas() * per_replica; ++row) {
        float& factor = effects.length(step, row);
        factor = spread_factor(noise, fault.size, step, each ? row : row / per_replica, 0);
        even.push_back(&factor);
      }
      if (evened) even_out(even);
      continue;
    }
    if (fault.kind == "experts-moving") {
      for (int rank = 0; rank < layout.ranks; ++rank) {
        effects.expert(step, rank) = spread_factor(noise, 2.0 * fault.size, step, rank, 0);
        even.push_back(&effects.expert(step, rank));
      }
      if (evened) even_out(even);
      continue;
    }
    std::vector<float*> backward;
    for (int rank = 0; rank < layout.ranks; ++rank) {
      effects.forward(step, rank) *= spread_factor(noise, fault.size, step, rank, 1);
      effects.backward(step, rank) *= spread_factor(noise, fault.size, step, rank, 2);
      even.push_back(&effects.forward(step, rank));
      backward.push_back(&effects.backward(step, rank));
    }
    if (evened) {
      even_out(even);
      even_out(backward);
    }
  }
}

void load_place(const Fault& fault, const Setting& setting, bool evened, Effects& effects) {
  const Layout& layout = setting.layout;
  if (fault.kind == "stage-uneven") {
    at(effects.stage, fault.stage) = 1.0 + fault.size;
    if (evened) {
      std::fill(effects.stage.begin(), effects.stage.end(), 1.0 + fault.size / layout.pp);
    }
    return;
  }
  for (int step = 0; step < setting.steps; ++step) {
    for (int rank = 0; rank < layout.ranks; ++rank) {
      if (fault.kind == "expert-hot") {
        const bool hot = layout.ep_of(rank) == fault.stage;
        const double mean = 1.0 + 2.0 * fault.size / layout.ep;
        effects.expert(step, rank) = static_cast<float>(evened ? mean
                                                        : hot  ? 1.0 + 2.0 * fault.size
                                                               : 1.0);
      } else if (!evened) {
        // A causal mask cut in two without a zigzag: the later part has more to look at.
        const double factor = 1.0 + (layout.cp_of(rank) == fault.stage ? 0.5 : -0.5) * fault.size;
        effects.forward(step, rank) *= static_cast<float>(factor);
        effects.backward(step, rank) *= static_cast<float>(factor);
      }
    }
  }
}

void stall(const Fault& fault, const Setting& setting, Effects& effects) {
  if (fault.kind == "host-bound" || fault.kind == "host-bound-node") {
    for (int rank : fault.ranks) at(effects.launch, rank) = fault.size;
    return;
  }
  const Noise noise(setting.seed, 12);
  // Collections that are not in step: every rank has its own turn, about one step in `every`.
  const int every = 3 + static_cast<int>(6 * noise.unit(0, 0));
  for (int step = 0; step < setting.steps; ++step) {
    const double level = static_cast<double>(at(fault.course.level, step));
    if (level <= 0) continue;
    const double common = 1.0 + 0.1 * noise.normal(step, -1);
    for (int rank : fault.ranks) {
      double share = level * common * (1.0 + 0.03 * noise.normal(step, rank));
      if (fault.kind == "gc-apart") {
        const int turn = static_cast<int>(every * noise.unit(rank, 1));
        share = step % every == turn ? share : 0.0;
      }
      effects.stall_s(step, rank) += static_cast<float>(std::max(0.0, share) * fault.size);
    }
  }
}

void slow_links(const Fault& fault, const Setting& setting, Effects& effects) {
  effects.links = true;
  for (int step = 0; step < setting.steps; ++step) {
    const double level = static_cast<double>(at(fault.course.level, step));
    const double factor = 1.0 + level * (fault.size - 1.0);
    if (fault.sort == Sort::network || fault.sort == Sort::comm_zero) {
      at(effects.network, step) = factor;
    } else if (fault.kind == "slow-nvlink") {
      effects.nvlink(step, fault.nodes.front()) = static_cast<float>(factor);
    } else {
      effects.rail(step, fault.stage) = static_cast<float>(factor);
    }
  }
}

}  // namespace

void apply(const Fault& fault, const Setting& setting, bool evened, Effects& effects) {
  switch (fault.sort) {
    case Sort::moving:
      return move_work(fault, setting, evened, effects);
    case Sort::logical_place:
      return load_place(fault, setting, evened, effects);
    case Sort::compute_place:
    case Sort::missing:
    case Sort::clocks:
      if (evened) return;
      for (int step = 0; step < setting.steps; ++step) {
        const double level = static_cast<double>(at(fault.course.level, step));
        for (int i = 0; i < count_of(fault.ranks); ++i) {
          const double factor = 1.0 + level * fault.size * at(fault.of_member, i);
          effects.forward(step, at(fault.ranks, i)) *= static_cast<float>(factor);
          effects.backward(step, at(fault.ranks, i)) *= static_cast<float>(factor);
        }
      }
      return;
    case Sort::stall_place:
    case Sort::stall_all:
      if (!evened) stall(fault, setting, effects);
      return;
    case Sort::link:
    case Sort::network:
    case Sort::comm_zero:
      if (!evened) slow_links(fault, setting, effects);
      return;
    case Sort::kernels:
    case Sort::nothing:
    case Sort::two:
      return;
  }
}

}  // namespace second
