#include "commands/plan_options.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "base/nearest.hpp"
#include "measure/disagreement.hpp"
#include "mfu/flops.hpp"
#include "mfu/quantity.hpp"

namespace mfu::app {
namespace {

struct PlanOption {
  std::string_view name;
  std::string PlanText::*member;
  std::string_view type;
  std::string_view help;
};
constexpr std::array kPlanOptions{
    PlanOption{"--tokens", &PlanText::tokens, "N", "Whole run: 15.6T"},
    PlanOption{"--mfu", &PlanText::mfu, "RATIO", "While steps run: 38%"},
    PlanOption{"--target-mfu", &PlanText::target_mfu, "RATIO", "To compare with"},
    PlanOption{"--deadline", &PlanText::deadline, "TIME",
               "At most: 30d; else the time is worked out"},
    PlanOption{"--time", &PlanText::time, "TIME", "Exactly: what a run takes or took"},
    PlanOption{"--gpu-hours", &PlanText::gpu_hours, "N", "Whole run: 2.664M"},
    PlanOption{"--price", &PlanText::price, "MONEY/TIME", "Per GPU: 2.5/h"},
    PlanOption{"--budget", &PlanText::budget, "MONEY", "At most: 1.5M, $250k"},
    PlanOption{"--cost", &PlanText::cost, "MONEY", "Exactly: what a run costs or did"},
    PlanOption{"--mtbf", &PlanText::mtbf, "TIME/WHAT", "Between failures: 50000h/gpu or 3h/job"},
    PlanOption{"--checkpoint-time", &PlanText::checkpoint_time, "TIME",
               "How long training stops for a checkpoint"},
    PlanOption{"--restart-time", &PlanText::restart_time, "TIME",
               "From a failure to the next step"},
    PlanOption{"--checkpoint-interval", &PlanText::checkpoint_interval, "TIME",
               "Step time between; else the best"},
    PlanOption{"--goodput", &PlanText::goodput, "RATIO", "Step time over wall time, as measured"},
    PlanOption{"--fit", &PlanText::fit, "ID", "hoffmann-2022 (default), besiroglu-2024"},
    PlanOption{"--noise-scale", &PlanText::noise_scale, "TOKENS", "Gradient noise scale, measured"},
    PlanOption{"--noise-scale-loss", &PlanText::noise_scale_loss, "LOSS",
               "Loss it was measured at"},
    PlanOption{"--loss", &PlanText::loss, "LOSS", "For the critical batch; else the predicted one"},
    PlanOption{"--batch-law", &PlanText::batch_law, "ID", "kaplan-2020 (default), inverse-loss"},
    PlanOption{"--schedule", &PlanText::schedule, "SHAPE", "cosine, linear, wsd"},
    PlanOption{"--peak-lr", &PlanText::peak_lr, "RATE", "3e-4; else from GPT-3's table by size"},
    PlanOption{"--warmup", &PlanText::warmup, "PART", "0.5% (default), or \"2000 steps\""},
    PlanOption{"--final-lr", &PlanText::final_lr, "RATIO", "Share of the peak (10%)"},
    PlanOption{"--decay", &PlanText::decay, "PART", "For wsd: 10% (default), or \"5000 steps\""},
    PlanOption{"--steps", &PlanText::steps, "N", "In the schedule; else tokens / batch"},
    PlanOption{"--points", &PlanText::points, "N|all", "Schedule rows in json and csv (200)"},
};

// What cannot be read becomes 1, so that it is not also reported as missing.
class Taking {
 public:
  explicit Taking(Problems& problems) : problems_(problems) {}

  template <typename Parse>
  void take(const std::string& text, std::string_view option, std::optional<double>& target,
            const Parse& parse) {
    if (text.empty()) return;
    target = 1.0;
    problems_.attempt([&] { target = parse(text, option); });
  }

