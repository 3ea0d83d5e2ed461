// From the steps of a log to the figures of its usual step: which steps count, and why the others
// do not.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "base/note_code.hpp"
#include "logs/training_log.hpp"
#include "measure/log_series.hpp"
#include "measure/log_summary.hpp"
#include "statistics/robust.hpp"

namespace mfu {
namespace {

using measurement::CountedStep;
using Value = std::optional<double>;

constexpr std::size_t kMostWarmup = 20;  // lines, and at most a quarter of the segment
constexpr double kSlowStart = 1.2;       // times the usual cost
constexpr double kTooShort = 0.25;       // of the usual cost
constexpr double kMostTooShort = 0.10;   // of the lines: more is not a clock glitch
constexpr double kUsualBatch = 1e-9;

bool good(const Value& value) { return value && std::isfinite(*value) && *value > 0; }

Value inverse(const Value& rate) { return good(rate) ? Value(1.0 / *rate) : Value{}; }

Value cost_of(const LoggedStep& step, StepBasis basis) {
  switch (basis) {
    case StepBasis::step:
      if (good(step.step_s)) return step.step_s;
      if (good(step.global_batch) && good(step.samples_per_s)) {
        return *step.global_batch / *step.samples_per_s;
      }
      if (good(step.tokens) && good(step.tokens_per_s)) return *step.tokens / *step.tokens_per_s;
      return {};
    case StepBasis::token:
      return inverse(step.tokens_per_s);
    case StepBasis::token_per_gpu:
      return inverse(step.tokens_per_s_per_gpu);
    case StepBasis::sample:
      return inverse(step.samples_per_s);
    case StepBasis::flop:
      return inverse(step.model_flops_per_s_per_gpu);
  }
  return {};
}

// What most steps tell; of equals, what says most.
StepBasis pick_basis(const std::vector<const LogSegment*>& segments, const std::string& path) {
  constexpr std::array kBases{StepBasis::step, StepBasis::token_per_gpu, StepBasis::token,
                              StepBasis::sample, StepBasis::flop};
  StepBasis best = StepBasis::step;
  std::size_t most = 0;
  for (const StepBasis basis : kBases) {
    std::size_t count = 0;
    for (const LogSegment* segment : segments) {
      for (const LoggedStep& step : segment->steps) {
        if (cost_of(step, basis)) ++count;
      }
    }
    if (count > most) {
      most = count;
      best = basis;
    }
  }
  if (most == 0) {
    throw Error(ErrorKind::insufficient, "no step of the log has a time or a rate",
                Place{.file = path}, "mfu log reads step times, tokens or samples per second");
  }
  return best;
}

double weight_of(const LoggedStep& step) { return std::max(1, step.steps_averaged); }

// The batch that most steps have; nothing where none is printed.
Value usual_batch(const std::vector<const LogSegment*>& segments) {
  std::map<double, double> batches;
  for (const LogSegment* segment : segments) {
    for (const LoggedStep& step : segment->steps) {
      if (good(step.global_batch)) batches[*step.global_batch] += weight_of(step);
    }
  }
  Value best;
  double most = 0.0;
  // Of equals the later: batches ramp up.
  for (const auto& [batch, weight] : batches) {
    if (weight >= most) {
      most = weight;
      best = batch;
    }
  }
  return best;
}

class Selector {
 public:
  Selector(const TrainingLog& log, const LogSummaryOptions& options, Notes& notes)
      : log_(log), options_(options), notes_(notes) {
    pick_segments();
    summary_.basis = pick_basis(segments_, log.path);
    summary_.global_batch = usual_batch(segments_);
    for (std::size_t s = 0; s < segments_.size(); ++s) take(s);
    if (kept_.empty()) {
      const LeftOutSteps& out = summary_.left_out;
      std::string why;
      const auto add = [&why](std::int64_t steps, const char* what) {
        if (steps > 0) why += (why.empty() ? ": " : ", ") + std::to_string(steps) + " " + what;
      };
      add(out.skipped, "skipped as asked");
      add(out.without, "without a time");
      add(out.over_peak, "above the hardware's peak");
      add(out.too_short, "implausibly short");
      add(out.other_batch, "of another batch size");
      throw Error(ErrorKind::insufficient, "no step of the log is left to count" + why,
                  Place{.file = log.path},
                  out.skipped > 0     ? "leave out fewer with --skip"
                  : out.over_peak > 0 ? "are the chip, its precision and --peak right?"
                                      : "");
    }
    say();
  }

