#include "faults/job/reshape.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "statistics/robust.hpp"

namespace mfu::faults {

namespace {

template <class Visit>
void each_column(RunTimings& run, Visit visit) {
  for (Column* column : std::array{&run.compute, &run.comm, &run.stall, &run.wait, &run.step,
                                   &run.forward, &run.backward, &run.overlapped_comm}) {
    if (!column->empty()) visit(*column);
  }
  for (auto& [name, column] : run.comm_by_group) visit(column);
}

// A column of other cells: out(s, r) = in(steps[s], ranks[r]).
Column taken(const Column& in, const std::vector<std::size_t>& steps,
             const std::vector<std::size_t>& ranks) {
  Column out(steps.size(), ranks.size());
  for (std::size_t s = 0; s < steps.size(); ++s) {
    for (std::size_t r = 0; r < ranks.size(); ++r) out.at(s, r) = in.at(steps[s], ranks[r]);
  }
  return out;
}

std::vector<std::size_t> counting(std::size_t n) {
  std::vector<std::size_t> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = i;
  return all;
}

std::vector<RankInfo> infos(const RunTimings& run, const std::vector<std::size_t>& order) {
  std::vector<RankInfo> out;
  for (const std::size_t i : order) out.push_back(run.ranks[i]);
  return out;
}

}  // namespace

RunTimings scaled(RunTimings run, double factor) {
  each_column(run, [&](Column& column) {
    for (std::size_t s = 0; s < column.steps(); ++s) {
      for (double& value : column.row(s)) value *= factor;
    }
  });
  return run;
}

RunTimings renumbered(const RunTimings& run, const std::vector<std::size_t>& order) {
  RunTimings out = run;
  out.ranks = infos(run, order);
  for (std::size_t r = 0; r < out.ranks.size(); ++r) {
    out.ranks[r].rank = static_cast<std::int64_t>(r);
  }
  each_column(out,
              [&](Column& column) { column = taken(column, counting(run.steps.size()), order); });
  return out;
}

RunTimings with_steps(const RunTimings& run, const std::vector<std::size_t>& order) {
  RunTimings out = run;
  each_column(out,
              [&](Column& column) { column = taken(column, order, counting(run.ranks.size())); });
  for (RankInfo& info : out.ranks) {
    for (std::vector<double>* series :
         {&info.telemetry.sm_clock_mhz, &info.telemetry.temperature_c,
          &info.telemetry.memory_temperature_c, &info.telemetry.power_w}) {
      if (series->size() != run.steps.size()) continue;
      const std::vector<double> before = *series;
      for (std::size_t s = 0; s < order.size(); ++s) (*series)[s] = before[order[s]];
    }
  }
  return out;
}

RunTimings with_ranks(const RunTimings& run, const std::vector<std::size_t>& kept) {
  RunTimings out = run;
  out.ranks = infos(run, kept);
  out.recorded_ranks = kept.size();
  each_column(out,
              [&](Column& column) { column = taken(column, counting(run.steps.size()), kept); });
  return out;
}

RunTimings with_typical_rank(const RunTimings& run) {
  RunTimings out = run;
  each_column(out, [&](Column& column) {
    Column wider(column.steps(), column.ranks() + 1);
    for (std::size_t s = 0; s < column.steps(); ++s) {
      const std::span<const double> row = std::as_const(column).row(s);
      std::copy(row.begin(), row.end(), wider.row(s).begin());
      wider.at(s, column.ranks()) = median(row);
    }
    column = std::move(wider);
  });
  RankInfo info = run.ranks.back();
  ++info.rank;
  info.node = "newcomer";
  info.gpu = 0;
  ++info.coords[Axis::dp];
  out.ranks.push_back(std::move(info));
  out.recorded_ranks = out.ranks.size();
  out.hardware.count = static_cast<std::int64_t>(out.ranks.size());
  out.parallelism[Axis::dp] = run.parallelism[Axis::dp].value_or(0) + 1;
  return out;
}

}  // namespace mfu::faults