 private:
  Problems& problems_;
};

double positive_ratio(const std::string& text, std::string_view option) {
  const double ratio = parse_ratio(text, option);
  if (ratio > 0.0) return ratio;
  throw Error(ErrorKind::usage, "must be more than 0", at(option), "write 38%");
}

double whole(double value, const std::string& text, std::string_view option) {
  if (value >= 1.0 && std::floor(value) == value) return value;
  throw Error(ErrorKind::usage, fmt::format("'{}' is not a whole number", text.substr(0, 60)),
              at(option), "write 1024");
}

double loss_value(const std::string& text, std::string_view option) {
  const double loss = parse_large(text, option);
  constexpr double kMost = 20.0;  // the logarithm of any vocabulary is less
  if (loss <= kMost) return loss;
  throw Error(ErrorKind::usage, fmt::format("'{}' is not a loss", text.substr(0, 60)), at(option),
              "nats per token: 2.1");
}

double whole_run_tokens(const std::string& text, std::string_view option) {
  refuse_comma_and_scale(text, option);
  const double tokens = parse_large(text, option);
  constexpr double kLeast = 1e4;  // one sequence of a short context is not a training run
  if (tokens >= kLeast) return tokens;
  throw Error(ErrorKind::usage, fmt::format("{0} tokens, or {0}T?", text.substr(0, 60)), at(option),
              "a count takes k, M, B or T: 15.6T");
}

Error requires_option(std::string_view option, std::string_view needed, std::string_view hint) {
  return Error(ErrorKind::insufficient, fmt::format("needs {}", needed), at(option),
               std::string(hint));
}

// A comma and a scale: with a decimal comma, 2,664M is a thousandth of what it is
// elsewhere.
double plain_large(const std::string& text, std::string_view option) {
  refuse_comma_and_scale(text, option);
  return parse_large(text, option);
}

constexpr double kAnySize = 1e9;

// A convention that needs more of the model than was given says how to go on without.
FlopCount counted(const ModelShape& model, const Work& work, const CalcInput& calc) {
  try {
    return count_flops(model, work, *calc.convention, calc.switches);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::insufficient) throw;
    throw Error(error.kind(), error.message(), at("--convention"),
                calc.model ? "6n needs only the parameters"
                           : "--model gives the shape (and --seq-len the length); without one only "
                             "6 N D can be counted: --convention 6n");
  }
}

// FLOPs a token and N, under the convention.
void count_work(const CalcInput& calc, PlanQuestion& question, Problems& problems) {
  PlanFindings& about = question.findings;
  about.convention = calc.convention;
  about.peak = calc.peak;
  about.seq_len = calc.seq_len;
  if (calc.model) about.model = calc.model->name;
  if (calc.model && calc.model->layers > 0) {
    const ParameterCount counted = count_parameters(*calc.model);
    about.params = counted.total;
    about.active_params = counted.active;
  }
  if (calc.params) {
    about.active_params = calc.params;
    if (!about.params) about.params = calc.params;
  }
  question.input.params = about.active_params;
  if (problems.any() || calc.convention == nullptr) return;
  about.trainable = calc.switches.trainable.value_or(
      calc.convention->defaults.trainable.value_or(Trainable::all));
  problems.attempt([&] {
    const bool modelled = calc.model || calc.params;
    // Without a model, N is of no size in particular: what needs no more than N can still be named,
    // with its switches.
    const FlopCount count = counted(calc.model.value_or(ModelShape{}),
                                    Work{calc.seq_len.value_or(0.0), calc.lengths,
                                         modelled ? calc.params : std::optional<double>(kAnySize)},
                                    calc);
    if (!count.model_flops) {
      throw Error(ErrorKind::unsupported,
                  fmt::format("{} counts hardware FLOPs: it has no MFU", calc.convention->id),
                  at("--convention"), "6n is what compute budgets are quoted in");
    }
    if (modelled) question.input.flops_per_token = count.model_flops;
    about.settings = count.settings;
  });
}

void parse_failures(const PlanText& text, PlanQuestion& question, Problems& problems) {
  Taking taking(problems);
  taking.take(text.goodput, "--goodput", question.input.goodput, positive_ratio);
  if (text.mtbf.empty()) {
    for (const auto& [option, value] : {std::pair<std::string_view, const std::string&>{
                                            "--checkpoint-time", text.checkpoint_time},
                                        {"--restart-time", text.restart_time},
                                        {"--checkpoint-interval", text.checkpoint_interval}}) {
      if (value.empty()) continue;
      problems.add(requires_option(option, "--mtbf", "--mtbf 50000h/gpu, or --mtbf 3h/job"));
    }
    return;
  }
  if (!text.goodput.empty()) {
    problems.add(Error(ErrorKind::usage, "--mtbf gives it already", at("--goodput"),
                       "leave one of them out"));
  }
  FailureRate rate{1.0, false, 1.0, 0.0, {}};
  problems.attempt([&] {
    const Mtbf mtbf = parse_mtbf(text.mtbf, "--mtbf");
    rate.mtbf_s = mtbf.seconds;
    rate.per_gpu = mtbf.per_gpu;
  });
  if (text.checkpoint_time.empty()) {
    problems.add(requires_option("--mtbf", "--checkpoint-time",
                                 "the stop for one checkpoint: --checkpoint-time 60s"));
  }
  if (text.restart_time.empty()) {
    problems.add(requires_option("--mtbf", "--restart-time",
                                 "from a failure to the next step: --restart-time 10m"));
  }
  std::optional<double> checkpoint, restart;
  taking.take(text.checkpoint_time, "--checkpoint-time", checkpoint, parse_long_time);
  taking.take(text.restart_time, "--restart-time", restart, parse_long_time);
  taking.take(text.checkpoint_interval, "--checkpoint-interval", rate.interval_s, parse_long_time);
  rate.checkpoint_s = checkpoint.value_or(1.0);
  rate.restart_s = restart.value_or(1.0);
  question.input.failures = rate;
}

void parse_money_part(const PlanText& text, PlanQuestion& question, Problems& problems) {
  std::string& currency = question.findings.currency;
  std::string_view named_by;
  const auto take = [&](const std::string& value, std::string_view option,
                        std::optional<double>& target,
                        Money (*parse)(const std::string&, std::string_view)) {
    if (value.empty()) return;
    target = 1.0;
    problems.attempt([&] {
      const Money money = parse(value, option);
      target = money.amount;
      if (money.currency.empty()) return;
      if (!currency.empty() && currency != money.currency) {
        throw Error(ErrorKind::usage,
                    fmt::format("is in {}, but {} in {}", money.currency, named_by, currency),
                    at(option), "use one currency; mfu knows no exchange rates");
      }
      currency = money.currency;
      named_by = option;
    });
  };
  take(text.price, "--price", question.input.price, parse_money_price);
  take(text.cost, "--cost", question.input.cost, parse_money);
  take(text.budget, "--budget", question.input.budget, parse_money);
}

void parse_batch_part(const PlanText& text, const CalcInput& calc, PlanQuestion& question,
                      Problems& problems) {
  Taking taking(problems);
  BatchInput& batch = question.batch;
  taking.take(text.noise_scale, "--noise-scale", batch.noise_scale, plain_large);
  taking.take(text.noise_scale_loss, "--noise-scale-loss", batch.noise_scale_loss, loss_value);
  taking.take(text.loss, "--loss", batch.loss, loss_value);
  if (!text.batch_law.empty()) {
    constexpr std::array<std::string_view, 2> kLaws{"kaplan-2020", "inverse-loss"};
    if (text.batch_law == kLaws[1]) {
      batch.law = BatchLaw::inverse_loss;
    } else if (text.batch_law != kLaws[0]) {
      problems.add(Error(ErrorKind::usage,
                         fmt::format("unknown law '{}'", text.batch_law.substr(0, 80)),
                         at("--batch-law"), name_hint(text.batch_law, kLaws)));
    }
  }
  if (batch.noise_scale_loss && !batch.noise_scale) {
    problems.add(requires_option("--noise-scale-loss", "--noise-scale", "--noise-scale 2M"));
  }
  if (batch.law == BatchLaw::inverse_loss && (!batch.noise_scale || !batch.noise_scale_loss)) {
    problems.add(requires_option("--batch-law", "--noise-scale and --noise-scale-loss",
                                 "1/L is a proportion: it needs a measured batch at a known loss"));
  }
  batch.batch = calc.tokens_per_step;
  if (calc.batch && calc.seq_len) {
    const double product = *calc.batch * *calc.seq_len;
    if (batch.batch && std::fabs(*batch.batch / product - 1.0) > kAgreement) {
      problems.add(Error(ErrorKind::usage,
                         fmt::format("says {}, but --batch and --seq-len give {}",
                                     format_grouped(*batch.batch), format_grouped(product)),
                         at("--tokens-per-step"), "leave one of them out"));
    }
    batch.batch = product;
  } else if (calc.batch) {
    problems.add(requires_option("--batch", "--seq-len", "or write --tokens-per-step"));
  }
  batch.seq_len = calc.seq_len;
  question.findings.tokens_per_step = batch.batch;
  question.findings.batch_asked = batch.batch || batch.noise_scale || batch.loss;
}

void parse_schedule_part(const PlanText& text, PlanQuestion& question, Problems& problems) {
  const bool asked = !text.schedule.empty();
  if (!asked) {
    for (const auto& [option, value] :
         {std::pair<std::string_view, const std::string&>{"--peak-lr", text.peak_lr},
          {"--warmup", text.warmup},
          {"--final-lr", text.final_lr},
          {"--decay", text.decay},
          {"--steps", text.steps},
          {"--points", text.points}}) {
      if (value.empty()) continue;
      problems.add(requires_option(option, "--schedule", "--schedule cosine, linear or wsd"));
    }
    return;
  }
  ScheduleQuestion schedule;
  constexpr std::array<std::string_view, 3> kShapes{"cosine", "linear", "wsd"};
  if (text.schedule == "linear") {
    schedule.shape = ScheduleShape::linear;
  } else if (text.schedule == "wsd") {
    schedule.shape = ScheduleShape::wsd;
  } else if (text.schedule != "cosine") {
    problems.add(Error(ErrorKind::usage,
                       fmt::format("unknown shape '{}'", text.schedule.substr(0, 80)),
                       at("--schedule"), name_hint(text.schedule, kShapes)));
  }
  if (!text.decay.empty() && schedule.shape != ScheduleShape::wsd) {
    problems.add(Error(ErrorKind::usage, "only wsd has a decay of its own", at("--decay"),
                       "cosine and linear decay from the warm-up to the end"));
  }
  schedule.warmup.share = 0.005;
  schedule.decay.share = 0.1;
  const auto portion = [&](const std::string& value, std::string_view option, Portion& target) {
    if (value.empty()) return;
    problems.attempt([&] { target = parse_portion(value, option); });
  };
  portion(text.warmup, "--warmup", schedule.warmup);
  portion(text.decay, "--decay", schedule.decay);
  if (!text.final_lr.empty()) {
    problems.attempt([&] { schedule.final_share = parse_ratio(text.final_lr, "--final-lr"); });
  }
  Taking taking(problems);
  taking.take(text.peak_lr, "--peak-lr", schedule.peak_rate, parse_learning_rate);
  taking.take(text.steps, "--steps", schedule.steps,
              [](const std::string& value, std::string_view option) {
                return whole(parse_count(value, option), value, option);
              });
  schedule.points = 200;
  if (text.points == "all") {
    schedule.points.reset();
  } else if (!text.points.empty()) {
    problems.attempt([&] {
      constexpr double kMost = 1e6;
      const double points = whole(parse_count(text.points, "--points"), text.points, "--points");
      if (points > kMost) {
        throw Error(ErrorKind::usage, "more points than a file should hold", at("--points"),
                    "at most a million");
      }
      schedule.points = static_cast<std::size_t>(points);
    });
  }
  question.schedule = schedule;
}

}  // namespace

