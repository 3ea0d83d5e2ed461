// A plan in words: the answer, the work behind it, what is not determined, what does not hold.
#include "mfu/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "mfu/quantity.hpp"
#include "mfu/report.hpp"
#include "plan/parts.hpp"
#include "plan/schedule.hpp"
#include "report/measure/calc_section.hpp"
#include "report/measure/calc_wording.hpp"
#include "report/plan/plan_section.hpp"
#include "report/plan/words.hpp"
#include "report/report_of.hpp"

namespace mfu {
namespace {

using enum PlanQuantity;

struct Words {
  PlanQuantity quantity;
  std::string_view option;
  std::string_view settles;  // what a user would give
  std::string_view name;     // "the ... are not known"
  std::string_view example;
};
constexpr std::array kWords{
    Words{tokens, "--tokens", "--tokens", "tokens", "--tokens 15T"},
    Words{gpus, "--gpus", "--gpus", "GPUs", "--gpus 1024"},
    Words{seconds, "--time", "--deadline", "time", "--deadline 30d, or --time 30d"},
    Words{mfu, "--mfu", "--mfu", "MFU", "--mfu 40%"},
    Words{gpu_seconds, "--gpu-hours", "--gpu-hours", "GPU-hours", "--gpu-hours 1.2M"},
    Words{price, "--price", "--price", "price", "--price 2.5/h"},
    Words{cost, "--cost", "--budget", "cost", "--budget 1M"},
};

const Words& words_of(PlanQuantity quantity) {
  return *std::find_if(kWords.begin(), kWords.end(),
                       [&](const Words& one) { return one.quantity == quantity; });
}

// "a, b and c"
std::string listed(const std::vector<std::string>& all, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0) text += i + 1 == all.size() ? fmt::format(" {} ", last) : ", ";
    text += all[i];
  }
  return text;
}

std::string value_text(PlanQuantity quantity, double value, std::string_view currency) {
  switch (quantity) {
    case tokens:
      return amount_text(value) + " tokens";
    case gpus:
      return gpus_text(value) + " GPUs";
    case seconds:
      return long_time_text(value);
    case mfu:
      return "MFU " + format_percent(value);
    case gpu_seconds:
      return hours_text(value) + " GPU-hours";
    case price:
      return money_text(value * 3600.0, currency) + " per GPU-hour";
    case cost:
      return (currency.empty() ? "cost " : "") + money_text(value, currency);
  }
  return "";
}

Error contradiction_error(const PlanContradiction& found, std::string_view currency) {
  std::vector<std::string> from;
  for (const PlanQuantity quantity : found.from) from.emplace_back(words_of(quantity).option);
  Place place;
  place.what = std::string(words_of(found.quantity).option);
  const bool limit = found.quantity == seconds || found.quantity == cost;
  return Error(
      ErrorKind::usage,
      fmt::format(
          "says {}, but {} give {}{}", value_text(found.quantity, found.given, currency),
          listed(from, "and"), value_text(found.quantity, found.follows, currency),
          found.follows_at_least ? " at least, with one GPU: more GPUs fail more often" : ""),
      place,
      limit ? fmt::format("leave one of them out; a limit is written {}",
                          words_of(found.quantity).settles)
            : "leave one of them out, and it is worked out");
}

// The interval is the problem where another one would work.
Error no_progress_error(const Plan& plan) {
  const Goodput& found = *plan.failures;
  FailureRate best = *plan.input.failures;
  best.interval_s.reset();
  Place place;
  place.what = "--mtbf";
  std::string message =
      fmt::format("with a failure every {} nothing gets done", long_time_text(found.job_mtbf_s));
  if (!(goodput_of(best, plan.gpus.value_or(1.0)).useful > kNothingDone)) {
    return {ErrorKind::insufficient, message, place,
            "is it per GPU or per job? 50000h/gpu, 3h/job"};
  }
  place.what = "--checkpoint-interval";
  message +=
      fmt::format(" between checkpoints that are {} apart", long_time_text(found.interval_s));
  return {ErrorKind::insufficient, message, place,
          fmt::format("the best interval is {}", long_time_text(found.daly_s))};
}

// Nothing could be worked out: everything that would help, at once.
void add_missing(const Plan& plan, std::vector<Error>& problems) {
  const auto add = [&](std::string_view what, std::string_view hint) {
    problems.emplace_back(ErrorKind::insufficient, fmt::format("{} not known", what), Place{},
                          std::string(hint));
  };
  const PlanInput& input = plan.input;
  if (!input.flops_per_token) add("the model is", "--model llama-3.1-8b, or --params 8B");
  if (!input.peak_flops) add("the peak is", "--chip h100-sxm, or --peak 989.4T");
  for (const PlanQuantity quantity : {tokens, gpus, seconds, mfu}) {
    const std::optional<double>& value = quantity == tokens    ? plan.tokens
                                         : quantity == gpus    ? plan.gpus
                                         : quantity == seconds ? plan.seconds
                                                               : plan.mfu;
    if (value) continue;
    const bool several = quantity == tokens || quantity == gpus;
    add(fmt::format("the {} {}", words_of(quantity).name, several ? "are" : "is"),
        words_of(quantity).example);
  }
}

