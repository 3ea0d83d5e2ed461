#include "logs/format.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/note_code.hpp"

namespace mfu {

namespace {

constexpr std::size_t kMostPauses = 100'000;
constexpr std::size_t kMostRankValues = 1'000'000;

}  // namespace

void LogFormat::pause(const char* kind, const LogLine& line, double seconds) {
  if (found.pauses.size() >= kMostPauses) {
    notes.add(NoteCode::pauses_capped, "only the first 100,000 pauses are kept");
    return;
  }
  // 0: how long is not known.
  const bool plausible = seconds >= 0.0 && seconds <= kLongestStep_s;
  found.pauses.push_back({kind, line.number, plausible ? seconds : 0.0, line.iteration});
}

void LogFormat::rank_value(std::string series, std::int64_t iteration, std::int64_t rank,
                           double value, RankUnit unit) {
  const bool time = unit == RankUnit::seconds;
  if (rank < 0 || !std::isfinite(value) || (time && !(value >= 0.0 && value <= kLongestStep_s))) {
    notes.add(NoteCode::implausible_values, "per-rank values without a valid rank are left out");
    return;
  }
  if (found.rank_values.size() >= kMostRankValues) {
    notes.add(NoteCode::rank_values_capped, "only the first million per-rank values are kept");
    return;
  }
  found.rank_values.push_back({std::move(series), iteration, rank, value, unit});
}

void times_from_timestamps(std::vector<LogSegment>& segments) {
  for (LogSegment& segment : segments) {
    for (std::size_t i = 1; i < segment.steps.size(); ++i) {
      const LoggedStep& before = segment.steps[i - 1];
      LoggedStep& step = segment.steps[i];
      const std::int64_t distance = step.iteration - before.iteration;
      if (distance <= 0) continue;
      // Farther apart than any logging interval is a gap in the log.
      if (step.steps_averaged == 1 && distance <= 1'000'000) {
        step.steps_averaged = static_cast<int>(distance);
      }
      if (step.step_s || !step.timestamp_s || !before.timestamp_s) continue;
      // Microseconds are more than any log prints, and hide what seconds since 1970 round off.
      const double elapsed = std::round((*step.timestamp_s - *before.timestamp_s) * 1e6) / 1e6;
      const double each = elapsed / static_cast<double>(distance);
      if (each > 0.0 && each <= kLongestStep_s) step.step_s = each;
    }
  }
}

void averages_from_distance(std::vector<LogSegment>& segments) {
  // Gaps are longer than the interval, never shorter.
  std::int64_t least = 0;
  std::int64_t seen = 0;
  for (const LogSegment& segment : segments) {
    for (std::size_t i = 1; i < segment.steps.size(); ++i) {
      const std::int64_t distance = segment.steps[i].iteration - segment.steps[i - 1].iteration;
      if (least == 0 || distance < least) least = distance;
      ++seen;
    }
  }
  if (seen < 2 || least <= 1 || least > 1'000'000) return;
  for (LogSegment& segment : segments) {
    for (LoggedStep& step : segment.steps) {
      if (step.steps_averaged == 1) step.steps_averaged = static_cast<int>(least);
    }
  }
}

void tokens_from_total(std::vector<LogSegment>& segments) {
  for (LogSegment& segment : segments) {
    std::optional<double> before;
    std::int64_t iteration = 0;
    for (LoggedStep& step : segment.steps) {
      const std::optional<double> total = std::exchange(step.tokens, std::nullopt);
      if (total && before && *total > *before && step.iteration > iteration) {
        step.tokens = (*total - *before) / static_cast<double>(step.iteration - iteration);
      }
      before = total;
      iteration = step.iteration;
    }
  }
}

}  // namespace mfu
