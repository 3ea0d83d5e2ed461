// MaxText: "completed step: 9, seconds: 5.667, TFLOP/s/device: 134.924, Tokens/s/device: 8672.758,
// total_weights: 196608, loss: 10.374"; 2023: "TFLOP/s: 36.722" and no tokens. Dispatch is
// asynchronous: step 0 holds the compilation, and the seconds of the next ones can be those of the
// dispatch alone, with rates that no chip has. They are kept as printed; rates above the peak are
// refused where the peak is known.
#include "base/note_code.hpp"
#include "logs/registry.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

// No chip has a tenth of it: 917,442 TFLOP/s have been printed.
constexpr double kAboveAnyChip = 1e17;

class MaxText : public LogFormat {
 public:
  explicit MaxText(const LogReadOptions& options) : LogFormat(options) {
    found.convention_hints = {"maxtext", "maxtext-2025-06"};
  }

  void line(const LogLine& line) override {
    LogText at(line.text);
    if (at.find("completed step:")) {
      take_step(at, line);
      return;
    }
    LogText config(line.text);
    if (config.find("Config param ")) {
      take_config(config.rest(), line);
      return;
    }
    LogText devices(line.text);
    if (devices.find("Num_devices:")) {
      set(found.gpus, "gpus", positive(devices.number()), "banner", line.number);
    }
  }

  void end() override {
    if (!found.global_batch && per_device_batch_ && found.gpus) {
      found.global_batch = *per_device_batch_ * *found.gpus;
      found.said_by["global_batch"] = "per_device_batch_size times devices";
    }
  }

 private:
  void take_step(LogText at, const LogLine& line) {
    const auto iteration = at.integer();
    if (!iteration || *iteration < 0 || !at.find("seconds:")) return;
    const auto seconds = positive(at.number());
    if (!seconds) return;
    LoggedStep step = step_at(line, *iteration);
    step.step_s = seconds;
    auto tflops = positive(number_after(at.rest(), "TFLOP/s/device:"));
    if (!tflops) tflops = positive(number_after(at.rest(), "TFLOP/s:"));
    if (tflops) {
      step.model_flops_per_s_per_gpu = *tflops * 1e12;
      if (*step.model_flops_per_s_per_gpu > kAboveAnyChip) {
        note(NoteCode::above_any_chip,
             "more FLOP/s than any chip has: the seconds are those of the dispatch alone", line);
      }
    }
    step.tokens_per_s_per_gpu = positive(number_after(at.rest(), "Tokens/s/device:"));
    steps.add(step, line.origin);
  }

  void take_config(std::string_view text, const LogLine& line) {
    const std::size_t colon = text.find(": ");
    if (colon == std::string_view::npos) return;
    const std::string_view name = text.substr(0, colon);
    const std::string_view value = trimmed(text.substr(colon + 2));
    if (name == "per_device_batch_size") {
      per_device_batch_ = positive(LogText(value).number());
    } else if (name == "max_target_length") {
      set(found.seq_len, "seq_len", positive(LogText(value).number()), "config", line.number);
    } else if (name == "global_batch_size_to_train_on") {
      set(found.global_batch, "global_batch", positive(LogText(value).number()), "config",
          line.number);
    } else if (name == "model_name" && found.model_name.empty() && value != "default") {
      found.model_name = value;
      say("model", "config", line.number);
    } else if (name == "dtype" && found.precision.empty()) {
      found.precision = value == "bfloat16" ? "bf16" : std::string(value);
      say("precision", "config", line.number);
    } else if (name == "remat_policy" && found.recompute.empty()) {
      // Its policies are finer than the three names; only the ends are certain.
      if (value == "full") found.recompute = "full";
    }
  }

  std::optional<double> per_device_batch_;
};

}  // namespace

LogFormatRow maxtext_format() {
  return {"maxtext",
          "MaxText, 2023 to 2026",
          LogTier::framework,
          {"completed step:", "Config param ", "Num_devices:"},
          {"completed step:", "seconds:", "TFLOP/s"},
          make_format<MaxText>};
}

}  // namespace mfu
