#include "traces/kineto/halves.hpp"

#include <utility>

namespace mfu::traces {

namespace {

constexpr std::size_t kReadBehind = 64;  // bytes that a parser of events may read beyond one

}  // namespace

EventHalves::Taken EventHalves::take(const KinetoEvent& event, std::string_view text,
                                     KinetoEvent& out) {
  std::string thread(event.process);
  thread.append("|").append(event.thread);
  std::vector<Begun>& open = open_[thread];
  const bool wanted = event.kind != EventKind::other;
  if (!event.ends) {
    if (count_ == kMostOpen) return wanted ? Taken::alone : Taken::kept;
    ++count_;
    open.push_back({wanted, wanted ? std::string(text) : std::string()});
    return Taken::kept;
  }
  if (open.empty()) return wanted ? Taken::alone : Taken::kept;
  Begun begun = std::move(open.back());
  open.pop_back();
  --count_;
  if (!begun.wanted) return Taken::kept;
  last_ = std::move(begun.text);
  const std::size_t size = last_.size();
  last_.append(kReadBehind, ' ');
  const std::string_view whole = std::string_view(last_).substr(0, size);
  if (!parse_event(whole, out)) return Taken::alone;
  out.begin_end = false;
  if (event.fault != TimeFault::none) out.fault = event.fault;
  if (out.fault == TimeFault::none) {
    out.length_ns = event.start_ns - out.start_ns;
    if (out.length_ns < 0) out.fault = TimeFault::negative;
  }
  return Taken::whole;
}

std::int64_t EventHalves::open() const noexcept {
  std::int64_t count = 0;
  for (const auto& [thread, begun] : open_) {
    for (const Begun& one : begun) count += one.wanted ? 1 : 0;
  }
  return count;
}

}  // namespace mfu::traces