std::string title_of(const PlanFindings& findings) {
  const Plan& plan = findings.plan;
  std::vector<std::string> parts;
  std::string model = findings.model;
  if (model.empty() && findings.active_params) {
    model = amount_text(*findings.active_params) + " parameters";
  }
  if (!model.empty()) parts.push_back(model);
  std::string gpu;
  const bool gpus_known =
      plan.gpus && std::find(plan.solved.begin(), plan.solved.end(), gpus) == plan.solved.end();
  if (gpus_known) gpu = gpus_text(*plan.gpus) + (findings.peak ? " x " : " GPUs");
  if (findings.peak) {
    const PeakUsed& peak = *findings.peak;
    const std::string precision = precision_text(peak);
    gpu += peak.chip != nullptr ? std::string(peak.chip->name) : "GPU";
    gpu += fmt::format(", {}{}dense {}", precision, precision.empty() ? "" : " ",
                       teraflops(peak.flops));
  }
  if (!gpu.empty()) parts.push_back(gpu);
  if (plan.input.tokens) parts.push_back(amount_text(*plan.input.tokens) + " tokens");
  std::string title;
  for (const std::string& part : parts) title += (title.empty() ? "" : "   ") + part;
  return title;
}

std::vector<std::string> headline_of(const PlanFindings& findings) {
  const Plan& plan = findings.plan;
  std::vector<std::string> pieces;
  const auto solved = [&](PlanQuantity quantity) {
    return std::find(plan.solved.begin(), plan.solved.end(), quantity) != plan.solved.end();
  };
  const auto add = [&](PlanQuantity quantity, const std::optional<double>& value) {
    if (!value) return;
    std::string text = value_text(quantity, *value, findings.currency);
    if (quantity == gpus) text = plan_gpus_text(plan, *value) + " GPUs";
    if (quantity == gpus && plan.gpus_at_most) text = "at most " + text;
    if (quantity == gpus && std::ceil(*value * (1.0 - 1e-9)) > *value * (1.0 + 1e-9) &&
        *value < 1e5) {
      text += fmt::format(" ({:.2f})", *value);
    }
    if (quantity == price) text += " at most";
    if (quantity == mfu && plan.impossible) text += "  IMPOSSIBLE";
    pieces.push_back(std::move(text));
  };
  const std::array all{std::pair{tokens, &plan.tokens}, std::pair{mfu, &plan.mfu},
                       std::pair{gpus, &plan.gpus}, std::pair{price, &plan.price}};
  for (const auto& [quantity, value] : all) {
    if (solved(quantity)) add(quantity, *value);
  }
  add(seconds, plan.seconds);
  if (plan.least_seconds) {
    pieces.push_back(fmt::format("at least {}, with {} GPUs", long_time_text(*plan.least_seconds),
                                 gpus_text(*plan.fastest_gpus)));
  }
  add(gpu_seconds, plan.gpu_seconds);
  add(cost, plan.cost);
  if (plan.energy_joules) pieces.push_back(energy_text(*plan.energy_joules) + " at most");
  if (pieces.empty() && plan.total_flops) pieces.push_back(flop_text(*plan.total_flops));
  if (!pieces.empty()) return pieces;
  if (findings.batch) {
    pieces.push_back(
        fmt::format("critical batch {} tokens", amount_text(findings.batch->critical)));
  }
  if (findings.schedule) {
    const double steps = findings.schedule->steps;
    pieces.push_back(fmt::format("{} {}", format_grouped(steps), steps > 1.0 ? "steps" : "step"));
  }
  return pieces;
}

