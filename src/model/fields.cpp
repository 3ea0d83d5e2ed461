#include "model/fields.hpp"

#include <cmath>
#include <utility>

#include "base/bytes.hpp"
#include "base/json_cursor.hpp"
#include "mfu/model.hpp"

namespace mfu {
namespace {

using nlohmann::json;

constexpr double kMostWhole = 1e9;  // no width or count of a model comes near it

}  // namespace

Fields::Fields(const json& object, const JsonText& origin, std::vector<std::string> path)
    : object_(object), origin_(origin), path_(std::move(path)) {}

const json* Fields::find(std::string_view key) const {
  asked_.emplace(key);
  const auto found = object_.find(key);
  if (found == object_.end() || found->is_null()) return nullptr;
  return &*found;
}

std::string_view Fields::first_of(std::initializer_list<std::string_view> keys) const {
  std::string_view first;
  for (const std::string_view key : keys) {
    if (has(key) && first.empty()) first = key;
  }
  return first;
}

std::optional<std::int64_t> Fields::whole(std::string_view key, std::int64_t least) const {
  const json* const value = find(key);
  if (value == nullptr) return std::nullopt;
  const std::string wanted =
      least > 0 ? "expected a whole number above 0" : "expected a whole number from 0 on";
  if (!value->is_number()) {
    fail(key, wanted + ", found " + kind_of_value(*value),
         value->is_string() ? "without quotes" : "");
  }
  const double number = value->get<double>();
  if (number != std::floor(number) || number < static_cast<double>(least)) {
    fail(key, wanted + ", found " + value->dump());
  }
  if (number > kMostWhole) fail(key, "too large: " + value->dump());
  return static_cast<std::int64_t>(number);
}

std::optional<std::int64_t> Fields::whole(std::initializer_list<std::string_view> keys,
                                          std::int64_t least) const {
  const std::string_view key = first_of(keys);
  if (key.empty()) return std::nullopt;
  return whole(key, least);
}

std::optional<double> Fields::positive(std::string_view key) const {
  const json* const value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) {
    fail(key, "expected a number above 0, found " + kind_of_value(*value),
         value->is_string() ? "without quotes" : "");
  }
  const double number = value->get<double>();
  if (!(number > 0.0) || !std::isfinite(number)) {
    fail(key, "expected a number above 0, found " + value->dump());
  }
  return number;
}

std::optional<bool> Fields::flag(std::string_view key) const {
  const json* const value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) fail(key, "expected true or false, found " + kind_of_value(*value));
  return value->get<bool>();
}

std::optional<std::string> Fields::text(std::string_view key) const {
  const json* const value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) fail(key, "expected a string, found " + kind_of_value(*value));
  return value->get<std::string>();
}

std::optional<Fields> Fields::object(std::string_view key) const {
  const json* const value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) fail(key, "expected an object, found " + kind_of_value(*value));
  std::vector<std::string> path = path_;
  path.emplace_back(key);
  return Fields(*value, origin_, std::move(path));
}

void Fields::fail(std::string_view key, std::string message, std::string hint) const {
  throw Error(ErrorKind::format, std::move(message), place(key), std::move(hint));
}

void Fields::refuse(std::string_view key, std::string message, std::string hint) const {
  throw Error(ErrorKind::unsupported, std::move(message), place(key), std::move(hint));
}

Place Fields::place(std::string_view key) const {
  std::vector<std::string> path = path_;
  path.emplace_back(key);
  Place where = place_within(origin_, path);
  where.what = path_of(key);
  return where;
}

Place Fields::place() const {
  Place where = place_within(origin_, path_);
  where.what = path_of({});
  return where;
}

std::vector<std::string> Fields::unasked() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object_.items()) {
    if (!value.is_null() && asked_.find(key) == asked_.end()) keys.push_back(key);
  }
  return keys;
}

std::string Fields::path_of(std::string_view key) const {
  std::string path;
  for (const std::string& part : path_) path += (path.empty() ? "" : ".") + part;
  if (!key.empty()) path += (path.empty() ? "" : ".") + std::string(key);
  return path;
}

JsonText read_model_text(std::string_view text, const std::string& source) {
  if (text.size() > kMostModelBytes) {
    throw Error(ErrorKind::format, "too large for a model's shape", Place{.file = source},
                "16 MiB at most; lists of module names may be left out");
  }
  ByteSource bytes = ByteSource::from_memory(text, source);
  JsonCursor cursor(bytes);
  JsonText model;
  const JsonCursor::Kind kind = cursor.peek();
  model.start = cursor.place();
  if (kind != JsonCursor::Kind::object) {
    const std::string found = kind == JsonCursor::Kind::end ? "nothing" : cursor.describe_next();
    throw Error(ErrorKind::format, "expected a model's object, found " + found, model.start,
                "a config.json, or an object such as {\"layers\":32,\"hidden\":4096, ...}");
  }
  model.text = cursor.capture_value(kMostModelBytes);
  cursor.finish();
  return model;
}

json parse_model_text(const JsonText& text) { return parse_json_text<json>(text); }

}  // namespace mfu
