// What there is, and what it means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mfu {

// `list` and `explain`.
struct Item {
  std::string id, title, text, source;
};
struct ListSection {
  std::string title;
  bool detailed = false;  // all of it, not one line an item
  std::vector<Item> items;
};
enum class Catalogue { conventions, models, chips, terms };
[[nodiscard]] ListSection list_items(Catalogue catalogue);
// A convention, chip, model or term. Throws Error{usage} with the nearest.
[[nodiscard]] ListSection explain_item(std::string_view id);

}  // namespace mfu
