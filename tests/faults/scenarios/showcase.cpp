#include "faults/scenarios/showcase.hpp"

#include <algorithm>
#include <array>

namespace mfu::faults {

namespace {

// FLOPs of a training token under the PaLM convention: 6 N + 12 L H T.
constexpr double palm_flops_per_token(double parameters, double layers, double width,
                                      double tokens) {
  return 6.0 * parameters + 12.0 * layers * width * tokens;
}

JobSpec base(const char* name, std::uint64_t seed, Layout layout) {
  JobSpec spec;
  spec.name = name;
  spec.seed = seed;
  spec.layout = layout;
  spec.steps = 40;
  spec.first_step_id = 100;
  spec.recording.coords_per_rank = false;
  return spec;
}

// llama-3.1-8b on H100s: sequences of 8192 tokens.
void llama_8b(JobSpec& spec, double sequences) {
  spec.model = "llama-3.1-8b";
  spec.seq_len = 8192;
  spec.global_batch = sequences;
  spec.flops_per_step = palm_flops_per_token(8.03e9, 32, 4096, 8192) * 8192 * sequences;
}

Layout data_parallel(int dp) {
  Layout layout;
  layout.dp = dp;
  return layout;
}

JobSpec healthy() {
  JobSpec spec = base("healthy", 11, data_parallel(16));
  llama_8b(spec, 64);
  spec.pace.microbatches = 4;
  spec.efficiency = 0.49;
  spec.noise.warmup_steps = 2;
  spec.noise.warmup_factor = 2.2;
  spec.recording.step_series = true;
  return spec;
}

JobSpec imbalance_stage() {
  Layout layout;
  layout.pp = 4;
  layout.dp = 4;
  layout.tp = 1;
  layout.gpus_per_node = 8;
  layout.pipeline_inside = true;  // a node holds two pipelines: no stage is a node
  JobSpec spec = base("imbalance-stage", 12, layout);
  llama_8b(spec, 64);
  spec.pace.microbatches = 16;
  spec.efficiency = 0.55;
  spec.faults = {Fault{FaultKind::heavy_stage, 0.45, 3}};
  spec.recording.by_group = true;
  spec.recording.coords_per_rank = true;
  spec.steps = 32;
  return spec;
}

JobSpec imbalance_data() {
  JobSpec spec = base("imbalance-data", 13, data_parallel(16));
  llama_8b(spec, 64);
  spec.pace.microbatches = 4;
  spec.efficiency = 0.56;
  spec.faults = {Fault{FaultKind::sequence_lengths, 0.14}};
  spec.recording.forward_backward = true;
  return spec;
}

JobSpec straggler_steady() {
  JobSpec spec = base("straggler-steady", 14, data_parallel(32));
  llama_8b(spec, 128);
  spec.pace.microbatches = 4;
  spec.efficiency = 0.54;
  spec.faults = {Fault{FaultKind::slow_node, 0.28, 2}};
  spec.recording.waits_in = WaitsIn::separate;
  spec.steps = 30;
  return spec;
}

JobSpec straggler_bursts() {
  JobSpec spec = base("straggler-bursts", 15, data_parallel(16));
  spec.chip = "a100-sxm4-80gb";
  spec.peak_flops = 312e12;
  llama_8b(spec, 32);
  spec.pace.microbatches = 2;
  spec.efficiency = 0.56;
  Fault fault{FaultKind::slow_rank, 1.1, 5};
  fault.when = When::periodic;
  fault.period = 6;
  spec.faults = {fault};
  spec.steps = 60;
  return spec;
}

JobSpec single_gpu() {
  JobSpec spec = base("single-gpu", 16, data_parallel(16));
  llama_8b(spec, 64);
  spec.pace.microbatches = 4;
  // The FLOPs are given: the pace comes from the efficiency before the fault.
  spec.efficiency = 0.55;
  spec.faults = {Fault{FaultKind::slow_kernels, 0.55 / 0.22 - 1.0}};
  spec.recording.forward_backward = true;
  return spec;
}

JobSpec stall() {
  JobSpec spec = base("stall", 17, data_parallel(16));
  llama_8b(spec, 64);
  spec.pace.microbatches = 4;
  spec.efficiency = 0.55;
  spec.faults = {Fault{FaultKind::input_stall, 0.34}};
  spec.recording.waits_in = WaitsIn::separate;
  return spec;
}

JobSpec communication() {
  Layout layout;
  layout.tp = 8;
  layout.dp = 4;
  JobSpec spec = base("communication", 18, layout);
  llama_8b(spec, 128);
  spec.pace.microbatches = 4;
  spec.efficiency = 0.54;
  spec.faults = {Fault{FaultKind::slow_lockstep_transfer, 0.36}};
  spec.recording.by_group = true;
  spec.steps = 24;
  return spec;
}

constexpr std::array kShowcases{
    Showcase{"healthy", healthy},
    Showcase{"imbalance-stage", imbalance_stage},
    Showcase{"imbalance-data", imbalance_data},
    Showcase{"straggler-steady", straggler_steady},
    Showcase{"straggler-bursts", straggler_bursts},
    Showcase{"single-gpu", single_gpu},
    Showcase{"stall", stall},
    Showcase{"communication", communication},
};

}  // namespace

std::span<const Showcase> showcases() noexcept { return kShowcases; }

const Showcase* find_showcase(std::string_view name) noexcept {
  const auto found = std::find_if(kShowcases.begin(), kShowcases.end(),
                                  [&](const Showcase& each) { return each.name == name; });
  return found == kShowcases.end() ? nullptr : &*found;
}

}  // namespace mfu::faults
