// Clocks over the run: do they fall, and what pulls them down?
#include <cmath>
#include <optional>
#include <utility>

#include "diagnose/devices/health.hpp"
#include "statistics/robust.hpp"
#include "timings/device_health.hpp"

namespace mfu::diagnosis {

namespace {

constexpr double kClockDrop = 0.02;

// Median over the ranks of a per-step telemetry series, over the first and the last fifth of the
// steps used; nothing where the file has one value for the run, or none.
std::optional<std::pair<double, double>> ends_of(const Job& job,
                                                 std::vector<double> RankTelemetry::*series) {
  const std::size_t n = job.run().steps.size();
  std::vector<double> first;
  std::vector<double> last;
  for (const RankInfo& info : job.run().ranks) {
    const std::vector<double>& values = info.telemetry.*series;
    if (values.size() != n || n < 5) continue;
    const std::size_t fifth = n / 5;
    for (std::size_t i = 0; i < fifth; ++i) {
      if (!std::isnan(values[i])) first.push_back(values[i]);
      if (!std::isnan(values[n - 1 - i])) last.push_back(values[n - 1 - i]);
    }
  }
  if (first.empty() || last.empty()) return std::nullopt;
  return std::pair{median_inplace(first), median_inplace(last)};
}

}  // namespace

void add_clock_course(const Job& job, Finding& finding) {
  const auto clocks = ends_of(job, &RankTelemetry::sm_clock_mhz);
  if (!clocks) return;
  finding.facts.emplace_back(FactKind::clocks, clocks->second, clocks->first, 0, 0, "over the run");
  if (clocks->second > (1.0 - kClockDrop) * clocks->first) return;
  const auto heat = ends_of(job, &RankTelemetry::temperature_c);
  bool power = false;
  bool thermal = heat && heat->second > heat->first + 3.0;
  for (const RankInfo& info : job.run().ranks) {
    for (const std::string& text : info.telemetry.throttle_reasons) {
      const auto reason = throttle_reason_of(text);
      power = power || (reason && is_power(*reason));
      thermal = thermal || (reason && is_thermal(*reason));
    }
  }
  if (thermal) {
    finding.cause = Cause::thermal;
  } else if (power) {
    finding.cause = Cause::power;
  }
}

}  // namespace mfu::diagnosis
