// Factors multiply to the headline and parts add up to the step, for every kind of job.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "diagnose/detail.hpp"
#include "faults/scenarios/scenario.hpp"
#include "faults/scoring/accuracy.hpp"
#include "faults/scoring/asked.hpp"
#include "statistics/robust.hpp"

namespace {

using namespace mfu;
using namespace mfu::faults;

constexpr double kEps = std::numeric_limits<double>::epsilon();

void check_parts_multiply(const Factor& factor) {
  INFO(to_string(factor.id));
  CHECK(std::isfinite(factor.value));
  CHECK(std::isfinite(factor.loss_seconds));
  if (factor.parts.empty()) return;
  double product = 1.0;
  for (const Factor& part : factor.parts) {
    product *= part.value;
    check_parts_multiply(part);
  }
  CHECK(std::fabs(product - factor.value) <= 16.0 * kEps * std::fabs(factor.value));
}

void check_exact(const Diagnosis& diagnosis) {
  const Headline& headline = diagnosis.headline;
  double product = 1.0;
  double parallel = 1.0;
  for (const Factor& factor : diagnosis.factors) {
    product *= factor.value;
    if (factor.id != FactorId::single_gpu) parallel *= factor.value;
    check_parts_multiply(factor);
  }
  CHECK(std::fabs(parallel - headline.parallel_efficiency) <=
        16.0 * kEps * headline.parallel_efficiency);
  if (headline.mfu) {
    CHECK(std::fabs(product - *headline.mfu) <= 16.0 * kEps * *headline.mfu);
  }
  Sum seconds;
  Sum shares;
  double size = 0.0;
  for (const Part& part : diagnosis.parts) {
    CHECK(std::isfinite(part.seconds));
    seconds.add(part.seconds);
    shares.add(part.share);
    size += std::fabs(part.seconds);
  }
  const double slack = 16.0 * kEps * static_cast<double>(diagnosis.parts.size());
  CHECK(std::fabs(seconds.value() - headline.step_seconds) <= slack * size);
  CHECK(std::fabs(shares.value() - 1.0) <= slack * size / headline.step_seconds);
}

// The step and MFU of the document itself, worked out here in the plainest way.
void check_headline(const RunTimings& run, const Diagnosis& diagnosis) {
  if (run.ranks.size() > 64) return;
  const Headline& headline = diagnosis.headline;
  std::vector<double> steps;
  for (std::size_t s = 0; s < run.steps.size(); ++s) {
    bool used = false;
    for (const std::int64_t id : diagnosis.detail->steps_used) used = used || id == run.steps[s];
    if (!used) continue;
    double longest = 0.0;
    double shortest = std::numeric_limits<double>::infinity();
    for (std::size_t r = 0; r < run.ranks.size(); ++r) {
      double step = run.compute.at(s, r) + run.comm.at(s, r) + run.stall.at(s, r);
      if (!run.wait.empty()) step += run.wait.at(s, r);
      if (!run.step.empty()) step = run.step.at(s, r);
      if (std::isnan(step)) continue;
      longest = std::max(longest, step);
      shortest = std::min(shortest, step);
    }
    steps.push_back(longest);
    // Ranks meet in every step: whichever rank the step is taken from, it is nearly the same.
    CHECK(longest <= 1.2 * shortest);
  }
  CHECK(headline.step_seconds == Approx(mean(steps)).epsilon(0.05));
  if (headline.mfu) {
    CHECK(*headline.mfu * headline.step_seconds ==
          Approx(run.workload.flops_per_step.value() /
                 (static_cast<double>(run.hardware.count.value()) * 989.4e12))
              .epsilon(1e-3));
  }
}

}  // namespace

TEST_CASE("factors multiply to the headline and parts add up to the step", "[exact]") {
  const auto asked = static_cast<std::uint64_t>(asked_runs(1));
  for (const Scenario& scenario : scenarios()) {
    for (std::uint64_t k = 0; k < asked; ++k) {
      const Job job = simulate(scenario.draw(scenario_seed(scenario.name, 500 + k)));
      for (const Reference reference : {Reference::median, Reference::mean}) {
        DiagnoseOptions options;
        options.reference = reference;
        options.replicates = 50;
        Notes notes;
        const Diagnosis diagnosis = diagnose(job.run, options, notes);
        INFO(job.spec.name << ", seed " << job.spec.seed);
        check_exact(diagnosis);
        check_headline(job.run, diagnosis);
      }
    }
  }
}