void add_plan_options(CLI::App& command, PlanText& text) {
  constexpr std::array kParts{CalcPart::model, CalcPart::step, CalcPart::peak,
                              CalcPart::convention};
  add_calc_options(command, text.calc, kParts);
  command.get_option("--convention")->description("How FLOPs are counted (6n)");
  command.add_option("--gpus", text.calc.gpus, "GPUs of the job")->type_name("N");
  for (const PlanOption& option : kPlanOptions) {
    add_text_option(command, text, option);
  }
}

PlanQuestion parse_plan(const PlanText& text, Problems& problems, Notes& notes) {
  PlanQuestion question;
  CalcText calc_text = text.calc;
  if (calc_text.convention.empty()) calc_text.convention = "6n";
  calc_text.gpus.clear();  // taken below: whole ones
  ParsedCalc parsed = parse_calc(calc_text, problems, notes);
  const CalcInput& calc = parsed.input;
  question.files = std::move(parsed.files);
  PlanInput& input = question.input;
  if (calc.peak) {
    input.peak_flops = calc.peak->flops;
    if (calc.peak->chip != nullptr && calc.peak->chip->power_w > 0.0) {
      input.power_w = calc.peak->chip->power_w;
    }
  }
  Taking taking(problems);
  taking.take(text.tokens, "--tokens", input.tokens, whole_run_tokens);
  taking.take(text.calc.gpus, "--gpus", input.gpus,
              [](const std::string& value, std::string_view option) {
                return whole(parse_count(value, option), value, option);
              });
  taking.take(text.mfu, "--mfu", input.mfu, positive_ratio);
  taking.take(text.target_mfu, "--target-mfu", input.target_mfu, positive_ratio);
  taking.take(text.time, "--time", input.seconds, parse_long_time);
  taking.take(text.deadline, "--deadline", input.deadline_s, parse_long_time);
  taking.take(text.gpu_hours, "--gpu-hours", input.gpu_seconds,
              [](const std::string& value, std::string_view option) {
                return 3600.0 * plain_large(value, option);
              });
  question.findings.deadline_text = text.deadline;
  question.findings.budget_text = text.budget;
  parse_money_part(text, question, problems);
  parse_failures(text, question, problems);
  problems.attempt([&] {
    try {
      question.fit = &find_loss_fit(text.fit.empty() ? "hoffmann-2022" : text.fit);
    } catch (const Error& error) {
      throw Error(error.kind(), error.message(), at("--fit"), error.hint());
    }
  });
  parse_batch_part(text, calc, question, problems);
  parse_schedule_part(text, question, problems);
  count_work(calc, question, problems);
  if (question.schedule && question.findings.trainable == Trainable::none) {
    problems.add(Error(ErrorKind::usage, "forward passes alone have no learning rate",
                       at("--schedule"), "leave out --schedule, or --trainable none"));
  }
  return question;
}

}  // namespace mfu::app
