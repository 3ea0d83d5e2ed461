// One event of a Kineto trace, as far as the reader needs it. What an event is shows early (its
// phase, category and name come first), so that most are left after two fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/temporary.hpp"

namespace mfu::traces {

enum class EventKind : std::uint8_t {
  other,            // not needed
  kernel,           // on the GPU, also of an MTIA
  copy,             // Memcpy, Memset
  launch,           // a call of the runtime or the driver, with a correlation
  step,             // ProfilerStep#N on the host
  collective_call,  // record_param_comms: the arguments of a collective, on the host
  host_collective,  // gloo:..., mpi:..., ucc:...: a collective that the host itself does
};

// A length that a writer with 32 bits took below zero: just under 2^32 microseconds or nanoseconds.
[[nodiscard]] constexpr bool ran_below_zero(std::int64_t length_ns) noexcept {
  constexpr std::int64_t kWrap = std::int64_t{1} << 32;
  const auto under = [length_ns](std::int64_t wrap_ns, std::int64_t by_ns) {
    return length_ns <= wrap_ns && length_ns > wrap_ns - by_ns;
  };
  // A second and a millisecond: no clock of one process goes back by more.
  return under(kWrap * 1000, 1'000'000'000) || under(kWrap, 1'000'000);
}

enum class TimeFault : std::uint8_t {
  none,
  absent,    // no time, or not a number
  negative,  // a negative duration
  overflow,  // longer than a trace can be: the writer's subtraction ran below zero
};

// Views into the event's text.
struct KinetoEvent {
  EventKind kind = EventKind::other;
  TimeFault fault = TimeFault::none;
  bool time_as_text = false;  // "ts": "12"
  // ph B or E: half of a pair, which Kineto does not write. Of these only the start is told, of all
  // kinds, and `process` and `thread` as they are written.
  bool begin_end = false;
  bool ends = false;  // E
  std::string_view process;
  std::string_view thread;
  int odd_tokens = 0;  // NaN, inf, N/A and the like among the arguments
  std::string_view name;
  std::int64_t start_ns = 0;  // without baseTimeNanoseconds
  std::int64_t length_ns = 0;

  std::optional<std::int64_t> device;
  std::optional<std::int64_t> stream;
  std::optional<std::uint64_t> correlation;
  std::optional<std::uint64_t> external_id;

  // Of collectives; empty or nullopt: not in the trace.
  std::string_view collective;
  std::string_view data_type;
  std::string_view group_name;
  std::string_view group_ranks;
  std::optional<std::int64_t> elements_in;
  std::optional<std::int64_t> group_size;
  std::optional<std::int64_t> sequence;
};

// `text` is an event from JsonScanner. False: it is not what an event looks like.
[[nodiscard]] bool parse_event(std::string_view text, KinetoEvent& out);
template <TemporaryString Text>
bool parse_event(Text&& text, KinetoEvent& out) = delete;

// Microseconds as decimal text to whole nanoseconds, exactly; a fraction of one is rounded.
// nullopt: not a number, or beyond 64 bits.
[[nodiscard]] std::optional<std::int64_t> nanoseconds_of(std::string_view microseconds);

// nullopt: not a whole number that fits.
[[nodiscard]] std::optional<std::int64_t> integer_of(std::string_view text);
[[nodiscard]] std::optional<std::uint64_t> identifier_of(std::string_view text);

}  // namespace mfu::traces
