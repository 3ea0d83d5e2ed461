#include "job.hpp"

#include <algorithm>
#include <optional>

#include "label.hpp"

namespace second {
namespace {

// Exposed transfer of a job in which all is well; more would be a finding of its own.
constexpr double most_exposed = 0.045;
// A pipeline's step over what its schedule makes of even work.
constexpr double most_over_schedule = 1.04;
constexpr int attempts = 80;
constexpr int attempts_as_wished = 50;
constexpr double target_of_peak = 0.45;  // what kernels are expected to reach

double exposed_share(const Setting& setting, const Timeline& timeline) {
  double transfers = 0, walls = 0;
  for (int step = setting.warmup; step < setting.steps; ++step) {
    for (int rank = 0; rank < setting.layout.ranks; ++rank) {
      transfers += timeline.cells(step, rank).transfers();
      walls += timeline.cells(step, rank).wall();
    }
  }
  return transfers / walls;
}

double median_compute_s(const Setting& setting, const Timeline& timeline) {
  std::vector<double> all;
  for (int step = setting.warmup; step < setting.steps; ++step) {
    for (int rank = 0; rank < setting.layout.ranks; ++rank) {
      all.push_back(timeline.cells(step, rank).compute);
    }
  }
  std::nth_element(all.begin(), all.begin() + count_of(all) / 2, all.end());
  return at(all, count_of(all) / 2);
}

// Whether the job would be well without its fault.
bool sound(const Setting& setting, const Timeline& well) {
  if (exposed_share(setting, well) > most_exposed) return false;
  const Layout& layout = setting.layout;
  const double bubble = setting.shape == Shape::pipeline
                            ? (layout.pp - 1.0) / (setting.microbatches * setting.virtual_stages)
                            : 0.0;
  const double schedule_s = setting.compute_s * (0.96 * (1.0 + bubble) + 0.04);
  return mean_step_s(setting, well) <
         schedule_s * (setting.shape == Shape::pipeline ? most_over_schedule + most_exposed : 1.09);
}

Timeline with(const Setting& setting, const std::vector<const Fault*>& faults, bool evened) {
  Effects effects(setting);
  for (const Fault* fault : faults) apply(*fault, setting, evened, effects);
  return simulate(setting, effects);
}

Job finished(const Setting& setting, const KindRow& kind, const Recorder& recorder,
             const Columns& columns, const Fault& fault, double work_s, Label label) {
  const Layout& layout = setting.layout;
  Job job;
  job.kind = kind.name;
  job.shape = shape_name(setting);
  job.recorder = describe(recorder);
  job.document = write(setting, recorder, columns, fault, work_s);
  job.label = std::move(label);
  job.ranks = layout.ranks;
  job.steps = setting.steps;
  job.tp = layout.tp;
  job.cp = layout.cp;
  job.ep = layout.ep;
  job.dp = layout.dp;
  job.pp = layout.pp;
  job.node_names = layout.node_names;
  for (int rank = 0; rank < layout.ranks; ++rank) {
    job.node_of.push_back(layout.node_of(rank));

    job.rack_of.push_back(layout.per_rack == 0 ? -1 : layout.node_of(rank) / layout.per_rack);
  }
  return job;
}

void maybe_warm_up(const KindRow& kind, const Fault& fault, Random& random, Setting& setting) {
  const bool asked = std::string(kind.name) == "healthy-warmup";
  const bool steady = fault.course.name == "steady" || fault.course.name == "moving";
  const bool host = fault.sort == Sort::stall_all || fault.sort == Sort::stall_place;
  if (asked || (steady && !host && random.chance(0.1))) {
    if (setting.steps >= (asked ? 12 : 16)) setting.warmup = random.between(1, 2);
  }
}

std::optional<Job> draw_one_fault(std::uint64_t seed, const KindRow& kind, bool small,
                                  bool as_wished, Random& random) {
  Setting setting = draw_setting(seed, random, kind.shapes);
  Fault fault;
  if (!draw_fault(kind, setting, small, random, fault)) return std::nullopt;
  maybe_warm_up(kind, fault, random, setting);
  const Recorder recorder = draw_recorder(setting, fault, random);

  const Timeline well = with(setting, {}, false);
  if (!sound(setting, well)) return std::nullopt;
  if (kind.sort == Sort::nothing) {
    const Columns columns = record(setting, recorder, well);
    Job job = finished(setting, kind, recorder, columns, fault, median_compute_s(setting, well),
                       healthy_label("nothing is wrong"));
    job.step_s = job.twin_step_s = mean_step_s(setting, well);
    return job;
  }
  const Timeline harmed = with(setting, {&fault}, false);
  const double step_s = mean_step_s(setting, harmed);
  const Columns columns = record(setting, recorder, harmed);
  const Columns columns_well = record(setting, recorder, well);

  // A place at its peers' speed, or the same work spread evenly. Where either reading stands, the
  // one that saves more decides whether it is material: the peers' speed.
  double twin_s = mean_step_s(setting, well);
  double saving = 1.0 - twin_s / step_s;
  if (kind.sort == Sort::kernels) {
    Effects faster(setting);
    const float factor = static_cast<float>(fault.size / target_of_peak);
    faster.forward = Table<float>(setting.steps, setting.layout.ranks, factor);
    faster.backward = faster.forward;
    twin_s = mean_step_s(setting, simulate(setting, faster));
    saving = 1.0 - twin_s / step_s;
  }
  std::optional<Label> label;
  if (kind.sort == Sort::moving || kind.sort == Sort::logical_place) {
    const double peers_s = twin_s;
    twin_s = mean_step_s(setting, with(setting, {&fault}, true));
    saving = 1.0 - twin_s / step_s;
    label = label_of({setting, fault, recorder, columns, columns_well, step_s, saving});
    if (label && kind.sort == Sort::logical_place) {
      // The other reading must agree on whether there is anything to say.
      const double other = 1.0 - peers_s / step_s;
      if (label->readings.front() == "healthy" && other > surely_small) return std::nullopt;
      if (!label->decidable) twin_s = peers_s;
    }
  } else {
    label = label_of({setting, fault, recorder, columns, columns_well, step_s, saving});
  }
  if (!label) return std::nullopt;
  const bool healthy = !label->readings.empty() && label->readings.front() == "healthy";
  if (as_wished && healthy != small) return std::nullopt;
  Job job = finished(setting, kind, recorder, columns, fault, median_compute_s(setting, well),
                     std::move(*label));
  job.step_s = step_s;
  job.twin_step_s = twin_s;
  return job;
}

const KindRow& row_of(const std::string& name) {
  for (const KindRow& row : kinds()) {
    if (name == row.name) return row;
  }
  return kinds().front();
}

std::optional<Job> draw_two_faults(std::uint64_t seed, const KindRow& kind, Random& random) {
  const Setting setting = draw_setting(seed, random, kind.shapes);
  static const std::vector<std::string> first_of = {"slow-rank", "slow-node", "lengths-moving",
                                                    "network-slow"};
  static const std::vector<std::string> second_of = {"loader-of-all", "checkpoint-by-all",
                                                     "gc-together", "network-slow"};
  const std::string& a = at(first_of, random.below(count_of(first_of)));
  const std::string& b = at(second_of, random.below(count_of(second_of)));
  if (a == b) return std::nullopt;
  Fault first, second_fault;
  if (!draw_fault(row_of(a), setting, false, random, first)) return std::nullopt;
  if (!draw_fault(row_of(b), setting, false, random, second_fault)) return std::nullopt;
  Fault both;
  both.sort = Sort::two;
  const Recorder recorder = draw_recorder(setting, both, random);

  const Timeline well = with(setting, {}, false);
  if (!sound(setting, well)) return std::nullopt;
  const Timeline harmed = with(setting, {&first, &second_fault}, false);
  const double step_s = mean_step_s(setting, harmed);
  const Columns columns = record(setting, recorder, harmed);

  // A fix of one is priced with the other as it is.
  const auto label_without = [&](const Fault& fault, const Fault& other, double& saving) {
    Effects effects(setting);
    apply(other, setting, false, effects);
    apply(fault, setting, true, effects);
    const Timeline mended = simulate(setting, effects);
    saving = 1.0 - mean_step_s(setting, mended) / step_s;
    const Columns twin = record(setting, recorder, mended);
    return label_of({setting, fault, recorder, columns, twin, step_s, saving});
  };
  double save_first = 0, save_second = 0;
  auto label_first = label_without(first, second_fault, save_first);
  auto label_second = label_without(second_fault, first, save_second);
  if (!label_first || !label_second) return std::nullopt;
  if (!label_first->decidable || !label_second->decidable) return std::nullopt;
  const bool first_is_greater = save_first >= save_second;
  if (!first_is_greater) {
    std::swap(label_first, label_second);
    std::swap(save_first, save_second);
  }
  if (save_first < surely_material) return std::nullopt;
  const double ratio = save_second / save_first;
  Label label = *label_first;
  if (ratio > 0.65 && save_second > surely_material) {
    label = Label{};
    label.readings = {"mixed"};
    label.families = {label_first->readings.front(), label_second->readings.front()};
    label.place_matters = false;
    label.why = "two faults, the smaller worth " + std::to_string(ratio) + " of the greater";
  } else {
    // The lesser one may hide behind the greater (kernels behind transfer): it must be little on
    // its own, too.
    const Fault& lesser = first_is_greater ? second_fault : first;
    const double alone =
        1.0 - mean_step_s(setting, well) / mean_step_s(setting, with(setting, {&lesser}, false));
    if (ratio > 0.35 || alone > 0.4 * save_first) return std::nullopt;
  }
  both.course = first.course;
  Job job = finished(setting, kind, recorder, columns, both, median_compute_s(setting, well),
                     std::move(label));
  job.step_s = step_s;
  job.twin_step_s = job.label.readings.front() == "mixed" ? mean_step_s(setting, well)
                                                          : step_s * (1.0 - save_first);
  return job;
}

}  // namespace

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const KindRow& row : kinds()) names.emplace_back(row.name);
  return names;
}

Job make(std::uint64_t seed) {
  Random choice(scrambled(seed) ^ 0xC401CEULL);
  const KindRow& kind = at(kinds(), choice.below(count_of(kinds())));
  // Whether a job that lacks a rank is healthy cannot be said.
  const bool small = choice.chance(0.12) && kind.sort != Sort::missing;
  for (int attempt = 0;; ++attempt) {
    const std::uint64_t draw = scrambled(scrambled(seed) + static_cast<std::uint64_t>(attempt));
    Random random(draw);
    // A kind that no draw can befall leaves a healthy job behind.
    const KindRow& row = attempt < attempts ? kind : kinds().front();
    auto job = row.sort == Sort::two
                   ? draw_two_faults(draw, row, random)
                   : draw_one_fault(draw, row, small, attempt < attempts_as_wished, random);
    if (!job) continue;
    job->seed = seed;
    return std::move(*job);
  }
}

}  // namespace second
