#include "diagnose/fit/job.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "base/note_code.hpp"
#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {

// A step is kept when at least this share of the ranks has all three buckets.
constexpr double kStepCoverage = 0.9;

bool holds_nan(std::span<const double> values) {
  return std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
}

}  // namespace

Job::Job(const RunTimings& run, Notes& notes)
    : run_(run), compute_(&run.compute), comm_(&run.comm), stall_(&run.stall) {
  if (run.ranks.empty() || run.steps.empty()) {
    throw Error(ErrorKind::insufficient, "the run has no rank or no step");
  }
  place_ranks();
  choose_steps(notes);
  fill_holes(notes);
  measure_steps();
}

std::vector<double> Job::series(const Column& column, std::size_t rank) const {
  std::vector<double> values;
  values.reserve(used_.size());
  for (const std::size_t s : used_) {
    const double value = column.at(s, rank);
    if (!std::isnan(value)) values.push_back(value);
  }
  return values;
}

void Job::place_ranks() {
  const std::size_t n = ranks();
  const auto& sizes = run_.parallelism;
  stages_ = sizes[Axis::pp].value_or(1);
  for (const RankInfo& info : run_.ranks) stages_ = std::max(stages_, info.coords[Axis::pp] + 1);
  if (run_.workload.microbatches) {
    chunks_ = static_cast<double>(*run_.workload.microbatches) *
              static_cast<double>(std::max(1, run_.workload.virtual_stages));
  }

  stage_of_.resize(n);
  pipeline_of_.resize(n);
  node_of_.assign(n, -1);
  stage_ranks_.assign(static_cast<std::size_t>(stages_), {});
  // Tensor-, context- and expert-parallel peers run in lock-step, layer by layer: one pipeline.
  std::map<int, int> pipeline_ids;
  std::map<std::string, int> node_ids;
  for (std::size_t r = 0; r < n; ++r) {
    const Coords& at = run_.ranks[r].coords;
    stage_of_[r] = std::max(0, at[Axis::pp]);
    stage_ranks_[static_cast<std::size_t>(stage_of_[r])].push_back(r);
    // Without a data-parallel index each rank of a stage is a replica of its own.
    const int replica =
        at[Axis::dp] >= 0
            ? at[Axis::dp]
            : static_cast<int>(stage_ranks_[static_cast<std::size_t>(stage_of_[r])].size()) - 1;
    pipeline_of_[r] =
        pipeline_ids.try_emplace(replica, static_cast<int>(pipeline_ids.size())).first->second;
    if (!run_.ranks[r].node.empty()) {
      const auto [it, added] =
          node_ids.try_emplace(run_.ranks[r].node, static_cast<int>(nodes_.size()));
      if (added) nodes_.push_back({run_.ranks[r].node, {}});
      node_of_[r] = it->second;
      nodes_[static_cast<std::size_t>(it->second)].ranks.push_back(r);
    }
  }
  pipelines_ = static_cast<int>(pipeline_ids.size());
}

void Job::choose_steps(Notes& notes) {
  const std::size_t n = ranks();
  std::int64_t dropped = 0;
  std::int64_t first = -1;
  for (std::size_t s = 0; s < run_.steps.size(); ++s) {
    std::size_t present = 0;
    for (std::size_t r = 0; r < n; ++r) {
      present += !std::isnan(run_.compute.at(s, r)) && !std::isnan(run_.comm.at(s, r)) &&
                 !std::isnan(run_.stall.at(s, r));
    }
    if (static_cast<double>(present) >= kStepCoverage * static_cast<double>(n)) {
      used_.push_back(s);
    } else {
      if (dropped++ == 0) first = run_.steps[s];
    }
  }
  if (dropped > 0) {
    notes.add(NoteCode::steps_with_missing_samples,
              "steps left out because more than a tenth of the ranks has no sample in them",
              Place{.what = "step " + std::to_string(first)}, dropped);
  }
  if (used_.empty()) {
    throw Error(ErrorKind::insufficient, "no step has samples from nine tenths of the ranks", {},
                "give fewer ranks with --ranks, or a file with fewer missing samples");
  }
}

