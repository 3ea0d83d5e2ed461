// StepModel: the step that a set of compute times, stalls and transfers would give. The
// counterfactual "this alone were fixed" is the same model with one input changed:
//   T_model = max over pipelines (PF + largest own stall in it) + common stall + transfer + link
//   T_fixed = T_model(fixed) + max(0, T - T_model(as it was))
// What the model does not explain stays in the step: it is nobody's to recover.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "diagnose/fit/attribution.hpp"
#include "diagnose/fit/job.hpp"
#include "diagnose/fit/pipeline.hpp"

namespace mfu::diagnosis {

// Changes one step's row of per-rank seconds in place.
using RowEdit = std::function<void(std::size_t step, std::span<double> row)>;

struct Scenario {
  std::vector<RowEdit> compute;      // applied in order
  std::vector<RowEdit> own_stall;    // applied in order
  std::vector<double> common_stall;  // [step]
  std::vector<double> transfer;      // [step]
  std::vector<double> inner;         // [step] the part of the transfer inside the microbatches
  std::vector<double> link;          // [step] what slow groups add to the transfer
  std::vector<double> spread;        // [step] what uneven microbatches add to the pipeline
};

class StepModel {
 public:
  // All of them must outlive it.
  StepModel(const Job& job, const Attribution& attribution, PipelineForm& form);
  StepModel(const Job&& job, const Attribution& attribution, PipelineForm& form) = delete;
  StepModel(const Job& job, const Attribution&& attribution, PipelineForm& form) = delete;

  [[nodiscard]] const Job& job() const noexcept { return job_; }
  [[nodiscard]] const Attribution& attribution() const noexcept { return attribution_; }

  // As measured. Findings that only explain the measured step better (own stalls inside recorded
  // idle time, slow groups, microbatch spread) are put in here; afterwards settle() must be called.
  [[nodiscard]] Scenario& measured() noexcept { return measured_; }
  void settle();

  // max(0, T - T_model) of the measured scenario, a step.
  [[nodiscard]] const std::vector<double>& unexplained() const noexcept { return unexplained_; }

  // max(0, T_model - T), a step: by how much the parts explain more than there is.
  [[nodiscard]] const std::vector<double>& overshoot() const noexcept { return overshoot_; }

  // The step that is left in each step under a scenario, seconds.
  [[nodiscard]] std::vector<double> steps_under(const Scenario& scenario);

  // One row of compute, or of own stall, under a scenario. Valid until the next call.
  std::span<const double> compute_row(const Scenario& scenario, std::size_t step);
  std::span<const double> own_stall_row(const Scenario& scenario, std::size_t step);

  PipelineForm& form() noexcept { return form_; }

 private:
  // Seconds of the hidden transfer that show when the longest rank is `longest` (see Attribution).
  [[nodiscard]] double shown_transfer(std::size_t step, std::span<const double> compute,
                                      std::span<const double> stalls, double longest);
  [[nodiscard]] double model_step(const Scenario& scenario, std::size_t step);

  const Job& job_;
  const Attribution& attribution_;
  PipelineForm& form_;
  Scenario measured_;
  std::vector<double> unexplained_, overshoot_;
  std::vector<double> compute_, own_stall_, pipeline_stall_, usual_;
};

}  // namespace mfu::diagnosis
