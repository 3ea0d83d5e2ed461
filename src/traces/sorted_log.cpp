#include "traces/sorted_log.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace mfu::traces {

namespace {

using Bytes = std::vector<std::uint8_t>;

void put(Bytes& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<std::uint8_t>(value));
}

std::uint64_t get(const std::uint8_t*& at) noexcept {
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (;;) {
    const std::uint64_t byte = *at++;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
    shift += 7;
  }
}

// Differences wrap around, so that every 64-bit value survives.
std::uint64_t folded(std::uint64_t difference) noexcept {
  return (difference << 1) ^ (0 - (difference >> 63));
}
std::uint64_t unfolded(std::uint64_t value) noexcept { return (value >> 1) ^ (0 - (value & 1)); }

std::uint64_t bits(std::int64_t value) noexcept { return static_cast<std::uint64_t>(value); }

void write(Bytes& out, const GpuActivity& last, const GpuActivity& record) {
  put(out, bits(record.start_ns) - bits(last.start_ns));
  put(out, bits(record.length_ns));
  put(out, folded(record.correlation - last.correlation));
  out.push_back(static_cast<std::uint8_t>(static_cast<unsigned>(record.activity) |
                                          static_cast<unsigned>(record.device) << 2));
}

void read(const std::uint8_t*& at, GpuActivity& record) {
  record.start_ns = static_cast<std::int64_t>(bits(record.start_ns) + get(at));
  record.length_ns = static_cast<std::int64_t>(get(at));
  record.correlation += unfolded(get(at));
  const unsigned packed = *at++;
  record.activity = static_cast<Activity>(packed & 3);
  record.device = static_cast<std::uint8_t>(packed >> 2);
}

void write(Bytes& out, const Launch& last, const Launch& record) {
  put(out, record.correlation - last.correlation);
  put(out, folded(bits(record.start_ns) - bits(last.start_ns)));
}

void read(const std::uint8_t*& at, Launch& record) {
  record.correlation += get(at);
  record.start_ns = static_cast<std::int64_t>(bits(record.start_ns) + unfolded(get(at)));
}

}  // namespace

bool before(const GpuActivity& a, const GpuActivity& b) noexcept {
  if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
  return std::tie(a.length_ns, a.correlation, a.device, a.activity) <
         std::tie(b.length_ns, b.correlation, b.device, b.activity);
}

bool before(const Launch& a, const Launch& b) noexcept {
  return std::tie(a.correlation, a.start_ns) < std::tie(b.correlation, b.start_ns);
}

template <typename Record>
void SortedLog<Record>::close_batch() {
  if (batch_.empty()) return;
  const auto order = [](const Record& a, const Record& b) { return before(a, b); };
  if (!std::is_sorted(batch_.begin(), batch_.end(), order)) {
    std::sort(batch_.begin(), batch_.end(), order);
  }
  Run run;
  run.reserve(batch_.size() * 8);
  Record last{};
  for (const Record& record : batch_) {
    write(run, last, record);
    last = record;
  }
  run.shrink_to_fit();
  runs_.push_back(std::move(run));
  batch_.clear();
}

template <typename Record>
void SortedLog<Record>::clear() {
  batch_ = {};
  runs_ = {};
  size_ = 0;
}

template <typename Record>
SortedLog<Record>::Merge::Merge(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    Head head{run.data(), run.data() + run.size(), {}};
    read(head.at, head.record);
    heads_.push_back(head);
  }
  for (std::size_t i = heads_.size(); i-- > 0;) sink(i);
}

template <typename Record>
void SortedLog<Record>::Merge::sink(std::size_t at) {
  for (;;) {
    std::size_t child = 2 * at + 1;
    if (child >= heads_.size()) return;
    if (child + 1 < heads_.size() && before(heads_[child + 1].record, heads_[child].record)) {
      ++child;
    }
    if (!before(heads_[child].record, heads_[at].record)) return;
    std::swap(heads_[child], heads_[at]);
    at = child;
  }
}

template <typename Record>
bool SortedLog<Record>::Merge::next(Record& out) {
  if (heads_.empty()) return false;
  Head& first = heads_.front();
  out = first.record;
  if (first.at == first.end) {
    first = heads_.back();
    heads_.pop_back();
  } else {
    read(first.at, first.record);
  }
  if (!heads_.empty()) sink(0);
  return true;
}

template class SortedLog<GpuActivity>;
template class SortedLog<Launch>;

}  // namespace mfu::traces
