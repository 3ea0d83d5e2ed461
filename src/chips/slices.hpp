// Names that mean a part of a device, or several.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mfu/chip.hpp"

namespace mfu::chips_detail {

// A MIG slice of a GPU: "MIG 3g.40gb", "mig-1g.10gb+me", "1c.3g.20gb".
struct Slice {
  std::string profile;            // "3g.40gb"
  int gpu_slices = 0;             // 3
  int compute_slices = 0;         // of "1c.3g.20gb": 1; else 0
  double memory_gib = 0.0;        // 40
  std::vector<std::string> rest;  // the tokens of the GPU; empty: the name has none
};
[[nodiscard]] std::optional<Slice> slice_in(const std::vector<std::string>& tokens);

// The row of the slice. Throws Error{unsupported} when the number of its units is not known.
[[nodiscard]] const Chip& slice_of(const Chip& parent, const Slice& slice, std::string_view name,
                                   const Place& place);

// A slice of a TPU pod: "v4-8", "v5litepod-16". The number counts cores in some generations.
struct TpuSlice {
  std::string row;  // id of the row
  int devices = 0;  // of that row
  std::string remark;
};
[[nodiscard]] std::optional<TpuSlice> tpu_slice_in(const std::vector<std::string>& tokens);

}  // namespace mfu::chips_detail
