// Chips of the user's own, from a file: rows that come before the built-in ones.
//
//   {"schema": "mfu.chips/1", "chips": [
//     {"id": "acme-x1", "name": "Acme X1", "unit_kind": "core", "units": 64,
//      "max_mhz": 1500, "memory_gib": 96, "bandwidth_gb_per_s": 4000, "power_w": 500,
//      "aliases": ["X1"], "source": "our own measurement",
//      "rates": [{"precision": "bf16", "flop_per_clock_per_unit": 4096, "mhz": 1500}]}]}
// A rate has `tflops` (dense, of one device), or what it is worked out from, or both, which must
// agree within 0.5 %.
// No name is that of two chips; one that a built-in row answers to as well is the file's, with a
// note ("user-chip-shadows").
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "mfu/chip.hpp"
#include "mfu/error.hpp"

namespace mfu {

class UserChips {
 public:
  UserChips();
  UserChips(UserChips&&) noexcept;
  UserChips& operator=(UserChips&&) noexcept;
  ~UserChips();

  // Valid as long as this object lives, also after it was moved.
  [[nodiscard]] std::span<const Chip> rows() const& noexcept;
  std::span<const Chip> rows() const&& = delete;
  [[nodiscard]] std::uint64_t bytes() const noexcept;  // of the file

  struct Owned;  // the rows and all that they refer to

 private:
  friend UserChips parse_user_chips(const std::string& text, const std::string& name, Notes& notes);
  std::unique_ptr<Owned> owned_;
};

// `name`: of the file, for errors. Throws Error{format} with file:line:column, what is wrong, and
// the way out; Error{unsupported} on another schema.
[[nodiscard]] UserChips parse_user_chips(const std::string& text, const std::string& name,
                                         Notes& notes);
// Throws Error{io} too.
[[nodiscard]] UserChips read_user_chips(const std::string& path, Notes& notes);

}  // namespace mfu
