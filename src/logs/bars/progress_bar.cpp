#include "logs/bars/progress_bar.hpp"

#include "logs/values.hpp"

namespace mfu {

namespace {

// "1:42:42<": digits and colons up to the angle.
bool elapsed_follows(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && (digit(text[at]) || text[at] == ':')) ++at;
  return at >= 4 && at < text.size() && text[at] == '<';
}

}  // namespace

std::optional<ProgressBar> parse_progress_bar(std::string_view text) {
  for (std::size_t open = text.find('['); open != std::string_view::npos;
       open = text.find('[', open + 1)) {
    if (!elapsed_follows(text.substr(open + 1))) continue;
    std::size_t at = open;
    while (at > 0 && text[at - 1] == ' ') --at;
    while (at > 0 && (digit(text[at - 1]) || text[at - 1] == '/')) --at;
    LogText count(text.substr(at, open - at));
    const auto done = count.integer();
    if (!done || !count.take("/")) continue;
    const auto total = count.integer();
    if (!total || *total < 1 || *done < 0) continue;
    ProgressBar bar;
    bar.done = *done;
    bar.total = *total;
    const std::string_view inside = text.substr(open + 1);
    const std::size_t close = inside.find(']');
    bar.inside = inside.substr(0, close);
    // A description ends in a colon before the percentage.
    const std::size_t percent = text.substr(0, at).rfind('%');
    const std::string_view before =
        text.substr(0, percent == std::string_view::npos ? at : percent);
    bar.described = before.rfind(": ") != std::string_view::npos;
    LogText rate(bar.inside);
    if (rate.find(",")) {
      const auto value = positive(rate.number());
      if (value && rate.take("s/it")) {
        bar.step_s = value;
      } else if (value && rate.take("it/s")) {
        bar.step_s = 1.0 / *value;
      }
    }
    return bar;
  }
  return std::nullopt;
}

}  // namespace mfu
