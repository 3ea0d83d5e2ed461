#include "diagnose/fit/attribution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "diagnose/fit/waits.hpp"
#include "diagnose/thresholds.hpp"
#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {

double least(std::span<const double> values) {
  return *std::min_element(values.begin(), values.end());
}

// From the tenth to the ninetieth of a hundred.
double robust_range(std::vector<double> values) {
  const double high = quantile_inplace(values, 0.9);
  return high - quantile_inplace(values, 0.1);
}

double lower_quartile(std::vector<double> values) { return lower_quartile_inplace(values); }

// The seconds that stand for each group in each step: the least of its ranks', which did not wait,
// or, where the column holds no waits, the median rank's.
enum class Take { least, median };

// Of a rank that lacks a kind: what its other kinds leave of its comm. They add up to it, so a kind
// that a rank never used is not unknown. NaN where it has no kind at all.
double rest_of_comm(const Job& job, std::size_t s, std::size_t rank) {
  double rest = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [kind, column] : job.run().comm_by_group) {
    const double value = job.raw(column, s)[rank];
    if (std::isnan(value)) continue;
    rest = (std::isnan(rest) ? job.comm(s)[rank] : rest) - value;
  }
  return std::isnan(rest) ? rest : std::max(0.0, rest);
}

TransferKind per_group(const Job& job, const Column& column, std::string kind,
                       std::vector<Group> groups, Take take) {
  TransferKind result;
  result.kind = std::move(kind);
  result.group_of.assign(job.ranks(), -1);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const std::size_t r : groups[g].ranks) result.group_of[r] = static_cast<int>(g);
  }
  result.value.assign(job.steps(), std::vector<double>(groups.size(), 0.0));
  std::vector<double> known;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const auto values = job.raw(column, s);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      known.clear();
      for (const std::size_t r : groups[g].ranks) {
        const double value = std::isnan(values[r]) ? rest_of_comm(job, s, r) : values[r];
        if (!std::isnan(value)) known.push_back(value);
      }
      if (known.empty()) continue;
      result.value[s][g] = take == Take::least ? least(known) : median_inplace(known);
    }
  }
  result.groups = std::move(groups);
  return result;
}

std::vector<Group> everybody(const Job& job) {
  Group all;
  all.name = "all ranks";
  for (std::size_t r = 0; r < job.ranks(); ++r) all.ranks.push_back(r);
  return {std::move(all)};
}

// Groups for a key of comm_by_group: along the axis of that name where coordinates are known.
std::vector<Group> groups_of_kind(const Job& job, const std::string& kind) {
  for (const Axis axis : kAxes) {
    if (kind != to_string(axis)) continue;
    std::vector<Group> groups = job.groups_along(axis);
    if (!groups.empty()) return groups;
  }
  return everybody(job);
}

void split_by_groups(const Job& job, Attribution& result) {
  for (const auto& [kind, column] : job.run().comm_by_group) {
    // Point-to-point between stages includes the pipeline's bubble: its minimum is not transfer.
    if (kind == "pp" && job.stages() > 1 && job.run().waits_in != WaitsIn::separate) continue;
    result.kinds.push_back(per_group(job, column, kind, groups_of_kind(job, kind), Take::least));
  }
  for (std::size_t s = 0; s < job.steps(); ++s) {
    for (const TransferKind& kind : result.kinds) {
      if (kind.groups.empty()) continue;
      const double value = lower_quartile(kind.value[s]);
      result.transfer[s] += value;
      // Gradients and norms are reduced after the last microbatch; all else goes on inside them.
      if (kind.kind != "dp" && kind.kind != "world") result.inner[s] += value;
    }
  }
}

// Without groups it is not known how much of the transfer goes on inside the microbatches, where it
// stretches the bubble too. As much is put there as the step has room for.
void place_inner_transfer(const Job& job, PipelineForm& form, Attribution& result) {
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const double transfer = result.transfer[s];
    if (!(transfer > 0.0)) continue;
    const auto compute = job.compute(s);
    const double outside = form.slowest(compute);
    const double stretch = form.slowest(compute, transfer) - outside - transfer;
    const double room = job.step_seconds()[s] - outside - transfer;
    if (stretch > 0.0) result.inner[s] = transfer * std::clamp(room / stretch, 0.0, 1.0);
  }
}

// Comm is transfer alone (waits recorded elsewhere), as sums without groups: the ranks of a
// data-parallel group move the same bytes, and its median rank's is the transfer.
void split_transfer_alone(const Job& job, Attribution& result) {
  const Column& comm = job.run().comm;
  result.kinds.push_back(per_group(job, comm, "dp", job.groups_along(Axis::dp), Take::median));
  for (std::size_t s = 0; s < job.steps(); ++s) {
    result.transfer[s] = lower_quartile(result.kinds.front().value[s]);
  }
  // For the slow-link rule alone: the same seconds seen along the groups that run in lock-step.
  for (const Axis axis : {Axis::tp, Axis::cp, Axis::ep}) {
    if (job.run().parallelism[axis].value_or(1) < 2) continue;
    auto groups = job.groups_along(axis);
    if (groups.size() > 1) {
      result.kinds.push_back(
          per_group(job, comm, std::string(to_string(axis)), std::move(groups), Take::median));
    }
  }
}

