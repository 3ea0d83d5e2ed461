// Warm-up: leading steps that are unlike the rest (compilation, allocator, caches, first batches).
// Judged on the whole job, never by one rank's values, or a straggler's burst would be left out.
#include <algorithm>

#include "base/note_code.hpp"
#include "diagnose/fit/job.hpp"
#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {
constexpr std::size_t kMostSteps = 20;  // and at most a quarter of the run
constexpr double kSlowStep = 1.2;       // times the median step
constexpr double kSlowCompute = 1.25;   // times the median of the median rank's compute
constexpr double kAsLong = 0.7;         // of the first pause
constexpr double kIdleShare = 0.25;     // of the step, over the median of the least stall or comm
}  // namespace

std::vector<std::int64_t> Job::drop_warmup(Notes& notes) {
  std::vector<double> compute_level;
  std::vector<double> least_stall;
  std::vector<double> least_comm;
  for (std::size_t s = 0; s < steps(); ++s) {
    compute_level.push_back(median(compute(s)));
    const auto o = stall(s);
    const auto m = comm(s);
    least_stall.push_back(*std::min_element(o.begin(), o.end()));
    least_comm.push_back(*std::min_element(m.begin(), m.end()));
  }
  std::size_t leading = 0;
  const std::size_t most = std::min(kMostSteps, steps() / 4);
  // What is usual is taken from the steps right after the possible warm-up: a run that slows down
  // later must not make its first steps look quick.
  const auto usual = [&](const std::vector<double>& values) {
    const std::size_t end = std::min(values.size(), std::max(3 * most, most + 8));
    return median(std::span<const double>(values).subspan(most, end - most));
  };
  const double usual_step = usual(step_seconds_);
  const double usual_compute = usual(compute_level);
  const double usual_stall = usual(least_stall);
  const double usual_comm = usual(least_comm);
  // Idle time of all ranks that one rank's compute explains is waiting for that rank.
  const auto waits_for_one = [&](std::size_t s) {
    const auto c = compute(s);
    const double slowest = *std::max_element(c.begin(), c.end());
    return slowest - compute_level[s] > 0.5 * (step_seconds_[s] - usual_step);
  };
  // A pause that comes back later is not warm-up: a checkpoint, say.
  const auto comes_back = [&](const std::vector<double>& idle, double usual_idle, std::size_t s) {
    const double excess = idle[s] - usual_idle;
    return std::any_of(idle.begin() + static_cast<std::ptrdiff_t>(most), idle.end(),
                       [&](double later) { return later - usual_idle > kAsLong * excess; });
  };
  const auto is_warmup = [&](std::size_t s) {
    if (step_seconds_[s] <= kSlowStep * usual_step) return false;
    if (compute_level[s] > kSlowCompute * usual_compute) return true;
    if (waits_for_one(s)) return false;
    const double idle = kIdleShare * step_seconds_[s];
    return (least_stall[s] > usual_stall + idle && !comes_back(least_stall, usual_stall, s)) ||
           (least_comm[s] > usual_comm + idle && !comes_back(least_comm, usual_comm, s));
  };
  while (leading < most && is_warmup(leading)) ++leading;
  if (leading == most && leading > 0 && is_warmup(leading)) {
    notes.add(
        NoteCode::long_warmup,
        "the run still looks like warm-up after the steps that the rule leaves out; if it is, "
        "leave more out with --skip",
        Place{.what = "step " + std::to_string(step_id(leading))});
  }
  std::vector<std::int64_t> left_out;
  for (std::size_t s = 0; s < leading; ++s) left_out.push_back(step_id(s));
  used_.erase(used_.begin(), used_.begin() + static_cast<std::ptrdiff_t>(leading));
  measure_steps();
  return left_out;
}

}  // namespace mfu::diagnosis
