// torchtitan: "step: 4  loss: 7.6  grad_norm: 26.6  memory: 66.9GiB(37.5%)  tps: 10,050  tflops:
// 314.71  mfu: 13.99%". tps is per GPU (tokens over time and non-data-parallel degree); early 2024
// it was called wps. No step time is printed: it is the work of a step over tps where the banner
// says all that it takes, else the distance of the lines.
#include <cmath>

#include "logs/registry.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

class Torchtitan : public LogFormat {
 public:
  explicit Torchtitan(const LogReadOptions& options) : LogFormat(options) {
    found.convention_hints = {"torchtitan", "torchtitan-2024-02"};
  }

  void line(const LogLine& line) override {
    LogText at(line.text);
    if (at.find("step:")) {
      take_step(at, line);
      return;
    }
    if (const auto peak = positive(number_after(line.text, "Peak FLOPS used for computing MFU:"))) {
      set(found.peak_flops_assumed, "peak_flops_assumed", peak, "banner", line.number);
    }
    take_banner(line);
  }

  void finish(std::vector<LogSegment>& segments) override {
    if (found.seq_len && local_batch_ && not_data_ > 0) {
      const double tokens = *local_batch_ * accumulation_ * *found.seq_len;
      for (LogSegment& segment : segments) {
        for (LoggedStep& step : segment.steps) {
          if (!step.tokens_per_s_per_gpu) continue;
          step.step_s = tokens / (*step.tokens_per_s_per_gpu * not_data_);
        }
      }
      found.said_by["step_time"] = "tokens per step (banner) over tps";
    } else {
      found.said_by["step_time"] = "difference of the lines' timestamps";
    }
    times_from_timestamps(segments);
  }

 private:
  void take_step(LogText at, const LogLine& line) {
    const auto iteration = at.integer();
    if (!iteration || *iteration < 0 || !at.find("memory:")) return;
    const std::string_view rest = at.rest();
    auto tps = positive(number_after(rest, "tps:"));
    if (!tps) tps = positive(number_after(rest, "wps:"));
    if (!tps) return;
    LoggedStep step = step_at(line, *iteration);
    step.tokens_per_s_per_gpu = tps;
    if (const auto tflops = positive(number_after(rest, "tflops:"))) {
      step.model_flops_per_s_per_gpu = *tflops * 1e12;
    }
    step.mfu = positive(number_after(rest, "mfu:", -2));
    steps.add(step, line.origin);
  }

  void take_banner(const LogLine& line) {
    const std::string_view text = line.text;
    if (text.find("global batch size ") != std::string_view::npos) {
      set(found.global_batch, "global_batch", positive(number_after(text, "global batch size ")),
          "banner", line.number);
      set(found.seq_len, "seq_len", positive(number_after(text, "sequence length ")), "banner",
          line.number);
      if (!local_batch_) local_batch_ = positive(number_after(text, "local batch size "));
      accumulation_ = positive(number_after(text, "gradient accumulation steps ")).value_or(1.0);
    }
    // "GPU capacity: NVIDIA H100 80GB HBM3 with 95.00GiB memory"
    LogText at(text);
    if (found.device_name.empty() && at.find(" capacity: ")) {
      const std::size_t with = at.rest().find(" with ");
      if (with != std::string_view::npos && with < 100) {
        found.device_name = at.rest().substr(0, with);
        say("device_name", "banner", line.number);
      }
    }
    take_mesh(line);
  }

  // "Building 2-D device mesh with ['dp_shard', 'tp'], [4, 2]"
  void take_mesh(const LogLine& line) {
    LogText at(line.text);
    if (found.gpus || !at.find("device mesh with [")) return;
    const std::string_view rest = at.rest();
    const std::size_t names_end = rest.find(']');
    if (names_end == std::string_view::npos) return;
    std::string_view names = rest.substr(0, names_end);
    LogText degrees(rest.substr(names_end));
    if (!degrees.find("[")) return;
    double all = 1.0;
    double not_data = 1.0;
    double data = 1.0;
    while (!names.empty()) {
      const std::size_t open = names.find('\'');
      if (open == std::string_view::npos) break;
      const std::size_t close = names.find('\'', open + 1);
      if (close == std::string_view::npos) break;
      const std::string_view name = names.substr(open + 1, close - open - 1);
      names.remove_prefix(close + 1);
      const auto degree = degrees.integer();
      if (!degree || *degree < 1 || *degree > 1'000'000) return;
      (void)degrees.take(",");
      all *= static_cast<double>(*degree);
      if (all > 1e8) return;
      if (name.starts_with("dp")) {
        data *= static_cast<double>(*degree);
      } else {
        not_data *= static_cast<double>(*degree);
        found.parallel[std::string(name)] = static_cast<int>(*degree);
      }
    }
    found.parallel["dp"] = static_cast<int>(data);
    say("parallel", "device mesh", line.number);
    set(found.gpus, "gpus", all, "device mesh", line.number);
    not_data_ = not_data;
  }

  std::optional<double> local_batch_;
  double accumulation_ = 1.0;
  double not_data_ = 0.0;  // 0: not known
};

}  // namespace

LogFormatRow torchtitan_format() {
  return {"torchtitan",
          "torchtitan",
          LogTier::framework,
          {"tps:", "wps:", "Peak FLOPS used", "global batch size ",
           " capacity: ", "device mesh with ["},
          {"step:", "memory:", "tps:"},
          make_format<Torchtitan>};
}

}  // namespace mfu
