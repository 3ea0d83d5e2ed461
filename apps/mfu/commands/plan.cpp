// mfu plan: what an MFU is worth in days, GPUs and money, and the limits that go with it.
#include "mfu/plan.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands/commands.hpp"
#include "commands/plan_options.hpp"
#include "mfu/quantity.hpp"
#include "mfu/report.hpp"
#include "options.hpp"
#include "outputs/publish.hpp"
#include "plan/batch.hpp"
#include "plan/optimal.hpp"
#include "plan/parts.hpp"
#include "plan/schedule.hpp"
#include "report/plan/plan_section.hpp"
#include "report/report_of.hpp"

namespace mfu::app {
namespace {

struct PlanCommandText {
  PlanText plan;
  OutputText output;
  bool verbose = false;
};

constexpr double kMostPoints = 5e6;  // rows: some 300 MB of JSON

double steps_of(const Portion& portion, double steps) {
  return portion.steps ? *portion.steps : std::round(*portion.share * steps);
}

// The schedule's corners in steps; what does not fit is a problem.
std::optional<ScheduleInput> schedule_of(const PlanQuestion& question, const PlanFindings& findings,
                                         Problems& problems) {
  const ScheduleQuestion& asked = *question.schedule;
  ScheduleInput schedule;
  schedule.shape = asked.shape;
  schedule.final_share = asked.final_share;
  schedule.tokens_per_step = findings.tokens_per_step;
  std::optional<double> steps = asked.steps;
  if (!steps && findings.plan.tokens && schedule.tokens_per_step) {
    steps =
        std::max(1.0, std::ceil(*findings.plan.tokens / *schedule.tokens_per_step * (1.0 - 1e-12)));
  }
  if (!steps) {
    problems.add(Error(ErrorKind::insufficient, "the steps are not known", at("--schedule"),
                       "--steps, or --tokens with --tokens-per-step (or --batch and --seq-len)"));
    return {};
  }
  constexpr double kMost = 1e15;  // whole numbers up to here are exact
  if (asked.steps && findings.plan.tokens && schedule.tokens_per_step) {
    const double follows = *findings.plan.tokens / *schedule.tokens_per_step;
    if (std::fabs(*asked.steps / follows - 1.0) > kPlanAgreement) {
      problems.add(Error(ErrorKind::usage,
                         fmt::format("{:.0f} steps, but the tokens make {:.0f} of this batch",
                                     *asked.steps, follows),
                         at("--steps"), "leave out --steps, --tokens or the batch"));
      return {};
    }
  }
  if (*steps > kMost) {
    problems.add(Error(ErrorKind::usage, "more steps than can be counted", at("--schedule"),
                       "check --tokens and --tokens-per-step"));
    return {};
  }
  schedule.steps = *steps;
  schedule.warmup_steps = steps_of(asked.warmup, *steps);
  const bool wsd = asked.shape == ScheduleShape::wsd;
  schedule.decay_steps = wsd ? steps_of(asked.decay, *steps) : *steps - schedule.warmup_steps;
  if (schedule.warmup_steps >= *steps) {
    problems.add(Error(ErrorKind::usage,
                       fmt::format("{:.0f} steps of warm-up leave nothing of a run of {:.0f} steps",
                                   schedule.warmup_steps, *steps),
                       at("--warmup"), "0.1 to 1 % of the steps is usual"));
    return {};
  }
  if (wsd && schedule.decay_steps < 1.0) {
    problems.add(Error(ErrorKind::usage, "less than one step of decay", at("--decay"),
                       "10 to 20 % of the steps is usual"));
    return {};
  }
  if (wsd && schedule.warmup_steps + schedule.decay_steps > *steps) {
    problems.add(Error(ErrorKind::usage,
                       fmt::format("{:.0f} steps of warm-up and {:.0f} of decay are more than the "
                                   "{:.0f} of the run",
                                   schedule.warmup_steps, schedule.decay_steps, *steps),
                       at("--decay"), "10 to 20 % of the steps is usual"));
    return {};
  }
  schedule.peak_rate = asked.peak_rate;
  const std::optional<double>& params = question.input.params;
  // The table is of pre-training.
  if (!schedule.peak_rate && params && findings.trainable == Trainable::all)
    schedule.peak_rate = gpt3_rate(*params);
  return schedule;
}

void find_optimal(const PlanQuestion& question, PlanFindings& findings) {
  const Plan& plan = findings.plan;
  if (findings.trainable != Trainable::all) return;
  const std::optional<double>& params = question.input.params;
  // Size and tokens trade at 6 N D, whatever the convention counts beside it.
  std::optional<double> budget = plan.total_flops;
  if (params && plan.tokens) budget = 6.0 * *params * *plan.tokens;
  if (!budget || !std::isfinite(*budget)) return;
  findings.optimal = plan_optimal(*budget, params, plan.tokens, *question.fit);
}

void find_batch(const PlanQuestion& question, PlanFindings& findings) {
  if (!findings.batch_asked) return;
  // The law from the loss is of pre-training, and without a backward pass there is no noise at all.
  if (findings.trainable == Trainable::none) return;
  if (findings.trainable == Trainable::lora && !question.batch.noise_scale) return;
  BatchInput batch = question.batch;
  batch.tokens = findings.plan.tokens;
  batch.gpus = findings.plan.gpus;
  batch.mfu = findings.plan.mfu;
  const bool carried = !batch.noise_scale || batch.noise_scale_loss;
  if (!batch.loss && carried && findings.optimal && findings.optimal->loss) {
    batch.loss = findings.optimal->loss;
    findings.loss_predicted = true;
  }
  findings.batch = plan_batch(batch);
}

// Only an open outcome is judged: a limit that was used to find an unknown holds,
// unless nothing can be done within it.
void judge_limits(Report& report, const PlanFindings& findings) {
  const Plan& plan = findings.plan;
  const auto judge = [&](const char* id, const std::string& limit,
                         const std::optional<double>& value, const std::string& text, bool taken,
                         bool broken) {
    if (taken && !plan.impossible) return;
    report.gates.push_back(
        {id, limit, value, plan.impossible ? text + ", impossible" : text, !broken && !taken});
  };
  if (const std::optional<double>& taken = plan.seconds ? plan.seconds : plan.least_seconds;
      plan.input.deadline_s && taken) {
    const std::string text = long_time_text(*taken);
    judge("deadline", findings.deadline_text, taken, plan.seconds ? text : text + " at least",
          plan.deadline_taken, plan.late.has_value() || plan.impossible);
  }
  if (const std::optional<double>& cost = plan.cost ? plan.cost : plan.least_cost;
      plan.input.budget && cost) {
    const std::string text = money_text(*cost, findings.currency);
    judge("budget", findings.budget_text, cost, plan.cost ? text : text + " at least",
          plan.budget_taken, plan.dear.has_value() || plan.impossible);
  }
}

int run_plan(const CLI::App& command, const PlanCommandText& text) {
  Problems problems;
  Notes notes;
  refuse_unknown_options(command, problems);
  PlanQuestion question = parse_plan(text.plan, problems, notes);
  std::vector<OutputTarget> targets = open_outputs(text.output, problems);
  problems.throw_if_any();
  PlanFindings findings = std::move(question.findings);
  findings.plan = plan_compute(question.input);
  // What does not depend on the unknowns of the run.
  const bool answers_more = (question.schedule && question.schedule->steps) ||
                            (findings.trainable != Trainable::none &&
                             (question.batch.noise_scale ||
                              (question.batch.loss && findings.trainable == Trainable::all)));
  for (const Error& problem : plan_problems(findings.plan, findings.currency, answers_more)) {
    problems.add(problem);
  }
  problems.throw_if_any();
  find_optimal(question, findings);
  find_batch(question, findings);
  if (question.schedule) {
    findings.schedule = schedule_of(question, findings, problems);
    problems.throw_if_any();
    findings.rate_given = question.schedule->peak_rate.has_value();
    if (!question.schedule->points && findings.schedule->steps > kMostPoints) {
      problems.add(Error(ErrorKind::usage,
                         fmt::format("all {} steps are more rows than a file should hold",
                                     format_grouped(findings.schedule->steps)),
                         at("--points"),
                         fmt::format("{} at most: --points 100000 has every {}th step or so",
                                     format_grouped(kMostPoints),
                                     format_grouped(std::round(findings.schedule->steps / 1e5)))));
      problems.throw_if_any();
    }
    findings.schedule_points =
        question.schedule->points.value_or(static_cast<std::size_t>(findings.schedule->steps));
  }
  Report report = report_of("plan");
  report.inputs = question.files;
  report.notes = notes.all();
  judge_limits(report, findings);
  report.plan = describe_plan(std::move(findings));
  return publish(report, targets, text.verbose);
}

}  // namespace

std::function<int()> add_plan(CLI::App& parent) {
  CLI::App* command = parent.add_subcommand("plan", "From MFU to days, GPUs, money and batch size");
  const auto text = std::make_shared<PlanCommandText>();
  add_plan_options(*command, text->plan);
  add_output_options(*command, text->output);
  command->add_flag("-v,--verbose", text->verbose, "Also say what was assumed");
  command->allow_extras();
  command->footer(
      "Whatever of --tokens, --gpus, --mfu, time and money is not given is worked out.\n"
      "Examples:\n"
      "  mfu plan --model llama-3.1-8b --tokens 15T --gpus 1024 --chip h100-sxm --mfu 38% \\\n"
      "           --target-mfu 55% --price 2.5/h\n"
      "  mfu plan --params 70B --tokens 1.4T --chip h100-sxm --mfu 40% --deadline 30d\n"
      "  mfu plan --gpus 256 --chip h100-sxm --mfu 40% --deadline 14d      the best size\n"
      "  mfu plan ... --mtbf 50000h/gpu --checkpoint-time 60s --restart-time 10m\n"
      "  mfu plan ... --tokens-per-step 4,194,304 --schedule cosine --out csv:schedule.csv");
  return [command, text] { return run_plan(*command, *text); };
}

}  // namespace mfu::app
