#include "logs/tables/columns.hpp"

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "mfu/error.hpp"

namespace mfu {

namespace {

std::optional<int> time_unit(std::string_view unit) {
  if (unit == "s") return 0;
  if (unit == "ms") return -3;
  if (unit == "us") return -6;
  if (unit == "ns") return -9;
  return std::nullopt;
}

std::optional<int> flops_unit(std::string_view unit) {
  if (unit == "T") return 12;
  if (unit == "G") return 9;
  if (unit == "P") return 15;
  return std::nullopt;
}

std::optional<int> unit_of(QuantityKind kind, std::string_view unit) {
  if (kind == QuantityKind::time || kind == QuantityKind::timestamp) return time_unit(unit);
  if (kind == QuantityKind::flops) return flops_unit(unit);
  if (kind == QuantityKind::ratio && unit == "%") return -2;
  if (kind == QuantityKind::ratio && unit == "1") return 0;
  return std::nullopt;
}

// "dt:ms" is a name and a unit; "perf/time:total" is a name.
struct Told {
  std::string_view name;
  std::optional<int> shift;
};
Told split(QuantityKind kind, std::string_view told) {
  const std::size_t colon = told.rfind(':');
  if (colon != std::string_view::npos) {
    if (const auto shift = unit_of(kind, told.substr(colon + 1))) {
      return {told.substr(0, colon), shift};
    }
  }
  return {told, std::nullopt};
}

// The unit that a name ends in: "iter_time_ms".
std::optional<int> unit_in_name(QuantityKind kind, std::string_view name) {
  if (kind == QuantityKind::time) {
    const std::size_t bar = name.rfind('_');
    return bar == std::string_view::npos ? std::nullopt : time_unit(name.substr(bar + 1));
  }
  if (kind == QuantityKind::flops && name.find("tflop") != std::string_view::npos) return 12;
  return std::nullopt;
}

bool among(std::string_view known, std::string_view name) {
  for (std::size_t from = 0; from < known.size();) {
    std::size_t end = known.find(' ', from);
    if (end == std::string_view::npos) end = known.size();
    if (known.substr(from, end - from) == name) return true;
    from = end + 1;
  }
  return false;
}

}  // namespace

void check_columns(const std::map<std::string, std::string>& columns) {
  for (const auto& [quantity, name] : columns) {
    bool known = false;
    for (const Quantity& one : kQuantities) known = known || one.name == quantity;
    if (!known) {
      const std::vector<std::string_view> names = log_columns();
      throw Error(ErrorKind::usage, "no column quantity is called '" + quantity + "'", {},
                  name_hint(quantity, names));
    }
    if (name.empty()) {
      throw Error(ErrorKind::usage, "no column is named for " + quantity, {},
                  quantity + "=NAME, with a unit where the name has none: step_time=dt:ms");
    }
  }
}

std::optional<Column> ColumnNames::find(std::string_view name) {
  constexpr std::size_t kMostSeen = 64;
  if (!told_.empty() && looked_for_ < kMostSeen) {
    ++looked_for_;
    const std::string shown(name.substr(0, 80));
    if (std::find(seen_.begin(), seen_.end(), shown) == seen_.end()) seen_.push_back(shown);
  }
  for (std::size_t i = 0; i < kQuantities.size(); ++i) {
    const Quantity& quantity = kQuantities[i];
    std::optional<int> shift;
    const auto told = told_.find(std::string(quantity.name));
    if (told != told_.end()) {
      const Told want = split(quantity.kind, told->second);
      if (want.name != name) continue;
      shift = want.shift;
    } else if (!among(quantity.known, name)) {
      continue;
    }
    if (!shift) shift = unit_in_name(quantity.kind, name);
    found_[i] = true;
    Column column;
    column.quantity = i;
    column.shift = shift.value_or(0);
    column.unit_assumed =
        !shift && (quantity.kind == QuantityKind::time || quantity.kind == QuantityKind::flops ||
                   quantity.kind == QuantityKind::ratio);
    return column;
  }
  return std::nullopt;
}

void ColumnNames::require_told() const {
  if (seen_.empty()) return;
  for (std::size_t i = 0; i < kQuantities.size(); ++i) {
    const auto told = told_.find(std::string(kQuantities[i].name));
    if (told == told_.end() || found_[i]) continue;
    const std::string wanted(split(kQuantities[i].kind, told->second).name);
    const std::vector<std::string_view> names(seen_.begin(), seen_.end());
    throw Error(ErrorKind::format, "no column '" + wanted + "', which was named for " + told->first,
                Place{.what = "--columns"}, name_hint(wanted, names));
  }
}

bool put_value(const Column& column, double value, LoggedStep& step,
               std::optional<double>& number) {
  const Quantity& quantity = kQuantities[column.quantity];
  if (quantity.field == nullptr) {
    if (value < 0.0 || value > 9e15 || value != std::floor(value)) return false;
    number = value;
    return true;
  }
  if (!(value > 0.0) || !std::isfinite(value)) return false;
  step.*quantity.field = value;
  return true;
}

}  // namespace mfu
