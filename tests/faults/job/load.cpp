#include "faults/job/load.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "statistics/robust.hpp"

namespace mfu::faults {

namespace {

constexpr std::uint64_t key(int value) { return static_cast<std::uint64_t>(value); }

double lognormal(double sigma, double z) { return std::exp(sigma * z - sigma * sigma / 2.0); }

std::vector<bool> gate(const Fault& fault, std::size_t number, int steps, const Noise& noise) {
  std::vector<bool> on(index(steps), true);
  switch (fault.when) {
    case When::always:
      break;
    case When::onset:
      for (int step = 0; step < std::min(steps, fault.onset); ++step) on[index(step)] = false;
      break;
    case When::listed:
      on.assign(index(steps), false);
      for (const int step : fault.listed) on[index(step)] = true;
      break;
    case When::periodic: {
      const int phase = static_cast<int>(noise.bits(Draw::phase, number) %
                                         static_cast<std::uint64_t>(fault.period));
      for (int step = 0; step < steps; ++step) {
        on[index(step)] = (step + phase) % fault.period < fault.length;
      }
      break;
    }
    case When::random: {
      // Episodes until the wanted share of the steps is covered: the duty is met in short runs too.
      on.assign(index(steps), false);
      const int wanted =
          std::max(2, static_cast<int>(std::lround(fault.duty * static_cast<double>(steps))));
      int covered = 0;
      for (std::uint64_t episode = 0; covered < wanted && episode < 1000; ++episode) {
        const int start = static_cast<int>(noise.bits(Draw::burst, number, episode) % key(steps));
        for (int step = start; step < std::min(steps, start + fault.length); ++step) {
          if (covered < wanted && !on[index(step)]) {
            on[index(step)] = true;
            ++covered;
          }
        }
      }
      break;
    }
  }
  return on;
}

}  // namespace

Load::Load(const JobSpec& spec, std::vector<bool> present)
    : spec_(spec),
      present_(std::move(present)),
      noise_(spec.seed),
      step_compute_(static_cast<double>(spec.pace.microbatches) * spec.pace.forward_seconds *
                    (1.0 + spec.pace.backward_ratio)) {
  for (std::size_t i = 0; i < spec.faults.size(); ++i) {
    gates_.push_back(gate(spec.faults[i], i, spec.steps, noise_));
  }
}

double Load::healthy_compute() const { return step_compute_ * (1.0 + spec_.pace.optimizer_share); }

bool Load::active(std::size_t fault, int step) const {
  return present_[fault] && gates_[fault][index(step)];
}

double Load::thermal_factor(int step, int rank) const {
  double factor = 1.0;
  for (std::size_t i = 0; i < spec_.faults.size(); ++i) {
    const Fault& fault = spec_.faults[i];
    if (!present_[i]) continue;
    if (fault.kind != FaultKind::thermal &&
        (fault.kind != FaultKind::thermal_rank || fault.place != rank)) {
      continue;
    }
    // Cool at first, then heat builds up and levels off.
    const double along = static_cast<double>(step) / static_cast<double>(std::max(1, spec_.steps));
    const double x = std::clamp((along - 0.15) / 0.65, 0.0, 1.0);
    factor *= 1.0 + fault.size * x * x * (3.0 - 2.0 * x);
  }
  return factor;
}

double Load::physical_factor(int step, int rank) const {
  double factor = lognormal(spec_.noise.silicon, noise_.normal(Draw::silicon, key(rank)));
  double sigma = spec_.noise.rank_jitter;
  for (std::size_t i = 0; i < spec_.faults.size(); ++i) {
    const Fault& fault = spec_.faults[i];
    if (!active(i, step)) continue;
    switch (fault.kind) {
      case FaultKind::slow_rank:
        if (fault.place == rank) factor *= 1.0 + fault.size;
        break;
      case FaultKind::slow_node:
        if (fault.place == spec_.layout.node_of(rank)) factor *= 1.0 + fault.size;
        break;
      case FaultKind::slow_kernels:
        factor *= 1.0 + fault.size;
        break;
      case FaultKind::jitter:
        sigma = std::hypot(sigma, fault.size);
        break;
      default:
        break;
    }
  }
  factor *= lognormal(sigma, noise_.normal(Draw::rank_jitter, key(step), key(rank)));
  return factor * thermal_factor(step, rank);
}

// Logical work of one microbatch, 1 where all is even.
double Load::mean_work() const {
  Sum total;
  int counted = 0;
  for (int step = spec_.noise.warmup_steps; step < spec_.steps; ++step) {
    for (int rank = 0; rank < spec_.layout.ranks(); ++rank) {
      for (int microbatch = 0; microbatch < spec_.pace.microbatches; ++microbatch) {
        total.add(work(step, rank, microbatch));
        ++counted;
      }
    }
  }
  return total.value() / std::max(1, counted);
}

double Load::work(int step, int rank, int microbatch) const {
  const Layout& layout = spec_.layout;
  const int stage = layout.stage_of(rank);
  const int dp = layout.dp_of(rank);
  const int lane = layout.lane_of(rank);
  // Tensor-parallel lanes work on the same data, expert lanes on their own.
  const int replica = layout.ep > 1 ? dp * layout.ep + lane : dp;
  const int replicas = layout.dp * layout.ep;
  double amount =
      1.0 + spec_.pace.stage_spread *
                (layout.pp > 1 ? 2.0 * noise_.uniform(Draw::shards, 999, key(stage)) - 1.0 : 0.0);
  for (std::size_t i = 0; i < spec_.faults.size(); ++i) {
    const Fault& fault = spec_.faults[i];
    if (!gates_[i][index(step)]) continue;
    switch (fault.kind) {
      case FaultKind::heavy_stage: {
        const double even = 1.0 + fault.size / static_cast<double>(layout.pp);
        const double uneven = fault.place == stage ? 1.0 + fault.size : 1.0;
        amount *= present_[i] ? uneven : even;
        break;
      }
      case FaultKind::data_shards: {
        // A fixed shuffle of the replicas: a stride that shares no factor with their number.
        int stride = 1 + static_cast<int>(noise_.bits(Draw::shards, i) % key(replicas));
        while (std::gcd(stride, replicas) != 1) ++stride;
        const int grade_at = (stride * replica + 3) % replicas;
        const double grade =
            static_cast<double>(grade_at) / static_cast<double>(std::max(1, replicas - 1));
        amount *= 1.0 + fault.size * (present_[i] ? grade : 0.5);
        break;
      }
      case FaultKind::sequence_lengths:
      case FaultKind::microbatch_lengths: {
        const bool each = fault.kind == FaultKind::microbatch_lengths;
        const auto draw = [&](int who, int which) {
          return lognormal(fault.size, noise_.normal(Draw::lengths, key(step) * 64 + i, key(who),
                                                     each ? key(which) : 0));
        };
        if (present_[i]) {
          amount *= draw(replica, microbatch);
        } else {
          double total = 0.0;
          const int items = each ? spec_.pace.microbatches : 1;
          for (int who = 0; who < replicas; ++who) {
            for (int which = 0; which < items; ++which) total += draw(who, which);
          }
          amount *= total / static_cast<double>(replicas * items);
        }
        break;
      }
      case FaultKind::expert_load: {
        const double even = 1.0 + fault.size / static_cast<double>(layout.lanes());
        amount *= present_[i] ? (fault.place == lane ? 1.0 + fault.size : 1.0) : even;
        break;
      }
      case FaultKind::expert_drift: {
        const auto draw = [&](int who) {
          return lognormal(fault.size, noise_.normal(Draw::experts, key(step) * 64 + i, key(who)));
        };
        if (present_[i]) {
          amount *= draw(lane);
        } else {
          double total = 0.0;
          for (int who = 0; who < layout.lanes(); ++who) total += draw(who);
          amount *= total / static_cast<double>(layout.lanes());
        }
        break;
      }
      default:
        break;
    }
  }
  return amount;
}

double Load::warmup_factor(int step) const {
  if (step >= spec_.noise.warmup_steps) return 1.0;
  // The first step is the worst: compilation, allocator, autotuning.
  const double left = static_cast<double>(spec_.noise.warmup_steps - step) /
                      static_cast<double>(spec_.noise.warmup_steps);
  return 1.0 + (spec_.noise.warmup_factor - 1.0) * (0.5 + 0.5 * left);
}

void Load::fill_stalls(int step, StepInputs& inputs) const {
  const int ranks = spec_.layout.ranks();
  const double warm = warmup_factor(step);
  for (int rank = 0; rank < ranks; ++rank) {
    const std::size_t r = index(rank);
    const double gap = lognormal(0.15, noise_.normal(Draw::host_gap, key(step), key(rank)));
    inputs.stall_before[r] = spec_.pace.host_gap_share * step_compute_ * gap;
    if (warm > 1.0) inputs.stall_before[r] += 0.4 * (warm - 1.0) * step_compute_;
    inputs.pause[r] = 0.0;
    inputs.stall_after[r] = 0.0;
    inputs.pause_chunk[r] = static_cast<int>(noise_.bits(Draw::hiccup, key(step), key(rank), 1) %
                                             static_cast<std::uint64_t>(2 * inputs.microbatches));
    if (noise_.uniform(Draw::hiccup, key(step), key(rank)) < spec_.noise.hiccup_rate) {
      inputs.pause[r] += spec_.noise.hiccup_share * step_compute_;
    }
  }
  for (std::size_t i = 0; i < spec_.faults.size(); ++i) {
    const Fault& fault = spec_.faults[i];
    if (!active(i, step)) continue;
    const double length = fault.size * step_compute_;
    const double common = lognormal(0.12, noise_.normal(Draw::input, key(step) * 64 + i, 1u << 20));
    for (int rank = 0; rank < ranks; ++rank) {
      const std::size_t r = index(rank);
      const double own = lognormal(0.05, noise_.normal(Draw::input, key(step) * 64 + i, key(rank)));
      switch (fault.kind) {
        case FaultKind::input_stall:
          inputs.stall_before[r] += length * common * own;
          break;
        case FaultKind::input_stall_stage0:
          if (spec_.layout.stage_of(rank) == 0) inputs.stall_before[r] += length * common * own;
          break;
        case FaultKind::rank_stall:
          if (fault.place == rank) inputs.stall_before[r] += length * own;
          break;
        case FaultKind::checkpoint:
          inputs.stall_after[r] += length * common * own;
          break;
        case FaultKind::gc_pauses:
          if (noise_.uniform(Draw::gc, key(step) * 64 + i, key(rank)) <
              0.7 / static_cast<double>(ranks)) {
            inputs.pause[r] += length * own;
          }
          break;
        default:
          break;
      }
    }
  }
}

void Load::fill_transfers(int step, StepInputs& inputs) const {
  const Layout& layout = spec_.layout;
  const double chunks = 2.0 * static_cast<double>(inputs.microbatches);
  const auto jitter = [&](std::uint64_t what, int which) {
    return lognormal(spec_.noise.transfer,
                     noise_.normal(Draw::transfer, key(step), what, key(which)));
  };
  for (int unit = 0; unit < layout.units(); ++unit) {
    double share = layout.lanes() > 1 ? spec_.pace.lockstep_share : 0.0;
    for (std::size_t i = 0; i < spec_.faults.size(); ++i) {
      const Fault& fault = spec_.faults[i];
      if (!active(i, step)) continue;
      if (fault.kind == FaultKind::slow_lockstep_transfer) share += fault.size;
      if (fault.kind == FaultKind::slow_lockstep_group && fault.place == unit) share += fault.size;
    }
    inputs.lockstep_transfer[index(unit)] = share * step_compute_ / chunks * jitter(1, unit);
  }
  for (int group = 0; group < layout.dp_groups(); ++group) {
    double share = spec_.pace.dp_share;
    for (std::size_t i = 0; i < spec_.faults.size(); ++i) {
      const Fault& fault = spec_.faults[i];
      if (!active(i, step)) continue;
      if (fault.kind == FaultKind::slow_dp_transfer) share += fault.size;
      if (fault.kind == FaultKind::slow_dp_group && fault.place == group) share += fault.size;
    }
    inputs.dp_transfer[index(group)] = share * step_compute_ * jitter(2, group);
  }
  inputs.p2p_transfer = layout.pp > 1 ? spec_.pace.p2p_share * step_compute_ /
                                            static_cast<double>(inputs.microbatches) * jitter(3, 0)
                                      : 0.0;
  inputs.world_transfer = spec_.pace.world_share * step_compute_ * jitter(4, 0);
}

void Load::fill(int step, StepInputs& inputs) const {
  const Layout& layout = spec_.layout;
  const int m = spec_.pace.microbatches;
  if (inputs.optimizer.size() != index(layout.ranks()) || inputs.microbatches != m) {
    inputs.resize(layout, m);
  }
  inputs.gpipe = spec_.pace.gpipe;
  const double warm = warmup_factor(step);
  bool by_microbatch = false;
  for (std::size_t i = 0; i < spec_.faults.size(); ++i) {
    by_microbatch =
        by_microbatch || (spec_.faults[i].kind == FaultKind::microbatch_lengths && present_[i]);
  }
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const double speed = physical_factor(step, rank) * warm;
    double amount = work(step, rank, 0);
    for (int k = 0; k < m; ++k) {
      if (by_microbatch && k > 0) amount = work(step, rank, k);
      const std::size_t item = index(rank * m + k);
      const auto chunk_noise = [&](int direction) {
        return 1.0 + spec_.noise.chunk_jitter * noise_.rough_normal(Draw::chunk_jitter, key(step),
                                                                    key(rank),
                                                                    key(2 * k + direction));
      };
      inputs.forward[item] = spec_.pace.forward_seconds * amount * speed * chunk_noise(0);
      inputs.backward[item] =
          spec_.pace.forward_seconds * spec_.pace.backward_ratio * amount * speed * chunk_noise(1);
    }
    inputs.optimizer[index(rank)] = spec_.pace.optimizer_share * step_compute_ * speed;
  }
  fill_stalls(step, inputs);
  fill_transfers(step, inputs);
}

double Load::clock_mhz(int step, int rank) const {
  const double wobble = 4.0 * noise_.normal(Draw::telemetry, key(step), key(rank));
  return std::min(1980.0, 1975.0 / thermal_factor(step, rank) + wobble);
}

double Load::temperature_c(int step, int rank) const {
  const double own = 58.0 + 3.0 * noise_.normal(Draw::telemetry, 1u << 20, key(rank));
  const double wobble = 0.5 * noise_.normal(Draw::telemetry, key(step), key(rank), 1);
  return own + wobble + 26.0 * std::min(1.0, (thermal_factor(step, rank) - 1.0) * 6.0);
}

}  // namespace mfu::faults
