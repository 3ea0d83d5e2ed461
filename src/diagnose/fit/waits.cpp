#include "diagnose/fit/waits.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "diagnose/thresholds.hpp"
#include "statistics/robust.hpp"

namespace mfu::diagnosis {

namespace {

// Sums over steps and ranks of the products of what two columns are beside the step's median.
struct Together {
  double squares_x = 0.0;
  double squares_y = 0.0;
  double products = 0.0;

  // y falls where x rises, second for second.
  [[nodiscard]] bool complement(double least = limits::kComplement) const {
    if (!(squares_x > 0.0) || !(squares_y > 0.0)) return false;
    return products / squares_x < -least && products / std::sqrt(squares_x * squares_y) < -least;
  }
  void add(double x, double y) {
    squares_x += x * x;
    squares_y += y * y;
    products += x * y;
  }
};

// The columns beside the median of the data-parallel group in each step: its ranks share the
// seconds of a transfer.
struct Beside {
  std::vector<double> compute, comm, stall;  // [step x rank]
};

Beside beside_medians(const Job& job) {
  Beside result;
  const std::vector<Group> groups = job.groups_along(Axis::dp);
  std::vector<double> values;
  const auto take = [&](std::span<const double> row, std::vector<double>& into) {
    for (const Group& group : groups) {
      values.clear();
      for (const std::size_t r : group.ranks) values.push_back(row[r]);
      const double usual = median(values);
      for (const double value : values) into.push_back(value - usual);
    }
  };
  // Some tens of thousands of cells say it as well as millions.
  const std::size_t every = 1 + job.ranks() * job.steps() / limits::kMostCells;
  for (std::size_t s = 0; s < job.steps(); s += every) {
    take(job.compute(s), result.compute);
    take(job.comm(s), result.comm);
    take(job.stall(s), result.stall);
  }
  return result;
}

bool in_lockstep_groups(const Job& job) {
  const auto& sizes = job.run().parallelism;
  return sizes[Axis::tp].value_or(1) > 1 || sizes[Axis::cp].value_or(1) > 1 ||
         sizes[Axis::ep].value_or(1) > 1;
}

// A few values lie far above the others, not below.
bool few_are_high(std::span<const double> values) {
  Sum cubes;
  for (const double value : values) cubes.add(value * value * value);
  return cubes.value() > 0.0;
}

}  // namespace

FoundWaits find_waits(const Job& job) {
  FoundWaits found;
  found.where = job.run().waits_in == WaitsIn::stall ? WaitsIn::stall : WaitsIn::comm;
  if (job.ranks() < 2) return found;
  const Beside all = beside_medians(job);
  // Ranks that stop, or wait for one that does, say nothing about what compute does: the usual
  // cells are asked, and all of them.
  const double comm_limit = limits::kUsualCells * robust_sigma(all.comm);
  const double stall_limit = limits::kUsualCells * robust_sigma(all.stall);
  Together usual_comm;
  Together usual_stall;
  Together comm;
  Together stall;
  Together stall_comm;
  for (std::size_t i = 0; i < all.compute.size(); ++i) {
    comm.add(all.compute[i], all.comm[i]);
    stall.add(all.compute[i], all.stall[i]);
    stall_comm.add(all.stall[i], all.comm[i]);
    if (std::fabs(all.comm[i]) > comm_limit || std::fabs(all.stall[i]) > stall_limit) continue;
    usual_comm.add(all.compute[i], all.comm[i]);
    usual_stall.add(all.compute[i], all.stall[i]);
  }
  const double cells = static_cast<double>(all.compute.size());
  const double comm_moves = std::sqrt(comm.squares_y / cells);
  // Other groups' slow transfers look the same, but there a few ranks have less stall, not more.
  const bool stopped = stall_comm.complement() &&
                       comm_moves > limits::kLeastMove * job.mean_step() &&
                       (!in_lockstep_groups(job) || few_are_high(all.stall));
  const std::array says_comm{comm.complement(), usual_comm.complement(), stopped};
  const std::array says_stall{stall.complement(), usual_stall.complement(), false};
  for (std::size_t i = 0; i < says_comm.size(); ++i) {
    if (says_comm[i] == says_stall[i]) continue;
    found.where = says_comm[i] ? WaitsIn::comm : WaitsIn::stall;
    // Do the others say the same?
    for (std::size_t k = i + 1; k < says_comm.size(); ++k) {
      if (says_comm[k] != says_stall[k] && says_comm[k] != says_comm[i]) {
        found.doubt = limits::kWaitsDoubt;
      }
    }
    return found;
  }
  // Nothing moves: then there is nothing to be read wrongly either.
  const double stall_moves = std::sqrt(stall.squares_y / cells);
  const bool quiet = std::max(comm_moves, stall_moves) < limits::kLeastMove * job.mean_step();
  found.doubt = quiet ? 0.0 : limits::kWaitsDoubt;
  return found;
}

void beside_usual(Column& cells, Common common) {
  std::vector<double> series(cells.steps());
  for (std::size_t u = 0; u < cells.ranks(); ++u) {
    for (std::size_t s = 0; s < series.size(); ++s) series[s] = cells.at(s, u);
    const double usual = median(series);
    for (std::size_t s = 0; s < series.size(); ++s) cells.at(s, u) -= usual;
  }
  if (cells.ranks() < 2) return;
  for (std::size_t s = 0; s < cells.steps(); ++s) {
    const double all = common == Common::median ? median(cells.row(s)) : mean(cells.row(s));
    for (double& value : cells.row(s)) value -= all;
  }
}

bool absorbs_waits(const Job& job, bool stall) {
  const auto units = static_cast<std::size_t>(job.pipelines() * job.stages());
  Column compute(job.steps(), units);
  Column bucket(job.steps(), units);
  const auto unit_of = [&](std::size_t r) {
    return static_cast<std::size_t>(job.pipeline_of(r) * job.stages() + job.stage_of(r));
  };
  std::vector<double> members(units, 0.0);  // lock-step peers count as one
  for (std::size_t r = 0; r < job.ranks(); ++r) members[unit_of(r)] += 1.0;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const auto c = job.compute(s);
    const auto b = stall ? job.stall(s) : job.comm(s);
    for (std::size_t r = 0; r < job.ranks(); ++r) {
      const std::size_t u = unit_of(r);
      compute.at(s, u) = std::max(compute.at(s, u), c[r]);
      bucket.at(s, u) += b[r] / members[u];
    }
  }
  beside_usual(compute);
  beside_usual(bucket);
  Together both;
  for (std::size_t s = 0; s < job.steps(); ++s) {
    for (std::size_t u = 0; u < units; ++u) both.add(compute.at(s, u), bucket.at(s, u));
  }
  return both.complement(limits::kStagesComplement);
}

}  // namespace mfu::diagnosis
