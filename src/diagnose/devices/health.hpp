// What is known of the devices that the ranks ran on, and what it says about a finding.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "diagnose/devices/health_check.hpp"
#include "diagnose/evidence.hpp"
#include "diagnose/explain/candidate.hpp"
#include "diagnose/setup.hpp"
#include "timings/device_health.hpp"

namespace mfu::diagnosis {

// The run's own telemetry and that of files beside it, of one rank; what the files say counts where
// both say something. `on`: steps of the run (indices of RunTimings::steps) that a series is
// narrowed to; empty: all.
[[nodiscard]] DeviceHealth health_of_rank(const RunTimings& run, std::size_t rank,
                                          const std::vector<bool>& on = {});
[[nodiscard]] bool measures(const DeviceHealth& device, HealthCheck check) noexcept;

// Median over the ranks of their SM clocks under load; nothing: under half of them have one.
[[nodiscard]] std::optional<double> job_clock_mhz(const RunTimings& run);
// The observed clock over the one that the peak means; nothing: one of them is not known, or they
// are the same by definition (--clock measured).
[[nodiscard]] std::optional<double> clock_factor(const RunTimings& run, const Setup& setup);

// The row of the chip table: the run's, else what the device calls itself; nothing: not known.
[[nodiscard]] const Chip* chip_of(const DeviceHealth& device, const Setup& setup);
// Degrees from which the chip slows down; of the device itself, or of its row in the table.
[[nodiscard]] std::optional<double> slowdown_of(const DeviceHealth& device, const Setup& setup);
// The power that the chip has where nobody capped it.
[[nodiscard]] std::optional<double> rated_power(const DeviceHealth& device, const Setup& setup);
// Within a few degrees of slowing down.
[[nodiscard]] bool is_hot(const DeviceHealth& device, const Setup& setup);

// How much of the load a reason acted; an uncounted reason that was recorded is 1.
[[nodiscard]] double share_of_reason(const DeviceHealth& device, ThrottleReason reason,
                                     const Setup& setup);

inline constexpr double kClockTolerance = 0.03;  // of the peers' clock
inline constexpr double kThrottled = 0.1;        // of the load, from which a reason is told

// What holds the clocks of all ranks down: heat, a power cap, or only that they are low. Nothing:
// they are at the chip's own power limit, which nobody set and nothing can change.
[[nodiscard]] std::optional<Cause> low_clock_cause(const RunTimings& run, const Setup& setup);

// Adds to a slowdown of all GPUs how their clocks went over the run, and the cause where they fell.
void add_clock_course(const Job& job, Finding& finding);
// Adds to every finding on a place that computes longer, and on all GPUs, what telemetry says; sets
// the cause that it shows. Does nothing where nothing is measured.
void add_health_evidence(RuleContext& context);

// The fault that telemetry shows on the devices of these ranks (indices), whose compute is
// `slowdown` times that of their peers; none: nothing, or nothing is measured.
struct DeviceEvidence {
  Cause cause = Cause::none;
  bool clocks_measured = false;  // of these ranks and of peers: a low clock would have been seen
};
[[nodiscard]] DeviceEvidence evidence_on(const RuleContext& context,
                                         std::span<const std::size_t> ranks, double slowdown);

// Everything else that telemetry says. `found`: their culprits are already covered.
[[nodiscard]] Health survey(const Job& job, const Setup& setup, std::span<const Finding> found);

}  // namespace mfu::diagnosis
