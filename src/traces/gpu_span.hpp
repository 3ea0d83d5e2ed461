// From the first to the last GPU activity of a process.
#pragma once

#include <cstdint>
#include <vector>

#include "mfu/error.hpp"
#include "traces/rank_trace.hpp"
#include "traces/sorted_log.hpp"

namespace mfu::traces {

// A single activity with a time of its own (a memory set at 0, or an hour early) would make all
// between it and the others idle time of the trace: what is over a minute from 99 in 100 of the
// activities, or one of three in a small trace, is a stray.
class GpuSpan {
 public:
  // In order of start.
  void see(const GpuActivity& activity);

  // Begin and end of trace.gpu_span, strays left out and noted. At least one activity was seen.
  void settle(RankTrace& trace, Notes& notes) const;

 private:
  static constexpr std::int64_t kGapNs = 60'000'000'000;
  static constexpr std::int64_t kFewStrays = 3;  // in a trace of few activities
  static constexpr std::int64_t kEnough = 10;
  struct Part {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t count = 0;
  };
  [[nodiscard]] Part chosen() const;

  std::vector<Part> parts_;  // with gaps between them
  std::int64_t count_ = 0;
};

}  // namespace mfu::traces
