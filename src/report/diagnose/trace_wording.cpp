#include "report/diagnose/trace_wording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "mfu/quantity.hpp"
#include "statistics/robust.hpp"
#include "timings/trace.hpp"

namespace mfu {

namespace {

// Ranks that are named on the screen; all are in the JSON report.
constexpr std::size_t kMostNamed = 3;
// Of the median rank's step: a longest step that is no longer than this is like the others.
constexpr double kLongerShare = 0.05;

std::string ranks_text(std::int64_t count) {
  return count == 1 ? "1 rank" : fmt::format("{} ranks", count);
}

std::string pairing_line(const TraceEvidence& trace) {
  const std::string how = trace.by_sequence ? "by sequence number" : "by order";
  switch (trace.pairing) {
    case TracePairing::paired: {
      std::string text =
          fmt::format("{} of {} collectives paired {}", trace.paired, trace.collectives, how);
      if (trace.end_spread_s) {
        text += fmt::format("; their ends agree within {} (median)",
                            format_seconds(*trace.end_spread_s));
      }
      if (trace.clock_offset_s) {
        text += fmt::format(
            "; a constant clock offset of {} between ranks, estimated from the "
            "ends, is removed",
            format_seconds(*trace.clock_offset_s));
      }
      if (!trace.reason.empty()) text += fmt::format("; the rest: {}", trace.reason);
      if (!trace.waits_separate) {
        text += fmt::format(
            "; only {} of communication time is paired, so waiting and transfer stay combined",
            format_percent(trace.paired_share, 0));
      }
      return text;
    }
    case TracePairing::durations:
      return fmt::format("{} of {} collectives paired {}, by duration alone: {}", trace.paired,
                         trace.collectives, how, trace.reason);
    case TracePairing::refused:
      return fmt::format("collectives are not paired: {}; durations only, so no rank is named last",
                         trace.reason);
    case TracePairing::none:
      break;
  }
  if (trace.ranks.size() > 1) return "no collectives in the traces";
  if (trace.world_size && *trace.world_size > 1) {
    return fmt::format(
        "one rank of {}: its own split; the other traces show which ranks it waits for",
        *trace.world_size);
  }
  return "";
}

std::string last_line(const TraceEvidence& trace) {
  if (trace.pairing != TracePairing::paired || trace.paired == 0) return "";
  std::string text;
  // A rank that is not recorded may have been later still.
  const auto recorded = static_cast<std::int64_t>(trace.ranks.size());
  const bool missing = trace.world_size && recorded < *trace.world_size;
  for (std::size_t i = 0; i < trace.late.size() && i < kMostNamed; ++i) {
    const TraceLate& late = trace.late[i];
    text += text.empty() ? fmt::format("rank {} is last in {} of {} collectives", late.rank,
                                       late.collectives, trace.paired)
                         : fmt::format(", rank {} in {}", late.rank, late.collectives);
    if (i > 0) continue;
    const std::string first = late.first_index == 0 ? std::string("in the first")
                                                    : fmt::format("in number {}", late.first_index);
    text += fmt::format(" ({} after the first to arrive, {})", format_seconds(late.first_late_s),
                        first);
  }
  if (trace.late.size() > kMostNamed) {
    text += fmt::format(", {} more",
                        ranks_text(static_cast<std::int64_t>(trace.late.size() - kMostNamed)));
  }
  if (trace.nobody_late > 0) {
    text += (text.empty() ? "" : "; ") +
            fmt::format("no rank later than the clocks can resolve in {} of {}", trace.nobody_late,
                        trace.paired);
  }
  if (missing) {
    text = fmt::format("among the {} of {} ranks recorded: ", recorded, *trace.world_size) + text;
  }
  return text;
}

// By duration alone: the rank that waits least keeps the others waiting.
std::string shortest_line(const TraceEvidence& trace) {
  if (trace.pairing != TracePairing::durations || trace.list.empty()) return "";
  std::vector<std::int64_t> ranks;
  for (const TraceCollective& one : trace.list) ranks.push_back(one.shortest_rank);
  std::sort(ranks.begin(), ranks.end());
  std::int64_t best = ranks.front();
  std::ptrdiff_t most = 0;
  for (auto at = ranks.begin(); at != ranks.end();) {
    const auto end = std::upper_bound(at, ranks.end(), *at);
    if (end - at > most) {
      most = end - at;
      best = *at;
    }
    at = end;
  }
  return fmt::format("rank {} waits least in {} of {} collectives", best, most, ranks.size());
}

double mean_of(const Column& column, std::size_t rank) {
  if (column.empty()) return 0.0;
  Sum total;
  std::size_t known = 0;
  for (std::size_t s = 0; s < column.steps(); ++s) {
    const double value = column.at(s, rank);
    if (std::isnan(value)) continue;
    total.add(value);
    ++known;
  }
  return known == 0 ? 0.0 : total.value() / static_cast<double>(known);
}

std::vector<double> means_of(const Column& column, std::size_t ranks) {
  std::vector<double> means;
  for (std::size_t r = 0; r < ranks; ++r) means.push_back(mean_of(column, r));
  return means;
}

std::string range_text(const RunTimings& run, const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const auto rank = [&](auto at) {
    return run.ranks[static_cast<std::size_t>(at - values.begin())].rank;
  };
  if (format_seconds(*low) == format_seconds(*high)) {
    return format_seconds(*low) + " a step on every rank";
  }
  return fmt::format("{} (rank {}) to {} (rank {}) a step", format_seconds(*low), rank(low),
                     format_seconds(*high), rank(high));
}

// What a rank's step has more of than the median rank's.
enum class Excess { wait, compute, stall, comm };

struct LongStep {
  std::size_t rank = 0;  // index
  double step_s = 0.0;
  double wait_s = 0.0;
  double excess_s = 0.0;
  Excess excess = Excess::wait;
};

// Ranks whose step is longer than the median rank's, longest first.
std::vector<LongStep> long_steps(const RunTimings& run, double& usual) {
  const std::size_t n = run.ranks.size();
  const std::vector<double> compute = means_of(run.compute, n);
  const std::vector<double> comm = means_of(run.comm, n);
  const std::vector<double> stall = means_of(run.stall, n);
  const std::vector<double> wait = means_of(run.wait, n);
  std::vector<double> step(n);
  for (std::size_t r = 0; r < n; ++r) step[r] = compute[r] + comm[r] + stall[r] + wait[r];
  usual = median(step);
  const double medians[]{median(wait), median(compute), median(stall), median(comm)};
  std::vector<LongStep> found;
  for (std::size_t r = 0; r < n; ++r) {
    if (!(step[r] > (1.0 + kLongerShare) * usual)) continue;
    LongStep one{r, step[r], wait[r], -1.0, Excess::comm};
    const double more[]{wait[r] - medians[0], compute[r] - medians[1], stall[r] - medians[2],
                        comm[r] - medians[3]};
    for (std::size_t k = 0; k < std::size(more); ++k) {
      if (!(more[k] > one.excess_s)) continue;
      one.excess_s = more[k];
      one.excess = static_cast<Excess>(k);
    }
    found.push_back(one);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const LongStep& x, const LongStep& y) { return x.step_s > y.step_s; });
  return found;
}

// The longest step belongs to the longest waiter if its excess is waiting.
std::string longest_line(const RunTimings& run) {
  double usual = 0.0;
  const std::vector<LongStep> found = long_steps(run, usual);
  if (found.empty()) return "";
  const LongStep& longest = found.front();
  std::string who = fmt::format("rank {} ({} a step)", run.ranks[longest.rank].rank,
                                format_seconds(longest.step_s));
  std::size_t named = 1;
  for (std::size_t i = 1; i < found.size() && named < kMostNamed; ++i) {
    if (found[i].excess != longest.excess) continue;
    who += fmt::format(", rank {} ({})", run.ranks[found[i].rank].rank,
                       format_seconds(found[i].step_s));
    ++named;
  }
  who += fmt::format(" against {} of the median rank: ", format_seconds(usual));
  const std::string excess = format_seconds(longest.excess_s);
  switch (longest.excess) {
    case Excess::wait:
      return who + fmt::format("{}, not the cause; rank {} waits {} for its peers",
                               named > 1 ? "waiters" : "a waiter", run.ranks[longest.rank].rank,
                               format_seconds(longest.wait_s));
    case Excess::compute:
      return who + fmt::format("the longest computes {} more", excess);
    case Excess::stall:
      return who + fmt::format("the longest idles or copies {} more: its host is late", excess);
    case Excess::comm:
      break;
  }
  return who + fmt::format("the longest has {} more communication{}", excess,
                           run.wait.empty() ? "; waiting and transfer are not separated" : "");
}

// "39.4 %", or "44.0 % (39.1 to 51.2 % by rank)".
std::string share_text(std::vector<double> shares) {
  const auto [low, high] = std::minmax_element(shares.begin(), shares.end());
  if (shares.size() == 1) return format_percent(shares.front());
  const std::string range =
      fmt::format(" ({:.1f} to {} by rank)", 100 * *low, format_percent(*high));
  return format_percent(median(shares)) + range;
}

std::string idle_line(const TraceEvidence& trace) {
  std::vector<double> span;
  std::vector<double> windows;
  bool profiler_steps = true;
  for (const TraceRank& rank : trace.ranks) {
    if (rank.gpu_span.window_s > 0) span.push_back(rank.gpu_span.idle_s / rank.gpu_span.window_s);
    if (rank.host_windows.window_s > 0) {
      windows.push_back(rank.host_windows.idle_s / rank.host_windows.window_s);
    }
    profiler_steps = profiler_steps && rank.steps_from != TraceSteps::nvtx;
  }
  std::string text;
  if (!span.empty()) text = share_text(span) + " of first to last GPU activity";
  if (!windows.empty()) {
    text += (text.empty() ? "" : "; ") + share_text(windows) +
            (profiler_steps ? " of the ProfilerStep windows" : " of the NVTX step ranges");
  }
  return text;
}

std::string memory_line(const TraceEvidence& trace) {
  std::vector<double> shares;
  for (const TraceRank& rank : trace.ranks) {
    if (!(rank.in_steps.window_s > 0)) continue;
    shares.push_back(rank.in_steps.exposed_memory_s / rank.in_steps.window_s);
  }
  if (shares.empty() || !(*std::max_element(shares.begin(), shares.end()) > 0)) return "";
  return share_text(shares) + " of the step in exposed memory copies and sets; part of the stall";
}

}  // namespace

std::optional<TraceSection> describe_trace(const RunTimings& run) {
  if (!run.trace) return std::nullopt;
  TraceSection section;
  section.evidence = *run.trace;
  const TraceEvidence& trace = section.evidence;
  const bool several = run.ranks.size() > 1;
  section.title = several ? "Across ranks" : "In the trace";
  const auto add = [&section](std::string label, std::string text) {
    if (!text.empty()) section.lines.push_back({std::move(label), std::move(text)});
  };
  add(several ? "pairs" : "ranks", pairing_line(trace));
  add("last", last_line(trace));
  add("least", shortest_line(trace));
  if (several && !run.steps.empty()) {
    add("compute", range_text(run, means_of(run.compute, run.ranks.size())));
    add("longest", longest_line(run));
  }
  add("idle", idle_line(trace));
  add("memory", memory_line(trace));
  const bool span = !trace.ranks.empty() &&
                    std::all_of(trace.ranks.begin(), trace.ranks.end(), [](const TraceRank& rank) {
                      return rank.steps_from == TraceSteps::captured_span;
                    });
  if (span)
    add("steps", "none in the trace: the captured span, first to last GPU activity, counts as one");
  return section;
}

}  // namespace mfu
