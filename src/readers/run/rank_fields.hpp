// The keys of a rank that JSON and JSON Lines share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_cursor.hpp"
#include "readers/run/header.hpp"
#include "timings/builder.hpp"

namespace mfu {

enum class RankKey : unsigned char {
  series,  // one of the times; `series` says which
  rank,
  node,
  gpu,
  leaf_switch,
  coords,
  telemetry,
  comm_by_group,
  unknown,
};

struct RankKeyMatch {
  RankKey key = RankKey::unknown;
  std::size_t series = 0;
};

[[nodiscard]] RankKeyMatch match_rank_key(std::string_view key) noexcept;
// "did you mean 'compute'?" over the keys of a rank; empty where none is near.
[[nodiscard]] std::string near_rank_key(std::string_view key);

// Where complaints about a rank are made: the cursor's place, and which rank.
struct RankContext {
  JsonCursor& cursor;
  UnknownKeys& unknown;
  std::optional<std::int64_t> rank;  // as soon as it is known
  std::optional<std::int64_t> step;  // of a sample line
  std::optional<std::size_t> index;  // in ranks[]

  // "rank 3", "rank 3, step 100", "ranks[3]" before the number is known, or nothing.
  [[nodiscard]] std::string who() const;

  [[noreturn]] void fail(std::string_view key, const std::string& message,
                         const std::string& hint = {},
                         std::optional<std::size_t> element = {}) const;
  // The same at a place that the cursor has left.
  [[noreturn]] void fail_at(Place where, std::string_view key, const std::string& message,
                            const std::string& hint = {}) const;
  // Ignores the value and remembers the key; `path` is how the note names it.
  void ignore(const std::string& path) const;
};

// A whole number from 0 on.
[[nodiscard]] std::int64_t read_whole(const RankContext& context, std::string_view key,
                                      std::int64_t most);
// node, gpu, switch and coords; null counts as absent.
void read_rank_fact(const RankContext& context, RankKey key, RankInfo& info);

// One telemetry quantity that is a number or an array; which of them a place takes is its own
// affair.
struct TelemetrySink {
  virtual ~TelemetrySink() = default;
  virtual void number(std::size_t series, double value) = 0;
  // The cursor stands before the array.
  virtual void array(const RankContext& context, std::size_t series) = 0;
};
// The telemetry object: quantities go to `sink`, names and codes into `info`.
void read_telemetry(const RankContext& context, RankInfo& info, TelemetrySink& sink);

// The text of a complaint about an element of a series or a single sample.
[[noreturn]] void fail_element(const RankContext& context, std::string_view name,
                               JsonCursor::Element element, std::optional<std::size_t> index);

}  // namespace mfu