void Job::fill_holes(Notes& notes) {
  std::int64_t filled = 0;
  std::string first;
  const auto fill = [&](const Column*& column, Column& own, std::string_view name) {
    bool holes = false;
    for (const std::size_t s : used_) holes = holes || holds_nan(column->row(s));
    if (!holes) return;
    own = *column;
    for (std::size_t r = 0; r < ranks(); ++r) {
      std::vector<double> known = series(*column, r);
      const double stand_in = median_inplace(known);
      for (const std::size_t s : used_) {
        if (!std::isnan(own.at(s, r))) continue;
        if (std::isnan(stand_in)) {
          throw Error(ErrorKind::insufficient, "a rank has no sample in any step that is used",
                      Place{.what = "rank " + std::to_string(run_.ranks[r].rank) + ", " +
                                    std::string(name)},
                      "leave the rank out with --ranks");
        }
        own.at(s, r) = stand_in;
        if (filled++ == 0) {
          first = "rank " + std::to_string(run_.ranks[r].rank) + ", " + std::string(name) +
                  ", step " + std::to_string(run_.steps[s]);
        }
      }
    }
    column = &own;
  };
  fill(compute_, own_compute_, "compute");
  fill(comm_, own_comm_, "comm");
  fill(stall_, own_stall_, "stall");
  if (filled > 0) {
    notes.add(NoteCode::missing_samples,
              "samples are missing; the median of the same rank replaces each",
              Place{.what = first}, filled);
  }
}

void Job::measure_steps() {
  std::vector<double> walls(ranks());
  std::vector<double> spreads;
  step_seconds_.clear();
  for (std::size_t s = 0; s < steps(); ++s) {
    const auto c = compute(s);
    const auto m = comm(s);
    const auto o = stall(s);
    for (std::size_t r = 0; r < ranks(); ++r) {
      double wall =
          run_.step.empty() ? std::numeric_limits<double>::quiet_NaN() : raw(run_.step, s)[r];
      if (std::isnan(wall)) {
        wall = c[r] + m[r] + o[r];
        if (!run_.wait.empty() && !std::isnan(raw(run_.wait, s)[r])) wall += raw(run_.wait, s)[r];
      }
      walls[r] = wall;
    }
    const auto [low, high] = std::minmax_element(walls.begin(), walls.end());
    const double spread = *high - *low;
    const double middle = median_inplace(walls);
    step_seconds_.push_back(middle);
    spreads.push_back(middle > 0.0 ? spread / middle : 0.0);
  }
  mean_step_ = mean(step_seconds_);
  step_spread_ = median_inplace(spreads);
}

std::vector<Group> Job::groups_along(Axis axis) const {
  std::map<std::array<int, 5>, Group> groups;
  for (std::size_t r = 0; r < ranks(); ++r) {
    Coords at = run_.ranks[r].coords;
    // Without coordinates all ranks are data-parallel replicas of each other.
    if (at[axis] < 0 && axis != Axis::dp) continue;
    at[axis] = -1;
    Group& group = groups[at.at];
    if (group.ranks.empty()) {
      group.stage = stage_of_[r];
      group.name = std::string(to_string(axis)) + " group";
      const char* link = " of ";
      for (const Axis other : kAxes) {
        const bool always = other == Axis::tp || other == Axis::dp || other == Axis::pp;
        if (other == axis || at[other] < 0) continue;
        if (!always && run_.parallelism[other].value_or(1) == 1) continue;
        group.name += link + std::string(to_string(other)) + "=" + std::to_string(at[other]);
        link = " ";
      }
    }
    group.ranks.push_back(r);
  }
  std::vector<Group> result;
  result.reserve(groups.size());
  for (auto& [key, group] : groups) result.push_back(std::move(group));
  return result;
}

std::int64_t expected_ranks(const RunTimings& run) {
  const auto recorded = static_cast<std::int64_t>(run.ranks.size());
  double product = 1.0;
  bool sized = false;
  for (const Axis axis : kAxes) {
    if (run.parallelism[axis]) {
      sized = true;
      product *= static_cast<double>(*run.parallelism[axis]);
    }
  }
  if (!sized) return run.hardware.count.value_or(recorded);
  std::set<int> tensor_indices;
  for (const RankInfo& info : run.ranks) tensor_indices.insert(info.coords[Axis::tp]);
  const int tp = run.parallelism[Axis::tp].value_or(1);
  if (tp > 1 && tensor_indices.size() <= 1) product /= tp;
  return static_cast<std::int64_t>(std::min(product, 1e15));
}

bool waits_unknown(const Job& job) { return job.ranks() == 1 && expected_ranks(job.run()) > 1; }

}  // namespace mfu::diagnosis
