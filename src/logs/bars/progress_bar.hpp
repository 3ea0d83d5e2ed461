// tqdm's bar: " 32%|###  | 283/873 [25:44<47:06, 4.79s/it, loss=3.1]", described "Train:  32%|..",
// of unknown length "283it [25:44,  4.79s/it]" or "283/? [25:44<?, 4.79s/it]".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/temporary.hpp"

namespace mfu {

// What a bar counts, as its rate says: "s/it", "batch/s", "epoch/s", "examples/s".
enum class BarUnit { step, epoch, other };

struct ProgressBar {
  std::int64_t done = 0;
  std::int64_t total = 0;  // 0: not known
  std::int64_t elapsed_s = 0;
  // Of the rate column: newest steps weigh most, or (Lightning, a closed bar) a mean since the
  // start.
  std::optional<double> step_s;
  double step_rounding_s = 0.0;  // half of its last digit
  BarUnit unit = BarUnit::step;
  std::string_view description;  // "Epoch 0", "Map" before it; empty: none
  std::string_view inside;       // of the brackets
  std::size_t end = 0;           // behind it in the text
};

// The first bar in `text` from `from` on.
[[nodiscard]] std::optional<ProgressBar> parse_progress_bar(std::string_view text,
                                                            std::size_t from = 0);
template <TemporaryString Text>
std::optional<ProgressBar> parse_progress_bar(Text&& text, std::size_t from = 0) = delete;

}  // namespace mfu
