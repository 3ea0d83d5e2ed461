#include "chips/slices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <map>
#include <mutex>
#include <tuple>

#include "chips/names.hpp"
#include "chips/rows.hpp"

namespace mfu {
namespace chips_detail {
namespace {

// The leading number of `text`, which is cut off it; -1: there is none.
int take_number(std::string_view& text) {
  int value = -1;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || value < 0) return -1;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

// "3g.40gb", "1g.10gb+me", "1c.3g.20gb"
bool parse_profile(std::string_view token, Slice& slice) {
  slice.profile = token;
  int count = take_number(token);
  if (count < 0) return false;
  slice.compute_slices = 0;
  if (take(token, "c.")) {
    slice.compute_slices = count;
    count = take_number(token);
  }
  if (count < 1 || !take(token, "g.")) return false;
  slice.gpu_slices = count;
  const int memory = take_number(token);
  if (memory < 1 || !take(token, "gb")) return false;
  slice.memory_gib = memory;
  return token.empty() || token.starts_with('+') || token.starts_with('.');
}

// Streaming multiprocessors of a slice, as `nvidia-smi mig -lgip` lists them. A slice of seven
// sevenths of an A100 has fewer than the whole. Double-memory 1g slices have more than single ones
// on Hopper: told by the memory, as a share of the GPU's.
struct SliceUnits {
  std::string_view model;  // first token of the parent's id
  int parent_units;
  std::array<int, 8> by_slices;  // index: GPU slices; 0: no such slice
  int one_with_double_memory;    // 0: as the plain one
};
constexpr std::array kSliceUnits{
    SliceUnits{"a100", 108, {0, 14, 28, 42, 56, 0, 0, 98}, 0},
    SliceUnits{"a800", 108, {0, 14, 28, 42, 56, 0, 0, 98}, 0},
    SliceUnits{"a30", 56, {0, 14, 28, 0, 56, 0, 0, 0}, 0},
    SliceUnits{"h100", 132, {0, 16, 32, 60, 64, 0, 0, 132}, 26},
    SliceUnits{"h200", 132, {0, 16, 32, 60, 64, 0, 0, 132}, 26},
};

int units_of(const Chip& parent, const Slice& slice) {
  const std::string_view model = parent.id.substr(0, parent.id.find('-'));
  for (const SliceUnits& row : kSliceUnits) {
    if (row.model != model || row.parent_units != parent.units) continue;
    if (slice.gpu_slices >= static_cast<int>(row.by_slices.size())) return 0;
    const bool double_memory =
        slice.gpu_slices == 1 && slice.memory_gib * kGiB > 0.2 * parent.memory_bytes;
    if (double_memory && row.one_with_double_memory > 0) return row.one_with_double_memory;
    return row.by_slices[static_cast<std::size_t>(slice.gpu_slices)];
  }
  return 0;
}

// Rows that are made while the program runs: they live as long as it does, also where the row that
// they are made of (a user's) does not.
struct MadeRow {
  std::deque<std::string> strings;  // a deque keeps them where they are
  std::vector<std::string_view> unconfirmed;
  std::vector<PrecisionRate> rates;
  Chip chip;

