// The measurements of a job over time, under one convention: what is usual, when it changed.
//
// Speed is looked at in logs, as in a comparison: the log of the MFU or, without one, of steps a
// second. Numbers only; the file is the application's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/fingerprint.hpp"
#include "mfu/interval.hpp"

namespace mfu {

// One record. Empty and nothing: not known.
struct HistoryEntry {
  std::string job;
  Fingerprint fingerprint;
  std::string command;  // "diagnose", "log", "calc"
  std::string label;    // what the user calls it: a commit, a date
  std::string time;     // when it was added, "2025-06-01T12:00:00Z"
  std::string model, chip, verdict;
  std::string statistic;      // of a log: "mean", "median", "wall"
  std::optional<double> mfu;  // as the report's headline has it
  std::optional<double> step_seconds;
  std::optional<double> tokens_per_second;
  std::optional<double> tokens_per_step;
  std::optional<double> gpus;
  std::optional<Interval> relative_ci;  // 95 % of the speed, over it, less 1
  std::int64_t line = 0;                // of the file, from 1
};

// Whether the two can lie on one line: the same fingerprint, command (a log's usual step is no mean
// step) and GPUs; where there is no MFU to hold them to, the same tokens a step.
[[nodiscard]] bool measured_alike(const HistoryEntry& a, const HistoryEntry& b) noexcept;

// The log of an entry's speed; nothing: it holds none.
[[nodiscard]] std::optional<double> log_speed(const HistoryEntry& entry) noexcept;

// The middle of the entries since the last change, at most the last 20, and how far they scatter.
struct HistoryBaseline {
  std::size_t entries = 0;
  double log_middle = 0.0;  // median
  double log_sigma = 0.0;   // robust; at least kLeastScatter
};
inline constexpr double kLeastScatter = 0.002;
inline constexpr std::size_t kFewestForBaseline = 3;
// Nothing for fewer than kFewestForBaseline.
[[nodiscard]] std::optional<HistoryBaseline> baseline_of(std::span<const double> log_speeds);

// From entry `index` on the speed is another.
struct HistoryChange {
  std::size_t index = 0;
  double log_before = 0.0;  // medians of the entries between changes
  double log_after = 0.0;
};
// Shifts of the level beyond the scatter of neighbours and beyond 1 %, three entries at least on
// either side. In order.
[[nodiscard]] std::vector<HistoryChange> changes_in(std::span<const double> log_speeds);

// The entries of one job that were measured alike, in the order of the file.
struct HistorySeries {
  std::string job;
  Fingerprint fingerprint;
  std::vector<HistoryEntry> entries;
  std::vector<double> log_speeds;        // of the entries that hold one
  std::vector<std::size_t> speed_entry;  // the entry of each
  bool has_mfu = false;                  // all of these are MFUs
  std::vector<HistoryChange> changes;    // indices into log_speeds
  std::optional<HistoryBaseline> baseline;
};
// By job and what is measured alike, in the order of first appearance. `job`: only that; empty:
// all.
[[nodiscard]] std::vector<HistorySeries> group_history(const std::vector<HistoryEntry>& entries,
                                                       const std::string& job);

// One measurement against the baseline of its series.
struct AgainstHistory {
  HistoryBaseline baseline;
  double log_ratio = 0.0;  // of the measurement over the middle
  Interval log_ci;         // 95 %: scatter of the history, its middle, the measurement's own spread
};
[[nodiscard]] AgainstHistory hold_against(const HistoryBaseline& baseline, double log_speed,
                                          const std::optional<Interval>& relative_ci);

}  // namespace mfu
