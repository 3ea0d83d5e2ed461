// The options of plan: as text, and the question that they ask.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "commands/calc_options.hpp"
#include "inputs/plan_values.hpp"
#include "mfu/error.hpp"
#include "mfu/plan.hpp"
#include "options.hpp"
#include "plan/batch.hpp"
#include "plan/optimal.hpp"
#include "plan/schedule.hpp"
#include "report/plan/plan_section.hpp"

namespace mfu::app {

struct PlanText {
  CalcText calc;  // model, step, peak and convention, as calc has them
  std::string tokens, time, deadline, gpu_hours, mfu, target_mfu, price, cost, budget;
  std::string goodput, mtbf, checkpoint_time, restart_time, checkpoint_interval;
  std::string fit;
  std::string noise_scale, noise_scale_loss, loss, batch_law;
  std::string schedule, peak_lr, warmup, final_lr, decay, steps, points;
};

void add_plan_options(CLI::App& command, PlanText& text);

// What of the schedule the steps of the plan are needed for.
struct ScheduleQuestion {
  ScheduleShape shape = ScheduleShape::cosine;
  Portion warmup;
  Portion decay;
  double final_share = 0.1;
  std::optional<double> peak_rate;
  std::optional<double> steps;
  std::optional<std::size_t> points;  // nothing: every step
};

struct PlanQuestion {
  PlanFindings findings;  // what it is about; the plan is not solved yet
  PlanInput input;
  const LossFit* fit = nullptr;
  BatchInput batch;
  std::optional<ScheduleQuestion> schedule;
  std::vector<InputInfo> files;
};

// All that is wrong goes to `problems`.
[[nodiscard]] PlanQuestion parse_plan(const PlanText& text, Problems& problems, Notes& notes);

}  // namespace mfu::app
