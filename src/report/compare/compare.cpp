// A comparison in words: better or worse, what moved, what else differs.
#include "mfu/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "compare/comparison.hpp"
#include "compare/side.hpp"
#include "diagnose/detail.hpp"
#include "mfu/quantity.hpp"
#include "mfu/report.hpp"
#include "report/compare/compare_section.hpp"
#include "report/report_of.hpp"
#include "report/wording.hpp"

namespace mfu {
namespace {

using Value = std::optional<double>;

std::string signed_percent(double ratio, int decimals = 1) {
  return fmt::format("{:+.{}f} %", 100 * ratio, decimals);
}

// As many decimals as tell the ends of a narrow interval apart.
int decimals_for(const std::optional<Interval>& interval) {
  return interval && interval->hi - interval->lo < 0.005 ? 2 : 1;
}

std::string interval_text(const Interval& interval, int decimals) {
  return fmt::format("95 %: {:+.{}f} to {:+.{}f} %", 100 * interval.lo, decimals, 100 * interval.hi,
                     decimals);
}

std::string number_text(const std::string& key, double value) {
  if (key == "params") return format_si(value, "");
  if (key == "flops_per_step") return fmt::format("{:.6g} TFLOP", value / 1e12);
  return format_grouped(value);
}

std::string_view key_label(std::string_view key) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kLabels{
      {{"gpus", "GPUs"},
       {"nodes", "nodes"},
       {"params", "parameters"},
       {"seq_len", "sequence length"},
       {"global_batch", "batch"},
       {"tokens_per_step", "tokens a step"},
       {"flops_per_step", "work a step"},
       {"microbatches", "microbatches"},
       {"stages", "pipeline stages"},
       {"model", "model"},
       {"chip", "chip"},
       {"precision", "precision"},
       {"recompute", "recomputation"},
       {"tp", "tensor parallel"},
       {"cp", "context parallel"},
       {"ep", "expert parallel"},
       {"dp", "data parallel"},
       {"pp", "pipeline parallel"}}};
  for (const auto& [id, label] : kLabels) {
    if (id == key) return label;
  }
  return key;
}

std::string_view factor_label(std::string_view id) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kLabels{
      {{"single_gpu", "single GPU"},
       {"balance", "balance"},
       {"own_stall", "own stalls"},
       {"transfer", "exposed transfer"},
       {"dependency", "dependency"},
       {"usual_step", "usual step"},
       {"slow_steps", "slow steps"}}};
  for (const auto& [key, label] : kLabels) {
    if (key == id) return label;
  }
  return id;
}

std::string part_label_of(std::string_view id) {
  constexpr std::array kParts{
      PartId::model_math,       PartId::compute,         PartId::kernels_below_peak,
      PartId::recomputation,    PartId::imbalance_wait,  PartId::own_stall,
      PartId::exposed_transfer, PartId::pipeline_bubble, PartId::unattributed};
  for (const PartId part : kParts) {
    if (to_string(part) == id) return part_label(part);
  }
  return std::string(id);
}

std::string title_of(const Side& side) {
  std::string text = shortened(side.name);
  const auto add = [&](const std::string& piece) { text += "   " + piece; };
  if (!side.model.empty()) add(shortened(side.model));
  if (side.gpus) {
    add(side.chip.empty() ? format_grouped(*side.gpus) + (*side.gpus == 1 ? " GPU" : " GPUs")
                          : format_grouped(*side.gpus) + " x " + shortened(side.chip));
  }
  if (side.measure == Measure::single) {
    add("one figure");
  } else {
    add(format_grouped(static_cast<double>(side.steps)) + (side.steps == 1 ? " step" : " steps"));
  }
  return text;
}

bool spreadless(const Side& side) {
  return side.terms.size() < 5 && side.costs.size() < 5 && !side.relative_ci;
}