  std::vector<const LoggedStep*> kept_;
  std::vector<CountedStep> counted_;
  LogSummary summary_;

 private:
  void pick_segments() {
    const std::size_t count = log_.segments.size();
    if (count == 0) {
      throw Error(ErrorKind::insufficient, "the log has no step", Place{.file = log_.path},
                  log_.rank_values.empty() ? "a training log has one line per step"
                                           : "mfu diagnose reads its per-rank values");
    }
    std::size_t first = 0;
    std::size_t last = count;
    if (options_.last_segment) {
      first = count - 1;
    } else if (options_.segment) {
      if (*options_.segment < 1 || *options_.segment > count) {
        throw Error(ErrorKind::usage,
                    "there is no segment " + std::to_string(*options_.segment) + " in the log",
                    Place{.what = "--segment"},
                    "it has " + std::to_string(count) + ": 1 to " + std::to_string(count) +
                        ", last or all");
      }
      first = *options_.segment - 1;
      last = first + 1;
    }
    for (std::size_t s = first; s < last; ++s) {
      segments_.push_back(&log_.segments[s]);
      numbers_.push_back(s + 1);
    }
  }

  // Leading lines that are slow: the usual is taken from those right after the possible warm-up, so
  // that a run that slows down later does not make its start look quick.
  std::size_t warmup_of(std::span<const double> costs, bool begins, std::int64_t line) {
    std::size_t most = std::min(kMostWarmup, costs.size() / 4);
    if (costs.size() < 4) most = begins && costs.size() >= 2 ? 1 : 0;
    if (most == 0) return 0;
    const std::size_t end = std::min(costs.size(), std::max(3 * most, most + 8));
    const double usual = median(costs.subspan(most, end - most));
    std::size_t leading = 0;
    while (leading < most && costs[leading] > kSlowStart * usual) ++leading;
    if (leading == most && most >= 4 && costs[most] > kSlowStart * usual) {
      notes_.add(NoteCode::long_warmup,
                 "the run still looks like warm-up after the steps that the rule leaves out; if it "
                 "is, leave more out with --skip",
                 Place{.file = log_.path, .line = line});
    }
    return leading;
  }

  void take(std::size_t index) {
    const LogSegment& segment = *segments_[index];
    LeftOutSteps& out = summary_.left_out;
    SegmentSummary row;
    row.number = numbers_[index];
    row.first_line = segment.first_line;
    if (!segment.steps.empty()) {
      row.first_iteration = segment.steps.front().iteration;
      row.last_iteration = segment.steps.back().iteration;
    }
    std::vector<const LoggedStep*> steps;
    std::vector<double> costs;
    std::size_t skip = options_.skip.value_or(0);
    for (const LoggedStep& step : segment.steps) {
      const auto weight = static_cast<std::int64_t>(weight_of(step));
      row.steps += weight;
      const Value cost = cost_of(step, summary_.basis);
      const bool over = (options_.peak_flops && good(step.model_flops_per_s_per_gpu) &&
                         *step.model_flops_per_s_per_gpu > *options_.peak_flops) ||
                        (options_.least_cost && cost && *cost < *options_.least_cost);
      if (skip > 0) {
        --skip;
        out.skipped += weight;
      } else if (!cost) {
        out.without += weight;
      } else if (summary_.global_batch && good(step.global_batch) &&
                 std::fabs(*step.global_batch / *summary_.global_batch - 1) > kUsualBatch) {
        out.other_batch += weight;
      } else {
        steps.push_back(&step);
        costs.push_back(*cost);
        over_peak_.push_back(over);
      }
    }
    refuse_nonsense(steps, costs);
    const bool begins = row.number > 1 || (!steps.empty() && steps.front()->iteration <=
                                                                 steps.front()->steps_averaged);
    const std::size_t warm =
        options_.skip || steps.empty() ? 0 : warmup_of(costs, begins, steps.front()->line);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const LoggedStep& step = *steps[i];
      if (i < warm) {
        out.warmup += static_cast<std::int64_t>(weight_of(step));
        continue;
      }
      kept_.push_back(&step);
      counted_.push_back({costs[i], weight_of(step), step.iteration, index, step.timestamp_s});
      row.used += static_cast<std::int64_t>(weight_of(step));
    }
    summary_.segments.push_back(row);
  }