  std::string_view keep(std::string text) { return strings.emplace_back(std::move(text)); }
};

// All that a made row takes over: two tables of a user may give one id to different chips.
std::string contents_of(const Chip& chip) {
  std::string text =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", chip.id, chip.name,
                  chip.unit_kind, chip.units, chip.base_mhz, chip.max_mhz, chip.memory_bytes,
                  chip.bandwidth_bytes_per_s, chip.sparse_figures, chip.gfx, chip.package.devices,
                  chip.package.name, chip.trap, chip.source, chip.user_defined);
  for (const PrecisionRate& rate : chip.rates) {
    text += fmt::format("\n{} {} {} {} {}", static_cast<int>(rate.precision),
                        rate.flop_per_clock_per_unit, rate.datasheet_flops, rate.datasheet_mhz,
                        static_cast<int>(rate.basis));
  }
  for (const std::string_view field : chip.unconfirmed) text += fmt::format("\n{}", field);
  return text;
}

const Chip& made_row(const Chip& parent, int units, std::string_view what, double memory_bytes) {
  static std::mutex mutex;
  static std::map<std::tuple<std::string, int, std::string>, MadeRow> rows;
  const std::lock_guard<std::mutex> lock(mutex);
  MadeRow& row = rows[{contents_of(parent), units, std::string(what)}];
  if (!row.strings.empty()) return row.chip;
  const double share = static_cast<double>(units) / parent.units;
  row.rates.assign(parent.rates.begin(), parent.rates.end());
  for (PrecisionRate& rate : row.rates) rate.datasheet_flops *= share;
  row.chip = parent;
  row.chip.id = row.keep(fmt::format("{}-{}", parent.id, what));
  row.chip.name = row.keep(fmt::format("{} {}", parent.name, what));
  for (std::string_view* const text : {&row.chip.unit_kind, &row.chip.gfx, &row.chip.package.name,
                                       &row.chip.not_scaled, &row.chip.trap, &row.chip.source}) {
    *text = row.keep(std::string(*text));
  }
  for (const std::string_view field : parent.unconfirmed) {
    row.unconfirmed.push_back(row.keep(std::string(field)));
  }
  row.chip.unconfirmed = row.unconfirmed;
  row.chip.units = units;
  row.chip.rates = row.rates;
  row.chip.aliases = {};
  row.chip.pci_devices = {};
  row.chip.power_w = 0.0;
  if (memory_bytes > 0.0) {
    row.chip.bandwidth_bytes_per_s *= std::min(1.0, memory_bytes / parent.memory_bytes);
    row.chip.memory_bytes = memory_bytes;
  }
  return row.chip;
}

}  // namespace

std::optional<Slice> slice_in(const std::vector<std::string>& tokens) {
  Slice slice;
  bool found = false;
  bool named = false;
  std::vector<std::string> rest;
  for (const std::string& token : tokens) {
    Slice parsed;
    if (!found && parse_profile(token, parsed)) {
      slice = parsed;
      found = true;
    } else if (token == "mig") {
      named = true;
    } else {
      rest.push_back(token);
    }
  }
  if (!found && !named) return {};
  // `nvidia-smi -L` says "MIG 3g.40gb Device 0".
  const auto device = std::find(rest.begin(), rest.end(), "device");
  if (device != rest.end()) rest.erase(device, std::min(rest.end(), device + 2));
  slice.rest = std::move(rest);
  return slice;
}

const Chip& slice_of(const Chip& parent, const Slice& slice, std::string_view name,
                     const Place& place) {
  if (slice.memory_gib * kGiB > 1.05 * parent.memory_bytes) {
    throw Error(ErrorKind::unsupported,
                fmt::format("{}: a slice of {:.0f} GB is larger than the {:.0f} GiB of {}",
                            quoted(name), slice.memory_gib, parent.memory_bytes / kGiB, parent.id),
                place, "nvidia-smi mig -lgip lists the slices of a GPU");
  }
  const int units = slice.compute_slices > 0 ? 0 : units_of(parent, slice);
  if (units == 0) {
    throw Error(ErrorKind::unsupported,
                fmt::format("{} is a slice (MIG) of {}, and how many {}s it has is not known",
                            quoted(name), parent.id, parent.unit_kind),
                place,
                fmt::format("name {} and give the units of the slice (--units), as nvidia-smi mig "
                            "-lgip lists them, or the peak itself",
                            parent.id));
  }
  return made_row(parent, units, "mig-" + slice.profile, slice.memory_gib * kGiB);
}

std::optional<TpuSlice> tpu_slice_in(const std::vector<std::string>& tokens) {
  std::vector<std::string> words = tokens;
  if (!words.empty() && words.front() == "tpu") words.erase(words.begin());
  if (words.size() != 2 || !all_digits(words[1]) || words[1].size() > 6) return {};
  struct Generation {
    std::string_view word, row;
    int number_per_device;  // how many the number in the name counts for one device
    std::string_view counts;
  };
  constexpr std::array kGenerations{
      Generation{"v3", "tpu-v3", 1, "cores"},         Generation{"v4", "tpu-v4", 2, "cores"},
      Generation{"v5p", "tpu-v5p", 2, "cores"},       Generation{"v5e", "tpu-v5e", 1, "chips"},
      Generation{"v5litepod", "tpu-v5e", 1, "chips"}, Generation{"v6e", "tpu-v6e", 1, "chips"},
  };
  for (const Generation& generation : kGenerations) {
    if (words[0] != generation.word) continue;
    int number = 0;
    std::from_chars(words[1].data(), words[1].data() + words[1].size(), number);
    if (number < 1 || number % generation.number_per_device != 0) return {};
    TpuSlice slice;
    slice.row = generation.row;
    slice.devices = number / generation.number_per_device;
    slice.remark = fmt::format(
        "{}-{} is a slice of {} {}: {} device{} of {}, each with the peak that is shown", words[0],
        number, number, generation.counts, slice.devices, slice.devices == 1 ? "" : "s",
        generation.row);
    return slice;
  }
  return {};
}

}  // namespace chips_detail

const Chip& with_units(const Chip& chip, int units, std::string_view what) {
  if (!chip.not_scaled.empty()) {
    throw Error(ErrorKind::unsupported,
                fmt::format("the peak of {} cannot be scaled by its units", chip.id), {},
                fmt::format("{}; give the peak itself (dense, per GPU)", chip.not_scaled));
  }
  return chips_detail::made_row(chip, units, what, 0.0);
}

}  // namespace mfu
