#include "report/diagnose/replay_wording.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mfu/diagnose.hpp"
#include "mfu/quantity.hpp"
#include "timings/trace.hpp"

namespace mfu {
namespace {

// A part counts from 1 % of the ideal step.
constexpr double kLeastSlowdown = 1.01;
constexpr std::size_t kMostParts = 3;

std::string time_text(double value) { return format_seconds(value); }

std::string saved(double left, double of) {
  return left > of ? fmt::format("{} ({} more)", time_text(left), format_percent(left / of - 1.0))
                   : fmt::format("{} ({} less)", time_text(left), format_percent(1.0 - left / of));
}

std::string parts_text(std::string_view what, std::vector<PipelineReplay::Part> parts) {
  std::erase_if(parts, [](const auto& part) { return part.slowdown < kLeastSlowdown; });
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.slowdown > b.slowdown; });
  if (parts.size() > kMostParts) parts.resize(kMostParts);
  std::string text;
  for (const auto& part : parts) {
    text += fmt::format("{}{}{}{} x {:.3f}", text.empty() ? "" : ", ", what,
                        what.empty() ? "" : " ", part.name, part.slowdown);
  }
  return text;
}

}  // namespace

std::optional<ReplaySection> describe_replay(const RunTimings& run, const Diagnosis& diagnosis) {
  if (!run.replay) return std::nullopt;
  ReplaySection section;
  section.replay = *run.replay;
  section.title = "Replay of the recorded schedule";
  const PipelineReplay& r = section.replay;
  const auto add = [&section](std::string label, std::string text) {
    if (!text.empty()) section.lines.push_back({std::move(label), std::move(text)});
  };
  add("step",
      fmt::format("{} recorded, {} with no gaps between the operations (x {:.4f})",
                  time_text(r.recorded_step_s), time_text(r.replayed_step_s), r.launch_slowdown()));
  add("ideal",
      fmt::format("{}: each kind of compute at its mean, each kind of communication at its median; "
                  "slowdown x {:.3f}",
                  time_text(r.ideal_step_s), r.slowdown()));
  std::string by = parts_text("stage", r.by_stage);
  for (const std::string& more : {parts_text("dp", r.by_dp), parts_text("", r.by_op_type)}) {
    if (!more.empty()) by += (by.empty() ? "" : "; ") + more;
  }
  add("by part", by.empty() ? "no part alone slows the ideal by 1 %" : by);
  if (r.worst_rank) {
    add("one rank", fmt::format("rank {} at its peers' median leaves {}", *r.worst_rank,
                                saved(r.worst_rank_at_peers_step_s, r.replayed_step_s)));
  }
  if (r.by_stage.size() > 1) {
    add("stages", fmt::format("compute balanced across the stages leaves {}",
                              saved(r.balanced_stages_step_s, r.replayed_step_s)));
  }
  add("no waits", fmt::format("the longest rank alone takes {}", time_text(r.no_waits_step_s)));
  if (diagnosis.verdict.recoverable) {
    add("table", fmt::format("the columns alone say {} for the verdict's cause",
                             time_text(diagnosis.verdict.recoverable->step_seconds)));
  }
  return section;
}

}  // namespace mfu
