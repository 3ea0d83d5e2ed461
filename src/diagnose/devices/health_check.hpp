// The cheap causes: what the devices' own telemetry says for or against a cause that the timings
// point at. It never makes a verdict: a device that is hot but not slow is a remark.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "timings/device_health.hpp"

namespace mfu {

// In the order in which they are told.
enum class HealthCheck : unsigned char {
  clock,
  throttle,
  temperature,
  memory_temperature,
  power,
  ecc,
  xid,
};
inline constexpr std::size_t kHealthChecks = 7;
// The ids of the JSON report: "memory-temperature" ...
[[nodiscard]] std::string_view to_string(HealthCheck check) noexcept;

enum class Stance : unsigned char {
  supports,      // it can hold the suspects back, and their peers do not have it
  contradicts,   // it was measured, and it is as it should be
  neutral,       // it is odd, but does not explain what the timings show
  not_measured,  // of the suspects
};
[[nodiscard]] std::string_view to_string(Stance stance) noexcept;

// Meaning of an Xid, as far as it matters here.
enum class XidKind : unsigned char { application, memory, bus, nvlink, firmware, other };
[[nodiscard]] XidKind xid_kind(std::int64_t code) noexcept;

// One check of some ranks. Units: MHz, degrees Celsius, W; shares of the samples under load;
// errors.
struct HealthFact {
  HealthCheck check = HealthCheck::clock;
  Stance stance = Stance::not_measured;
  std::optional<double> value;  // the median of these ranks; temperature: where only the margin to
                                // throttling is known, that (see `margin`)
  std::optional<double> peers;  // the median of the others; nothing: there are none to compare with
  // clock: that the peak means; temperatures: from which the chip slows down; power: what the
  // device was allowed.
  std::optional<double> limit;
  // clock: the device's maximum; power: what the chip's own limit is.
  std::optional<double> rated;
  bool margin = false;                   // value and peers are degrees left to throttling
  std::optional<ThrottleReason> reason;  // throttle: which
  std::int64_t code = 0;                 // xid: which; 0: none
  std::int64_t count = 0;                // xid, ecc: how many
  bool before = false;                   // xid: it stood there from the first sample on
  bool on_node = false;                  // xid: of some device of the node
  std::string recovery;                  // ecc: the action that the driver asks for
  // Peers that are not slow and are in the same state: it explains nothing. 0: too few to count.
  std::int64_t alike_peers = 0;
  // clock: the share of the suspects' extra compute time that their lower clock explains.
  std::optional<double> explains;
};

struct RankHealth {
  std::int64_t rank = 0;
  DeviceHealth device;  // of the telemetry beside the run and in it
};

// Something that is not as it should be on ranks that are not slow.
struct HealthRemark {
  HealthFact fact;  // `value`: the worst of them
  std::vector<std::int64_t> ranks;
};

// Steps of two kinds: they flip between two lengths, and little lies between them.
struct TwoModes {
  double fast_s = 0.0;
  double slow_s = 0.0;
  std::int64_t slow_steps = 0;
  std::int64_t of = 0;
  // Medians over the ranks and the steps of each kind; nothing: not measured a step.
  std::optional<double> fast_clock_mhz, slow_clock_mhz;
  std::optional<double> fast_power_w, slow_power_w;
};

struct Health {
  std::vector<RankHealth> ranks;                       // those of which anything is measured
  std::array<std::int64_t, kHealthChecks> measured{};  // ranks, by HealthCheck
  std::optional<double> clock_mhz;                     // median over the ranks
  std::vector<HealthRemark> remarks;
  std::optional<TwoModes> two_modes;
};

}  // namespace mfu