std::string verdict_of(const Comparison& c, const Side& before, const Side& after) {
  if (!c.comparable) return "not comparable";
  if (c.detail->same_data) return "no change: the two are the same measurement";
  const double change = c.relative_change();
  const std::optional<Interval> ci = c.relative_ci();
  const int decimals = decimals_for(ci);
  const std::string interval = ci ? " (" + interval_text(*ci, decimals) + ")" : std::string();
  switch (c.outcome) {
    case Outcome::better:
      return fmt::format("better: {} higher speed{}", format_percent(change, decimals), interval);
    case Outcome::worse:
      return fmt::format("worse: {} lower speed{}", format_percent(-change, decimals), interval);
    case Outcome::no_change: {
      const bool certain = ci && (ci->lo > 0 || ci->hi < 0);
      if (!certain) {
        return fmt::format("no change beyond noise: {}{}", signed_percent(change, decimals),
                           interval);
      }
      return fmt::format("no change: {}{}, less than the {} that two runs differ by anyway",
                         signed_percent(change, decimals), interval,
                         format_percent(c.least_change, 1));
    }
    case Outcome::unknown:
      break;
  }
  const bool one = before.measure == Measure::single || after.measure == Measure::single;
  return fmt::format("{} speed; cannot say whether that is beyond noise: {}",
                     signed_percent(change, 2),
                     one                  ? "one figure has no spread"
                     : spreadless(before) ? "too few steps before"
                                          : "too few steps after");
}

std::string moved_of(const Comparison& c) {
  for (const FactorChange& factor : c.factors) {
    if (factor.id != c.moved) continue;
    std::string text =
        fmt::format("{}: x {:.3f}", factor_label(factor.id), std::exp(factor.log_ratio));
    const double share = c.log_ratio == 0.0 ? 0.0 : factor.log_ratio / c.log_ratio;
    if (c.outcome == Outcome::no_change) {
      text += share > 0.5 && share < 1.5 ? ", but with too few steps to tell the total from chance"
                                         : ", offset by the others";
    } else if (share > 0) {
      text += fmt::format(", {} of the change in log speed", format_percent(share, 0));
    }
    const FactorChange* largest = nullptr;
    for (const FactorChange& part : factor.parts) {
      if (largest == nullptr || std::fabs(part.log_ratio) > std::fabs(largest->log_ratio)) {
        largest = &part;
      }
    }
    if (largest != nullptr && std::fabs(largest->log_ratio) > 0.5 * std::fabs(factor.log_ratio)) {
      text += fmt::format(" (mostly {})", largest->id);
    }
    return text;
  }
  return "";
}

std::string expected_line_of(const Comparison& c, const std::string& expected, bool as_expected) {
  const std::string_view label = factor_label(expected);
  if (as_expected) return fmt::format("as expected, it is {} that moved", label);
  if (c.factors.empty()) {
    return fmt::format("{} was expected to move, but the two have no factors to check", label);
  }
  if (c.moved.empty()) return fmt::format("{} was expected to move; no factor did", label);
  if (c.moved == expected) return fmt::format("{} moved, but for the worse", label);
  for (const FactorChange& change : c.factors) {
    // Half of the ranks slow: the median of all lies between the halves, and both factors rise.
    if (change.id != expected || !change.significant || change.log_ratio <= 0.0) continue;
    return fmt::format("not as expected: {} moved most; {} also rose (x {:.3f})",
                       factor_label(c.moved), label, std::exp(change.log_ratio));
  }
  return fmt::format("not as expected: {} moved, not {}", factor_label(c.moved), label);
}

std::string restated_of(const Comparison& c) {
  switch (c.detail->restated) {
    case Restatement::none:
      return "";
    case Restatement::counts:
      return fmt::format("both were recounted under {}", c.detail->restated_convention);
    case Restatement::tokens:
      return fmt::format(
          "both were converted to tokens/s per GPU: the work per token is the same{}",
          c.detail->restated_convention.empty() ? std::string()
                                                : ", given under " + c.detail->restated_convention);
    case Restatement::flops:
      return c.detail->per_gpu ? "both are compared by FLOP/s per GPU: GPUs or work per step differ"
                               : "both are measured against the peak of the second";
  }
  return "";
}

std::string_view shown(const std::string& text) {
  return text.empty() ? std::string_view("not stated") : std::string_view(text);
}

