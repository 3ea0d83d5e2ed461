// Kinds of healthy job.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "faults/job/draws.hpp"

namespace mfu::faults {

namespace {

JobSpec healthy_dp(std::uint64_t seed) {
  return named(healthy_spec(seed, draw_data_parallel(seed)), "healthy-dp");
}

JobSpec healthy_tp(std::uint64_t seed) {
  return named(healthy_spec(seed, draw_tensor_parallel(seed)), "healthy-tp");
}

JobSpec healthy_pp(std::uint64_t seed) {
  return named(healthy_spec(seed, draw_pipeline(seed)), "healthy-pp");
}

JobSpec healthy_ep(std::uint64_t seed) {
  return named(healthy_spec(seed, draw_expert_parallel(seed)), "healthy-ep");
}

JobSpec healthy_bubble(std::uint64_t seed) {
  JobSpec spec = healthy_spec(seed, draw_pipeline(seed));
  spec.pace.microbatches = spec.layout.pp;
  return named(std::move(spec), "healthy-bubble");
}

JobSpec healthy_warmup(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = any(seed);
  spec.steps = std::max(spec.steps, 24);
  spec.noise.warmup_steps = 1 + dice.below(std::min(5, spec.steps / 5));
  spec.noise.warmup_factor = dice.between(1.6, 6.0);
  return named(std::move(spec), "healthy-warmup");
}

JobSpec healthy_jitter_at_scale(std::uint64_t seed) {
  Dice dice(seed);
  Layout layout;
  layout.dp = 1024;
  JobSpec spec = healthy_spec(seed, layout);
  spec.steps = 20 + dice.below(20);
  spec.pace.microbatches = 1;
  spec.noise.hiccup_rate = 0.0;
  spec.recording.missing_samples = 0.0;
  spec.faults = {of(FaultKind::jitter)};
  spec.faults[0].size = dice.between(0.012, 0.025);
  return named(std::move(spec), "healthy-jitter-at-scale");
}

JobSpec healthy_large(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = healthy_spec(seed, draw_large(seed));
  return named(std::move(spec), "healthy-large");
}

// Noisier than a healthy job usually is; still nobody's fault.
JobSpec healthy_noisy(std::uint64_t seed) {
  Dice dice(seed);
  JobSpec spec = any(seed);
  spec.noise.rank_jitter = dice.between(0.008, 0.014);
  spec.noise.chunk_jitter = dice.between(0.01, 0.03);
  spec.noise.silicon = dice.between(0.002, 0.006);
  spec.noise.transfer = dice.between(0.1, 0.25);
  spec.noise.hiccup_share = dice.between(0.03, 0.2);
  spec.noise.hiccup_rate = 0.005 / spec.noise.hiccup_share / spec.layout.ranks();
  return named(std::move(spec), "healthy-noisy");
}

// Jitter that costs more than 5 % of the step, since 1,024 ranks wait for the slowest of them.
JobSpec jitter_at_scale(std::uint64_t seed) {
  Dice dice(seed);
  Layout layout;
  layout.dp = 1024;
  if (dice.chance(0.3)) {
    layout.tp = 8;
    layout.dp = 128;
  }
  JobSpec spec = healthy_spec(seed, layout);
  spec.steps = 20 + dice.below(20);
  spec.pace.microbatches = 1;
  spec.noise.hiccup_rate = 0.0;
  spec.noise.rank_jitter = dice.between(0.003, 0.006);
  spec = with(std::move(spec), "jitter-at-scale", of(FaultKind::jitter), dice.loss(0.055, 0.085));
  spec.faults[0].size = std::min(spec.faults[0].size, 0.035);
  return spec;
}

constexpr std::array kHealthyKinds{
    Scenario{"healthy-dp", healthy_dp},
    Scenario{"healthy-tp", healthy_tp},
    Scenario{"healthy-pp", healthy_pp},
    Scenario{"healthy-ep", healthy_ep},
    Scenario{"healthy-bubble", healthy_bubble},
    Scenario{"healthy-warmup", healthy_warmup},
    Scenario{"healthy-jitter-at-scale", healthy_jitter_at_scale},
    Scenario{"healthy-large", healthy_large},
    Scenario{"healthy-noisy", healthy_noisy},
    Scenario{"jitter-at-scale", jitter_at_scale},
};

}  // namespace

std::span<const Scenario> healthy_scenarios() noexcept { return kHealthyKinds; }

}  // namespace mfu::faults