// In an even pipeline stage p waits for p forwards before its first microbatch, and for the
// forwards and backwards of the P - 1 - p stages after it in mid-step; the rest of its bubble comes
// after its last microbatch, at the gradients. Idle time that falls from stage to stage like that
// is waiting: input that all ranks, or the first stage alone, wait for does not.
bool stalls_follow_schedule(const Job& job, const PipelineForm& form) {
  const double chunks = job.microbatch_chunks();
  if (!(chunks > 0.0)) return false;
  constexpr double kLeastOfBubble = 0.7;
  constexpr double kLeastFall = 0.5;
  const int last = job.stages() - 1;
  std::vector<double> level(static_cast<std::size_t>(job.stages()), 0.0);
  double fall = 0.0;
  for (int p = 0; p <= last; ++p) {
    std::vector<double> stall;
    std::vector<double> compute;
    for (const std::size_t r : job.stage_ranks()[static_cast<std::size_t>(p)]) {
      for (std::size_t s = 0; s < job.steps(); ++s) {
        stall.push_back(job.stall(s)[r]);
        compute.push_back(job.compute(s)[r]);
      }
    }
    if (stall.empty()) return false;
    const double both = median_inplace(compute) / chunks;
    const double forward = both * form.forward_share(p);
    const double expected = static_cast<double>(p) * forward + static_cast<double>(last - p) * both;
    level[static_cast<std::size_t>(p)] = median_inplace(stall);
    if (level[static_cast<std::size_t>(p)] < kLeastOfBubble * expected) return false;
    if (p == 0) fall = static_cast<double>(last) * (both - forward);
  }
  return level.front() - level.back() > kLeastFall * fall;
}

// Every rank is idle for PF - C in its pipeline. The bucket that holds that idle time is on most
// ranks longer than what the pipeline leaves of the step.
bool holds_bubbles(const Job& job, PipelineForm& form, const bool stall) {
  const double margin = 0.02 * job.mean_step();
  std::size_t idle = 0;
  std::size_t longer = 0;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const auto compute = job.compute(s);
    const auto bucket = stall ? job.stall(s) : job.comm(s);
    const double pipeline = form.slowest(compute);
    const double room = std::max(0.0, job.step_seconds()[s] - pipeline);
    for (std::size_t r = 0; r < job.ranks(); ++r) {
      if (pipeline - compute[r] < margin) continue;
      ++idle;
      longer += bucket[r] > room + margin;
    }
  }
  return 2 * longer > idle || absorbs_waits(job, stall) ||
         (stall && stalls_follow_schedule(job, form));
}

void split_by_pipeline_model(const Job& job, PipelineForm& form, bool bubbles,
                             Attribution& result) {
  for (std::size_t s = 0; s < job.steps(); ++s) {
    double rest = job.step_seconds()[s] - form.slowest(job.compute(s));
    // With the bubbles in `stall`, comm holds transfer alone and comes first.
    if (!bubbles) rest -= least(job.stall(s));
    result.transfer[s] = std::clamp(rest, 0.0, least(job.comm(s)));
  }
  const double usual = median(result.transfer);
  for (double& value : result.transfer) value = std::min(value, usual);
}

// What the pipeline form and the transfer leave of the step bounds every own stall: bubbles sit in
// `stall` in real files whatever they declare.
void bound_stalls(const Job& job, PipelineForm& form, bool bubbles, Attribution& result) {
  result.stall = StallMeaning::shared;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const double tail = result.transfer[s] - result.inner[s];
    const double rest =
        std::max(0.0, job.step_seconds()[s] - tail - form.slowest(job.compute(s), result.inner[s]));
    result.common_stall[s] = std::min(least(job.stall(s)), rest);
    result.own_limit[s] = rest - result.common_stall[s];
    // There the transfer is only what nothing else explains: an own stall that is seen comes first.
    if (result.method == SplitMethod::pipeline_model && !bubbles) {
      result.own_limit[s] += result.transfer[s];
    }
  }
  result.bubbles_in_stall = bubbles;
}

// Of one rank of several, all that may be waiting is told as transfer.
void take_unknown_waits(const Job& job, WaitsIn declared, Attribution& result) {
  result.common_stall.assign(job.steps(), 0.0);
  for (std::size_t s = 0; s < job.steps(); ++s) {
    result.transfer[s] = job.comm(s).front();
    if (declared == WaitsIn::stall) result.transfer[s] += job.stall(s).front();
    if (!job.run().wait.empty())
      result.transfer[s] += std::fmax(0.0, job.raw(job.run().wait, s)[0]);
  }
}

// One stage: the stall is the rank's own where the waits sit elsewhere.
void read_stalls(const Job& job, WaitsIn waits, Attribution& result) {
  if (waits != WaitsIn::stall) return;
  result.stall = StallMeaning::shared;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    result.common_stall[s] = least(job.stall(s));
    result.own_limit[s] = 0.0;
  }
}

