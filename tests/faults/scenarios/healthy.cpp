// Healthy jobs as they are met: layouts, pace, noise, recording.
#include <array>
#include <cmath>
#include <cstddef>

#include "faults/scenarios/scenario.hpp"
#include "statistics/robust.hpp"

namespace mfu::faults {

namespace {

template <std::size_t n>
int pick(Random& random, const std::array<int, n>& choices) {
  return choices[random.below(n)];
}

double between(Random& random, double low, double high) {
  return low + (high - low) * random.uniform();
}

Random stream(std::uint64_t seed, std::uint64_t purpose) {
  return Random(Random(seed * 1000003 + purpose).next());
}

}  // namespace

Layout draw_data_parallel(std::uint64_t seed) {
  Random random = stream(seed, 1);
  Layout layout;
  layout.dp = pick(random, std::array{8, 16, 32, 32, 64, 64, 128, 256});
  return layout;
}

Layout draw_tensor_parallel(std::uint64_t seed) {
  Random random = stream(seed, 2);
  Layout layout;
  layout.tp = pick(random, std::array{2, 4, 8, 8, 8});
  layout.dp = pick(random, std::array{4, 8, 16, 32});
  if (layout.ranks() > 256) layout.dp = 256 / layout.tp;
  return layout;
}

Layout draw_pipeline(std::uint64_t seed) {
  Random random = stream(seed, 3);
  for (;;) {
    Layout layout;
    layout.pp = pick(random, std::array{2, 4, 4, 8});
    layout.dp = pick(random, std::array{2, 4, 4, 8, 16});
    layout.tp = pick(random, std::array{1, 1, 2, 4, 8});
    layout.pipeline_inside = random.uniform() < 0.3;
    if (layout.ranks() <= 256 && layout.ranks() >= 8 && !layout.stage_is_node()) return layout;
  }
}

Layout draw_expert_parallel(std::uint64_t seed) {
  Random random = stream(seed, 4);
  Layout layout;
  layout.ep = pick(random, std::array{4, 8, 8});
  layout.dp = pick(random, std::array{4, 8, 16});
  return layout;
}

Layout draw_any(std::uint64_t seed) {
  Random random = stream(seed, 5);
  const std::size_t which = random.below(10);
  return which < 3   ? draw_data_parallel(seed)
         : which < 6 ? draw_tensor_parallel(seed)
         : which < 9 ? draw_pipeline(seed)
                     : draw_expert_parallel(seed);
}

Layout draw_large(std::uint64_t seed) {
  Random random = stream(seed, 7);
  Layout layout;
  layout.tp = pick(random, std::array{1, 2, 8, 8});
  layout.pp = pick(random, std::array{1, 1, 4, 8});
  layout.dp = pick(random, std::array{512, 1024}) / layout.tp / layout.pp;
  return layout;
}

JobSpec healthy_spec(std::uint64_t seed, Layout layout) {
  Random random = stream(seed, 6);
  JobSpec spec;
  spec.seed = seed;
  spec.layout = layout;
  spec.steps = pick(random, std::array{20, 24, 32, 48, 60, 60, 100, 200});
  // Time of the tests.
  if (layout.ranks() >= 128 && spec.steps > 60) spec.steps = 60;
  if (layout.ranks() >= 512 && spec.steps > 24) spec.steps = 24;
  spec.first_step_id = pick(random, std::array{0, 1, 20, 1000});
  spec.step_stride = pick(random, std::array{1, 1, 1, 10});

  Pace& pace = spec.pace;
  pace.microbatches = layout.pp > 1 ? layout.pp * pick(random, std::array{1, 2, 2, 4, 4})
                                    : pick(random, std::array{1, 1, 2, 4, 8});
  if (pace.microbatches > 16 && layout.ranks() >= 64) pace.microbatches = 16;
  if (pace.microbatches > 4 && layout.ranks() >= 512) pace.microbatches = layout.pp > 4 ? 8 : 4;
  pace.forward_seconds = std::exp(between(random, std::log(0.01), std::log(0.3)));
  pace.backward_ratio = between(random, 1.7, 2.3);
  pace.optimizer_share = between(random, 0.01, 0.04);
  pace.lockstep_share = between(random, 0.01, 0.04);
  pace.p2p_share = between(random, 0.002, 0.012);
  pace.dp_share = between(random, 0.005, 0.035);
  pace.world_share = between(random, 0.0005, 0.002);
  pace.host_gap_share = between(random, 0.002, 0.012);
  pace.stage_spread = random.uniform() < 0.5 ? between(random, 0.0, 0.012) : 0.0;
  pace.gpipe = layout.pp > 1 && random.uniform() < 0.15;

  NoiseLevel& noise = spec.noise;
  noise.rank_jitter = between(random, 0.003, 0.01);
  noise.chunk_jitter = between(random, 0.004, 0.02);
  noise.silicon = between(random, 0.001, 0.004);
  noise.transfer = between(random, 0.03, 0.15);
  // A rare brief pause of one rank: a few tenths of a percent of the step in all.
  if (random.uniform() < 0.4) {
    noise.hiccup_share = between(random, 0.03, 0.15);
    noise.hiccup_rate =
        between(random, 0.001, 0.005) / noise.hiccup_share / static_cast<double>(layout.ranks());
  }
  if (random.uniform() < 0.3 && spec.steps >= 24) {
    noise.warmup_steps = 1 + static_cast<int>(random.below(4));
    noise.warmup_factor = between(random, 1.5, 4.0);
  }

  Recording& how = spec.recording;
  const double where = random.uniform();
  how.waits_in = where < 0.5 ? WaitsIn::comm : where < 0.75 ? WaitsIn::stall : WaitsIn::separate;
  how.bubbles_in_stall = layout.pp > 1 && random.uniform() < 0.35;
  how.by_group = random.uniform() < 0.5;
  how.forward_backward = random.uniform() < 0.5;
  how.step_series = random.uniform() < 0.4;
  how.telemetry = random.uniform() < 0.3;
  how.one_per_lockstep_group = layout.tp > 1 && random.uniform() < 0.15;
  how.coords_per_rank = random.uniform() < 0.5;
  how.missing_samples = random.uniform() < 0.1 ? 0.002 : 0.0;
  how.missing_ranks = layout.ranks() >= 32 && random.uniform() < 0.1 ? 0.03 : 0.0;

  spec.efficiency = between(random, 0.52, 0.72);
  if (random.uniform() < 0.2) spec.chip.clear();
  spec.model = "llama-3.1-8b";
  return spec;
}

}  // namespace mfu::faults
