// A JSON object with the text that it came from: values by key, and complaints with line, column
// and key path. A key that is null is taken for absent.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.hpp"
#include "mfu/error.hpp"

namespace mfu {

class Fields {
 public:
  // Both must outlive it.
  Fields(const nlohmann::json& object, const JsonText& origin, std::vector<std::string> path = {});
  Fields(const nlohmann::json&& object, const JsonText& origin,
         std::vector<std::string> path = {}) = delete;
  Fields(const nlohmann::json& object, const JsonText&& origin,
         std::vector<std::string> path = {}) = delete;

  // Null when absent or null. Counts as asked for.
  [[nodiscard]] const nlohmann::json* find(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  // The first of these keys that is present; empty when none is.
  [[nodiscard]] std::string_view first_of(std::initializer_list<std::string_view> keys) const;

  // Nothing when absent. Error{format} when it is something else.
  [[nodiscard]] std::optional<std::int64_t> whole(std::string_view key, std::int64_t least) const;
  [[nodiscard]] std::optional<std::int64_t> whole(std::initializer_list<std::string_view> keys,
                                                  std::int64_t least) const;
  [[nodiscard]] std::optional<double> positive(std::string_view key) const;
  [[nodiscard]] std::optional<bool> flag(std::string_view key) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const;
  [[nodiscard]] std::optional<Fields> object(std::string_view key) const;

  [[noreturn]] void fail(std::string_view key, std::string message, std::string hint = {}) const;
  [[noreturn]] void refuse(std::string_view key, std::string message, std::string hint = {}) const;
  [[nodiscard]] Place place(std::string_view key) const;
  [[nodiscard]] Place place() const;

  [[nodiscard]] const nlohmann::json& members() const noexcept { return object_; }
  // Keys that nothing has asked for, those that are null left out.
  [[nodiscard]] std::vector<std::string> unasked() const;

 private:
  [[nodiscard]] std::string path_of(std::string_view key) const;

  const nlohmann::json& object_;
  const JsonText& origin_;
  std::vector<std::string> path_;
  mutable std::set<std::string, std::less<>> asked_;
};

// Checks the grammar and refuses keys that are given twice.
[[nodiscard]] JsonText read_model_text(std::string_view text, const std::string& source);
[[nodiscard]] nlohmann::json parse_model_text(const JsonText& text);

}  // namespace mfu