// What of the usual rank's transfer there is no room for beside the slowest rank's work.
void hide_under_the_slowest(const Job& job, Attribution& result) {
  const bool own = result.stall == StallMeaning::own;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const auto compute = job.compute(s);
    const auto stall = job.stall(s);
    double longest = 0.0;
    for (std::size_t r = 0; r < compute.size(); ++r) {
      longest = std::max(longest, compute[r] + (own ? stall[r] : result.common_stall[s]));
    }
    const double room = std::max(0.0, job.step_seconds()[s] - longest);
    result.hidden.push_back(std::clamp(result.transfer[s] - room, 0.0, result.transfer[s]));
    result.transfer[s] -= result.hidden.back();
  }
}

// The step stays where it is while the slowest rank's work moves: the job waits for something that
// all ranks share (the host that launches, the input), and what complements the work is idle time.
void find_host_bound(const Job& job, Attribution& result) {
  std::vector<double> work;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const auto compute = job.compute(s);
    work.push_back(*std::max_element(compute.begin(), compute.end()));
  }
  // Steps that the slowest rank does lengthen, or that are long for another reason, are not asked.
  const std::vector<double>& step = job.step_seconds();
  const double usual = median(step);
  std::vector<double> asked;
  for (std::size_t s = 0; s < step.size(); ++s) {
    if (std::fabs(step[s] - usual) < limits::kStepStays * usual) asked.push_back(work[s]);
  }
  if (static_cast<double>(asked.size()) < limits::kStaysInMost * static_cast<double>(step.size()) ||
      robust_range(asked) < limits::kWorkMoves * usual) {
    return;
  }
  std::vector<double> idle;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    idle.push_back(std::max(0.0, step[s] - work[s] - result.transfer[s]));
  }
  // An unrecorded peer of a slow rank makes the step too.
  const auto seen = static_cast<std::int64_t>(job.ranks());
  const bool all_seen = seen >= job.run().hardware.count.value_or(seen);
  if (!all_seen || mean(idle) < limits::kLeastIdle * usual) return;
  result.host_bound = true;
  result.stall = StallMeaning::shared;
  result.own_limit.assign(job.steps(), 0.0);
  result.common_stall = std::move(idle);
}

}  // namespace

Attribution attribute(const Job& job, PipelineForm& form) {
  Attribution result;
  result.transfer.assign(job.steps(), 0.0);
  result.inner.assign(job.steps(), 0.0);
  result.common_stall.assign(job.steps(), 0.0);
  result.own_limit.assign(job.steps(), std::numeric_limits<double>::infinity());
  WaitsIn declared = job.run().waits_in;
  const bool pipelined = job.stages() > 1;
  const bool groups = !job.run().comm_by_group.empty();
  const bool bubbles = pipelined && holds_bubbles(job, form, true);
  if (!pipelined && declared != WaitsIn::separate) {
    const FoundWaits found = find_waits(job);
    result.waits_elsewhere = found.where != declared;
    result.waits_doubt = found.doubt;
    declared = found.where;
  }
  if (pipelined && !bubbles && declared == WaitsIn::stall && holds_bubbles(job, form, false)) {
    declared = WaitsIn::comm;
    result.waits_elsewhere = true;
  }

  if (groups) {
    result.method = declared == WaitsIn::separate ? SplitMethod::separate : SplitMethod::groups;
    result.kinds_add_up = true;
    split_by_groups(job, result);
  } else if (declared == WaitsIn::separate) {
    result.method = SplitMethod::separate;
    split_transfer_alone(job, result);
  } else if (pipelined && declared == WaitsIn::comm) {
    result.method = SplitMethod::pipeline_model;
    result.waits_in_transfer = true;
    split_by_pipeline_model(job, form, bubbles, result);
  } else {
    result.method = SplitMethod::step_minimum;
    if (declared == WaitsIn::stall) {
      split_transfer_alone(job, result);
      // Waits for other pipelines can be in comm all the same: there is no room for them.
      for (std::size_t s = 0; pipelined && s < job.steps(); ++s) {
        const double room = std::max(0.0, job.step_seconds()[s] - form.slowest(job.compute(s)));
        result.transfer[s] = std::min(result.transfer[s], room);
      }
    } else {
      result.waits_in_transfer = true;
      for (std::size_t s = 0; s < job.steps(); ++s) result.transfer[s] = least(job.comm(s));
    }
  }

  if (pipelined) {
    if (!groups && result.method != SplitMethod::pipeline_model) {
      place_inner_transfer(job, form, result);
    }
    bound_stalls(job, form, bubbles, result);
    result.waits_in_stall = bubbles || declared == WaitsIn::stall;
  } else {
    read_stalls(job, declared, result);
    result.waits_in_stall = result.stall == StallMeaning::shared;
    if (waits_unknown(job)) take_unknown_waits(job, declared, result);
    hide_under_the_slowest(job, result);
    find_host_bound(job, result);
  }
  return result;
}

}  // namespace mfu::diagnosis
