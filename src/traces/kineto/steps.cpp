#include "traces/kineto/steps.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/note_code.hpp"

namespace mfu::traces {

namespace {

constexpr std::uint32_t kBeforeSteps = kNoStep - 1;  // launched, but before the first window
constexpr std::uint32_t kNotLaunched = kNoStep - 2;  // no launch in the trace

}  // namespace

void HostSteps::add_without_length(const KinetoEvent& event) {
  // Of the other faults the start is not known either.
  if (event.begin_end || event.fault != TimeFault::negative) return;
  KinetoEvent bare = event;
  bare.length_ns = 0;
  add(bare);
}

void HostSteps::add(const KinetoEvent& event) {
  std::string_view number = event.name.substr(event.name.find('#') + 1);
  number = number.substr(0, number.find_first_not_of("0123456789"));
  StepSplit step;
  step.id = integer_of(number).value_or(static_cast<std::int64_t>(steps_.size()));
  step.begin_ns = event.start_ns;
  step.end_ns = event.start_ns + event.length_ns;
  steps_.push_back(step);
}

std::vector<StepSplit> HostSteps::windows(const std::string& file, Notes& notes) const {
  std::vector<StepSplit> sorted = steps_;
  std::sort(sorted.begin(), sorted.end(), [](const StepSplit& a, const StepSplit& b) {
    return std::tie(a.begin_ns, b.end_ns, a.id) < std::tie(b.begin_ns, a.end_ns, b.id);
  });
  std::vector<StepSplit> out;
  std::int64_t stretched = 0;
  std::int64_t dropped = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    StepSplit step = sorted[i];
    if (step.end_ns <= step.begin_ns) {
      // Steps follow each other without a gap: one whose length was lost ends where the next
      // begins.
      const bool covered = !out.empty() && step.begin_ns < out.back().end_ns;
      if (covered || i + 1 == sorted.size() || sorted[i + 1].begin_ns <= step.begin_ns) {
        ++dropped;
        continue;
      }
      step.end_ns = sorted[i + 1].begin_ns;
      ++stretched;
    }
    if (!out.empty() && out.back().id == step.id && step.begin_ns < out.back().end_ns) continue;
    out.push_back(step);
  }
  if (stretched > 0) {
    notes.add(NoteCode::step_without_length,
              "a ProfilerStep without a length is taken to end where the next begins",
              Place{.file = file}, stretched);
  }
  if (dropped > 0) {
    notes.add(NoteCode::step_left_out,
              "a ProfilerStep without a length that nothing bounds was left out",
              Place{.file = file}, dropped);
  }
  return out;
}

std::uint32_t window_at(const std::vector<StepSplit>& windows, std::int64_t at) {
  const auto after = std::upper_bound(
      windows.begin(), windows.end(), at,
      [](std::int64_t time, const StepSplit& window) { return time < window.begin_ns; });
  if (after == windows.begin() || std::prev(after)->end_ns < at) return kNoStep;
  return static_cast<std::uint32_t>(after - windows.begin() - 1);
}

StepLinks::StepLinks(const std::vector<StepSplit>& host, SortedLog<Launch>& launches) {
  for (const StepSplit& step : host) windows_.push_back({step.id, step.begin_ns, step.end_ns});
  reach_.resize(windows_.size());
  if (!windows_.empty()) {
    correlations_.reserve(launches.size());
    steps_.reserve(launches.size());
    launches.each([&](const Launch& launch) {
      // A correlation that comes twice: the earlier call is the launch.
      if (!correlations_.empty() && correlations_.back() == launch.correlation) return;
      correlations_.push_back(launch.correlation);
      steps_.push_back(step_of_launch(launch.start_ns));
    });
  }
  launches.clear();
}

std::uint32_t StepLinks::step_of_launch(std::int64_t start) const noexcept {
  const auto after =
      std::upper_bound(windows_.begin(), windows_.end(), start,
                       [](std::int64_t at, const Window& window) { return at < window.begin_ns; });
  if (after == windows_.begin()) return kBeforeSteps;
  const auto index = static_cast<std::size_t>(after - windows_.begin()) - 1;
  // Between two windows is what prof.step() itself does: it belongs to the step that it ends.
  if (after == windows_.end() && start > windows_.back().end_ns) return kNoStep;
  return static_cast<std::uint32_t>(index);
}

