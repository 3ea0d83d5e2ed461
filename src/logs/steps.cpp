#include "logs/steps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "base/note_code.hpp"
#include "statistics/robust.hpp"

namespace mfu {

namespace {

using Field = std::optional<double> LoggedStep::*;

// All that is measured; the clock is not, and is not averaged.
struct Measured {
  Field field;
  int weight;  // what it is good for when a format is chosen
  // Beyond these it is not a measurement, whatever the job: far above the figures of broken clocks
  // and counters that the statistics know how to refuse.
  double least;
  double most;
};
constexpr std::array<Measured, 9> kMeasured{{
    {&LoggedStep::step_s, 4, 1e-7, kLongestStep_s},
    {&LoggedStep::tokens_per_s, 3, 1e-9, 1e15},
    {&LoggedStep::tokens_per_s_per_gpu, 3, 1e-9, 1e15},
    {&LoggedStep::samples_per_s, 2, 1e-9, 1e15},
    {&LoggedStep::model_flops_per_s_per_gpu, 2, 1.0, 1e21},
    {&LoggedStep::hardware_flops_per_s_per_gpu, 2, 1.0, 1e21},
    {&LoggedStep::mfu, 2, 1e-9, 1e6},
    {&LoggedStep::global_batch, 2, 1e-9, 1e12},
    {&LoggedStep::tokens, 1, 1e-9, 1e18},
}};
constexpr std::array<Field, 5> kRates{&LoggedStep::step_s, &LoggedStep::tokens_per_s_per_gpu,
                                      &LoggedStep::tokens_per_s, &LoggedStep::samples_per_s,
                                      &LoggedStep::model_flops_per_s_per_gpu};

constexpr std::size_t kMostSegments = 20'000;
constexpr std::size_t kWindow = 64;      // steps by which ranks may lag behind one another
constexpr std::int64_t kLate = 2;        // by which the first that has a name may
constexpr double kSameValue = 0.02;      // two ranks' measurements of one step
constexpr double kSameMoment_s = 120.0;  // by which lines of one step may be apart

bool agree(const LoggedStep& a, const LoggedStep& b) {
  for (const Field field : kRates) {
    const std::optional<double>& x = a.*field;
    const std::optional<double>& y = b.*field;
    if (!x || !y) continue;
    return std::fabs(*x - *y) <= kSameValue * std::max(std::fabs(*x), std::fabs(*y));
  }
  return true;
}

bool same_moment(const LoggedStep& a, const LoggedStep& b) {
  return !a.timestamp_s || !b.timestamp_s ||
         std::fabs(*a.timestamp_s - *b.timestamp_s) <= kSameMoment_s;
}

// `into` and then `from`, as one entry that stands for both.
void join(LoggedStep& into, const LoggedStep& from) {
  const double a = into.steps_averaged;
  const double b = from.steps_averaged;
  for (const Measured& measured : kMeasured) {
    std::optional<double>& x = into.*measured.field;
    const std::optional<double>& y = from.*measured.field;
    if (x && y) {
      *x = (*x * a + *y * b) / (a + b);
    } else if (y) {
      x = y;
    }
  }
  into.iteration = from.iteration;
  into.line = from.line;
  into.timestamp_s = from.timestamp_s;
  into.steps_averaged = static_cast<int>(std::min(a + b, 1e9));
  into.copies = std::max(into.copies, from.copies);
  into.skipped = into.skipped && from.skipped;
}

}  // namespace

bool StepCollector::is_copy(const LoggedStep& step, std::uint64_t origin, const Recent& of) const {
  if (!same_moment(step, of.step)) return false;
  if (origin != 0) {
    const auto own = last_of_.find(origin);
    if (own == last_of_.end() && last_of_.empty()) {
      // What came before has no names: the launcher names its processes only now, in this run or
      // in one that starts again.
      return agree(step, of.step) && recent_.back().step.iteration - step.iteration <= kLate;
    }
    if (own == last_of_.end() || own->second < step.iteration) return true;
    if (own->second == step.iteration) return agree(step, of.step);
    // "[default7]:" is the last process of every node: such names are useless.
    if (!shared_names_) return false;
  }
  if (!agree(step, of.step)) return false;
  if (step.iteration == recent_.back().step.iteration) return true;
  // Without a name on the lines a copy may come late where the step before it has had more of them;
  // a run that starts again finds every step with as many.
  const bool first = &of == &recent_.front();
  return of.step.copies < most_copies_ && (first || (&of - 1)->step.copies > of.step.copies);
}

void StepCollector::start_segment(const LoggedStep& step) {
  archive(0);
  segments_.emplace_back();
  segments_.back().first_line = step.line;
  last_of_.clear();
  most_copies_ = 1;
  last_holds_ = stride_;
}

void StepCollector::add(const LoggedStep& step, std::uint64_t origin) {
  for (std::size_t i = 0; i < kMeasured.size(); ++i) {
    if (step.*kMeasured[i].field) told_ |= 1U << i;
  }
  if (recent_.empty()) {
    start_segment(step);
  } else if (step.iteration <= recent_.back().step.iteration) {
    const auto at = std::lower_bound(
        recent_.begin(), recent_.end(), step.iteration,
        [](const Recent& recent, std::int64_t wanted) { return recent.step.iteration < wanted; });
    const bool found = at != recent_.end() && at->step.iteration == step.iteration;
    if (found && is_copy(step, origin, *at)) {
      if (at->copies.empty()) at->copies.push_back(at->step);
      at->copies.push_back(step);
      most_copies_ = std::max(most_copies_, ++at->step.copies);
      if (copied_++ == 0) first_copied_line_ = step.line;
      if (origin != 0) {
        const auto [own, first] = last_of_.try_emplace(origin, step.iteration);
        if (!first && own->second == step.iteration) shared_names_ = true;
        own->second = std::max(own->second, step.iteration);
      }
      return;
    }
    if (segments_.size() >= kMostSegments) {
      ++dropped_;
      return;
    }
    start_segment(step);
  }
  if (recent_.size() >= 2 * kWindow) archive(kWindow);
  recent_.push_back({step, {}});
  ++count_;
  if (origin != 0) last_of_[origin] = step.iteration;
}

void StepCollector::drop_implausible(LoggedStep& step) {
  for (const Measured& measured : kMeasured) {
    std::optional<double>& value = step.*measured.field;
    if (!value || (*value >= measured.least && *value <= measured.most)) continue;
    value.reset();
    if (implausible_++ == 0) first_implausible_line_ = step.line;
  }
}

// Moves the oldest of the recent steps to their segment until `leave` are left.
void StepCollector::archive(std::size_t leave) {
  if (segments_.empty() || recent_.size() <= leave) return;
  std::vector<LoggedStep>& steps = segments_.back().steps;
  const std::size_t moved = recent_.size() - leave;
  std::vector<double> values;
  for (std::size_t i = 0; i < moved; ++i) {
    Recent& recent = recent_[i];
    if (recent.copies.empty()) drop_implausible(recent.step);
    for (LoggedStep& copy : recent.copies) drop_implausible(copy);
    if (!recent.copies.empty()) {
      for (const Measured& measured : kMeasured) {
        values.clear();
        for (const LoggedStep& copy : recent.copies) {
          if (copy.*measured.field) values.push_back(*(copy.*measured.field));
        }
        (recent.step.*measured.field).reset();
        if (!values.empty()) recent.step.*measured.field = median_inplace(values);
      }
    }
    if (last_holds_ < stride_) {
      join(steps.back(), recent.step);
      ++last_holds_;
      continue;
    }
    steps.push_back(recent.step);
    last_holds_ = 1;
    if (++archived_ >= most_) halve();
  }
  recent_.erase(recent_.begin(), recent_.begin() + static_cast<std::ptrdiff_t>(moved));
}

void StepCollector::halve() {
  archived_ = 0;
  for (LogSegment& segment : segments_) {
    std::vector<LoggedStep>& steps = segment.steps;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < steps.size(); i += 2) {
      if (i + 1 < steps.size()) join(steps[i], steps[i + 1]);
      steps[kept++] = steps[i];
    }
    const bool odd = steps.size() % 2 != 0;
    steps.resize(kept);
    archived_ += kept;
    if (&segment == &segments_.back()) last_holds_ = odd ? stride_ : 2 * stride_;
  }
  stride_ *= 2;
  // Segments of one entry do not shrink. Their number is bounded, too.
  most_ = std::max(most_, archived_ * 2);
}

