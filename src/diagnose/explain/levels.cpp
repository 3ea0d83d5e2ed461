#include "diagnose/explain/levels.hpp"

#include <algorithm>

#include "statistics/robust.hpp"

namespace mfu::diagnosis {

std::vector<double> rank_means(RuleContext& context, const Scenario& scenario) {
  const Job& job = context.job();
  std::vector<Sum> totals(job.ranks());
  for (std::size_t s = 0; s < job.steps(); ++s) {
    const auto row = context.model.compute_row(scenario, s);
    for (std::size_t r = 0; r < row.size(); ++r) totals[r].add(row[r]);
  }
  std::vector<double> means;
  for (const Sum& total : totals) means.push_back(total.value() / static_cast<double>(job.steps()));
  return means;
}

std::vector<double> stage_means(const Job& job, std::span<const double> row) {
  std::vector<double> means;
  for (const auto& ranks : job.stage_ranks()) {
    Sum total;
    for (const std::size_t r : ranks) total.add(row[r]);
    means.push_back(ranks.empty() ? 0.0 : total.value() / static_cast<double>(ranks.size()));
  }
  return means;
}

RowEdit everything_even() {
  return [](std::size_t, std::span<double> row) {
    const double level = mean(row);
    std::fill(row.begin(), row.end(), level);
  };
}

std::vector<double> saved_by_balancing(RuleContext& context) {
  Scenario even = context.model.measured();
  even.compute.push_back(everything_even());
  return context.loss_under(even);
}

}  // namespace mfu::diagnosis