  // A step that the GPU cannot have done in its time was not waited for. Where most of them are so,
  // it is the figures that are wrong, and that is for the MFU to show.
  void refuse_nonsense(std::vector<const LoggedStep*>& steps, std::vector<double>& costs) {
    std::vector<bool> over = std::exchange(over_peak_, {});
    const auto all = static_cast<double>(costs.size());
    const auto count_over = static_cast<double>(std::count(over.begin(), over.end(), true));
    if (count_over > 0.5 * all) over.assign(costs.size(), false);
    const double usual = costs.empty() ? 0.0 : median(costs);
    std::vector<bool> brief(costs.size(), false);
    double count_brief = 0.0;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      brief[i] = !over[i] && costs[i] < kTooShort * usual;
      count_brief += brief[i] ? 1.0 : 0.0;
    }
    // The first calls of an asynchronous framework return at once; later it is an accident.
    const bool at_start =
        std::find(
            brief.begin() + std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(brief.size()), 5),
            brief.end(), true) == brief.end();
    if (costs.size() < 3 || (count_brief > kMostTooShort * all && !at_start)) {
      brief.assign(costs.size(), false);
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      if (over[i] || brief[i]) {
        const auto weight = static_cast<std::int64_t>(weight_of(*steps[i]));
        (over[i] ? summary_.left_out.over_peak : summary_.left_out.too_short) += weight;
        if (first_refused_ == 0) first_refused_ = steps[i]->line;
        continue;
      }
      steps[kept] = steps[i];
      costs[kept++] = costs[i];
    }
    steps.resize(kept);
    costs.resize(kept);
  }

  void say() {
    const LeftOutSteps& out = summary_.left_out;
    if (out.too_short + out.over_peak > 0) {
      notes_.add(NoteCode::steps_refused,
                 "steps that no GPU can have done in their time are left out: the clock did not "
                 "wait for the GPU (asynchronous dispatch)",
                 Place{.file = log_.path, .line = first_refused_}, out.too_short + out.over_peak);
    }
    if (out.other_batch > 0) {
      notes_.add(NoteCode::batch_changes,
                 "steps whose global batch differs from that of most are left out",
                 Place{.file = log_.path}, out.other_batch);
    }
  }

  const TrainingLog& log_;
  const LogSummaryOptions& options_;
  Notes& notes_;
  std::vector<const LogSegment*> segments_;
  std::vector<std::size_t> numbers_;
  std::vector<bool> over_peak_;
  std::int64_t first_refused_ = 0;
};

// Half a unit of the last digit that the values are printed with, relative to `typical`. Values
// that use all digits of a double were not rounded.
double rounding_of_values(std::span<const double> values, double scale, double typical) {
  constexpr int kMostDecimals = 9;
  constexpr std::size_t kLooked = 200;
  int decimals = 0;
  for (std::size_t i = 0; i < values.size() && i < kLooked && decimals <= kMostDecimals; ++i) {
    const double value = values[i] * scale;
    const auto fits = [&](int d) {
      const double power = std::pow(10.0, d);
      return std::fabs(std::round(value * power) / power - value) <= 1e-9 * std::fabs(value);
    };
    while (decimals <= kMostDecimals && !fits(decimals)) ++decimals;
  }
  if (decimals > kMostDecimals || !(typical > 0)) return 0.0;
  return 0.5 * std::pow(10.0, -decimals) / (typical * scale);
}

