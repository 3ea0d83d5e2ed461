// Activities that begin and end in events of their own (ph B and E), as writers other than Kineto
// have them: the end closes what began last on its thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "traces/kineto/event.hpp"

namespace mfu::traces {

class EventHalves {
 public:
  enum class Taken : std::uint8_t {
    kept,   // nothing to do: it began, or what ends is not needed
    whole,  // `out` is the activity, with its length
    alone,  // it has no other half
  };

  // `event`: with begin_end. `text`: its own. `out` refers to this object until the next call.
  Taken take(const KinetoEvent& event, std::string_view text, KinetoEvent& out);

  // Those needed that have begun and not ended.
  [[nodiscard]] std::int64_t open() const noexcept;

 private:
  struct Begun {
    bool wanted = false;
    std::string text;  // where it is wanted
  };
  static constexpr std::size_t kMostOpen = 65536;  // more are no nesting

  std::map<std::string, std::vector<Begun>> open_;  // by process and thread
  std::size_t count_ = 0;
  std::string last_;
};

}  // namespace mfu::traces
