// What the JSON renderers share. Unknown is null; JSON has no NaN, so what is not finite is null
// too.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "mfu/interval.hpp"

namespace mfu::render {

using Json = nlohmann::ordered_json;

inline Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
inline Json number(const std::optional<double>& value) {
  return value ? number(*value) : Json(nullptr);
}
inline Json number(const std::optional<std::int64_t>& value) {
  return value ? Json(*value) : Json(nullptr);
}
inline Json interval_of(const std::optional<Interval>& interval) {
  return interval ? Json::array({number(interval->lo), number(interval->hi)}) : Json(nullptr);
}
// For figures where absence is said by 0.
inline Json positive(double value) { return value > 0.0 ? number(value) : Json(nullptr); }
// For words where absence is said by an empty text.
inline Json text(std::string_view value) { return value.empty() ? Json(nullptr) : Json(value); }

}  // namespace mfu::render
