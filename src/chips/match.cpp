// Which row a name means. No substring tests: "A10" is a prefix of "A100" and of "A1000", "H200" is
// inside "GH200", and a name with a token that no row has is another chip.
#include <algorithm>
#include <string>
#include <utility>

#include "chips/device.hpp"
#include "chips/names.hpp"
#include "chips/slices.hpp"
#include "mfu/chip.hpp"

namespace mfu {
namespace {

using namespace chips_detail;

std::vector<std::string> sorted(std::vector<std::string> tokens) {
  std::sort(tokens.begin(), tokens.end());
  return tokens;
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

// Rows with a name that has these tokens and no others.
std::vector<const Chip*> exact_rows(const std::vector<std::string>& wanted,
                                    std::span<const Chip> table) {
  std::vector<const Chip*> rows;
  for (const Chip& chip : table) {
    const std::vector<std::string_view> names = names_of(chip);
    if (std::any_of(names.begin(), names.end(),
                    [&](std::string_view name) { return sorted(tokens_of(name)) == wanted; })) {
      rows.push_back(&chip);
    }
  }
  return rows;
}

// Rows with a name that has these tokens and more: the name leaves something open. It must have the
// model's own token, else "80GB" would mean many.
std::vector<const Chip*> wider_rows(const std::vector<std::string>& wanted,
                                    std::span<const Chip> table) {
  std::vector<const Chip*> rows;
  for (const Chip& chip : table) {
    const std::vector<std::string> id = tokens_of(chip.id);
    if (id.empty() || !std::binary_search(wanted.begin(), wanted.end(), id.front())) continue;
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

// Tokens to rows, the user's first.
std::vector<const Chip*> rows_named(const std::vector<std::string>& tokens,
                                    std::span<const Chip> user) {
  const std::vector<std::string> wanted = sorted(tokens);
  if (wanted.empty()) return {};
  for (const std::span<const Chip> table : {user, chips()}) {
    std::vector<const Chip*> rows = exact_rows(wanted, table);
    // A user's row stands in for the built-in one of its id, whatever name led there.
    for (const Chip*& row : rows) {
      for (const Chip& own : user) {
        if (own.id == row->id) row = &own;
      }
    }
    if (!rows.empty()) return rows;
  }
  // What is left open may be one of the user's or of the table's.
  std::vector<const Chip*> rows = wider_rows(wanted, user);
  for (const Chip* row : wider_rows(wanted, chips())) {
    const bool replaced =
        std::any_of(user.begin(), user.end(), [&](const Chip& own) { return own.id == row->id; });
    if (!replaced) rows.push_back(row);
  }
  return rows;
}

}  // namespace

namespace chips_detail {

ChipMatch one_of(std::vector<const Chip*> rows, std::string_view name, const Place& place) {
  std::vector<std::string_view> ids;
  for (const Chip* row : rows) ids.push_back(row->id);
  for (const Chip* row : rows) {
    if (!same_peaks(*rows.front(), *row)) {
      throw Error(ErrorKind::unsupported, quoted(name) + " can mean chips with different peaks",
                  place, "say which: " + listed(ids));
    }
  }
  ChipMatch match;
  match.chip = rows.front();
  ids.erase(ids.begin());
  match.same_peak_ids = std::move(ids);
  return match;
}

}  // namespace chips_detail

ChipMatch match_chip(std::string_view name, const Place& place, std::span<const Chip> user) {
  const std::vector<std::string> tokens = tokens_of(name);
  if (const std::optional<Slice> slice = slice_in(tokens)) {
    const std::vector<const Chip*> rows = rows_named(slice->rest, user);
    if (slice->rest.empty() || slice->gpu_slices == 0 || rows.empty()) {
      throw Error(ErrorKind::unsupported,
                  quoted(name) + (rows.empty() ? " is a slice (MIG) of a GPU that is not named"
                                               : " is a slice (MIG), but which is not said"),
                  place,
                  "give both, as in \"NVIDIA H100 80GB HBM3 MIG 3g.40gb\": a slice has a share of "
                  "the GPU's peak");
    }
    ChipMatch match = one_of(rows, name, place);
    match.chip = &slice_of(*match.chip, *slice, name, place);
    match.same_peak_ids.clear();
    match.remark = "A MIG slice: " + std::to_string(match.chip->units) + " of the GPU's " +
                   std::to_string(rows.front()->units) + " " +
                   std::string(rows.front()->unit_kind) + "s, and that share of its peak";
    return match;
  }
  const std::vector<const Chip*> rows = rows_named(tokens, user);
  if (!rows.empty()) return one_of(rows, name, place);
  if (const std::optional<TpuSlice> slice = tpu_slice_in(tokens)) {
    ChipMatch match = match_chip(slice->row, place, user);
    match.devices_in_name = slice->devices;
    match.remark = slice->remark;
    return match;
  }
  if (const std::optional<DeviceFacts> facts = facts_in(tokens)) {
    return match_architecture(*facts, name, place, user);
  }
  refuse_unknown(name, place, user);
}

const Chip& find_chip(std::string_view name, const Place& place) {
  return *match_chip(name, place).chip;
}

}  // namespace mfu
