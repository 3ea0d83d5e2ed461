// What has to be kept of a trace until its end, in a few bytes a record: GPU activities in order of
// their start, and the host's launches in order of their correlation. Records come in any order;
// batches of them are sorted, written as differences of one to three bytes a number, and merged
// when they are read. About 7 bytes an activity and 5 a launch: a 2 GB trace with a million of each
// takes 12 MB. Nothing is approximate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "traces/classify.hpp"

namespace mfu::traces {

inline constexpr std::uint64_t kNoCorrelation = ~std::uint64_t{0};

struct GpuActivity {
  std::int64_t start_ns = 0;
  std::int64_t length_ns = 0;
  std::uint64_t correlation = kNoCorrelation;
  std::uint8_t device = 0;  // index into the reader's devices
  Activity activity = Activity::compute;

  [[nodiscard]] std::int64_t end_ns() const noexcept { return start_ns + length_ns; }
};

struct Launch {
  std::uint64_t correlation = 0;
  std::int64_t start_ns = 0;
};

// The order of the merge; ties go on to the other fields, so that it does not depend on the order
// of the file.
[[nodiscard]] bool before(const GpuActivity& a, const GpuActivity& b) noexcept;
[[nodiscard]] bool before(const Launch& a, const Launch& b) noexcept;

template <typename Record>
class SortedLog {
 public:
  void add(const Record& record) {
    batch_.push_back(record);
    ++size_;
    if (batch_.size() == kBatch) close_batch();
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  void clear();

  // Calls `use` with every record in order. May be repeated; nothing may be added afterwards.
  template <typename Use>
  void each(Use&& use) {
    close_batch();
    Merge merge(runs_);
    Record record;
    while (merge.next(record)) use(record);
  }

 private:
  using Run = std::vector<std::uint8_t>;
  static constexpr std::size_t kBatch = 32 * 1024;

  class Merge {
   public:
    explicit Merge(const std::vector<Run>& runs);
    bool next(Record& out);

   private:
    struct Head {
      const std::uint8_t* at = nullptr;
      const std::uint8_t* end = nullptr;
      Record record{};
    };
    void sink(std::size_t at);
    std::vector<Head> heads_;  // a heap, the earliest first
  };

  void close_batch();

  std::vector<Record> batch_;
  std::vector<Run> runs_;
  std::size_t size_ = 0;
};

extern template class SortedLog<GpuActivity>;
extern template class SortedLog<Launch>;

}  // namespace mfu::traces
