// A plan in words: the answer, the work behind it, what is not determined, what does not hold.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "mfu/quantity.hpp"
#include "mfu/report.hpp"
#include "report/calc_wording.hpp"
#include "report/plan_words.hpp"

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
      fmt::format("says {}, but {} give {}", value_text(found.quantity, found.given, currency),
                  listed(from, "and"), value_text(found.quantity, found.follows, currency)),
      place,
      limit ? fmt::format("leave one of them out; a limit is written {}",
                          words_of(found.quantity).settles)
            : "leave one of them out, and it is worked out");
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
  add(gpu_seconds, plan.gpu_seconds);
  add(cost, plan.cost);
  if (plan.energy_joules) pieces.push_back(energy_text(*plan.energy_joules) + " at most");
  if (pieces.empty() && plan.total_flops) pieces.push_back(flop_text(*plan.total_flops));
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
  if (plan.impossible && plan.seconds && plan.gpus) {
    line("peak",
         fmt::format("these GPUs at 100 % would take {}; {} of them would do at 100 %",
                     long_time_text(*plan.seconds * *plan.mfu), gpus_text(*plan.gpus * *plan.mfu)));
  }
}

std::string remedies_text(const PlanRemedies& found, bool late) {
  std::vector<std::string> ways;
  if (found.gpus) ways.push_back(gpus_text(*found.gpus) + " GPUs");
  if (found.mfu && *found.mfu <= 1.0) ways.push_back("an MFU of " + format_percent(*found.mfu));
  if (found.tokens) ways.push_back(amount_text(*found.tokens) + " tokens");
  if (ways.empty()) return late ? "fewer tokens, a higher MFU or more GPUs" : "less of it";
  std::string text = listed(ways, "or");
  if (late && !found.gpus) text += " (no number of GPUs: more of them fail more often)";
  if (found.mfu && *found.mfu > 1.0) text += " (no MFU would: more than 100 % is needed)";
  return text;
}

void add_limits(PlanSection& section) {
  const PlanFindings& findings = section.findings;
  const Plan& plan = findings.plan;
  if (plan.late) {
    section.advice.push_back(
        fmt::format("The deadline of {} does not hold: {}. What would hold it, each alone: {}.",
                    long_time_text(*plan.input.deadline_s), long_time_text(*plan.seconds),
                    remedies_text(*plan.late, true)));
  } else if (plan.input.deadline_s && plan.seconds && !plan.deadline_taken && !plan.impossible) {
    section.advice.push_back(fmt::format(
        "The deadline of {} holds, with {} to spare.", long_time_text(*plan.input.deadline_s),
        long_time_text(std::max(0.0, *plan.input.deadline_s - *plan.seconds))));
  }
  if (plan.dear) {
    section.advice.push_back(
        fmt::format("The budget of {} does not hold: {}. What would hold it, each alone: {}.",
                    money_text(*plan.input.budget, findings.currency),
                    money_text(*plan.cost, findings.currency), remedies_text(*plan.dear, false)));
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

std::vector<Error> plan_problems(const Plan& plan, std::string_view currency) {
  std::vector<Error> problems;
  if (plan.overflow) {
    problems.emplace_back(ErrorKind::usage, "a result is too large, or too small, for a number",
                          Place{}, "look at the units: 15T tokens, 405B parameters, 2.5/h");
    return problems;
  }
  for (const PlanContradiction& found : plan.contradictions) {
    problems.push_back(contradiction_error(found, currency));
  }
  if (plan.failures && !(plan.failures->useful > 0.0)) {
    Place place;
    place.what = "--mtbf";
    problems.emplace_back(ErrorKind::insufficient,
                          fmt::format("with a failure every {} nothing gets done",
                                      long_time_text(plan.failures->job_mtbf_s)),
                          place, "is it of a GPU or of the job? 50000h/gpu, 3h/job");
  } else if (plan.no_gpus_suffice) {
    Place place;
    place.what = "--gpus";
    problems.emplace_back(ErrorKind::insufficient,
                          "no number of GPUs is fast enough: more of them fail more often", place,
                          "allow more time, or shorten --checkpoint-time and --restart-time");
  }
  if (problems.empty() && plan.solved.empty() && !plan.total_flops) add_missing(plan, problems);
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
  std::string convention(f.convention != nullptr ? f.convention->id : std::string_view());
  if (!f.settings.empty()) convention += " " + f.settings;
  section.fingerprint = fingerprint_text(convention, f.peak);
  add_lines(section);
  section.open_text = open_text_of(f);
  if (plan.variants.size() > 1) section.tables.push_back(worth_table(f));
  if (plan.failures) section.tables.push_back(failures_table(f));
  if (f.optimal) section.tables.push_back(optimal_table(f));
  if (f.batch) section.tables.push_back(batch_table(f));
  if (f.batch_asked && !f.batch) {
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

}  // namespace mfu
