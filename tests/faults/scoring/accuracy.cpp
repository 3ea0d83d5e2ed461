#include "faults/scoring/accuracy.hpp"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>

#include "statistics/robust.hpp"

namespace mfu::faults {

namespace {

[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...) {
  std::array<char, 600> buffer{};
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(buffer.data(), buffer.size(), pattern, arguments);
  va_end(arguments);
  return buffer.data();
}

std::string text(std::string_view view) { return std::string(view); }

std::string places(const Culprits& culprits) {
  std::string out;
  const auto few = [&](const char* what, const auto& values, auto show) {
    if (values.empty()) return;
    out += std::string(" ") + what;
    for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), 4); ++i) {
      out += (i == 0 ? " " : ",") + show(values[i]);
    }
    if (values.size() > 4) out += ",.." + std::to_string(values.size());
  };
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const auto same = [](const std::string& value) { return value; };
  few("ranks", culprits.ranks, number);
  few("nodes", culprits.nodes, same);
  few("stages", culprits.stages, number);
  few("groups", culprits.groups, same);
  return out;
}

std::string describe_miss(const Job& job, const Diagnosis& diagnosis, const Score& score) {
  const JobSpec& spec = job.spec;
  const Layout& layout = spec.layout;
  const Truth& truth = job.truth;
  const Verdict& verdict = diagnosis.verdict;
  const Recording& how = spec.recording;
  std::string out =
      format("tp%d ep%d dp%d pp%d%s m%d %d steps, %s%s%s%s%s%s, loss %.3f size %.2f: ", layout.tp,
             layout.ep, layout.dp, layout.pp, layout.pipeline_inside ? "i" : "",
             spec.pace.microbatches, spec.steps,
             how.waits_in == WaitsIn::comm    ? "comm"
             : how.waits_in == WaitsIn::stall ? "stall"
                                              : "separate",
             how.bubbles_in_stall ? "+bubbles" : "", how.by_group ? " groups" : "",
             how.one_per_lockstep_group ? " lane0" : "",
             spec.noise.warmup_steps > 0 ? " warmup" : "", spec.pace.gpipe ? " gpipe" : "",
             truth.loss_share, spec.faults.empty() ? 0.0 : spec.faults[0].size);
  out += text(to_string(truth.family)) + places(truth.culprits);
  if (!truth.decidable) out += " (" + truth.why + ")";
  out += " -> " + text(to_string(verdict.family)) + "/" + text(to_string(verdict.locality)) + "/" +
         text(to_string(verdict.persistence)) + places(verdict.culprits);
  out += format(" step %.4f", truth.step_seconds);
  if (verdict.recoverable) {
    out += format(", fixed %.4f true %.4f", verdict.recoverable->step_seconds,
                  truth.fixed_step_seconds);
  }
  out += score.family ? (score.culprit ? " [step]" : " [culprit]") : " [family]";
  return out;
}

}  // namespace

std::uint64_t scenario_seed(std::string_view scenario, std::uint64_t k) noexcept {
  std::uint64_t hash = 0xCBF29CE484222325ULL;  // FNV-1a
  for (const char c : scenario) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  }
  return hash % 1'000'000 * 1000 + k;
}

Row accuracy(const Scenario& scenario, std::uint64_t first, int count,
             const DiagnoseOptions& options) {
  Row row;
  row.scenario = scenario.name;
  for (std::uint64_t k = first; k < first + static_cast<std::uint64_t>(count); ++k) {
    const std::uint64_t seed = scenario_seed(scenario.name, k);
    const Job job = simulate(scenario.draw(seed));
    Notes notes;
    const Diagnosis diagnosis = diagnose(job.run, options, notes);
    const Score result = score(diagnosis, job);
    row.tally.add(!job.spec.faults.empty(), job.truth, diagnosis.verdict, result);
    ++row.runs;
    row.family += result.family ? 1 : 0;
    row.family_exact += result.family_exact ? 1 : 0;
    row.culprit += result.family && result.culprit ? 1 : 0;
    row.persistence += result.family && result.persistence ? 1 : 0;
    row.false_alarms += result.false_alarm ? 1 : 0;
    ++row.verdicts[diagnosis.verdict.family];
    if (result.step_known) row.step_errors.push_back(result.step_error);
    if (!result.family || !result.culprit || (result.step_known && result.step_error > 0.1)) {
      row.misses.push_back({seed, describe_miss(job, diagnosis, result)});
    }
  }
  return row;
}

std::string accuracy_table(const std::vector<Row>& rows, bool misses) {
  std::string out =
      format("%-24s %4s %7s %7s %7s %7s %6s %8s %8s  %s\n", "scenario", "runs", "family", "best",
             "culprit", "persist", "alarms", "step med", "step p95", "verdicts");
  for (const Row& row : rows) {
    const double runs = static_cast<double>(std::max(1, row.runs));
    out += format("%-24s %4d %7.2f %7.2f %7.2f %7.2f %6d ", text(row.scenario).c_str(), row.runs,
                  row.family / runs, row.family_exact / runs, row.culprit / runs,
                  row.persistence / runs, row.false_alarms);
    if (row.step_errors.empty()) {
      out += format("%8s %8s  ", "-", "-");
    } else {
      out += format("%8.4f %8.4f  ", median(row.step_errors), quantile(row.step_errors, 0.95));
    }
    for (const auto& [family, count] : row.verdicts) {
      out += text(to_string(family)) + " " + std::to_string(count) + "  ";
    }
    out += '\n';
  }
  if (!misses) return out;
  for (const Row& row : rows) {
    for (const Miss& miss : row.misses) {
      out += text(row.scenario) + " " + std::to_string(miss.seed) + ": " + miss.told + "\n";
    }
  }
  return out;
}

}  // namespace mfu::faults
