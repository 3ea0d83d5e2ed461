#include "report/plan/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "mfu/quantity.hpp"
#include "plan/schedule.hpp"

namespace mfu {
namespace {

// "3.80e25": as papers write compute; no plus sign, no leading zero.
std::string scientific(double value, int decimals) {
  std::string text = fmt::format("{:.{}e}", value, decimals);
  const std::size_t at = text.find('e');
  std::string exponent = text.substr(at + 1);
  const bool negative = exponent.front() == '-';
  exponent.erase(0, 1);
  exponent.erase(0, std::min(exponent.find_first_not_of('0'), exponent.size() - 1));
  return text.substr(0, at) + (negative ? "e-" : "e") + exponent;
}

std::string three_digits(double value) {
  const double size = std::fabs(value);
  if (size >= 1e7 || (size < 0.01 && size > 0.0)) return scientific(value, 2);
  if (size >= 99.95) return format_grouped(value);
  return fmt::format("{:.{}f}", value, size >= 9.995 ? 1 : 2);
}

}  // namespace

std::string long_time_text(double seconds) {
  struct Unit {
    double seconds;
    std::string_view name;
  };
  constexpr std::array kUnits{Unit{365.25 * 86400.0, "years"}, Unit{86400.0, "days"},
                              Unit{3600.0, "hours"}, Unit{60.0, "min"}};
  for (const Unit& unit : kUnits) {
    // Up to a year and a half is shown in days.
    if (seconds >= 2.0 * unit.seconds) {
      return fmt::format("{} {}", three_digits(seconds / unit.seconds), unit.name);
    }
  }
  return format_seconds(seconds);
}

std::string money_text(double amount, std::string_view currency) {
  std::string digits = amount >= 1e13  ? scientific(amount, 2)
                       : amount >= 1e9 ? fmt::format("{:.4g}B", amount / 1e9)
                       : amount >= 1e6 ? fmt::format("{:.4g}M", amount / 1e6)
                       : amount >= 100 ? format_grouped(amount)
                       : amount >= 0.1 ? fmt::format("{:.2f}", amount)
                                       : fmt::format("{:.3g}", amount);
  if (currency.empty()) return digits;
  const bool word = currency.size() > 1 && currency.front() >= 'A' && currency.front() <= 'Z';
  return fmt::format("{}{}{}", currency, word ? " " : "", digits);
}

std::string amount_text(double value) {
  if (value >= 1e16) return scientific(value, 2);
  if (value >= 1e12) return fmt::format("{:.4g}T", value / 1e12);
  if (value >= 1e9) return fmt::format("{:.4g}B", value / 1e9);
  if (value >= 1e6) return fmt::format("{:.4g}M", value / 1e6);
  return format_grouped(value);
}

std::string flop_text(double flops) { return scientific(flops, 2) + " FLOP"; }

std::string energy_text(double joules) {
  const double watt_hours = joules / 3600.0;
  return watt_hours < 1e24 ? format_si(watt_hours, "Wh") : scientific(watt_hours, 2) + " Wh";
}

std::string hours_text(double gpu_seconds) {
  const double hours = gpu_seconds / 3600.0;
  if (hours >= 1e13) return scientific(hours, 2);
  if (hours >= 1e7)
    return fmt::format("{:.4g}{}", hours / (hours >= 1e9 ? 1e9 : 1e6), hours >= 1e9 ? "B" : "M");
  return hours >= 100.0 ? format_grouped(hours) : three_digits(hours);
}

std::string count_text(double count) { return three_digits(count); }

std::string gpus_text(double gpus) {
  if (gpus >= 1e12) return scientific(gpus, 2);
  return format_grouped(std::ceil(gpus * (1.0 - 1e-9)));
}

std::string plan_gpus_text(const Plan& plan, double gpus) {
  return plan.gpus_at_most ? gpus_text(std::floor(gpus * (1.0 + 1e-9))) : gpus_text(gpus);
}

std::string times_text(double factor) {
  constexpr double kNoDigit = 0.05;  // one decimal would show nothing
  constexpr double kPlain = 0.001;
  if (factor < kNoDigit && factor > 0.0) {
    return factor < kPlain ? scientific(factor, 1) : fmt::format("{:.2g}", factor);
  }
  return factor >= 1e6 ? scientific(factor, 1)
                       : fmt::format("{:.{}f}", factor, factor < 9.95 ? 1 : 0);
}

std::string rate_text(double rate) {
  std::string text = fmt::format("{:.2e}", rate);
  const std::size_t at = text.find('e');
  std::string mantissa = text.substr(0, at);
  while (mantissa.back() == '0') mantissa.pop_back();
  if (mantissa.back() == '.') mantissa.pop_back();
  const std::string whole = scientific(rate, 2);
  return mantissa + whole.substr(whole.find('e'));
}

void add_unusual(const PlanFindings& findings, std::vector<std::string>& advice) {
  const Plan& plan = findings.plan;
  constexpr double kHighMfu = 0.60;
  constexpr double kLowMfu = 0.20;
  // The published MFUs of large runs are for pre-training.
  const bool pretraining = findings.trainable == Trainable::all;
  if (!pretraining) {
    // Nothing to compare it with.
  } else if (plan.mfu && !plan.impossible && *plan.mfu > kHighMfu) {
    advice.push_back(fmt::format(
        "An MFU of {} is above what large runs have published (30 to 60 %): is the convention {} "
        "that of its source?",
        format_percent(*plan.mfu),
        findings.convention != nullptr ? findings.convention->id : std::string_view("6n")));
  } else if (plan.mfu && *plan.mfu < kLowMfu) {
    advice.push_back(fmt::format(
        "An MFU of {} is below the usual 30 to 60 %: mfu diagnose shows where the time goes.",
        format_percent(*plan.mfu, *plan.mfu < 0.01 ? 3 : 1)));
  }
  constexpr double kLowGoodput = 0.5;
  if (plan.goodput && *plan.goodput < kLowGoodput) {
    advice.push_back(
        fmt::format("A goodput of {} is very low: is the time between failures per GPU or per job?",
                    format_percent(*plan.goodput)));
  }
  constexpr double kMostTokens = 1e14;  // the largest published sets hold some 4e13
  if (pretraining && plan.tokens && *plan.tokens > kMostTokens) {
    advice.push_back(fmt::format("{} tokens are more than any published data set has.",
                                 amount_text(*plan.tokens)));
  }
  constexpr double kMostUsualGpus = 1e6;
  if (plan.gpus && *plan.gpus > kMostUsualGpus) {
    advice.push_back(
        fmt::format("{} GPUs are more than any published job has used.", gpus_text(*plan.gpus)));
  }
  if (plan.input.target_mfu && plan.mfu && *plan.input.target_mfu < *plan.mfu) {
    advice.push_back("The target MFU is below the plan's own.");
  }
  if (!findings.schedule) return;
  const ScheduleInput& schedule = *findings.schedule;
  const double warm = schedule.warmup_steps / schedule.steps;
  if (warm < 0.001 || warm > 0.01) {
    advice.push_back(fmt::format("A warm-up of {} of the steps is outside the usual 0.1 to 1 %.",
                                 format_percent(warm, warm < 0.001 ? 3 : 1)));
  }
  if (schedule.final_share > 0.3) {
    advice.push_back(fmt::format("A last rate of {} of the peak is high: 0 to 10 % is usual.",
                                 format_percent(schedule.final_share, 0)));
  }
  const double decay = schedule.decay_steps / schedule.steps;
  if (schedule.shape == ScheduleShape::wsd && (decay < 0.05 || decay > 0.3)) {
    advice.push_back(fmt::format("A decay over {} of the steps is unusual: 10 to 20 % is common.",
                                 format_percent(decay)));
  }
  if (!pretraining || !schedule.peak_rate || !findings.rate_given || !findings.params) return;
  const std::vector<PublishedRate> near = rates_near(*findings.params, published_rates().size());
  if (near.empty()) return;
  const auto [least, most] = std::minmax_element(
      near.begin(), near.end(), [](const auto& a, const auto& b) { return a.rate < b.rate; });
  if (*schedule.peak_rate < least->rate / 2.0 || *schedule.peak_rate > most->rate * 2.0) {
    advice.push_back(fmt::format(
        "A peak rate of {} is far from what runs of this size have published: {} ({}) to {} ({}).",
        rate_text(*schedule.peak_rate), rate_text(least->rate), least->model, rate_text(most->rate),
        most->model));
  }
}

void add_left_out(const PlanFindings& findings, std::vector<PlanLine>& left_out) {
  const Plan& plan = findings.plan;
  const auto add = [&](std::string label, std::string text) {
    left_out.push_back({std::move(label), std::move(text)});
  };
  if (plan.seconds || plan.gpu_seconds) {
    add("time", fmt::format("evaluation, start-up, changes of the MFU during the run{}",
                            plan.input.failures || plan.input.goodput
                                ? ""
                                : "; failures and checkpoints (--mtbf)"));
  }
  if (plan.energy_joules) {
    add("energy", "hosts, network, cooling; GPUs are assumed at their power limit throughout");
  } else if (plan.gpu_seconds && findings.peak) {
    add("energy", findings.peak->chip != nullptr
                      ? "all of it: no power limit of this chip is published"
                      : "all of it: it needs a chip's power limit, and --peak names no chip");
  }
  if (plan.cost) add("cost", "storage, network, people, failed experiments");
  if (plan.variants.size() > 1) {
    add("GPUs", "the MFU lost with more of them: communication grows, batches do not");
  }
  if (plan.failures) {
    std::string text =
        "slow nodes, correlated failures, asynchronous checkpoints beyond the time that they stop "
        "training";
    if (!plan.input.failures->per_gpu) {
      text += "; that more GPUs fail more often: --mtbf is per job, whatever its size";
    }
    add("failures", std::move(text));
  }
  if (findings.optimal) {
    add("size",
        "data quality, repeated data, mixtures of experts, the cost of serving: both rule "
        "and fits are for dense models on fresh text");
  }
  if (findings.batch) {
    add("batch",
        "the learning rate, which must follow the batch; one critical batch stands for a "
        "run in which it grows");
  }
}

}  // namespace mfu