// Why a token is other work: what the two say of it, or else the formula.
std::string other_work(const Side& before, const Side& after) {
  const bool longer = before.seq_len && after.seq_len && *before.seq_len != *after.seq_len;
  const bool other_model =
      (!before.model.empty() && !after.model.empty() && before.model != after.model) ||
      (before.params && after.params && std::fabs(*before.params / *after.params - 1) > 1e-3);
  if (!longer && !other_model) return "a changed formula, not a changed speed";
  return fmt::format("{}, so a token is not the same amount of work",
                     longer && other_model ? "model and sequence length differ"
                     : longer              ? "the sequence length differs"
                                           : "the model differs");
}

std::string reason_text(const Reason& reason, const Side& before, const Side& after) {
  const auto numbers = [&](auto&& show) {
    return fmt::format("{} before, {} after", reason.before ? show(*reason.before) : "not known",
                       reason.after ? show(*reason.after) : "not known");
  };
  const auto words =
      fmt::format("[{}] before, [{}] after", shown(reason.before_text), shown(reason.after_text));
  const auto tera = [](double v) { return fmt::format("{:.6g} TFLOP/s", v / 1e12); };
  const auto work = [](double v) { return fmt::format("{:.6g} TFLOP", v / 1e12); };
  const auto count = [](double v) { return format_grouped(v); };
  const auto percent = [](double v) { return format_percent(v, 1); };
  switch (reason.obstacle) {
    case Obstacle::impossible:
      return "an MFU over 100 % is not a valid measurement: " + numbers(percent);
    case Obstacle::unmeasured:
      return "neither an MFU nor a step time: " +
             (reason.before_text.empty() ? reason.after_text : reason.before_text);
    case Obstacle::convention:
      return "FLOPs are counted by different conventions: " + words;
    case Obstacle::formula:
      // Of a step where its tokens are the same, else of a token.
      if (before.flops_per_step && reason.before == before.flops_per_step) {
        return fmt::format(
            "the same {} tokens per step are counted as {}: {}",
            before.tokens_per_step ? format_grouped(*before.tokens_per_step) : std::string(),
            numbers(work), other_work(before, after));
      }
      return fmt::format("a token is counted as {}: {}",
                         numbers([](double v) { return fmt::format("{:.6g} GFLOP", v / 1e9); }),
                         other_work(before, after));
    case Obstacle::peak:
      return "measured against different peaks: " + numbers(tera);
    case Obstacle::clock:
      return "the peaks mean different clocks: " + words;
    case Obstacle::precision:
      return "the peaks are of different precisions: " + words;
    case Obstacle::gpus:
      return "different numbers of GPUs: " + numbers(count);
    case Obstacle::tokens:
      return "different tokens per step: " + numbers(count);
    case Obstacle::work:
      return "different work per step: " + numbers(work) +
             "; without the tokens per step, it could be the batch or the formula that changed";
    case Obstacle::reference:
      return "the factors refer to different compute: " + words;
    case Obstacle::missing_mfu:
      return "only one of the two has an MFU: " + numbers(percent);
  }
  return "";
}

std::string difference_text(const Difference& difference) {
  const auto side = [&](const Value& value, const std::string& text) {
    return value ? number_text(difference.key, *value) : shortened(text);
  };
  return fmt::format("{} {} -> {}", key_label(difference.key),
                     side(difference.before, difference.before_text),
                     side(difference.after, difference.after_text));
}

std::string credit_of(const Comparison& c) {
  if (c.detail->causes.empty())
    return "nothing else differs between the set-ups, as far as they are stated";
  if (c.detail->causes.size() == 1) {
    return fmt::format("one thing differs between the set-ups: {}", c.detail->causes.front());
  }
  return fmt::format(
      "{} things differ between the set-ups ({}): the change cannot be credited to one of them",
      c.detail->causes.size(), fmt::join(c.detail->causes, ", "));
}

