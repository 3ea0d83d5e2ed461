// Numbers of a plan as people write them, and the parts of its screen.
#pragma once

#include <string>
#include <string_view>

#include "report/plan/plan_section.hpp"

namespace mfu {

[[nodiscard]] std::string amount_text(double value);  // "15.6T", "8.03B", "512"
[[nodiscard]] std::string energy_text(double joules);
[[nodiscard]] std::string hours_text(double gpu_seconds);  // "175,634": GPU-hours
[[nodiscard]] std::string count_text(double count);        // "11.2", "1,234"
[[nodiscard]] std::string gpus_text(double gpus);          // "1,024"; "1,023.4 -> 1,024" apart
// The plan's own, or a multiple of them: whole ones, on the side on which the plan still holds.
[[nodiscard]] std::string plan_gpus_text(const Plan& plan, double gpus);
[[nodiscard]] std::string times_text(double factor);  // "1.5", "12"
[[nodiscard]] std::string rate_text(double rate);     // "3e-4"

[[nodiscard]] PlanTable worth_table(const PlanFindings& findings);
[[nodiscard]] PlanTable failures_table(const PlanFindings& findings);
[[nodiscard]] PlanTable optimal_table(const PlanFindings& findings);
[[nodiscard]] PlanTable batch_table(const PlanFindings& findings);
[[nodiscard]] PlanTable schedule_table(const PlanFindings& findings);
// What is out of the usual range, one sentence each.
void add_unusual(const PlanFindings& findings, std::vector<std::string>& advice);
void add_left_out(const PlanFindings& findings, std::vector<PlanLine>& left_out);

}  // namespace mfu
