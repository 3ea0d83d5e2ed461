#include "record.hpp"

#include <algorithm>

namespace second {
namespace {

bool one_group(const Setting& setting) {
  return setting.shape == Shape::sharded || setting.shape == Shape::ddp;
}

void draw_declaration(const Setting& setting, const Fault& fault, Random& random,
                      Recorder& recorder) {
  const bool in_stall = recorder.waits == Waits::in_stall;
  if (recorder.waits == Waits::apart) {
    recorder.declared = "separate";
  } else if (recorder.waits == Waits::pipe_in_stall) {
    recorder.declared = random.one_of({"comm", "stall", ""});
  } else if (random.chance(0.7)) {
    recorder.declared = in_stall ? "stall" : "comm";
  } else {
    const bool wrong = random.chance(0.5);
    recorder.declared = !wrong ? "" : in_stall ? "comm" : "stall";
  }
  // A common stall cannot be told from one rank's stall and its peers' waits once both are said to
  // lie in one column.
  const bool common = fault.sort == Sort::stall_all || fault.sort == Sort::two ||
                      fault.sort == Sort::missing || fault.sort == Sort::comm_zero;
  if (common && recorder.waits == Waits::in_comm && recorder.declared == "stall") {
    recorder.declared = "comm";
  }
  if (fault.sort == Sort::comm_zero) recorder.declared = "";
  // One group stalls and the others wait in `comm`: said to be the other way round, that is the
  // others' slow transfer. Only a minority that stalls is still the likelier reading; and in a
  // group's column nothing tells transfer from waiting once it is said to be transfer.
  const bool either_way =
      fault.sort == Sort::stall_place &&
      (setting.shape == Shape::pipeline || 2 * count_of(fault.ranks) >= setting.layout.ranks);
  if ((either_way || fault.sort == Sort::link) && recorder.waits == Waits::in_comm &&
      recorder.declared == "stall") {
    recorder.declared = "";
  }
}

}  // namespace

Recorder draw_recorder(const Setting& setting, const Fault& fault, Random& random) {
  Recorder recorder;
  const bool pipeline = setting.layout.pp > 1;
  std::vector<Waits> allowed = {Waits::in_comm, Waits::in_comm, Waits::in_stall, Waits::apart};
  if (pipeline) allowed.push_back(Waits::pipe_in_stall);
  if (pipeline) allowed.push_back(Waits::pipe_in_stall);
  switch (fault.sort) {
    case Sort::stall_place:
    case Sort::stall_all:
    case Sort::two:
      allowed = {Waits::in_comm, Waits::apart};
      break;
    case Sort::link:
      allowed = {Waits::in_comm, Waits::apart, Waits::apart};
      break;
    case Sort::missing:
    case Sort::comm_zero:
      allowed = {Waits::in_comm};
      break;
    default:
      break;
  }
  recorder.waits = at(allowed, random.below(count_of(allowed)));
  draw_declaration(setting, fault, random, recorder);

  recorder.by_group = setting.shape != Shape::sharded && setting.shape != Shape::ddp &&
                      random.chance(setting.shape == Shape::pipeline ? 0.5 : 0.4);
  if (fault.sort == Sort::network && !one_group(setting) && random.chance(0.6)) {
    recorder.by_group = true;
  }
  recorder.passes = random.chance(0.6);
  recorder.walls = fault.sort != Sort::comm_zero && random.chance(0.3);
  recorder.overlap = random.chance(0.3);
  recorder.unit = random.one_of({"s", "ms", "ms", "us"});
  recorder.error = random.uniform(0.0002, 0.002);
  // Healthy clocks beside slow kernels would tell something about the cause: silent there.
  const bool place = fault.sort == Sort::compute_place || fault.sort == Sort::logical_place ||
                     fault.sort == Sort::missing || fault.sort == Sort::moving ||
                     fault.kind == "slower-from-some-step";
  recorder.telemetry = fault.telemetry_explains || (!place && random.chance(0.35));
  recorder.chip = random.one_of({"h100-sxm", "h100-sxm", "a100-sxm4-80gb"});
  recorder.peak_share = random.uniform(0.5, 0.62);
  if (fault.kind == "two-devices" || (fault.sort != Sort::kernels && random.chance(0.3))) {
    recorder.peak_share = 0.0;
  }
  if (fault.sort == Sort::kernels) recorder.peak_share = fault.size;
  if (recorder.peak_share <= 0 && !recorder.telemetry && random.chance(0.5)) recorder.chip = "";
  recorder.comm_lost = fault.sort == Sort::comm_zero;
  recorder.lost_rank = fault.sort == Sort::missing ? fault.ranks.front() : -1;
  return recorder;
}

std::string describe(const Recorder& recorder) {
  static const char* const names[] = {"comm", "stall", "separate", "pipe-in-stall"};
  std::string text = names[static_cast<int>(recorder.waits)];
  text += "/" + (recorder.declared.empty() ? "undeclared" : recorder.declared);
  if (recorder.by_group) text += "+groups";
  if (recorder.telemetry) text += "+telemetry";
  return text;
}

Columns record(const Setting& setting, const Recorder& recorder, const Timeline& timeline) {
  const int steps = setting.steps;
  const int ranks = setting.layout.ranks;
  const Noise noise(setting.seed, 21);
  Columns columns;
  for (Table<double>* table : {&columns.compute, &columns.forward, &columns.backward, &columns.comm,
                               &columns.stall, &columns.wait, &columns.overlapped}) {
    *table = Table<double>(steps, ranks, 0.0);
  }
  columns.groups.assign(axes, Table<double>(steps, ranks, 0.0));
  for (int step = 0; step < steps; ++step) {
    for (int rank = 0; rank < ranks; ++rank) {
      const Cell& cell = timeline.cells(step, rank);
      double stall = cell.stall;
      double comm = 0;
      for (int axis = 0; axis < axes; ++axis) {
        const double waits = cell.wait[static_cast<std::size_t>(axis)];
        double group = cell.transfer[static_cast<std::size_t>(axis)];
        const bool to_stall = recorder.waits == Waits::in_stall ||
                              (recorder.waits == Waits::pipe_in_stall && axis == pipe);
        if (recorder.waits == Waits::apart) {
          columns.wait(step, rank) += waits;
        } else if (to_stall) {
          stall += waits;
        } else {
          group += waits;
        }
        columns.groups[static_cast<std::size_t>(axis)](step, rank) = group;
        comm += group;
      }
      // Time stamps are not exact: what kernels seem to have more, another bucket has less.
      double shift = cell.compute * recorder.error * noise.normal(step, rank);
      shift = std::min(shift, 0.5 * stall);
      columns.compute(step, rank) = cell.compute + shift;
      columns.stall(step, rank) = stall - shift;
      columns.comm(step, rank) = comm;
      const double scale = columns.compute(step, rank) / std::max(1e-12, cell.compute);
      columns.forward(step, rank) = cell.forward * scale;
      columns.backward(step, rank) = cell.backward * scale;
      columns.overlapped(step, rank) = cell.overlapped;
      if (recorder.comm_lost) {
        columns.comm(step, rank) = 0.0;
        columns.overlapped(step, rank) = 0.0;
      }
    }
  }
  return columns;
}

}  // namespace second
