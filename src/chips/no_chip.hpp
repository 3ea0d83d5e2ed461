// A name or a device that means no row of the table.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "mfu/error.hpp"

namespace mfu {

// The way out is a peak that is given. The table does not know by which option or key that is done:
// who does says it with hint_with().
class NoChip : public Error {
 public:
  enum class Why {
    unknown_name,    // no row has it
    unknown_device,  // what is known of the device is no row's
  };
  // `otherwise`: the rest of the hint, as it stands before the peak: "near names: a100; or ".
  NoChip(Why why, std::string message, Place place, std::string otherwise)
      : Error(ErrorKind::unsupported, std::move(message), std::move(place),
              otherwise + "give the peak itself (dense, per GPU)"),
        why_(why),
        otherwise_(std::move(otherwise)) {}

  [[nodiscard]] Why why() const noexcept { return why_; }
  // The hint with this in place of "give the peak itself (dense, per GPU)".
  [[nodiscard]] std::string hint_with(std::string_view peak) const {
    return otherwise_ + std::string(peak);
  }

 private:
  Why why_;
  std::string otherwise_;
};

}  // namespace mfu
