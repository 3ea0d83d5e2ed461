#include "logs/bars/bar_course.hpp"

#include <algorithm>
#include <cmath>

#include "statistics/robust.hpp"

namespace mfu {

namespace {

// By how many steps the bars of several ranks in one file may be apart.
constexpr std::int64_t kRanksApart = 8;
constexpr std::size_t kLookBack = 24;
constexpr double kNewest = 0.3;   // tqdm's weight of the newest steps
constexpr double kEnough = 0.05;  // of a stretch: what may be uncertain
constexpr double kLeast = 0.10;   // the same where there is but one
constexpr double kInconsistent = 0.05;
constexpr std::size_t kFewestToJudge = 5;
constexpr double kLongInterval_s = 5.0;
constexpr std::size_t kPhase = 48;     // points
constexpr double kPrintedAgain = 0.5;  // what goes on fits better than what stands still

// From the rate columns: seconds between a point and the one before, and how uncertain.
struct Pace {
  std::vector<double> seconds;
  std::vector<double> rounding;
};

// Undoes the running mean: both the seconds and the steps of an update are smoothed alike, and the
// steps are known.
Pace newest_weighted(const std::vector<BarCourse::Point>& points) {
  Pace pace;
  double steps = 0.0;
  double time = 0.0;
  bool known = points.front().done == 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const BarCourse::Point& point = points[i];
    const double count = i == 0 ? 0.0 : static_cast<double>(point.done - points[i - 1].done);
    if (i == 0 || point.printed_s <= 0.0) {
      pace.seconds.push_back(0.0);
      pace.rounding.push_back(i == 0 ? 0.0 : 1.0);
      if (i > 0) known = false;
      continue;
    }
    if (!known) {
      // As if it had always gone at this pace.
      steps = count;
      time = point.printed_s * count;
      known = true;
      pace.seconds.push_back(time);
      pace.rounding.push_back(1.0);
      continue;
    }
    steps = kNewest * count + (1.0 - kNewest) * steps;
    const double smoothed = point.printed_s * steps;
    pace.seconds.push_back(std::max(0.0, (smoothed - (1.0 - kNewest) * time) / kNewest));
    pace.rounding.push_back(1.5 / kNewest * static_cast<double>(point.rounding_s) * steps);
    time = smoothed;
  }
  return pace;
}

// When in its second the first point fell, so that the next ones fall into theirs.
double first_moment(const std::vector<BarCourse::Point>& points, const Pace& pace) {
  double since = 0.0;
  double sum = 0.0;
  std::size_t count = 0;
  for (; count < points.size() && count < kPhase; ++count) {
    since += pace.seconds[count];
    sum += static_cast<double>(points[count].elapsed_s) + 0.5 - since;
  }
  const auto second = static_cast<double>(points.front().elapsed_s);
  return std::clamp(sum / static_cast<double>(count), second, second + 1.0);
}

double since_start(const BarCourse::Point& point) {
  return point.printed_s * static_cast<double>(point.done);
}

bool within(double moment, const BarCourse::Point& point, double slack) {
  const auto second = static_cast<double>(point.elapsed_s);
  return moment >= second - slack && moment <= second + 1.0 + slack;
}

}  // namespace

void BarCourse::start(const ProgressBar& bar, std::int64_t line, std::int64_t order) {
  points_.push_back({bar.done, bar.elapsed_s, line, order, bar.step_s.value_or(0.0),
                     static_cast<float>(bar.step_rounding_s), false, 0.0F, false});
  seen_ = 1;
  last_order_ = order;
  last_elapsed_s_ = bar.elapsed_s;
}

