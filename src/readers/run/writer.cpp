#include "readers/run/writer.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "readers/run/header.hpp"
#include "readers/traces/trace_json.hpp"
#include "timings/builder.hpp"
#include "timings/trace.hpp"

namespace mfu {

namespace {

using Json = nlohmann::ordered_json;

// Bytes that are not UTF-8 (a name out of a trace) become U+FFFD: the document must stay readable.
std::string dumped(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void append(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  out.append(text.data(), end);
}

void append_column(std::string& out, std::string_view name, const Column& column,
                   std::size_t rank) {
  if (column.empty()) return;
  out += dumped(Json(name));
  out += ":[";
  for (std::size_t s = 0; s < column.steps(); ++s) {
    if (s > 0) out += ',';
    append(out, column.at(s, rank));
  }
  out += "],";
}

std::string_view word(WaitsIn waits) {
  constexpr std::array<std::string_view, 3> kWords{"comm", "stall", "separate"};
  return kWords[static_cast<std::size_t>(waits)];
}

template <typename T>
void put(Json& object, const char* key, const std::optional<T>& value) {
  if (value) object[key] = *value;
}

Json workload_of(const Workload& workload) {
  Json object = Json::object();
  put(object, "seq_len", workload.seq_len);
  put(object, "global_batch", workload.global_batch);
  put(object, "tokens_per_step", workload.tokens_per_step);
  put(object, "microbatches", workload.microbatches);
  if (workload.pipeline_schedule_given) {
    object["pipeline_schedule"] =
        kScheduleIds[static_cast<std::size_t>(workload.pipeline_schedule)];
  }
  if (workload.virtual_stages != 1) object["virtual_stages"] = workload.virtual_stages;
  put(object, "flops_per_step", workload.flops_per_step);
  if (workload.recompute) {
    object["recompute"] = kRecomputeIds[static_cast<std::size_t>(*workload.recompute)];
  }
  return object;
}

Json hardware_of(const Hardware& hardware) {
  Json object = Json::object();
  if (!hardware.chip.empty()) object["chip"] = hardware.chip;
  if (!hardware.precision.empty()) object["precision"] = hardware.precision;
  put(object, "count", hardware.count);
  put(object, "peak_tflops", hardware.peak_tflops);
  return object;
}

Json parallelism_of(const Parallelism& parallelism) {
  Json object = Json::object();
  for (const Axis axis : kAxes) {
    if (parallelism[axis]) object[std::string(to_string(axis))] = *parallelism[axis];
  }
  if (!object.empty() && parallelism.order != kAxes) {
    std::string order;
    for (const Axis axis : parallelism.order) {
      order += (order.empty() ? "" : "-") + std::string(to_string(axis));
    }
    object["order"] = order;
  }
  return object;
}

Json clock_of(const Clock& clock) {
  return clock.rule == ClockRule::mhz ? Json(clock.mhz) : Json(to_string(clock.rule));
}

Json telemetry_of_rank(const RankTelemetry& telemetry) {
  Json object = Json::object();
  const auto series = [&object](const char* key, const std::vector<double>& values) {
    if (values.empty()) return;
    if (values.size() == 1) {
      object[key] = std::isfinite(values.front()) ? Json(values.front()) : Json(nullptr);
      return;
    }
    object[key] = Json::array();
    for (const double value : values) {
      object[key].push_back(std::isfinite(value) ? Json(value) : Json(nullptr));
    }
  };
  series("sm_clock_mhz", telemetry.sm_clock_mhz);
  series("temperature_c", telemetry.temperature_c);
  series("memory_temperature_c", telemetry.memory_temperature_c);
  series("power_w", telemetry.power_w);
  if (telemetry.throttle_recorded || !telemetry.throttle_reasons.empty()) {
    object["throttle_reasons"] = telemetry.throttle_reasons;
  }
  if (telemetry.xid_recorded || !telemetry.xid.empty()) object["xid"] = telemetry.xid;
  put(object, "ecc_uncorrected", telemetry.ecc_uncorrected);
  return object;
}

void append_rank(std::string& out, const RunTimings& run, std::size_t r) {
  const RankInfo& info = run.ranks[r];
  Json facts = {{"rank", info.rank}};
  if (!info.node.empty()) facts["node"] = info.node;
  put(facts, "gpu", info.gpu);
  if (!info.leaf_switch.empty()) facts["switch"] = info.leaf_switch;
  if (info.coords != Coords{}) {
    Json coords = Json::object();
    for (const Axis axis : kAxes) {
      if (info.coords[axis] >= 0) coords[std::string(to_string(axis))] = info.coords[axis];
    }
    facts["coords"] = std::move(coords);
  }
  if (Json telemetry = telemetry_of_rank(info.telemetry); !telemetry.empty()) {
    facts["telemetry"] = std::move(telemetry);
  }
  std::string text = dumped(facts);
  text.back() = ',';  // the object goes on
  out += text;
  const std::array<const Column*, kTimeSeries> columns{
      &run.compute, &run.comm,    &run.stall,    &run.wait,
      &run.step,    &run.forward, &run.backward, &run.overlapped_comm};
  for (std::size_t id = 0; id < kTimeSeries; ++id) {
    append_column(out, kSeriesNames[id], *columns[id], r);
  }
  if (!run.comm_by_group.empty()) {
    out += "\"comm_by_group\":{";
    for (const auto& [kind, column] : run.comm_by_group) append_column(out, kind, column, r);
    out.back() = '}';
    out += ',';
  }
  out.back() = '}';
}

}  // namespace

std::string write_run(const RunTimings& run, const Notes& notes) {
  std::string out = "{\"schema\":\"mfu.run/1\",\n";
  const auto add = [&out](std::string_view key, const Json& value) {
    out += dumped(Json(key)) + ":" + dumped(value) + ",\n";
  };
  if (!run.job.empty()) add("job", Json(run.job));
  if (!run.model_json.empty()) {
    out += "\"model\":" + run.model_json + ",\n";
  } else if (!run.model.empty()) {
    add("model", run.model);
  }
  if (Json value = workload_of(run.workload); !value.empty()) add("workload", value);
  if (Json value = hardware_of(run.hardware); !value.empty()) add("hardware", value);
  if (!run.convention.empty()) add("convention", run.convention);
  if (run.clock.rule != ClockRule::datasheet) add("clock", clock_of(run.clock));
  if (Json value = parallelism_of(run.parallelism); !value.empty()) add("parallelism", value);
  add("time_unit", "s");
  if (run.waits_in_given) add("waits_in", word(run.waits_in));
  if (run.replay) add("replay", replay_to_json(*run.replay));
  if (run.trace) add("trace", trace_to_json(*run.trace));
  if (!notes.all().empty()) add("reduced_notes", notes_to_json(notes));
  add("steps", Json(run.steps));
  out += "\"ranks\":[";
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    out += r == 0 ? "\n" : ",\n";
    append_rank(out, run, r);
  }
  out += "]}\n";
  return out;
}

}  // namespace mfu
