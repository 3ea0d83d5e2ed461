// The text of a timing document.
#include <array>
#include <charconv>

#include "record.hpp"

namespace second {
namespace {

class Text {
 public:
  void raw(const char* text) { out_ += text; }
  void raw(const std::string& text) { out_ += text; }
  void quoted(const std::string& text) { out_ += '"' + text + '"'; }
  void number(double value, int digits) {
    std::array<char, 40> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                   std::chars_format::fixed, digits);
    out_.append(buffer.data(), end.ptr);
  }
  void integer(int value) { out_ += std::to_string(value); }
  template <class Of>
  void series(const char* name, int steps, int digits, Of of) {
    out_ += '"';
    out_ += name;
    out_ += "\":[";
    for (int step = 0; step < steps; ++step) {
      if (step > 0) out_ += ',';
      number(of(step), digits);
    }
    out_ += ']';
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

struct Unit {
  double per_s;
  int digits;
};

Unit unit_of(const std::string& name) {
  if (name == "s") return {1.0, 6};
  if (name == "ms") return {1e3, 3};
  return {1e6, 0};
}

double peak_flops(const std::string& chip) { return chip == "h100-sxm" ? 989.4e12 : 312e12; }

void write_head(const Setting& setting, const Recorder& recorder, double work_s, Text& text) {
  const Layout& layout = setting.layout;
  text.raw(R"({"schema":"mfu.run/1","time_unit":)");
  text.quoted(recorder.unit);
  if (!recorder.chip.empty()) {
    text.raw(R"(,"hardware":{"chip":)");
    text.quoted(recorder.chip);
    text.raw(R"(,"precision":"bf16","count":)");
    text.integer(layout.ranks);
    text.raw("}");
  } else if (recorder.lost_rank >= 0) {
    text.raw(R"(,"hardware":{"count":)" + std::to_string(layout.ranks) + "}");
  }
  std::string workload;
  if (recorder.peak_share > 0) {
    Text flops;
    flops.raw(R"("flops_per_step":)");
    flops.number(recorder.peak_share * peak_flops(recorder.chip) * work_s * layout.ranks, 0);
    workload = flops.take();
  }
  if (setting.shape == Shape::pipeline) {
    if (!workload.empty()) workload += ',';
    workload += R"("microbatches":)" + std::to_string(setting.microbatches);
    if (layout.pp > 1) {
      workload += setting.virtual_stages > 1
                      ? R"(,"pipeline_schedule":"interleaved","virtual_stages":)" +
                            std::to_string(setting.virtual_stages)
                      : std::string(R"(,"pipeline_schedule":"1f1b")");
    }
  }
  if (!workload.empty()) text.raw(",\"workload\":{" + workload + "}");
  text.raw(R"(,"parallelism":{"dp":)" + std::to_string(layout.dp));
  const auto axis = [&](const char* name, int size) {
    if (size > 1) text.raw(std::string(",\"") + name + "\":" + std::to_string(size));
  };
  axis("tp", layout.tp);
  axis("cp", layout.cp);
  axis("ep", layout.ep);
  axis("pp", layout.pp);
  text.raw("}");
  if (!recorder.declared.empty()) {
    text.raw(R"(,"waits_in":)");
    text.quoted(recorder.declared);
  }
}

void write_telemetry(const Setting& setting, const Recorder& recorder, const Fault& fault, int rank,
                     Text& text) {
  const Noise noise(setting.seed, 22);
  const double full_mhz = recorder.chip == "h100-sxm" ? 1755 : 1410;
  bool harmed = false;
  if (fault.telemetry_explains) {
    for (int other : fault.ranks) harmed = harmed || other == rank;
  }
  const bool heats = harmed && fault.reason.find("thermal") != std::string::npos;
  const auto level = [&](int step) {
    return harmed ? static_cast<double>(at(fault.course.level, step)) : 0.0;
  };
  text.raw(R"(,"telemetry":{)");
  text.series("sm_clock_mhz", setting.steps, 0, [&](int step) {
    return full_mhz / (1.0 + level(step) * fault.size) - 4.0 * noise.unit(step, rank, 1);
  });
  text.raw(",");
  text.series("temperature_c", setting.steps, 0, [&](int step) {
    return 57 + 6 * noise.unit(rank, 0, 2) + noise.unit(step, rank, 3) +
           (heats ? 26 * level(step) : 0.0);
  });
  text.raw(R"(,"throttle_reasons":[)");
  if (harmed) text.quoted(fault.reason);
  text.raw("]}");
}

void write_rank(const Setting& setting, const Recorder& recorder, const Columns& columns,
                const Fault& fault, int rank, Text& text) {
  const Layout& layout = setting.layout;
  const Unit unit = unit_of(recorder.unit);
  const auto column = [&](const char* name, const Table<double>& table) {
    text.raw(",");
    text.series(name, setting.steps, unit.digits,
                [&](int step) { return table(step, rank) * unit.per_s; });
  };
  text.raw(R"({"rank":)" + std::to_string(rank) + R"(,"node":)");
  text.quoted(at(layout.node_names, layout.node_of(rank)));
  text.raw(R"(,"gpu":)" + std::to_string(rank % layout.per_node));
  if (layout.per_rack > 0) {
    text.raw(R"(,"switch":"leaf)" + std::to_string(layout.node_of(rank) / layout.per_rack) + "\"");
  }
  column("compute", columns.compute);
  column("comm", columns.comm);
  column("stall", columns.stall);
  if (recorder.waits == Waits::apart) column("wait", columns.wait);
  if (recorder.passes) {
    column("forward", columns.forward);
    column("backward", columns.backward);
  }
  if (recorder.overlap) column("overlapped_comm", columns.overlapped);
  if (recorder.walls) {
    text.raw(",");
    text.series("step", setting.steps, unit.digits, [&](int step) {
      return (columns.compute(step, rank) + columns.comm(step, rank) + columns.stall(step, rank) +
              columns.wait(step, rank)) *
             unit.per_s;
    });
  }
  if (recorder.by_group) {
    text.raw(R"(,"comm_by_group":{)");
    bool first = true;
    for (int axis = 0; axis < axes; ++axis) {
      const Table<double>& table = columns.groups[static_cast<std::size_t>(axis)];
      double sum = 0;
      for (int step = 0; step < setting.steps; ++step) sum += table(step, rank);
      if (sum <= 0) continue;
      if (!first) text.raw(",");
      first = false;
      text.series(axis_names[static_cast<std::size_t>(axis)], setting.steps, unit.digits + 1,
                  [&](int step) { return table(step, rank) * unit.per_s; });
    }
    text.raw("}");
  }
  if (recorder.telemetry) write_telemetry(setting, recorder, fault, rank, text);
  text.raw("}");
}

}  // namespace

std::string write(const Setting& setting, const Recorder& recorder, const Columns& columns,
                  const Fault& fault, double work_s) {
  Text text;
  write_head(setting, recorder, work_s, text);
  text.raw(R"(,"steps":[)");
  const int first_step = 100 * static_cast<int>(setting.seed % 7) * (setting.warmup > 0 ? 0 : 1);
  for (int step = 0; step < setting.steps; ++step) {
    if (step > 0) text.raw(",");
    text.integer(first_step + step);
  }
  text.raw("]");
  text.raw(",\"ranks\":[\n");
  bool first = true;
  for (int rank = 0; rank < setting.layout.ranks; ++rank) {
    if (rank == recorder.lost_rank) continue;
    if (!first) text.raw(",\n");
    first = false;
    write_rank(setting, recorder, columns, fault, rank, text);
  }
  text.raw("]}\n");
  return text.take();
}

}  // namespace second
