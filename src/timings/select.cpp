#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/note_code.hpp"
#include "mfu/error.hpp"
#include "mfu/timings.hpp"
#include "timings/trace.hpp"

namespace mfu {

namespace {

Error refuse(std::string option, std::string message, std::string hint) {
  Place where;
  where.what = std::move(option);
  return Error(ErrorKind::usage, std::move(message), std::move(where), std::move(hint));
}

std::vector<std::size_t> chosen_steps(const RunTimings& run, const Selection& selection) {
  std::vector<std::size_t> chosen;
  for (std::size_t s = 0; s < run.steps.size(); ++s) {
    if (selection.first_step && run.steps[s] < *selection.first_step) continue;
    if (selection.last_step && run.steps[s] > *selection.last_step) continue;
    chosen.push_back(s);
  }
  const std::string recorded = run.steps.empty()
                                   ? "the run has no steps"
                                   : "the run has steps " + std::to_string(run.steps.front()) +
                                         " to " + std::to_string(run.steps.back());
  if (chosen.empty()) throw refuse("steps", "no step is in this range", recorded);
  if (selection.skip >= chosen.size()) {
    throw refuse("skip",
                 "skipping " + std::to_string(selection.skip) + " of " +
                     std::to_string(chosen.size()) + " steps leaves none",
                 recorded);
  }
  chosen.erase(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(selection.skip));
  return chosen;
}

std::vector<std::size_t> chosen_ranks(const RunTimings& run, const Selection& selection) {
  std::vector<std::size_t> chosen;
  if (selection.ranks.empty()) {
    for (std::size_t r = 0; r < run.ranks.size(); ++r) chosen.push_back(r);
    return chosen;
  }
  for (const std::int64_t wanted : selection.ranks) {
    const auto found = std::lower_bound(
        run.ranks.begin(), run.ranks.end(), wanted,
        [](const RankInfo& rank, std::int64_t number) { return rank.rank < number; });
    if (found == run.ranks.end() || found->rank != wanted) {
      throw refuse("ranks", "rank " + std::to_string(wanted) + " is not in the run",
                   run.ranks.empty() ? std::string("the run has no ranks")
                                     : "the run has " + std::to_string(run.ranks.size()) +
                                           " ranks from " + std::to_string(run.ranks.front().rank) +
                                           " to " + std::to_string(run.ranks.back().rank));
    }
    chosen.push_back(static_cast<std::size_t>(found - run.ranks.begin()));
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

void narrow(Column& column, const std::vector<std::size_t>& steps,
            const std::vector<std::size_t>& ranks) {
  if (column.empty()) return;
  Column kept(steps.size(), ranks.size());
  for (std::size_t s = 0; s < steps.size(); ++s) {
    for (std::size_t r = 0; r < ranks.size(); ++r) kept.at(s, r) = column.at(steps[s], ranks[r]);
  }
  column = std::move(kept);
}

void narrow(std::vector<double>& series, const std::vector<std::size_t>& steps,
            std::size_t recorded_steps) {
  // One value stands for the whole run.
  if (series.size() != recorded_steps || series.size() <= 1) return;
  std::vector<double> kept;
  kept.reserve(steps.size());
  for (const std::size_t s : steps) kept.push_back(series[s]);
  series = std::move(kept);
}

// The collectives of the steps that stay, the splits of the ranks that stay. A collective stays a
// matter of all its ranks.
void narrow(TraceEvidence& trace, const std::vector<std::int64_t>& steps,
            const std::vector<RankInfo>& ranks, bool fewer_steps) {
  std::erase_if(trace.ranks, [&ranks](const TraceRank& rank) {
    return std::none_of(ranks.begin(), ranks.end(),
                        [&rank](const RankInfo& info) { return info.rank == rank.rank; });
  });
  if (!fewer_steps) return;
  // Sums over the steps that were: no longer of these.
  for (TraceRank& rank : trace.ranks) {
    rank.in_steps = {};
    rank.steps = 0;
    rank.wait_s.reset();
  }
  std::erase_if(trace.list, [&steps](const TraceCollective& one) {
    return !std::binary_search(steps.begin(), steps.end(), one.step);
  });
  trace.paired = static_cast<std::int64_t>(trace.list.size());
  trace.collectives = trace.paired;
  count_late(trace);
}

}  // namespace

RunTimings select(RunTimings run, const Selection& selection, Notes& notes) {
  const std::vector<std::size_t> steps = chosen_steps(run, selection);
  const std::vector<std::size_t> ranks = chosen_ranks(run, selection);
  const bool fewer_steps = steps.size() != run.steps.size();
  const bool fewer_ranks = ranks.size() != run.ranks.size();
  if (!fewer_steps && !fewer_ranks) return run;

  for (Column* column : {&run.compute, &run.comm, &run.stall, &run.wait, &run.step, &run.forward,
                         &run.backward, &run.overlapped_comm}) {
    narrow(*column, steps, ranks);
  }
  for (auto& [kind, column] : run.comm_by_group) narrow(column, steps, ranks);

  std::vector<RankInfo> kept_ranks;
  kept_ranks.reserve(ranks.size());
  for (const std::size_t r : ranks) {
    RankInfo& rank = run.ranks[r];
    for (std::vector<double>* series :
         {&rank.telemetry.sm_clock_mhz, &rank.telemetry.temperature_c,
          &rank.telemetry.memory_temperature_c, &rank.telemetry.power_w}) {
      narrow(*series, steps, run.steps.size());
    }
    kept_ranks.push_back(std::move(rank));
  }
  std::vector<std::int64_t> kept_steps;
  kept_steps.reserve(steps.size());
  for (const std::size_t s : steps) kept_steps.push_back(run.steps[s]);

  // Asked for, so nothing is lost; a reader of the report should still see it.
  if (fewer_steps) {
    notes.add(NoteCode::steps_selected, std::to_string(kept_steps.size()) + " of " +
                                            std::to_string(run.steps.size()) +
                                            " recorded steps are used, as asked");
  }
  if (fewer_ranks) {
    notes.add(NoteCode::ranks_selected,
              std::to_string(kept_ranks.size()) + " of " + std::to_string(run.ranks.size()) +
                  " recorded ranks are used, as asked; the job's counts stay as declared");
  }
  if (fewer_steps || kept_ranks.size() != run.recorded_ranks) run.replay.reset();
  if (run.trace) narrow(*run.trace, kept_steps, kept_ranks, fewer_steps);
  run.ranks = std::move(kept_ranks);
  run.steps = std::move(kept_steps);
  return run;
}

}  // namespace mfu
