// Warm-up: leading steps that are unlike the rest (compilation, allocator, caches, first batches).
// Judged on the whole job, never by one rank's values, or a straggler's burst would be left out.
#include <algorithm>

#include "analysis/job.hpp"
#include "base/robust.hpp"

namespace mfu::analysis {

namespace {
constexpr std::size_t kMostSteps = 20;  // and at most a quarter of the run
constexpr double kSlowStep = 1.2;       // times the median step
constexpr double kSlowCompute = 1.25;   // times the median of the median rank's compute
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
  const auto is_warmup = [&](std::size_t s) {
    if (step_seconds_[s] <= kSlowStep * usual_step) return false;
    const double idle = kIdleShare * step_seconds_[s];
    return compute_level[s] > kSlowCompute * usual_compute || least_stall[s] > usual_stall + idle ||
           least_comm[s] > usual_comm + idle;
  };
  while (leading < most && is_warmup(leading)) ++leading;
  if (leading == most && leading > 0 && is_warmup(leading)) {
    notes.add(
        "long-warmup", Severity::assumption,
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

}  // namespace mfu::analysis
