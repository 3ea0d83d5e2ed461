#include "traces/gpu_span.hpp"

#include <algorithm>

#include "base/note_code.hpp"

namespace mfu::traces {

void GpuSpan::see(const GpuActivity& activity) {
  const std::int64_t end = activity.end_ns();
  if (parts_.empty() || activity.start_ns > parts_.back().end_ns + kGapNs) {
    parts_.push_back({activity.start_ns, end, 0});
  }
  Part& part = parts_.back();
  part.end_ns = std::max(part.end_ns, end);
  ++part.count;
  ++count_;
}

void GpuSpan::settle(RankTrace& trace, Notes& notes) const {
  const Part part = chosen();
  trace.gpu_span.begin_ns = part.begin_ns;
  trace.gpu_span.end_ns = part.end_ns;
  if (part.count == count_) return;
  notes.add(NoteCode::stray_activity,
            "a GPU activity over a minute from all others was left out of the captured span",
            Place{.file = trace.file}, count_ - part.count);
}

GpuSpan::Part GpuSpan::chosen() const {
  const Part& most = *std::max_element(
      parts_.begin(), parts_.end(), [](const Part& a, const Part& b) { return a.count < b.count; });
  const std::int64_t others = count_ - most.count;
  if (100 * others <= count_ || (others <= kFewStrays && most.count >= kEnough)) return most;
  return {parts_.front().begin_ns, parts_.back().end_ns, count_};
}

}  // namespace mfu::traces