std::uint32_t StepLinks::step_of(std::uint64_t correlation) {
  // Activities come nearly in the order in which they were launched.
  const std::size_t near = std::min(hint_ + 16, correlations_.size());
  for (std::size_t i = hint_; i < near; ++i) {
    if (correlations_[i] == correlation) {
      hint_ = i;
      return steps_[i];
    }
  }
  const auto at = std::lower_bound(correlations_.begin(), correlations_.end(), correlation);
  if (at == correlations_.end() || *at != correlation) return kNotLaunched;
  hint_ = static_cast<std::size_t>(at - correlations_.begin());
  return steps_[hint_];
}

void StepLinks::extend(Reach& reach, const GpuActivity& activity) noexcept {
  const std::int64_t end = activity.end_ns();
  reach.last_end = reach.any ? std::max(reach.last_end, end) : end;
  reach.any = true;
  if (activity.activity == Activity::communication) {
    reach.last_comm_end = std::max(reach.last_comm_end, end);
  }
  if (activity.activity != Activity::compute) return;
  reach.first_compute_start =
      reach.compute ? std::min(reach.first_compute_start, activity.start_ns) : activity.start_ns;
  reach.last_compute_end = reach.compute ? std::max(reach.last_compute_end, end) : end;
  reach.compute = true;
}

void StepLinks::see(const GpuActivity& activity) {
  if (windows_.empty()) return;
  const std::uint32_t step =
      activity.correlation == kNoCorrelation ? kNotLaunched : step_of(activity.correlation);
  const bool within =
      activity.start_ns >= windows_.front().begin_ns && activity.start_ns <= windows_.back().end_ns;
  if (within) ++seen_;
  if (step == kNotLaunched) {
    ++unlinked_;
    return;
  }
  if (within) ++linked_;
  if (step == kBeforeSteps) {
    extend(before_, activity);
  } else if (step != kNoStep) {
    extend(reach_[step], activity);
  }
}

bool StepLinks::enough() const noexcept {
  return linked_ > 0 && 2 * linked_ >= seen_ &&
         std::any_of(reach_.begin(), reach_.end(), [](const Reach& reach) { return reach.any; });
}

std::int64_t StepLinks::end_of(std::size_t window, bool last) const noexcept {
  const Reach& reach = reach_[window];
  if (last || !reach.compute) return reach.last_end;
  // Collectives after the last compute are the step's own, until the next one computes.
  for (std::size_t next = window + 1; next < reach_.size(); ++next) {
    if (!reach_[next].compute) continue;
    return std::max(reach.last_compute_end,
                    std::min(reach.last_comm_end, reach_[next].first_compute_start));
  }
  return std::max(reach.last_compute_end, reach.last_comm_end);
}

std::vector<StepSplit> StepLinks::gpu_windows(const std::string& file, Notes& notes) {
  Place place;
  place.file = file;
  if (unlinked_ > 0) {
    notes.add(NoteCode::activity_without_launch,
              "a GPU activity whose launch is not in the trace was given a step by its time", place,
              unlinked_);
  }
  std::size_t last = 0;
  for (std::size_t i = 0; i < reach_.size(); ++i) {
    if (reach_[i].any) last = i;
  }
  std::vector<StepSplit> out;
  numbers_.assign(reach_.size(), kNoStep);
  std::int64_t begin = 0;
  std::int64_t empty = 0;
  for (std::size_t i = 0; i < reach_.size(); ++i) {
    const Reach& reach = reach_[i];
    if (!reach.any) {
      ++empty;
      continue;
    }
    if (out.empty()) {
      begin = windows_[i].begin_ns;
      const std::int64_t earlier = before_.compute ? before_.last_compute_end : before_.last_end;
      if (before_.any) begin = std::max(begin, earlier);
    }
    const std::int64_t end = end_of(i, i == last);
    if (end <= begin) {
      ++empty;
      continue;
    }
    StepSplit step;
    step.id = windows_[i].id;
    step.begin_ns = begin;
    step.end_ns = end;
    numbers_[i] = static_cast<std::uint32_t>(out.size());
    out.push_back(step);
    begin = end;
  }
  if (empty > 0) {
    notes.add(NoteCode::step_without_gpu_work,
              "a step that launched nothing on the GPU has no window there", place, empty);
  }
  return out;
}

std::uint32_t StepLinks::gpu_step(std::uint64_t correlation) {
  if (correlation == kNoCorrelation) return kNoStep;
  const std::uint32_t step = step_of(correlation);
  return step < numbers_.size() ? numbers_[step] : kNoStep;
}

}  // namespace mfu::traces
