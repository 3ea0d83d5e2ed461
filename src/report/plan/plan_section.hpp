// A plan in words: finished cells and sentences around the numbers of plan.hpp. Renderers only
// place them. Pure: no errors, but those of plan_problems() and plan_gates().
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/fingerprint.hpp"
#include "mfu/error.hpp"
#include "mfu/flops.hpp"
#include "mfu/measure.hpp"
#include "mfu/model.hpp"
#include "mfu/plan.hpp"
#include "plan/batch.hpp"
#include "plan/optimal.hpp"
#include "plan/schedule.hpp"

namespace mfu {

// The answers of the parts of a plan, and what they are about.
struct PlanFindings {
  Plan plan;
  std::string model;                    // empty: not named
  std::optional<double> params;         // of the whole model
  std::optional<double> active_params;  // of these, what one token goes through
  const Convention* convention = nullptr;
  std::string settings;  // its switches
  // Not all: fine-tuning or inference, of which rules of pre-training say nothing.
  Trainable trainable = Trainable::all;
  std::optional<PeakUsed> peak;
  std::optional<double> seq_len;
  std::optional<double> tokens_per_step;
  std::string currency;                    // "$", "EUR"; empty: not named
  std::string deadline_text, budget_text;  // as the user gave them
  std::optional<Optimal> optimal;
  std::optional<BatchPlan> batch;
  bool batch_asked = false;
  bool loss_predicted = false;  // the batch's loss comes from the fit
  std::optional<ScheduleInput> schedule;
  bool rate_given = false;            // the peak rate is the user's own
  std::size_t schedule_points = 200;  // in the forms for programs
};

// A table of finished cells: the first column is words, the others are numbers.
struct PlanTable {
  std::string id;
  std::string title;
  std::vector<std::string> heads;  // of the columns after the first
  struct Row {
    std::vector<std::string> cells;
    bool own = false;    // the plan itself, beside other ways
    bool total = false;  // the sum of the rows above
  };
  std::vector<Row> rows;
  std::vector<std::string> remarks;  // under the table
  bool plot = false;                 // the curve of the schedule stands above it
};

struct PlanLine {
  std::string label;
  std::string text;
  bool in_short_forms = false;  // stands where there is room for little, too
};

struct PlanSection {
  PlanFindings findings;
  std::string title;
  std::string status;                 // "ok", "open" (not all is determined), "impossible"
  std::vector<std::string> headline;  // what was asked for first
  Fingerprint fingerprint;
  std::vector<PlanLine> lines;
  std::vector<PlanTable> tables;
  std::vector<std::string> advice;
  std::vector<PlanLine> left_out;  // what each part of the answer does not hold
  std::string open_text;           // what is not determined, and what would settle it; else empty
  std::string optimal_missing;     // why no size and tokens are judged; else empty
  std::string batch_missing;       // why there is no critical batch; else empty
  std::vector<SchedulePoint> schedule;  // for programs
};

// Contradictions, results that run over, and a question that holds too little to answer anything,
// each with the way out; empty: none. All at once. `answers_more`: a schedule or a critical batch
// is asked for, and needs nothing of the plan.
[[nodiscard]] std::vector<Error> plan_problems(const Plan& plan, std::string_view currency,
                                               bool answers_more = false);

[[nodiscard]] PlanSection describe_plan(PlanFindings findings);

// "36.7 days", "4.21 hours": three digits.
[[nodiscard]] std::string long_time_text(double seconds);
// "3.80e25 FLOP": as papers write compute.
[[nodiscard]] std::string flop_text(double flops);
// "$1.23M", "EUR 12,300", "0.42"
[[nodiscard]] std::string money_text(double amount, std::string_view currency);

}  // namespace mfu