int StepCollector::richness() const noexcept {
  int sum = 0;
  for (std::size_t i = 0; i < kMeasured.size(); ++i) {
    if ((told_ & (1U << i)) != 0) sum += kMeasured[i].weight;
  }
  return sum;
}

std::vector<LogSegment> StepCollector::finish(const std::string& path, Notes& notes) {
  archive(0);
  const auto place = [&path](std::int64_t line) {
    Place where;
    where.file = path;
    where.line = line;
    return where;
  };
  if (copied_ > 0) {
    notes.add(NoteCode::ranks_merged,
              "several lines describe one step: the median of their values is used",
              place(first_copied_line_), copied_);
  }
  if (segments_.size() > 1) {
    notes.add(NoteCode::resumed_run, "the step numbers start again: each part is kept separate",
              place(segments_[1].first_line), static_cast<std::int64_t>(segments_.size()) - 1);
  }
  if (dropped_ > 0) {
    notes.add(NoteCode::too_many_restarts,
              "the step numbers start again too often: steps after the " +
                  std::to_string(kMostSegments) + "th time are left out",
              place(0), dropped_);
  }
  if (implausible_ > 0) {
    notes.add(NoteCode::implausible_values, "implausible figures are left out",
              place(first_implausible_line_), implausible_);
  }
  if (stride_ > 1) {
    notes.add(NoteCode::steps_merged,
              std::to_string(count_) + " steps are too many to keep one by one: means over " +
                  std::to_string(stride_) + " neighbours stand for them",
              place(0));
  }
  return std::move(segments_);
}

}  // namespace mfu
