#include "faults/maps/swept.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "statistics/robust.hpp"

namespace mfu::faults {

SweptJob sweep(const Swept& swept) {
  SweptJob job;
  RunTimings& run = job.run;
  const std::size_t n = swept.ranks;
  for (Column* column : {&run.compute, &run.comm, &run.stall}) *column = Column(swept.steps, n);
  const bool apart = swept.recorder.waits == WaitsIn::separate;
  if (apart) run.wait = Column(swept.steps, n);
  run.waits_in = swept.recorder.declared;
  run.waits_in_given = true;
  run.parallelism[Axis::dp] = static_cast<int>(n);
  Random random(swept.seed);
  for (std::size_t r = 0; r < n; ++r) {
    RankInfo info;
    info.rank = static_cast<std::int64_t>(r);
    info.coords[Axis::dp] = static_cast<int>(r);
    const std::string digits = std::to_string(r / swept.gpus_per_node);
    info.node = "n" + std::string(3 - std::min<std::size_t>(3, digits.size()), '0') + digits;
    run.ranks.push_back(std::move(info));
  }
  run.recorded_ranks = n;
  std::vector<double> own(n);
  for (double& level : own) level = swept.compute_s * (1.0 + swept.lot * random.normal());
  constexpr double kUsualStall = 0.003;
  Sum with;
  Sum without;
  std::vector<double> arrives(n);
  for (std::size_t s = 0; s < swept.steps; ++s) {
    run.steps.push_back(static_cast<std::int64_t>(s));
    double last = 0.0;
    double last_well = 0.0;
    for (std::size_t r = 0; r < n; ++r) {
      const double well = own[r] * (1.0 + swept.step_noise * random.normal());
      const double usual = kUsualStall * (0.7 + 0.6 * random.uniform());
      run.compute.at(s, r) = well * (swept.factor ? swept.factor(r, s) : 1.0);
      run.stall.at(s, r) = usual + (swept.stall_s ? swept.stall_s(r, s) : 0.0);
      arrives[r] = run.compute.at(s, r) + run.stall.at(s, r);
      last = std::max(last, arrives[r]);
      last_well = std::max(last_well, well + usual);
    }
    const double transfer = swept.transfer_s * (1.0 + 0.03 * random.normal());
    with.add(last + transfer);
    without.add(last_well + transfer);
    for (std::size_t r = 0; r < n; ++r) {
      const double wait = last - arrives[r];
      run.comm.at(s, r) = transfer + (swept.recorder.waits == WaitsIn::comm ? wait : 0.0);
      if (swept.recorder.waits == WaitsIn::stall) run.stall.at(s, r) += wait;
      if (apart) run.wait.at(s, r) = wait;
    }
  }
  job.saving = 1.0 - without.value() / with.value();
  return job;
}

}  // namespace mfu::faults
