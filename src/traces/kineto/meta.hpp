// The metadata beside the events of a Kineto trace, and what a trace's file name says about its
// rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mfu/error.hpp"

namespace mfu::traces {

struct TraceMetadata {
  std::optional<std::int64_t> base_ns;  // baseTimeNanoseconds
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> world_size;
  std::string node;
  struct Device {
    std::int64_t id = -1;
    std::string name;
  };
  std::vector<Device> devices;  // of the whole node, not only the process's own

  // Keys that take() knows.
  static const std::vector<std::string_view>& keys();
  // The value of one of them. A value that is not what it should be is counted as a note and left
  // out.
  void take(std::string_view key, std::string_view value, const Place& place, Notes& notes);

  // The name of device `id`; of all devices where they are of one kind; else empty.
  [[nodiscard]] std::string device_name(std::optional<int> id) const;
};

// rank3, rank-3, rank_3, worker3 or -TP-3 (where it is the only parallel dimension) in the last
// part of the path. nullopt: none, or two that differ.
[[nodiscard]] std::optional<std::int64_t> rank_from_name(std::string_view path);

}  // namespace mfu::traces
