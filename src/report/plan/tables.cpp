// The tables of a plan: what efficiency is worth, failures, size, batch, schedule.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "mfu/quantity.hpp"
#include "plan/batch.hpp"
#include "plan/optimal.hpp"
#include "plan/parts.hpp"
#include "plan/schedule.hpp"
#include "report/plan/plan_section.hpp"
#include "report/plan/words.hpp"

namespace mfu {
namespace {

using Row = PlanTable::Row;

std::string variant_name(PlanVariant::Change change) {
  switch (change) {
    case PlanVariant::Change::none:
      return "as planned";
    case PlanVariant::Change::target_mfu:
      return "at the target MFU";
    case PlanVariant::Change::target_by_gpus:
      return "as fast, more GPUs";
    case PlanVariant::Change::twice_the_gpus:
      return "twice the GPUs";
    case PlanVariant::Change::twice_the_mfu:
      return "twice the MFU";
    case PlanVariant::Change::point_of_mfu:
      return "one point of MFU";
  }
  return "";
}

const PlanVariant* find(const Plan& plan, PlanVariant::Change change) {
  for (const PlanVariant& one : plan.variants) {
    if (one.change == change) return &one;
  }
  return nullptr;
}

// "88 %", "0.3 %", "less than 0.1 %"
std::string share_text(double share) {
  constexpr double kLeast = 0.001;
  constexpr double kOne = 0.01;
  return share < kLeast ? "less than " + format_percent(kLeast)
                        : format_percent(share, share < kOne ? 1 : 0);
}

// Where the fit's best size is smaller, a plan that the rule calls over-trained has a model that
// the fit calls too large: the two disagree.
bool fit_wants_smaller(const Optimal& found) {
  return std::any_of(found.sizes.begin(), found.sizes.end(), [&](const OptimalSize& size) {
    return size.fit == found.fit && size.params < *found.params;
  });
}

// "4.42 days, 54,312 GPU-hours and $135,780"
std::string difference_text(const PlanVariant& more, const PlanVariant& less,
                            std::string_view currency) {
  std::string text = fmt::format("{}, {} GPU-hours", long_time_text(more.seconds - less.seconds),
                                 hours_text(more.gpu_seconds - less.gpu_seconds));
  if (more.cost && less.cost) text += ", " + money_text(*more.cost - *less.cost, currency);
  return text;
}

}  // namespace

PlanTable worth_table(const PlanFindings& findings) {
  const Plan& plan = findings.plan;
  using Change = PlanVariant::Change;
  PlanTable table;
  table.id = "worth";
  table.title = "What efficiency is worth";
  table.heads = {"MFU", "GPUs", "time", "GPU-hours"};
  if (plan.cost) table.heads.emplace_back("cost");
  for (const PlanVariant& one : plan.variants) {
    Row row{{variant_name(one.change), format_percent(one.mfu), plan_gpus_text(plan, one.gpus),
             long_time_text(one.seconds), hours_text(one.gpu_seconds)},
            one.change == Change::none};
    if (plan.cost) row.cells.push_back(one.cost ? money_text(*one.cost, findings.currency) : "-");
    table.rows.push_back(std::move(row));
  }
  const PlanVariant* now = find(plan, Change::none);
  const PlanVariant* target = find(plan, Change::target_mfu);
  const PlanVariant* more = find(plan, Change::target_by_gpus);
  if (now != nullptr && target != nullptr && target->mfu > now->mfu) {
    table.remarks.push_back(
        fmt::format("The gap from {} to {} costs {}; {} times as many GPUs would also close it.",
                    format_percent(now->mfu), format_percent(target->mfu),
                    difference_text(*now, *target, findings.currency),
                    fmt::format("{:.2f}", (more != nullptr ? more->gpus : 0.0) / now->gpus)));
    if (more == nullptr) {
      table.remarks.back() = fmt::format(
          "The gap from {} to {} costs {}; no number of GPUs closes it.", format_percent(now->mfu),
          format_percent(target->mfu), difference_text(*now, *target, findings.currency));
    }
  }
  if (const PlanVariant* point = find(plan, Change::point_of_mfu)) {
    table.remarks.push_back(fmt::format("One point of MFU is worth {}.",
                                        difference_text(*now, *point, findings.currency)));
  }
  if (const PlanVariant* twice = find(plan, Change::twice_the_mfu)) {
    const PlanVariant* by_gpus = find(plan, Change::twice_the_gpus);
    const bool alike = by_gpus != nullptr && by_gpus->seconds < 1.005 * twice->seconds;
    std::string text = fmt::format("From {} to {} halves the time", format_percent(now->mfu),
                                   format_percent(twice->mfu));
    if (alike) {
      text += ", as twice the GPUs would, at half the GPU-hours.";
    } else {
      text += " and the GPU-hours";
      if (by_gpus != nullptr) {
        text += fmt::format("; twice the GPUs, which fail more often, take {}",
                            long_time_text(by_gpus->seconds));
      }
      text += ".";
    }
    table.remarks.push_back(std::move(text));
  }
  return table;
}

PlanTable failures_table(const PlanFindings& findings) {
  const Plan& plan = findings.plan;
  const Goodput& found = *plan.failures;
  PlanTable table;
  table.id = "failures";
  table.title = "Where the wall time goes";
  table.heads = {"share"};
  if (plan.seconds) table.heads.emplace_back("time");
  const auto add = [&](std::string_view label, double share) {
    Row row{{std::string(label), format_percent(share, 2)}, false};
    if (plan.seconds) {
      row.cells.push_back(share > 0.0 ? long_time_text(share * *plan.seconds) : "0");
    }
    table.rows.push_back(std::move(row));
  };
  add("steps (goodput)", found.useful);
  add("writing checkpoints", found.checkpoints);
  add("repeated steps", found.redone);
  add("restarts", found.restarts);
  add("wall time", found.useful + found.checkpoints + found.redone + found.restarts);
  table.rows.back().total = true;
  const FailureRate& rate = *plan.input.failures;
  std::string every =
      fmt::format("One failure of the job every {}", long_time_text(found.job_mtbf_s));
  if (rate.per_gpu && plan.gpus) {
    every += fmt::format(" (one GPU: every {}; {} GPUs)", long_time_text(rate.mtbf_s),
                         plan_gpus_text(plan, *plan.gpus));
  }
  if (plan.seconds)
    every += fmt::format(": {} in the run", count_text(*plan.seconds / found.job_mtbf_s));
  table.remarks.push_back(every + ".");
  table.remarks.push_back(
      fmt::format("Best interval between checkpoints: {} of steps (Daly 2006; Young 1974: {}).",
                  long_time_text(found.daly_s), long_time_text(found.young_s)));
  if (rate.interval_s) {
    FailureRate best = rate;
    best.interval_s.reset();
    table.remarks.push_back(
        fmt::format("At the given interval of {} goodput is {}, at the best {}.",
                    long_time_text(found.interval_s), format_percent(found.useful, 2),
                    format_percent(goodput_of(best, plan.gpus.value_or(1.0)).useful, 2)));
  }
  return table;
}

PlanTable optimal_table(const PlanFindings& findings) {
  const Optimal& found = *findings.optimal;
  PlanTable table;
  table.id = "optimal";
  table.title = fmt::format("Size and tokens for 6ND = {}", flop_text(found.flops));
  table.heads = {"parameters", "tokens", "tokens/param", "loss"};
  const auto add = [&](std::string label, double params, double tokens, double loss, bool own) {
    table.rows.push_back({{std::move(label), amount_text(params), amount_text(tokens),
                           times_text(tokens / params), fmt::format("{:.4f}", loss)},
                          own});
  };
  if (found.params && found.tokens) {
    add("this plan", *found.params, *found.tokens, *found.loss, true);
  }
  for (const OptimalSize& size : found.sizes) {
    add(size.fit == nullptr ? "20 tokens per parameter" : std::string(size.fit->name), size.params,
        size.tokens, size.loss, false);
  }
  table.remarks.push_back(fmt::format(
      "Loss in nats per token by {}{}.", found.fit->id,
      found.beyond_fit
          ? ", beyond the 70M to 16B parameters and 5B to 500B tokens that it was fitted on"
          : ""));
  if (found.params && found.tokens) {
    const double over = *found.tokens / *found.tokens_for_params;
    switch (found.trained) {
      case Trained::near:
        table.remarks.push_back("The plan is near 20 tokens per parameter.");
        break;
      case Trained::over:
        table.remarks.push_back(fmt::format(
            "Over-trained: {} times the 20 tokens per parameter. The same loss would take {} of "
            "the FLOPs at the fit's best size{}",
            times_text(over), share_text(*found.flops_for_same_loss / found.flops),
            fit_wants_smaller(found)
                ? ", which is smaller: by the fit this model is too large for its tokens. Rule and "
                  "fit disagree."
                : "; the extra FLOPs buy a smaller model."));
        break;
      case Trained::under:
        table.remarks.push_back(fmt::format(
            "Under-trained: {} of the 20 tokens per parameter, which would be {} tokens. The same "
            "loss would take {} of the FLOPs at the fit's best size.",
            share_text(over), amount_text(*found.tokens_for_params),
            share_text(*found.flops_for_same_loss / found.flops)));
        break;
    }
  }
  if (findings.params && findings.active_params && *findings.params > *findings.active_params) {
    table.remarks.push_back(
        "A mixture of experts: N is what one token goes through; the fits are for dense models, so "
        "its loss is an upper bound.");
  }
  return table;
}

PlanTable batch_table(const PlanFindings& findings) {
  const BatchPlan& plan = *findings.batch;
  const BatchInput& input = plan.input;
  PlanTable table;
  table.id = "batch";
  table.title = "Batch, for the same loss";
  const bool absolute = input.batch && input.tokens;
  table.heads = {"of critical", absolute ? "tokens" : "tokens, x least",
                 absolute ? "steps" : "steps, x least"};
  if (input.batch && input.mfu) table.heads.emplace_back("break-even MFU");
  for (const BatchRow& row : plan.rows) {
    Row made{{fmt::format("{} tokens", amount_text(row.batch)), fmt::format("{:.3g} x", row.share),
              absolute ? amount_text(*row.tokens) : fmt::format("{:.3f}", row.tokens_over_least),
              absolute ? amount_text(*row.steps) : fmt::format("{:.3g}", row.steps_over_least)},
             row.own};
    if (input.batch && input.mfu) {
      made.cells.push_back(row.even_mfu && *row.even_mfu <= 1.0 ? format_percent(*row.even_mfu)
                                                                : "over 100 %");
    }
    table.rows.push_back(std::move(made));
  }
  std::string from;
  if (plan.measured) {
    from = "the noise scale as given";
  } else if (input.noise_scale) {
    from = fmt::format(
        "the noise scale at loss {:.4g}, carried to loss {:.4g} by {}", *input.noise_scale_loss,
        *input.loss,
        input.law == BatchLaw::kaplan_2020 ? "kaplan-2020: 1/L^4.76" : "inverse-loss: 1/L");
  } else {
    from = fmt::format("kaplan-2020 at loss {:.4g}{}: 2e8 / L^(1/0.21)", *input.loss,
                       findings.loss_predicted ? ", as the fit predicts it" : "");
  }
  table.remarks.push_back(
      fmt::format("Critical batch {} tokens: {}.", amount_text(plan.critical), from));
  if (input.batch) {
    const double share = *input.batch / plan.critical;
    table.remarks.push_back(
        fmt::format("This batch takes {:.2f} times the fewest tokens (1 + B/B_crit) and {:.2f} "
                    "times the fewest steps (1 + B_crit/B). A larger one pays off where it brings "
                    "the MFU above its break-even.",
                    1.0 + share, 1.0 + 1.0 / share));
  }
  if (plan.most_replicas) {
    std::string limit;
    if (*plan.most_replicas < 1.0) {
      limit = fmt::format(
          "One sequence of {} tokens is more than the critical batch: data "
          "parallelism costs tokens from the first replica on.",
          format_grouped(*input.seq_len));
    } else {
      limit = fmt::format("Data parallelism is useful up to {} replicas of one sequence of {}",
                          format_grouped(*plan.most_replicas), format_grouped(*input.seq_len));
      if (plan.least_gpus_each && *plan.least_gpus_each > 1.0) {
        limit += fmt::format("; {} GPUs need {} or more per replica", gpus_text(*input.gpus),
                             format_grouped(*plan.least_gpus_each));
      }
      limit += ".";
    }
    table.remarks.push_back(std::move(limit));
  }
  return table;
}

PlanTable schedule_table(const PlanFindings& findings) {
  const ScheduleInput& schedule = *findings.schedule;
  PlanTable table;
  table.id = "schedule";
  table.plot = true;
  table.title = fmt::format(
      "Learning rate: warm-up of {} steps, {}", format_grouped(schedule.warmup_steps),
      schedule.shape == ScheduleShape::wsd
          ? fmt::format("constant, linear decay over {}", format_grouped(schedule.decay_steps))
          : std::string(to_string(schedule.shape)) + " decay");
  table.title += fmt::format(" to {}", format_percent(schedule.final_share, 0));
  table.heads = {"step"};
  if (schedule.tokens_per_step) table.heads.emplace_back("tokens");
  table.heads.emplace_back("of peak");
  if (schedule.peak_rate) table.heads.emplace_back("rate");
  constexpr std::size_t kRows = 8;
  for (const SchedulePoint& point : schedule_points(schedule, kRows)) {
    Row row{{std::string(point.phase), format_grouped(point.step)}, false};
    if (schedule.tokens_per_step) {
      row.cells.push_back(amount_text(point.step * *schedule.tokens_per_step));
    }
    row.cells.push_back(format_percent(point.share, 2));
    if (schedule.peak_rate) row.cells.push_back(rate_text(point.share * *schedule.peak_rate));
    table.rows.push_back(std::move(row));
  }
  table.remarks.push_back(fmt::format(
      "Mean rate {} of the peak. Steps count from 1; --out csv has the rows for a trainer.",
      format_percent(mean_share(schedule))));
  const std::optional<double> params =
      findings.active_params ? findings.active_params : findings.params;
  if (!params) return table;
  if (findings.trainable != Trainable::all) {
    if (!schedule.peak_rate) {
      table.remarks.emplace_back(
          "No --peak-lr: published rates by size are for pre-training; shares of the peak only.");
    }
    return table;
  }
  std::string near;
  for (const PublishedRate& row : rates_near(*params, 3)) {
    near += fmt::format("{}{} {}", near.empty() ? "" : ", ", row.model, rate_text(row.rate));
  }
  if (!findings.rate_given && schedule.peak_rate) {
    table.remarks.push_back(
        fmt::format("No --peak-lr: {} lies between the rows of GPT-3's table at this size.",
                    rate_text(*schedule.peak_rate)));
  } else if (!schedule.peak_rate) {
    table.remarks.emplace_back(
        "No --peak-lr, and GPT-3's table does not reach this size: shares of the peak only.");
  }
  if (!near.empty()) {
    table.remarks.push_back(fmt::format("Published peaks near this size: {}.", near));
  }
  return table;
}

}  // namespace mfu
