// tqdm's bar: " 32%|###  | 283/873 [25:44<47:06, 4.79s/it, loss=3.1]".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/temporary.hpp"

namespace mfu {

struct ProgressBar {
  std::int64_t done = 0;
  std::int64_t total = 0;
  std::optional<double> step_s;  // smoothed by tqdm: 0.3 of the newest
  bool described = false;        // "Epoch 0: ", "Map: " before it
  std::string_view inside;       // of the brackets
};

// The first bar in `text`.
[[nodiscard]] std::optional<ProgressBar> parse_progress_bar(std::string_view text);
template <TemporaryString Text>
std::optional<ProgressBar> parse_progress_bar(Text&& text) = delete;

}  // namespace mfu