std::optional<double> BarCourse::misfit(const ProgressBar& bar, bool printed_last) const {
  const Point& last = points_.back();
  const std::int64_t steps = bar.done - last.done;
  const std::int64_t seconds = bar.elapsed_s - last.elapsed_s;
  if (steps == 0) {
    // Printed again, perhaps after an evaluation; a rank's clock may be a second behind.
    if (seconds < -1) return std::nullopt;
    const std::int64_t later = std::max<std::int64_t>(0, bar.elapsed_s - last_elapsed_s_);
    return (printed_last ? 0.0 : kPrintedAgain) + 0.1 * static_cast<double>(later);
  }
  if (steps > 0) {
    if (seconds < -1) return std::nullopt;
    const double pace = last.printed_s > 0.0 ? last.printed_s : bar.step_s.value_or(0.0);
    const double expected = pace * static_cast<double>(steps);
    const double off = std::fabs(static_cast<double>(seconds) - expected);
    return off <= 1.0 ? 0.0 : off / (1.0 + expected);
  }
  // Another rank that lags behind says what was said before.
  if (-steps > kRanksApart || (bar.done == 0 && (last.done > 2 || last.elapsed_s > 2))) {
    return std::nullopt;
  }
  const std::size_t least = points_.size() > kLookBack ? points_.size() - kLookBack : 0;
  for (std::size_t i = points_.size(); i-- > least;) {
    if (points_[i].done > bar.done) continue;
    const double off = std::fabs(static_cast<double>(bar.elapsed_s - points_[i].elapsed_s));
    if (points_[i].done != bar.done || off > 1.0) return std::nullopt;
    return (printed_last ? 0.0 : kPrintedAgain) + 0.1 * off;
  }
  return std::nullopt;
}

bool BarCourse::add(const ProgressBar& bar, std::int64_t line, std::int64_t order) {
  ++seen_;
  last_order_ = order;
  last_elapsed_s_ = std::max(last_elapsed_s_, bar.elapsed_s);
  if (bar.done <= points_.back().done) return false;
  points_.push_back({bar.done, std::max(bar.elapsed_s, points_.back().elapsed_s), line, order,
                     bar.step_s.value_or(0.0), static_cast<float>(bar.step_rounding_s), false, 0.0F,
                     false});
  return true;
}

void BarCourse::interrupt(std::size_t to, double seconds, bool evaluation) {
  Point& point = points_[to];
  point.interrupted = true;
  point.evaluation = point.evaluation || evaluation;
  point.pause_s = std::max(point.pause_s, static_cast<float>(seconds));
}

void BarCourse::forget_interruptions() {
  for (Point& point : points_) {
    point.interrupted = point.evaluation = false;
    point.pause_s = 0.0F;
  }
}

std::size_t BarCourse::thin() {
  const std::size_t before = points_.size();
  std::size_t kept = 1;
  for (std::size_t i = 2; i < before; i += 2) points_[kept++] = points_[i];
  points_.resize(kept);
  thinned_ = true;
  return before - kept;
}

std::vector<BarCourse::Moment> BarCourse::moments() const {
  const std::size_t count = points_.size();
  const Pace pace = newest_weighted(points_);
  // Which running mean fits the clock?
  std::size_t newest_off = 0;
  std::size_t mean_off = 0;
  const bool from_start = points_.front().done == 0 && points_.front().elapsed_s == 0;
  double at = from_start ? 0.0 : first_moment(points_, pace);
  std::vector<Moment> newest;
  newest.push_back({at, from_start ? 0.05 : 0.5});
  for (std::size_t i = 0; i < count; ++i) {
    const Point& point = points_[i];
    if (point.done > 0 &&
        !within(since_start(point), point,
                0.1 + static_cast<double>(point.rounding_s) * static_cast<double>(point.done))) {
      ++mean_off;
    }
    if (i == 0) continue;
    at += pace.seconds[i];
    if (!within(at, point, 0.1 + pace.rounding[i])) ++newest_off;
    const auto second = static_cast<double>(point.elapsed_s);
    at = std::clamp(at, second, second + 1.0);
    newest.push_back({at, std::min(0.5, pace.rounding[i])});
  }
  const auto judged = static_cast<double>(count);
  // A few long intervals that all agree are as good as many short ones.
  const double each = duration_s() / std::max(1.0, judged - 1.0);
  const bool few = from_start && count >= 3 && each >= kLongInterval_s;
  const bool enough = (count >= kFewestToJudge || few) && !thinned_;
  const bool newest_fits = enough && static_cast<double>(newest_off) <= kInconsistent * judged;
  const bool mean_fits = enough && static_cast<double>(mean_off) <= kInconsistent * judged;
  if (newest_fits && (!mean_fits || newest_off <= mean_off)) return newest;
  std::vector<Moment> found;
  for (std::size_t i = 0; i < count; ++i) {
    const Point& point = points_[i];
    const auto second = static_cast<double>(point.elapsed_s);
    if (mean_fits && point.done > 0) {
      const double error =
          std::min(0.5, static_cast<double>(point.rounding_s) * static_cast<double>(point.done));
      found.push_back({std::clamp(since_start(point), second, second + 1.0), error});
      continue;
    }
    double error = 0.5;
    if (point.done == 0 && point.elapsed_s == 0) {
      error = 0.0;
    } else if (i > 0 && point.elapsed_s == points_[i - 1].elapsed_s + 1 && point.printed_s > 0.0) {
      // The second began between two prints.
      error = std::min(
          0.5, 0.5 * point.printed_s * static_cast<double>(point.done - points_[i - 1].done));
    }
    found.push_back({second + error, error});
  }
  return found;
}

