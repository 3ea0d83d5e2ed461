#include "diagnose/worth/end_state.hpp"

#include <algorithm>
#include <cmath>

#include "diagnose/evidence.hpp"
#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {

constexpr std::size_t kLeastEndSteps = 3;  // of a stretch, and of the quiet after it
constexpr double kLeastQuiet = 0.1;        // of the steps
constexpr double kOneEndStretch = 0.8;     // of the steps between its first and last one
constexpr double kNothingLeft = 0.15;      // of the level that it had
constexpr double kLeastChange = 0.01;      // of the step
constexpr double kOfAll = 2.0;             // times the materiality
constexpr std::size_t kLeastSince = 5;  // steps from an onset, to count it by what it costs since

// Where a single stretch of the loss ends; nothing: it continues, returns, or is too short to say.
std::optional<std::size_t> end_of_stretch(std::span<const double> loss) {
  const std::size_t n = loss.size();
  if (n < 2 * kLeastEndSteps) return std::nullopt;
  const double half = 0.5 * quantile(loss, 0.95);
  if (!(half > 0.0)) return std::nullopt;
  std::size_t first = n;
  std::size_t last = 0;
  std::size_t high = 0;
  Sum level;
  for (std::size_t s = 0; s < n; ++s) {
    if (!(loss[s] > half)) continue;
    first = std::min(first, s);
    last = s;
    ++high;
    level.add(loss[s]);
  }
  if (high < kLeastEndSteps) return std::nullopt;
  const auto stretch = static_cast<double>(last - first + 1);
  const std::size_t quiet = n - 1 - last;
  if (static_cast<double>(high) < kOneEndStretch * stretch || quiet < kLeastEndSteps ||
      static_cast<double>(quiet) < kLeastQuiet * static_cast<double>(n)) {
    return std::nullopt;
  }
  const double before = level.value() / static_cast<double>(high);
  if (mean(loss.subspan(last + 1)) > kNothingLeft * before) return std::nullopt;
  return last + 1;
}

std::size_t index_of(const RuleContext& context, std::int64_t id) {
  return static_cast<std::size_t>(
      std::lower_bound(context.step_ids.begin(), context.step_ids.end(), id) -
      context.step_ids.begin());
}

// The step from which a candidate no longer changes; 0: the start.
std::size_t settled_from(const RuleContext& context, const Candidate& candidate) {
  const Finding& finding = candidate.finding;
  if (finding.gone_since_step) return index_of(context, *finding.gone_since_step);
  if (finding.onset_step) return index_of(context, *finding.onset_step);
  if (finding.persistence == Persistence::drift) {
    const std::size_t n = candidate.loss.size();
    return n - std::max(std::min(n, kLeastEndSteps), n / 5);
  }
  return 0;
}

}  // namespace

void mark_what_is_gone(RuleContext& context) {
  for (Candidate& candidate : context.found) {
    Finding& finding = candidate.finding;
    if (finding.persistence == Persistence::drift || finding.period_steps) continue;
    if (const auto end = end_of_stretch(candidate.loss)) {
      finding.gone_since_step = context.step_ids[*end];
      finding.persistence = Persistence::ended;
    }
  }
}

void count_from_onset(RuleContext& context) {
  const std::vector<double>& steps = context.job().step_seconds();
  for (Candidate& candidate : context.found) {
    const Finding& finding = candidate.finding;
    if (!finding.onset_step || finding.gone_since_step) continue;
    const std::size_t from = index_of(context, *finding.onset_step);
    if (from + kLeastSince > steps.size()) continue;
    const double since = sum(std::span<const double>(steps).subspan(from));
    // What all ranks share varies on its own: it takes more to be a state.
    const double sure = finding.locality == Locality::all ? kOfAll : 1.0;
    candidate.materiality *= std::min(1.0, sure * since / sum(steps));
  }
}

std::optional<std::size_t> first_of_end_state(const RuleContext& context) {
  std::size_t first = 0;
  for (const Candidate& candidate : context.found) {
    const std::size_t from = settled_from(context, candidate);
    if (from == 0 || from + kLeastEndSteps > candidate.loss.size()) continue;
    const double change =
        mean(std::span<const double>(candidate.loss).subspan(from)) - mean(candidate.loss);
    if (std::fabs(change) < kLeastChange * context.mean_step()) continue;
    first = std::max(first, from);
  }
  if (first == 0) return std::nullopt;
  return first;
}

}  // namespace mfu::diagnosis
