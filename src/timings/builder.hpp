// Collects what readers find, rank by rank, and turns it into RunTimings: checks, the common steps,
// the order, step-major columns. The result depends on neither the order of files nor of ranks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mfu/error.hpp"
#include "mfu/timings.hpp"

namespace mfu {

// A value that was not recorded.
inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// The first eight are seconds and become columns; the next four are a rank's telemetry. Ids from
// kFixedSeries on are kinds of comm_by_group, in the order in which they were met.
enum Series : std::size_t {
  kCompute,
  kComm,
  kStall,
  kWait,
  kStep,
  kForward,
  kBackward,
  kOverlappedComm,
  kSmClock,
  kTemperature,
  kMemoryTemperature,
  kPower,
  kFixedSeries,
};
inline constexpr std::size_t kTimeSeries = kSmClock;  // ids below are seconds
// As the document names them.
inline constexpr std::array<std::string_view, kFixedSeries> kSeriesNames{"compute",
                                                                         "comm",
                                                                         "stall",
                                                                         "wait",
                                                                         "step",
                                                                         "forward",
                                                                         "backward",
                                                                         "overlapped_comm",
                                                                         "sm_clock_mhz",
                                                                         "temperature_c",
                                                                         "memory_temperature_c",
                                                                         "power_w"};

[[nodiscard]] constexpr bool is_seconds(std::size_t series) noexcept {
  return series < kTimeSeries || series >= kFixedSeries;
}

// The telemetry of a series from kSmClock to kPower.
[[nodiscard]] std::vector<double>& telemetry_of(RankTelemetry& telemetry, std::size_t series);

// A time beyond this is a wrong unit, not a step: 30 years.
inline constexpr double kMostSeconds = 1e9;
// Step ids are numbers in documents: above this doubles skip some.
inline constexpr std::int64_t kMostStepId = 9'000'000'000'000'000;

// Step ids of one rank. Ranks share a list as long as they agree, which is nearly
// always: a list of one's own for each rank would cost as much as a column.
class StepList {
 public:
  StepList() = default;
  explicit StepList(std::shared_ptr<std::vector<std::int64_t>> shared) : ids_(std::move(shared)) {
    count_ = ids_->size();
  }
  // Starts empty, follows `shared` and extends it.
  [[nodiscard]] static StepList following(std::shared_ptr<std::vector<std::int64_t>> shared);

  void push_back(std::int64_t id);
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] std::int64_t operator[](std::size_t i) const noexcept { return (*ids_)[i]; }
  [[nodiscard]] std::int64_t back() const noexcept { return (*ids_)[count_ - 1]; }
  [[nodiscard]] bool same(const StepList& other) const noexcept;

 private:
  std::shared_ptr<std::vector<std::int64_t>> ids_;
  std::size_t count_ = 0;
};

struct RecordedSeries {
  std::int64_t line = 0;  // of its first value; 0: not known
  std::int64_t column = 0;
  std::vector<double> values;  // empty: not recorded
};

// One rank as one file gives it.
struct RankRecord {
  RankInfo info;
  std::size_t source = 0;  // index in RunBuilder::sources
  std::int64_t line = 0;   // of the rank's first mention
  std::int64_t column = 0;
  bool ascending = true;  // false: a later line repeats a step or goes back
  std::int64_t disorder_line = 0;
  StepList steps;
  std::vector<RecordedSeries> series;  // by id; may be shorter than the number of ids

  [[nodiscard]] RecordedSeries& at(std::size_t id) {
    if (series.size() <= id) series.resize(id + 1);
    return series[id];
  }
  [[nodiscard]] bool has(std::size_t id) const noexcept {
    return id < series.size() && !series[id].values.empty();
  }
};

class RunBuilder {
 public:
  // The header's part, filled by the reader before build().
  RunTimings run;

  struct Source {
    std::string file;
    bool repeats_allowed = false;  // JSON Lines: a later sample replaces an earlier one
  };
  [[nodiscard]] std::size_t add_source(std::string file, bool repeats_allowed);

  // The id of a kind of comm_by_group; the same name gives the same id.
  [[nodiscard]] std::size_t group_series(std::string_view name);
  [[nodiscard]] std::string series_name(std::size_t id) const;

  // A list of steps that ranks of all files follow as long as they agree with it.
  [[nodiscard]] StepList follow_steps() { return StepList::following(followed_steps_); }

  // The caller fills what it gets; the reference holds until the next add().
  RankRecord& add(std::size_t source);
  [[nodiscard]] RankRecord& record(std::size_t index) noexcept { return records_[index]; }
  [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }

  // Where a value is, for an error: "rank 3, compute, index 7".
  [[nodiscard]] Place place(const RankRecord& record, std::string_view series = {},
                            std::optional<std::size_t> index = {}) const;

  // Checks everything and hands the run over; the builder is empty afterwards.
  // Throws Error{format} with rank, series and index; Error{insufficient} when no rank or no common
  // step is there.
  [[nodiscard]] RunTimings build(Notes& notes);

 private:
  void check_lengths() const;
  void settle_repeats(Notes& notes);
  void drop_empty_ranks(Notes& notes);
  void merge_same_ranks(Notes& notes);
  void check_required() const;
  void check_groups(Notes& notes) const;
  void note_partial_series(Notes& notes) const;
  void find_common_steps(Notes& notes);
  [[nodiscard]] bool recorded_anywhere(std::size_t id) const noexcept;
  [[nodiscard]] Column take_column(std::size_t id);
  void take_telemetry();

  std::vector<Source> sources_;
  std::vector<std::string> groups_;
  std::shared_ptr<std::vector<std::int64_t>> followed_steps_ =
      std::make_shared<std::vector<std::int64_t>>();
  std::deque<RankRecord> records_;  // grows without moving what it holds
  // Where the common steps lie in a record's own list; empty: they are the whole list.
  std::vector<std::vector<std::size_t>> picked_;
};

// Joins two records of one rank (src/timings/merge.cpp). Throws Error{format} where they contradict
// each other.
[[nodiscard]] RankRecord merge_records(const RunBuilder& builder, RankRecord first,
                                       RankRecord second, bool repeats_allowed, Notes& notes);

// Puts a record's samples in ascending order of steps; of repeated steps the last sample stays.
// Returns the number of samples that were replaced.
[[nodiscard]] std::size_t settle_order(RankRecord& record);

}  // namespace mfu