BarCourse::Times BarCourse::times() const {
  Times found;
  const std::size_t count = points_.size();
  if (count < 2) return found;
  const std::vector<Moment> moments = this->moments();
  const auto steps_between = [this](std::size_t a, std::size_t b) {
    return static_cast<double>(points_[b].done - points_[a].done);
  };
  const auto stretch = [&](std::size_t a, std::size_t b) -> Stretch {
    return {a, b, (moments[b].at_s - moments[a].at_s) / steps_between(a, b)};
  };
  const auto doubt = [&](std::size_t a, std::size_t b) {
    const double length = moments[b].at_s - moments[a].at_s;
    return length > 0.0 ? (moments[a].error_s + moments[b].error_s) / length : 1.0;
  };
  // A run that goes on from a checkpoint jumps to where it was: far more steps in the first time
  // than ever after.
  std::size_t first = 0;
  if (count >= 3 && points_.front().done == 0) {
    std::vector<double> rest;
    for (std::size_t i = 2; i < count; ++i) rest.push_back(steps_between(i - 1, i));
    const double usual = median_inplace(rest);
    const double jump = steps_between(0, 1);
    const double later = (moments.back().at_s - moments[1].at_s) / steps_between(1, count - 1);
    const double each = (moments[1].at_s - moments[0].at_s) / jump;
    if (jump > 3.0 * usual && each < later / 2.0) first = found.resumed_at = 1;
  }
  std::size_t from = first;
  const auto skips = [&](std::size_t i) { return points_[i].interrupted; };
  for (std::size_t i = first + 1; i < count; ++i) {
    if (skips(i)) {
      // What came before and is not enough by itself goes to the stretch before it.
      if (i - 1 > from && !found.stretches.empty() && found.stretches.back().to == from) {
        found.stretches.back() = stretch(found.stretches.back().from, i - 1);
      } else if (i - 1 > from && doubt(from, i - 1) <= kLeast) {
        found.stretches.push_back(stretch(from, i - 1));
      }
      from = i;
      continue;
    }
    if (doubt(from, i) > kEnough) continue;
    found.stretches.push_back(stretch(from, i));
    from = i;
  }
  if (from < count - 1) {
    if (!found.stretches.empty() && found.stretches.back().to == from) {
      found.stretches.back() = stretch(found.stretches.back().from, count - 1);
    } else if (found.stretches.empty() && doubt(from, count - 1) <= kLeast) {
      found.stretches.push_back(stretch(from, count - 1));
    }
  }
  // One stretch from a start that is no step's end: start-up is in it.
  found.mean_of_all = found.stretches.size() == 1 && points_[found.stretches[0].from].done == 0 &&
                      found.stretches[0].to == 1;
  return found;
}

}  // namespace mfu