Value median_of(const std::vector<const LoggedStep*>& steps, Value LoggedStep::*field) {
  std::vector<double> values;
  for (const LoggedStep* step : steps) {
    if (good(step->*field)) values.push_back(*(step->*field));
  }
  return values.empty() ? Value{} : Value(median_inplace(values));
}

// A printed figure belongs to the time of its own line: brought to the time of the headline's step.
Value at_cost(const Selector& selected, Value LoggedStep::*field, double cost) {
  std::vector<double> work;
  for (std::size_t i = 0; i < selected.kept_.size(); ++i) {
    const Value& value = selected.kept_[i]->*field;
    if (good(value)) work.push_back(*value * selected.counted_[i].cost);
  }
  return work.empty() ? Value{} : Value(median_inplace(work) / cost);
}

// Of a printed figure; `scale` is that of its print.
double rounding_of_figure(const Selector& selected, Value LoggedStep::*field, double scale) {
  std::vector<double> printed;
  for (const LoggedStep* step : selected.kept_) {
    if (good(step->*field)) printed.push_back(*(step->*field));
  }
  return printed.empty() ? 0.0 : rounding_of_values(printed, scale, median(printed));
}

// From the first to the last step with a time stamp, per step between them.
Value wall_cost_of(const Selector& selected) {
  if (selected.summary_.basis != StepBasis::step) return {};
  const LoggedStep* first = nullptr;
  const LoggedStep* last = nullptr;
  for (const LoggedStep* step : selected.kept_) {
    if (!step->timestamp_s) continue;
    if (first == nullptr) first = step;
    last = step;
  }
  if (first == nullptr || last->iteration <= first->iteration) return {};
  const double seconds = *last->timestamp_s - *first->timestamp_s;
  if (!(seconds > 0.0)) return {};
  return seconds / static_cast<double>(last->iteration - first->iteration);
}

void compare_segments(LogSummary& summary, std::span<const CountedStep> steps) {
  constexpr double kLeast = 0.02;
  constexpr double kErrors = 4.0;
  Value before;
  Value before_error;
  std::size_t begin = 0;
  for (std::size_t s = 0; s < summary.segments.size(); ++s) {
    std::size_t end = begin;
    while (end < steps.size() && steps[end].segment == s) ++end;
    const std::span<const CountedStep> own = steps.subspan(begin, end - begin);
    begin = end;
    if (own.empty()) continue;
    SegmentSummary& row = summary.segments[s];
    row.median_cost = measurement::weighted_median(own);
    const Value error = measurement::median_error(own);
    if (before && before_error && error) {
      const double change = *row.median_cost / *before - 1;
      const double uncertain = std::hypot(*error, *before_error);
      if (std::fabs(change) > kLeast && std::fabs(change) > kErrors * uncertain) {
        row.change = change;
      }
    }
    before = row.median_cost;
    before_error = error;
  }
}

std::vector<PauseSummary> sum_pauses(const std::vector<LoggedPause>& pauses) {
  std::map<std::string, PauseSummary> kinds;
  for (const LoggedPause& pause : pauses) {
    PauseSummary& kind = kinds[pause.kind];
    kind.kind = pause.kind;
    ++kind.count;
    if (pause.seconds > 0) ++kind.timed;
    kind.seconds += pause.seconds;
  }
  std::vector<PauseSummary> all;
  for (auto& [name, kind] : kinds) all.push_back(std::move(kind));
  return all;
}

// A jump between segments is not a drift: only the longest segment is looked at.
std::optional<LogDrift> drift_of(std::span<const CountedStep> steps) {
  std::span<const CountedStep> longest;
  for (std::size_t begin = 0; begin < steps.size();) {
    std::size_t end = begin;
    while (end < steps.size() && steps[end].segment == steps[begin].segment) ++end;
    if (end - begin > longest.size()) longest = steps.subspan(begin, end - begin);
    begin = end;
  }
  return measurement::find_drift(longest);
}

}  // namespace

