#include "faults/written/write.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include "statistics/robust.hpp"

namespace mfu::faults {

namespace {

std::string number(double value) {
  if (std::isnan(value)) return "null";
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), end.ptr);
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string quoted_or_number(const std::optional<double>& value) {
  return value ? number(*value) : "null";
}

double units_per_second(std::string_view unit) {
  if (unit == "ms") return 1e3;
  if (unit == "us") return 1e6;
  if (unit == "ns") return 1e9;
  return 1.0;
}

// Members of an object, in the order in which they were added.
class Object {
 public:
  void raw(std::string_view key, const std::string& json) {
    if (text_.size() > 1) text_ += ',';
    text_ += quoted(key) + ':' + json;
  }
  void text(std::string_view key, std::string_view value) {
    if (!value.empty()) raw(key, quoted(value));
  }
  void number_if(std::string_view key, const std::optional<double>& value) {
    if (value) raw(key, quoted_or_number(value));
  }
  [[nodiscard]] bool empty() const { return text_.size() == 1; }
  [[nodiscard]] std::string str() const { return text_ + '}'; }

 private:
  std::string text_ = "{";
};

class Writer {
 public:
  Writer(const RunTimings& run, const WriteOptions& options)
      : run_(run), options_(options), units_(units_per_second(options.time_unit)) {
    for (std::size_t i = 0; i < run.ranks.size(); ++i) order_.push_back(i);
    if (options.shuffle_seed != 0) {
      Random random(options.shuffle_seed);
      for (std::size_t i = order_.size(); i > 1; --i)
        std::swap(order_[i - 1], order_[random.below(i)]);
    }
  }

  [[nodiscard]] const std::vector<std::size_t>& order() const { return order_; }

  [[nodiscard]] Object header() const {
    Object out;
    out.text("schema", "mfu.run/1");
    Object job;
    for (const auto& [key, value] : run_.job) job.text(key, value);
    if (!job.empty()) out.raw("job", job.str());
    if (!run_.model_json.empty()) {
      out.raw("model", run_.model_json);
    } else {
      out.text("model", run_.model);
    }
    const Object workload = workload_object();
    if (!workload.empty()) out.raw("workload", workload.str());
    Object hardware;
    hardware.text("chip", run_.hardware.chip);
    hardware.text("precision", run_.hardware.precision);
    if (run_.hardware.count) hardware.raw("count", std::to_string(*run_.hardware.count));
    hardware.number_if("peak_tflops", run_.hardware.peak_tflops);
    if (!hardware.empty()) out.raw("hardware", hardware.str());
    out.text("convention", run_.convention);
    const Object parallelism = parallelism_object();
    if (!parallelism.empty()) out.raw("parallelism", parallelism.str());
    if (run_.waits_in_given) {
      out.text("waits_in", run_.waits_in == WaitsIn::comm    ? "comm"
                           : run_.waits_in == WaitsIn::stall ? "stall"
                                                             : "separate");
    }
    out.text("time_unit", options_.time_unit);
    return out;
  }

  // Everything about a rank but its series of seconds.
  enum class Series { inside, in_samples };  // of telemetry
  [[nodiscard]] Object rank_object(std::size_t i, Series series) const {
    const RankInfo& info = run_.ranks[i];
    Object out;
    out.raw("rank", std::to_string(info.rank));
    out.text("node", info.node);
    if (info.gpu) out.raw("gpu", std::to_string(*info.gpu));
    out.text("switch", info.leaf_switch);
    if (options_.coords) {
      Object coords;
      for (const Axis axis : kAxes) {
        const bool matters = run_.parallelism[axis].value_or(2) > 1;
        if (info.coords[axis] >= 0 && matters) {
          coords.raw(to_string(axis), std::to_string(info.coords[axis]));
        }
      }
      if (!coords.empty()) out.raw("coords", coords.str());
    }
    Object telemetry;
    each_gauge(info.telemetry, [&](std::string_view key, const std::vector<double>& values) {
      if (values.size() == 1) telemetry.raw(key, gauge(values.front()));
      if (values.size() > 1 && series == Series::inside) {
        std::string list = "[";
        for (const double value : values) {
          if (list.size() > 1) list += ',';
          list += gauge(value);
        }
        telemetry.raw(key, list + ']');
      }
    });
    if (!telemetry.empty()) out.raw("telemetry", telemetry.str());
    return out;
  }

  // What telemetry says of one step; values for the whole run are not repeated.
  [[nodiscard]] Object telemetry_sample(std::size_t i, std::size_t step) const {
    Object telemetry;
    each_gauge(run_.ranks[i].telemetry,
               [&](std::string_view key, const std::vector<double>& values) {
                 if (values.size() > 1) telemetry.raw(key, gauge(values[step]));
               });
    return telemetry;
  }

  // Calls add(name, column, inside comm_by_group?) for each column that is there.
  template <class Add>
  void each_column(Add add) const {
    const std::array<std::pair<std::string_view, const Column*>, 8> columns{{
        {"compute", &run_.compute},
        {"forward", &run_.forward},
        {"backward", &run_.backward},
        {"comm", &run_.comm},
        {"stall", &run_.stall},
        {"wait", &run_.wait},
        {"step", &run_.step},
        {"overlapped_comm", &run_.overlapped_comm},
    }};
    for (const auto& [name, column] : columns) {
      if (!column->empty()) add(name, *column);
    }
  }

