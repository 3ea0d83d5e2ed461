// Who keeps a view of a text refuses a text that ends with the expression it stands in.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>

namespace mfu {

// Of the argument of a forwarding reference. Beside the function that takes the view:
//   template <TemporaryString Text>
//   static Kept of(Text&& text) = delete;
// A plain overload for std::string&& would make a call with a literal ambiguous.
template <typename Text>
concept TemporaryString = std::same_as<std::remove_const_t<Text>, std::string>;

}  // namespace mfu
