// Which row a device name means. No substring tests: "A10" is a prefix of "A100" and of "A1000",
// "H200" is inside "GH200", and a name with a token that no row has is another chip.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/nearest.hpp"
#include "mfu/chip.hpp"

namespace mfu {
namespace {

char fold(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_digits(std::string_view token) noexcept {
  return !token.empty() &&
         std::all_of(token.begin(), token.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Words that vendors put around a name and that tell no chip from another.
bool says_nothing(std::string_view token) noexcept {
  constexpr std::array<std::string_view, 8> kWords{"nvidia", "tesla", "amd", "instinct",
                                                   "tensor", "core",  "gpu", "gpus"};
  return std::find(kWords.begin(), kWords.end(), token) != kWords.end();
}

// In the order given; "80 GB" is one token.
std::vector<std::string> tokens_of(std::string_view name) {
  std::vector<std::string> raw;
  std::string token;
  const auto flush = [&] {
    if (!token.empty()) raw.push_back(std::move(token));
    token.clear();
  };
  for (const char c : name) {
    if (c == ' ' || c == '-' || c == '_' || c == '/' || c == '(' || c == ')' || c == '\t') {
      flush();
    } else {
      token.push_back(fold(c));
    }
  }
  flush();
  std::vector<std::string> tokens;
  for (std::string& next : raw) {
    if (says_nothing(next)) continue;
    if ((next == "gb" || next == "gib") && !tokens.empty() && is_digits(tokens.back())) {
      tokens.back() += "gb";
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

std::vector<std::string> sorted(std::vector<std::string> tokens) {
  std::sort(tokens.begin(), tokens.end());
  return tokens;
}

std::vector<std::string_view> names_of(const Chip& chip) {
  std::vector<std::string_view> names{chip.id, chip.name};
  names.insert(names.end(), chip.aliases.begin(), chip.aliases.end());
  return names;
}

// An undecided name is harmless when every peak that can be asked for is the same.
bool same_peaks(const Chip& a, const Chip& b) {
  return a.units == b.units && a.max_mhz == b.max_mhz && a.rates.size() == b.rates.size() &&
         std::equal(a.rates.begin(), a.rates.end(), b.rates.begin(),
                    [](const PrecisionRate& x, const PrecisionRate& y) {
                      return x.precision == y.precision && x.datasheet_flops == y.datasheet_flops &&
                             x.flop_per_clock_per_unit == y.flop_per_clock_per_unit;
                    });
}

std::string listed(const std::vector<std::string_view>& ids) {
  std::string text;
  for (const std::string_view id : ids) {
    if (!text.empty()) text += ", ";
    text += id;
  }
  return text;
}

std::vector<std::string_view> ids_of(const std::vector<const Chip*>& rows) {
  std::vector<std::string_view> ids;
  for (const Chip* row : rows) ids.push_back(row->id);
  return ids;
}

// Several may be meant, so all that are near are listed, nearest first.
std::vector<std::string_view> near_ids(const std::string& typed) {
  if (typed.size() > 64) return {};  // no misspelling, and the distance is quadratic
  std::vector<std::pair<std::size_t, std::string_view>> found;
  for (const Chip& chip : chips()) {
    std::size_t best = typed.size();
    for (const std::string_view name : names_of(chip)) {
      best = std::min(best, edit_distance(typed, joined(tokens_of(name))));
    }
    if (best <= std::max<std::size_t>(1, typed.size() / 3)) found.emplace_back(best, chip.id);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<std::string_view> ids;
  for (const auto& [distance, id] : found) {
    if (ids.size() == 4) break;
    ids.push_back(id);
  }
  return ids;
}

[[noreturn]] void refuse_unknown(std::string_view name, const std::vector<std::string>& tokens,
                                 const Place& place) {
  const std::vector<std::string_view> near = near_ids(joined(tokens));
  std::vector<std::string_view> all;
  for (const Chip& chip : chips()) all.push_back(chip.id);
  const std::string hint =
      (near.empty() ? "known chips: " + listed(all) : "near names: " + listed(near)) +
      "; or give hardware.peak_tflops (dense, per GPU)";
  throw Error(ErrorKind::unsupported, "unknown chip '" + std::string(name.substr(0, 80)) + "'",
              place, hint);
}

// Rows with a name that has these tokens and no others.
std::vector<const Chip*> exact_rows(const std::vector<std::string>& wanted) {
  std::vector<const Chip*> rows;
  for (const Chip& chip : chips()) {
    const std::vector<std::string_view> names = names_of(chip);
    if (std::any_of(names.begin(), names.end(),
                    [&](std::string_view name) { return sorted(tokens_of(name)) == wanted; })) {
      rows.push_back(&chip);
    }
  }
  return rows;
}

// Rows with a name that has these tokens and more: the name leaves something open.
std::vector<const Chip*> wider_rows(const std::vector<std::string>& wanted) {
  std::vector<const Chip*> rows;
  for (const Chip& chip : chips()) {
    const std::string model = tokens_of(chip.id).front();
    if (!std::binary_search(wanted.begin(), wanted.end(), model)) continue;
    const std::vector<std::string_view> names = names_of(chip);
    if (std::any_of(names.begin(), names.end(), [&](std::string_view name) {
          const std::vector<std::string> has = sorted(tokens_of(name));
          return std::includes(has.begin(), has.end(), wanted.begin(), wanted.end());
        })) {
      rows.push_back(&chip);
    }
  }
  return rows;
}

}  // namespace

ChipMatch match_chip(std::string_view name, const Place& place) {
  const std::vector<std::string> tokens = tokens_of(name);
  const std::vector<std::string> wanted = sorted(tokens);
  if (wanted.empty()) refuse_unknown(name, tokens, place);
  if (std::binary_search(wanted.begin(), wanted.end(), std::string("mig"))) {
    throw Error(ErrorKind::unsupported,
                "'" + std::string(name.substr(0, 80)) +
                    "' is a slice (MIG) of a GPU, and its peak is not the whole GPU's",
                place, "give hardware.peak_tflops of the slice");
  }
  std::vector<const Chip*> rows = exact_rows(wanted);
  if (rows.empty()) rows = wider_rows(wanted);
  if (rows.empty()) refuse_unknown(name, tokens, place);
  for (const Chip* row : rows) {
    if (!same_peaks(*rows.front(), *row)) {
      throw Error(ErrorKind::unsupported,
                  "'" + std::string(name.substr(0, 80)) + "' can mean chips with different peaks",
                  place, "say which: " + listed(ids_of(rows)));
    }
  }
  ChipMatch match;
  match.chip = rows.front();
  rows.erase(rows.begin());
  match.same_peak_ids = ids_of(rows);
  return match;
}

const Chip& find_chip(std::string_view name, const Place& place) {
  return *match_chip(name, place).chip;
}

}  // namespace mfu