std::vector<std::string> cautions_of(const Comparison& c, const Side& before, const Side& after) {
  std::vector<std::string> all;
  // An MFU needs no work a step where it is of tokens or FLOPs a second.
  if (!c.mfu_before && !before.tokens_per_step && !before.flops_per_step &&
      !after.tokens_per_step && !after.flops_per_step) {
    all.emplace_back("neither states the work per step: this holds if it is the same");
  }
  if (before.mfu && is_unnamed(before.fingerprint) && is_unnamed(after.fingerprint)) {
    all.emplace_back(
        "neither names its convention: this is a change in speed only if both were counted the "
        "same way");
  }
  if (before.measure != after.measure) {
    all.emplace_back("measured in different ways, so only the overall speed is comparable");
  }
  if (c.detail->split_differs) {
    all.push_back(
        fmt::format("waiting was separated from transfer by different methods ({}, {}): that alone "
                    "may have moved time between factors",
                    before.split, after.split));
  }
  if (c.detail->per_gpu && !c.detail->parts.empty()) {
    all.emplace_back(
        "the seconds are for different work, so their changes are not gains or losses");
  }
  for (const Side* side : {&before, &after}) {
    if (side->measure != Measure::single && side->steps < 8) {
      all.push_back(fmt::format("only {} {} {}", side->steps, side->steps == 1 ? "step" : "steps",
                                side == &before ? "before" : "after"));
    }
  }
  return all;
}

}  // namespace

CompareSection describe_compare(Comparison comparison, std::string expected) {
  const Side& before = comparison.detail->before;
  const Side& after = comparison.detail->after;
  CompareSection section;
  section.before_title = title_of(before);
  section.after_title = title_of(after);
  section.verdict_line = verdict_of(comparison, before, after);
  section.moved_line = moved_of(comparison);
  section.restated_line = restated_of(comparison);
  for (const Reason& reason : comparison.reasons) {
    section.reason_texts.push_back(reason_text(reason, before, after));
  }
  for (const Difference& difference : comparison.detail->differences) {
    section.difference_texts.push_back(difference_text(difference));
  }
  section.credit = credit_of(comparison);
  section.cautions = cautions_of(comparison, before, after);
  for (const FactorChange& factor : comparison.factors) {
    section.factor_labels.emplace_back(factor_label(factor.id));
  }
  for (const PartChange& part : comparison.detail->parts) {
    section.part_labels.push_back(part_label_of(part.id));
  }
  if (!expected.empty()) {
    section.as_expected = is_as_expected(comparison, expected);
    section.expected_line = expected_line_of(comparison, expected, section.as_expected);
  }
  section.expected = std::move(expected);
  section.comparison = std::move(comparison);
  return section;
}

std::vector<Error> compare_problems(const CompareSection& section) {
  std::vector<Error> problems;
  if (section.comparison.comparable) return problems;
  Place place;
  for (std::size_t i = 0; i < section.comparison.reasons.size(); ++i) {
    std::string hint;
    switch (section.comparison.reasons[i].obstacle) {
      case Obstacle::convention:
      case Obstacle::formula:
        hint = "measure both with the same --convention, or --reconvert";
        break;
      case Obstacle::peak:
      case Obstacle::clock:
      case Obstacle::precision:
        hint = "measure both with the same --chip or --peak, --precision, --clock, or --reconvert";
        break;
      case Obstacle::gpus:
      case Obstacle::tokens:
        hint = "--reconvert compares the speed per GPU";
        break;
      case Obstacle::work:
        hint = "stating tokens_per_step with each measurement settles it";
        break;
      case Obstacle::reference:
        hint = "measure both with the same --reference, or --reconvert for the speed alone";
        break;
      case Obstacle::missing_mfu:
        hint =
            "--model, --seq-len, --batch and --chip give both an MFU; --reconvert compares tokens";
        break;
      case Obstacle::impossible:
        hint = "mfu diagnose or mfu calc says what would explain it";
        break;
      case Obstacle::unmeasured:
        hint = "--model, --seq-len, --gpus and --chip turn tokens/s into an MFU";
        break;
    }
    problems.emplace_back(ErrorKind::usage, section.reason_texts[i], place, hint);
  }
  return problems;
}

Report describe(const Comparison& comparison) {
  if (!comparison.detail) {
    throw Error(ErrorKind::usage, "this comparison was not made by compare()", {},
                "only the whole result of compare() can be described");
  }
  CompareSection section = describe_compare(comparison, "");
  if (const std::vector<Error> problems = compare_problems(section); !problems.empty()) {
    throw Error(problems.front());
  }
  Report report = report_of("compare");
  report.compare = std::move(section);
  return report;
}

}  // namespace mfu