void add_lines(PlanSection& section) {
  const PlanFindings& findings = section.findings;
  const Plan& plan = findings.plan;
  const auto line = [&](std::string label, std::string text) {
    section.lines.push_back({std::move(label), std::move(text)});
  };
  if (plan.input.flops_per_token && plan.tokens) {
    line("work",
         fmt::format("{:.2f} GFLOP/token x {} tokens = {}", *plan.input.flops_per_token / 1e9,
                     amount_text(*plan.tokens), flop_text(*plan.total_flops)));
  }
  if (plan.peak_total_flops && plan.total_flops) {
    const double share = *plan.total_flops / *plan.peak_total_flops;
    std::string text = fmt::format("{} delivered of {} at peak: {}", flop_text(*plan.total_flops),
                                   flop_text(*plan.peak_total_flops), format_percent(share));
    if (plan.mfu && plan.goodput && *plan.goodput < 1.0) {
      text += fmt::format(" (MFU {} x goodput {})", format_percent(*plan.mfu),
                          format_percent(*plan.goodput));
    }
    line("compute", text);
  }
  if (plan.seconds && plan.step_seconds && *plan.goodput < 1.0) {
    line("time", fmt::format("{} of steps, {} for failures and checkpoints",
                             long_time_text(*plan.step_seconds),
                             long_time_text(*plan.seconds - *plan.step_seconds)));
  }
  if (plan.gpus_at_most) {
    line("GPUs", "more GPUs fail more often: these GPU-hours are enough for no more");
  } else if (plan.gpus_too) {
    line("GPUs", fmt::format("the fewest; {} take just as long, since they fail more often",
                             gpus_text(*plan.gpus_too)));
  }
  if (plan.impossible && plan.seconds && plan.gpus) {
    line("peak",
         fmt::format("these GPUs at 100 % would take {}; {} of them would be enough at 100 %",
                     long_time_text(*plan.seconds * *plan.mfu), gpus_text(*plan.gpus * *plan.mfu)));
    section.lines.back().in_short_forms = true;
  }
}

std::string remedies_text(const PlanRemedies& found, bool late) {
  std::vector<std::string> ways;
  if (found.gpus) ways.push_back(gpus_text(*found.gpus) + " GPUs");
  if (found.mfu && *found.mfu <= 1.0) ways.push_back("an MFU of " + format_percent(*found.mfu));
  if (found.tokens) ways.push_back(amount_text(*found.tokens) + " tokens");
  if (ways.empty()) return late ? "fewer tokens, a higher MFU or more GPUs" : "less of it";
  std::string text = listed(ways, "or");
  std::vector<std::string> none;
  if (late && !found.gpus) none.emplace_back("no number of GPUs: more GPUs fail more often");
  if (found.mfu && *found.mfu > 1.0) none.emplace_back("no MFU: more than 100 % is needed");
  for (std::size_t i = 0; i < none.size(); ++i) text += (i == 0 ? " (" : "; ") + none[i];
  if (!none.empty()) text += ")";
  return text;
}

void add_limits(PlanSection& section) {
  const PlanFindings& findings = section.findings;
  const Plan& plan = findings.plan;
  if (plan.late) {
    section.advice.push_back(fmt::format(
        "The deadline of {} is missed: {}. Any one of these would meet it: {}.",
        long_time_text(*plan.input.deadline_s),
        plan.seconds
            ? long_time_text(*plan.seconds)
            : fmt::format("{} with {} GPUs, the fastest number",
                          long_time_text(*plan.least_seconds), gpus_text(*plan.fastest_gpus)),
        remedies_text(*plan.late, true)));
  } else if (plan.input.deadline_s && plan.seconds && !plan.deadline_taken && !plan.impossible) {
    section.advice.push_back(fmt::format(
        "The deadline of {} is met, with {} to spare.", long_time_text(*plan.input.deadline_s),
        long_time_text(std::max(0.0, *plan.input.deadline_s - *plan.seconds))));
  }
  if (plan.dear) {
    section.advice.push_back(
        fmt::format("The budget of {} is exceeded: {}. Any one of these would meet it: {}.",
                    money_text(*plan.input.budget, findings.currency),
                    plan.cost ? money_text(*plan.cost, findings.currency)
                              : money_text(*plan.least_cost, findings.currency) +
                                    " with one GPU, and more GPUs fail more often",
                    remedies_text(*plan.dear, false)));
  }
}