std::string_view to_string(StepBasis basis) noexcept {
  switch (basis) {
    case StepBasis::step:
      return "step";
    case StepBasis::sample:
      return "sample";
    case StepBasis::token:
      return "token";
    case StepBasis::token_per_gpu:
      return "token-per-gpu";
    case StepBasis::flop:
      return "flop";
  }
  return "";
}

LogSummary summarize(const TrainingLog& log, const LogSummaryOptions& options, Notes& notes) {
  Selector selected(log, options, notes);
  LogSummary summary = std::move(selected.summary_);
  const std::span<const CountedStep> steps(selected.counted_);
  summary.lines = static_cast<std::int64_t>(steps.size());
  std::vector<double> weights;
  Sum time;
  Sum work;
  summary.first_iteration = steps.front().iteration;
  summary.last_iteration = steps.front().iteration;
  for (const CountedStep& step : steps) {
    weights.push_back(step.weight);
    summary.costs.push_back(step.cost);
    time.add(step.cost * step.weight);
    work.add(step.weight);
    summary.first_iteration = std::min(summary.first_iteration, step.iteration);
    summary.last_iteration = std::max(summary.last_iteration, step.iteration);
  }
  summary.used = std::llround(work.value());
  summary.weights = weights;
  summary.steps_a_line = static_cast<int>(median_inplace(weights));
  summary.median_cost = measurement::weighted_median(steps);
  summary.p95_cost = measurement::weighted_quantile(steps, 0.95);
  summary.mean_cost = time.value() / work.value();
  summary.wall_cost = wall_cost_of(selected);
  summary.statistic = options.statistic;
  summary.cost = headline_cost(summary);
  const std::optional<Interval> interval = measurement::median_interval(steps, options.seed);
  summary.interval_known = interval.has_value();
  summary.median_ci = interval.value_or(Interval{summary.median_cost, summary.median_cost});
  summary.outliers =
      measurement::find_outliers(steps, log.pauses, summary.basis == StepBasis::step);
  summary.levels = measurement::find_levels(steps);
  summary.drift = drift_of(steps);
  compare_segments(summary, steps);
  summary.pauses = sum_pauses(log.pauses);

  std::vector<double> costs;
  for (const CountedStep& step : steps) costs.push_back(step.cost);
  const bool rate = summary.basis != StepBasis::step;
  if (rate) {
    for (double& cost : costs) cost = 1.0 / cost;
  }
  summary.rounding = rounding_of_values(costs, summary.basis == StepBasis::flop ? 1e-12 : 1.0,
                                        rate ? 1.0 / summary.median_cost : summary.median_cost);
  const std::vector<const LoggedStep*>& kept = selected.kept_;
  summary.tokens_per_step = median_of(kept, &LoggedStep::tokens);
  const auto brought = [&](Value LoggedStep::*field) {
    return at_cost(selected, field, summary.cost);
  };
  summary.tokens_per_s = brought(&LoggedStep::tokens_per_s);
  summary.tokens_per_s_per_gpu = brought(&LoggedStep::tokens_per_s_per_gpu);
  summary.model_flops_per_s_per_gpu = brought(&LoggedStep::model_flops_per_s_per_gpu);
  summary.hardware_flops_per_s_per_gpu = brought(&LoggedStep::hardware_flops_per_s_per_gpu);
  summary.mfu = brought(&LoggedStep::mfu);
  summary.flops_rounding = rounding_of_figure(selected,
                                              summary.model_flops_per_s_per_gpu
                                                  ? &LoggedStep::model_flops_per_s_per_gpu
                                                  : &LoggedStep::hardware_flops_per_s_per_gpu,
                                              1e-12);
  summary.mfu_rounding = rounding_of_figure(selected, &LoggedStep::mfu, 100.0);
  return summary;
}

}  // namespace mfu
