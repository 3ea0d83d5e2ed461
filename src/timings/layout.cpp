#include "timings/layout.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/note_code.hpp"

namespace mfu {

namespace {

Place layout_place(std::string what) {
  Place where;
  where.what = std::move(what);
  return where;
}

std::string sizes_text(const Parallelism& parallelism) {
  std::string text;
  for (const Axis axis : parallelism.order) {
    if (!parallelism[axis]) continue;
    if (!text.empty()) text += " x ";
    text += std::string(to_string(axis)) + " " + std::to_string(*parallelism[axis]);
  }
  return text;
}

// Saturates: sizes come from a file.
std::int64_t product(const Parallelism& parallelism) {
  std::int64_t total = 1;
  for (const Axis axis : kAxes) {
    if (!parallelism[axis]) continue;
    const std::int64_t size = *parallelism[axis];
    if (total > (std::int64_t{1} << 40) / size) return std::int64_t{1} << 40;
    total *= size;
  }
  return total;
}

void check_given(const RunTimings& run) {
  for (const RankInfo& rank : run.ranks) {
    for (const Axis axis : kAxes) {
      const std::optional<int>& size = run.parallelism[axis];
      if (!size || rank.coords[axis] < *size) continue;
      const std::string name(to_string(axis));
      throw Error(ErrorKind::format,
                  "coords." + name + " is " + std::to_string(rank.coords[axis]) +
                      ", but parallelism." + name + " is " + std::to_string(*size),
                  layout_place("rank " + std::to_string(rank.rank)),
                  "coordinates count from 0 to the size minus one");
    }
  }
}

void note_count(const RunTimings& run, Notes& notes) {
  if (!run.hardware.count) return;
  const std::int64_t count = *run.hardware.count;
  const auto recorded = static_cast<std::int64_t>(run.ranks.size());
  if (count < recorded) {
    notes.add(NoteCode::count_below_ranks,
              "hardware.count is " + std::to_string(count) + ", but " + std::to_string(recorded) +
                  " ranks are recorded; the work and peak of " + std::to_string(count) +
                  " GPUs are counted",
              layout_place("hardware.count"));
  }
  const std::int64_t sized = product(run.parallelism);
  if (sized > 1 && count < sized) {
    notes.add(NoteCode::count_below_layout,
              "hardware.count is " + std::to_string(count) + ", less than " +
                  sizes_text(run.parallelism) + " = " + std::to_string(sized) +
                  ": the recorded layout is judged, not the product",
              layout_place("hardware.count"));
  }
}

// Sizes that rank numbers are taken apart with; an axis without a size ends the derivation.
struct Radix {
  std::array<std::optional<std::int64_t>, 5> size;
  std::array<bool, 5> recorded{true, true, true, true, true};  // false: not in the rank numbers
  [[nodiscard]] std::optional<std::int64_t>& operator[](Axis axis) {
    return size[static_cast<std::size_t>(axis)];
  }
};

Radix radix_of(const RunTimings& run, Notes& notes) {
  Radix radix;
  for (const Axis axis : kAxes) {
    if (run.parallelism[axis]) radix[axis] = *run.parallelism[axis];
  }
  // cp and ep that are not named do not exist; a size of dp is often left to the launcher.
  for (const Axis axis : {Axis::tp, Axis::cp, Axis::ep, Axis::pp}) {
    if (!radix[axis]) radix[axis] = 1;
  }
  const std::int64_t highest = run.ranks.back().rank;
  const std::optional<std::int64_t>& count = run.hardware.count;
  const std::int64_t sized = product(run.parallelism);
  const std::int64_t tp = radix[Axis::tp].value_or(1);
  if (tp > 1 && count && *count * tp == sized && highest < *count) {
    radix.recorded[static_cast<std::size_t>(Axis::tp)] = false;
    notes.add(NoteCode::one_rank_per_tp_group,
              "ranks have no coords and hardware.count is " + sizes_text(run.parallelism) +
                  " without tp: rank numbers are assumed to count tensor-parallel groups",
              layout_place("parallelism"));
    return radix;
  }
  if (!radix[Axis::dp]) {
    const std::int64_t world = count ? *count : static_cast<std::int64_t>(run.ranks.size());
    if (world % sized == 0 && highest < world) {
      radix[Axis::dp] = world / sized;
      if (world != sized) {
        notes.add(NoteCode::dp_size_assumed,
                  "parallelism.dp is not given: " + std::to_string(world / sized) + " = " +
                      std::to_string(world) +
                      (count ? " GPUs (hardware.count)" : " recorded ranks") + " / (" +
                      sizes_text(run.parallelism) + ")",
                  layout_place("parallelism.dp"));
      }
    }
  }
  return radix;
}

// Megatron counts expert groups inside the data-parallel ones: the GPUs are the product without ep.
// Here dp is what lies outside of them.
void take_experts_out(RunTimings& run, Notes& notes) {
  std::optional<int>& dp = run.parallelism[Axis::dp];
  const int ep = run.parallelism[Axis::ep].value_or(1);
  const std::optional<std::int64_t>& count = run.hardware.count;
  if (ep < 2 || !dp || *dp % ep != 0 || !count || *count * ep != product(run.parallelism)) return;
  // Rank numbers that count tensor-parallel groups have the same product.
  if (run.parallelism[Axis::tp].value_or(1) == ep) return;
  const auto follows = [&](const RankInfo& rank) {
    const Coords& at = rank.coords;
    return at == Coords{} ||
           (at[Axis::dp] >= 0 && at[Axis::ep] >= 0 && at[Axis::dp] % ep == at[Axis::ep]);
  };
  if (!std::all_of(run.ranks.begin(), run.ranks.end(), follows)) return;
  notes.add(NoteCode::experts_inside_dp,
            "hardware.count is " + sizes_text(run.parallelism) +
                " without ep: expert groups are assumed to lie inside the data-parallel ones, dp " +
                std::to_string(*dp) + " is dp " + std::to_string(*dp / ep) + " x ep " +
                std::to_string(ep),
            layout_place("parallelism"));
  dp = *dp / ep;
  for (RankInfo& rank : run.ranks) {
    if (rank.coords[Axis::dp] >= 0) rank.coords[Axis::dp] /= ep;
  }
}

}  // namespace

void settle_layout(RunTimings& run, Notes& notes) {
  check_given(run);
  take_experts_out(run, notes);
  note_count(run, notes);
  const bool sized = std::any_of(kAxes.begin(), kAxes.end(),
                                 [&run](Axis axis) { return run.parallelism[axis].has_value(); });
  if (!sized) return;
  const auto has_coords = [](const RankInfo& rank) { return rank.coords != Coords{}; };
  const auto without = std::count_if(run.ranks.begin(), run.ranks.end(),
                                     [&](const RankInfo& rank) { return !has_coords(rank); });
  if (without == 0) return;
  if (without != static_cast<std::ptrdiff_t>(run.ranks.size())) {
    // Given and derived coordinates may follow different orders: together they would mean nothing.
    const auto first = std::find_if_not(run.ranks.begin(), run.ranks.end(), has_coords);
    notes.add(NoteCode::coords_not_on_all_ranks,
              "coords are given on some ranks only, the first without is rank " +
                  std::to_string(first->rank) + "; its logical place is not known",
              layout_place("rank " + std::to_string(first->rank)), without);
    return;
  }
  Radix radix = radix_of(run, notes);
  std::int64_t reach = 1;  // of the rank numbers that the sizes can tell apart; 0: no limit
  for (const Axis axis : run.parallelism.order) {
    if (!radix.recorded[static_cast<std::size_t>(axis)]) continue;
    if (!radix[axis]) {
      reach = 0;
      break;
    }
    reach = std::min(reach * *radix[axis], std::int64_t{1} << 40);
  }
  for (RankInfo& rank : run.ranks) {
    if (reach > 0 && rank.rank >= reach) {
      throw Error(ErrorKind::format,
                  "rank " + std::to_string(rank.rank) + " does not fit into " +
                      sizes_text(run.parallelism) + " = " + std::to_string(reach) + " ranks",
                  layout_place("rank " + std::to_string(rank.rank)),
                  "correct parallelism, or give each rank its coords");
    }
    std::int64_t rest = rank.rank;
    for (const Axis axis : run.parallelism.order) {
      if (!radix.recorded[static_cast<std::size_t>(axis)]) continue;
      if (!radix[axis]) break;  // what lies outside of an axis of unknown size is not known either
      rank.coords[axis] = static_cast<int>(rest % *radix[axis]);
      rest /= *radix[axis];
    }
  }
}

}  // namespace mfu
