#include "base/nearest.hpp"

#include <algorithm>
#include <vector>

namespace mfu {

namespace {

std::string lower(std::string_view text) {
  std::string folded(text);
  for (char& c : folded) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return folded;
}

}  // namespace

std::size_t edit_distance(std::string_view from, std::string_view to) {
  const std::size_t width = to.size() + 1;
  std::vector<std::size_t> before(width);
  std::vector<std::size_t> previous(width);
  std::vector<std::size_t> current(width);
  for (std::size_t j = 0; j < width; ++j) previous[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j < width; ++j) {
      const std::size_t change = from[i - 1] == to[j - 1] ? 0 : 1;
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + change});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[width - 1];
}

std::string_view nearest_name(std::string_view text, std::span<const std::string_view> names) {
  // A text of this length is not a misspelling, and the distance is quadratic.
  if (text.size() > 64) return {};
  const std::string wanted = lower(text);
  std::string_view best;
  std::size_t best_distance = 0;
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(wanted, lower(name));
    const std::size_t allowed = std::max<std::size_t>(1, name.size() / 3);
    if (distance <= allowed && (best.empty() || distance < best_distance)) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

std::string name_hint(std::string_view text, std::span<const std::string_view> names) {
  const std::string_view near = nearest_name(text, names);
  if (!near.empty()) return "did you mean '" + std::string(near) + "'?";
  std::string list = "one of: ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) list += ", ";
    list += names[i];
  }
  return list;
}

}  // namespace mfu
