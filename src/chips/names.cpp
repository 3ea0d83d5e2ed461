#include "chips/names.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/nearest.hpp"
#include "chips/no_chip.hpp"

namespace mfu::chips_detail {
namespace {

char fold(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Words that vendors put around a name and that tell no chip from another. Not "quadro": a Quadro
// RTX 6000 is neither of the later RTX 6000s.
bool says_nothing(std::string_view token) noexcept {
  constexpr std::array<std::string_view, 11> kWords{"nvidia",   "tesla", "geforce", "amd",
                                                    "instinct", "intel", "habana",  "tensor",
                                                    "core",     "gpu",   "gpus"};
  return std::find(kWords.begin(), kWords.end(), token) != kWords.end();
}

bool separates(char c) noexcept {
  return c == ' ' || c == '-' || c == '_' || c == '/' || c == '(' || c == ')' || c == '\t' ||
         c == ',';
}

// Several may be meant, so all that are near are listed, nearest first.
std::vector<std::string_view> near_ids(const std::string& typed, std::span<const Chip> user) {
  if (typed.size() > 64) return {};  // not a misspelling, and the distance is quadratic
  std::vector<std::pair<std::size_t, std::string_view>> found;
  const std::vector<std::string> words = tokens_of(typed);
  const auto look_at = [&](const Chip& chip) {
    // A model's name among the words is nearer than any misspelling.
    const std::vector<std::string> id = tokens_of(chip.id);
    for (std::size_t i = 0; i < id.size(); ++i) {
      const bool model = id[i].find_first_of("0123456789") != std::string::npos && id[i].size() > 1;
      if (model && i < 2 && !id[i].ends_with("gb") &&
          std::any_of(words.begin(), words.end(), [&](const std::string& word) {
            return word == id[i] || (word.size() > id[i].size() && word.starts_with(id[i]) &&
                                     !all_digits(word.substr(id[i].size())));
          })) {
        found.emplace_back(0, chip.id);
        return;
      }
    }
    std::size_t best = typed.size();
    for (const std::string_view name : names_of(chip)) {
      best = std::min(best, edit_distance(typed, joined(tokens_of(name))));
    }
    if (best <= std::max<std::size_t>(1, typed.size() / 3)) found.emplace_back(best, chip.id);
  };
  for (const Chip& chip : user) look_at(chip);
  for (const Chip& chip : chips()) look_at(chip);
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<std::string_view> ids;
  for (const auto& [distance, id] : found) {
    if (ids.size() == 5) break;
    ids.push_back(id);
  }
  return ids;
}

}  // namespace

bool all_digits(std::string_view token) noexcept {
  return !token.empty() &&
         std::all_of(token.begin(), token.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<std::string> tokens_of(std::string_view name) {
  std::vector<std::string> raw;
  std::string token;
  const auto flush = [&] {
    if (!token.empty()) raw.push_back(std::move(token));
    token.clear();
  };
  for (const char c : name) {
    if (separates(c)) {
      flush();
    } else {
      token.push_back(fold(c));
    }
  }
  flush();
  std::vector<std::string> tokens;
  for (std::string& next : raw) {
    if (says_nothing(next)) continue;
    const bool counted = !tokens.empty() && all_digits(tokens.back());
    if (counted && (next == "gb" || next == "gib")) {
      tokens.back() += "gb";
    } else if (counted && (next == "cu" || next == "cus")) {
      tokens.back() += "cu";
    } else if (counted && next == "mhz") {
      tokens.back() += "mhz";
    } else {
      tokens.push_back(std::move(next));
    }
  }
  return tokens;
}

std::string joined(const std::vector<std::string>& tokens) {
  std::string text;
  for (const std::string& token : tokens) {
    if (!text.empty()) text += '-';
    text += token;
  }
  return text;
}

std::vector<std::string_view> names_of(const Chip& chip) {
  std::vector<std::string_view> names{chip.id, chip.name};
  names.insert(names.end(), chip.aliases.begin(), chip.aliases.end());
  return names;
}

std::string listed(const std::vector<std::string_view>& ids) {
  std::string text;
  for (const std::string_view id : ids) {
    if (!text.empty()) text += ", ";
    text += id;
  }
  return text;
}

std::string quoted(std::string_view name) { return "'" + std::string(name.substr(0, 80)) + "'"; }

void refuse_unknown(std::string_view name, const Place& place, std::span<const Chip> user) {
  const std::vector<std::string_view> near = near_ids(joined(tokens_of(name)), user);
  throw NoChip(
      NoChip::Why::unknown_name, "unknown chip " + quoted(name), place,
      (near.empty() ? "mfu list chips shows the known ones" : "near names: " + listed(near)) +
          "; or ");
}

}  // namespace mfu::chips_detail