  [[nodiscard]] std::string series(const Column& column, std::size_t rank) const {
    std::string out = "[";
    for (std::size_t step = 0; step < column.steps(); ++step) {
      if (step > 0) out += ',';
      out += seconds(column.at(step, rank));
    }
    return out + ']';
  }

  [[nodiscard]] std::string seconds(double value) const {
    if (options_.decimals >= 0) {
      const double scale = std::pow(10.0, options_.decimals);
      // Dividing last keeps the printed digits short in every unit.
      return number(std::round(value * scale) * units_ / scale);
    }
    return number(value * units_);
  }

 private:
  [[nodiscard]] std::string gauge(double value) const {
    return number(options_.decimals >= 0 ? std::round(value * 10.0) / 10.0 : value);
  }

  template <class Add>
  static void each_gauge(const RankTelemetry& telemetry, Add add) {
    add("sm_clock_mhz", telemetry.sm_clock_mhz);
    add("temperature_c", telemetry.temperature_c);
    add("memory_temperature_c", telemetry.memory_temperature_c);
    add("power_w", telemetry.power_w);
  }

  [[nodiscard]] Object workload_object() const {
    const Workload& work = run_.workload;
    Object out;
    out.number_if("seq_len", work.seq_len);
    out.number_if("global_batch", work.global_batch);
    if (!(work.seq_len && work.global_batch))
      out.number_if("tokens_per_step", work.tokens_per_step);
    if (work.microbatches) out.raw("microbatches", std::to_string(*work.microbatches));
    if (work.pipeline_schedule_given) {
      out.text("pipeline_schedule", work.pipeline_schedule == PipelineSchedule::gpipe ? "gpipe"
                                    : work.pipeline_schedule == PipelineSchedule::interleaved
                                        ? "interleaved"
                                        : "1f1b");
    }
    if (work.virtual_stages > 1) out.raw("virtual_stages", std::to_string(work.virtual_stages));
    out.number_if("flops_per_step", work.flops_per_step);
    return out;
  }

  [[nodiscard]] Object parallelism_object() const {
    Object out;
    for (const Axis axis : kAxes) {
      if (run_.parallelism[axis]) out.raw(to_string(axis), std::to_string(*run_.parallelism[axis]));
    }
    if (run_.parallelism.order != kAxes) {
      std::string order;
      for (const Axis axis : run_.parallelism.order) {
        if (!order.empty()) order += '-';
        order += to_string(axis);
      }
      out.text("order", order);
    }
    return out;
  }

  const RunTimings& run_;
  WriteOptions options_;
  double units_;
  std::vector<std::size_t> order_;
};

}  // namespace

std::string to_json(const RunTimings& run, const WriteOptions& options) {
  const Writer writer(run, options);
  Object document = writer.header();
  std::string steps = "[";
  for (const std::int64_t step : run.steps) {
    if (steps.size() > 1) steps += ',';
    steps += std::to_string(step);
  }
  document.raw("steps", steps + ']');
  std::string ranks = "[\n";
  for (const std::size_t i : writer.order()) {
    if (ranks.size() > 2) ranks += ",\n";
    Object rank = writer.rank_object(i, Writer::Series::inside);
    writer.each_column([&](std::string_view name, const Column& column) {
      rank.raw(name, writer.series(column, i));
    });
    Object groups;
    for (const auto& [name, column] : run.comm_by_group) groups.raw(name, writer.series(column, i));
    if (!groups.empty()) rank.raw("comm_by_group", groups.str());
    ranks += rank.str();
  }
  document.raw("ranks", ranks + "\n]");
  return document.str() + '\n';
}

std::vector<std::string> to_jsonl(const RunTimings& run, const WriteOptions& options,
                                  std::size_t files) {
  const Writer writer(run, options);
  std::vector<std::string> texts(files, writer.header().str() + '\n');
  for (std::size_t k = 0; k < writer.order().size(); ++k) {
    texts[k % files] +=
        writer.rank_object(writer.order()[k], Writer::Series::in_samples).str() + '\n';
  }
  // Samples as they come while the job runs: step by step.
  for (std::size_t step = 0; step < run.steps.size(); ++step) {
    for (std::size_t k = 0; k < writer.order().size(); ++k) {
      const std::size_t i = writer.order()[k];
      Object sample;
      sample.raw("rank", std::to_string(run.ranks[i].rank));
      sample.raw("step", std::to_string(run.steps[step]));
      writer.each_column([&](std::string_view name, const Column& column) {
        // In a sample "step" is the step's id: its wall time cannot be said.
        if (name == "step") return;
        sample.raw(name, writer.seconds(column.at(step, i)));
      });
      Object groups;
      for (const auto& [name, column] : run.comm_by_group) {
        groups.raw(name, writer.seconds(column.at(step, i)));
      }
      if (!groups.empty()) sample.raw("comm_by_group", groups.str());
      const Object telemetry = writer.telemetry_sample(i, step);
      if (!telemetry.empty()) sample.raw("telemetry", telemetry.str());
      texts[k % files] += sample.str() + '\n';
    }
  }
  return texts;
}

}  // namespace mfu::faults