std::string open_text_of(const PlanFindings& findings) {
  const Plan& plan = findings.plan;
  const PlanInput& input = plan.input;
  if (plan.open.empty()) return "";
  std::vector<std::string> names, all;
  for (const PlanQuantity quantity : plan.open) {
    names.emplace_back(words_of(quantity).name);
    all.emplace_back(words_of(quantity).settles);
  }
  std::string text = fmt::format("Not determined: {}", listed(names, "and"));
  if (plan.gpu_seconds && !plan.gpus && !plan.seconds) text += " (only their product is)";
  std::vector<std::string> needs;
  if (!input.flops_per_token) needs.emplace_back("--model or --params");
  if (!input.peak_flops) needs.emplace_back("--chip or --peak");
  if (plan.needed == 1) {
    std::vector<std::string> settling;
    for (const PlanQuantity quantity : plan.settling) {
      settling.emplace_back(words_of(quantity).settles);
    }
    needs.push_back((settling.size() > 1 ? "one of " : "") + listed(settling, "and"));
  } else if (plan.needed > 1) {
    needs.push_back(
        fmt::format("{} of {}", plan.needed == 2 ? "two" : "three", listed(all, "and")));
  }
  if (!needs.empty()) text += fmt::format(". Needed: {}", listed(needs, "and"));
  text += ".";
  // GPUs and MFU can stand in for one another.
  if (plan.delivered_flops_per_second && input.peak_flops && !plan.gpus && !plan.mfu) {
    const double product_needed = *plan.delivered_flops_per_second / *input.peak_flops;
    text += fmt::format(" {} GPUs at 30 %, {} at 40 % or {} at 50 % would do.",
                        gpus_text(product_needed / 0.3), gpus_text(product_needed / 0.4),
                        gpus_text(product_needed / 0.5));
  }
  return text;
}

}  // namespace

std::vector<Error> plan_problems(const Plan& plan, std::string_view currency, bool answers_more) {
  std::vector<Error> problems;
  if (plan.overflow) {
    problems.emplace_back(ErrorKind::usage, "a result is too large, or too small, for a number",
                          Place{}, "check the units: 15T tokens, 405B parameters, 2.5/h");
    return problems;
  }
  for (const PlanContradiction& found : plan.contradictions) {
    problems.push_back(contradiction_error(found, currency));
  }
  if (plan.failures && !(plan.failures->useful > kNothingDone)) {
    problems.push_back(no_progress_error(plan));
  } else if (plan.no_gpus_suffice) {
    Place place;
    place.what = "--gpus";
    problems.emplace_back(ErrorKind::insufficient,
                          "no number of GPUs is fast enough: more GPUs fail more often", place,
                          "allow more time, or shorten --checkpoint-time and --restart-time");
  }
  const bool nothing = plan.solved.empty() && !plan.total_flops && !answers_more;
  if (problems.empty() && nothing) add_missing(plan, problems);
  return problems;
}

PlanSection describe_plan(PlanFindings findings) {
  PlanSection section;
  section.findings = std::move(findings);
  const PlanFindings& f = section.findings;
  const Plan& plan = f.plan;
  section.title = title_of(f);
  section.status = plan.impossible ? "impossible" : plan.open.empty() ? "ok" : "open";
  section.headline = headline_of(f);
  section.fingerprint =
      fingerprint_of(f.convention != nullptr ? f.convention->id : "", f.settings, f.peak);
  add_lines(section);
  section.open_text = open_text_of(f);
  if (plan.variants.size() > 1) section.tables.push_back(worth_table(f));
  if (plan.failures) section.tables.push_back(failures_table(f));
  if (f.optimal) section.tables.push_back(optimal_table(f));
  if (f.batch) section.tables.push_back(batch_table(f));
  if (!f.optimal && f.trainable != Trainable::all) {
    section.optimal_missing = fmt::format(
        "No verdict on size and tokens: trainable={} is {}, but 20 tokens per parameter and the "
        "loss fits are for pre-training",
        f.trainable == Trainable::none ? "none" : "lora",
        f.trainable == Trainable::none ? "forward passes only" : "fine-tuning of a trained model");
  }
  if (f.batch_asked && !f.batch && f.trainable == Trainable::none) {
    section.batch_missing = "No critical batch: forward passes alone have no gradient";
  } else if (f.batch_asked && !f.batch && f.trainable == Trainable::lora) {
    section.batch_missing =
        "No critical batch: the law from the loss is for pre-training; for fine-tuning it needs "
        "--noise-scale";
  } else if (f.batch_asked && !f.batch) {
    section.batch_missing =
        "No critical batch: it needs --noise-scale, or a loss (--loss, or a model with tokens); "
        "inverse-loss needs --noise-scale with --noise-scale-loss";
  }
  if (f.schedule) {
    section.tables.push_back(schedule_table(f));
    section.schedule = schedule_points(*f.schedule, f.schedule_points);
  }
  add_limits(section);
  add_unusual(f, section.advice);
  add_left_out(f, section.left_out);
  return section;
}

Report describe(const Plan& plan) {
  if (const std::vector<Error> problems = plan_problems(plan, ""); !problems.empty()) {
    throw Error(problems.front());
  }
  PlanFindings findings;
  findings.plan = plan;
  findings.active_params = plan.input.params;
  if (plan.input.peak_flops) {
    findings.peak.emplace();
    findings.peak->flops = *plan.input.peak_flops;
    findings.peak->given = true;
  }
  Report report = report_of("plan");
  report.plan = describe_plan(std::move(findings));
  return report;
}

}  // namespace mfu
