// Megatron-Bridge: "Step Time : 11.65s GPU utilization: 1158.1MODEL_TFLOP/s/GPU" (older:
// "TFLOP/s/GPU") and, for the same step, Megatron's iteration line. Prints 0 TFLOP/s for hybrid
// models, which says nothing.
#include <cmath>

#include "base/note_code.hpp"
#include "logs/megatron/megatron.hpp"
#include "logs/registry.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

constexpr double kSameStep = 0.02;  // the two lines measure one step nearly alike

class MegatronBridge : public MegatronFamily {
 public:
  explicit MegatronBridge(const LogReadOptions& options) : MegatronFamily(options) {
    found.convention_hints = {"megatron-bridge", "megatron-lm"};
  }

  void line(const LogLine& line) override {
    LogText at(line.text);
    if (!at.find("Step Time :")) {
      MegatronFamily::line(line);
      return;
    }
    flush();
    const auto seconds = positive(at.number());
    if (!seconds || !at.take("s")) return;
    waiting_ = step_at(line, next_);
    waiting_->step_s = seconds;
    origin_ = line.origin;
    const auto rate = positive(number_after(at.rest(), "GPU utilization:"));
    if (rate) waiting_->model_flops_per_s_per_gpu = *rate * 1e12;
  }
  void end() override {
    flush();
    if (unnumbered_) {
      notes.add(NoteCode::steps_not_numbered,
                "'Step Time' lines without an iteration line: counted from 1");
    }
    MegatronFamily::end();
  }

 protected:
  bool accept(const MegatronLine& parsed, LoggedStep& step, const LogLine&) override {
    if (waiting_ && waiting_->step_s && step.step_s &&
        std::fabs(*waiting_->step_s - *step.step_s) <= kSameStep * *step.step_s) {
      if (!step.model_flops_per_s_per_gpu) {
        step.model_flops_per_s_per_gpu = waiting_->model_flops_per_s_per_gpu;
      }
      waiting_.reset();
      seen_ = true;
    } else {
      flush();
    }
    next_ = parsed.iteration + 1;
    // Without the other kind of line this is plain Megatron.
    return seen_;
  }

 private:
  void flush() {
    seen_ = seen_ || waiting_.has_value();
    if (!waiting_) return;
    waiting_->iteration = next_++;
    steps.add(*waiting_, origin_);
    unnumbered_ = true;
    waiting_.reset();
  }

  std::optional<LoggedStep> waiting_;
  std::uint64_t origin_ = 0;
  std::int64_t next_ = 1;
  bool seen_ = false;
  bool unnumbered_ = false;
};

}  // namespace

LogFormatRow megatron_bridge_format() {
  return {"megatron-bridge",
          "Megatron-Bridge",
          LogTier::framework,
          megatron_words({"Step Time :", "elapsed time per iteration (ms):"}),
          {"Step Time :", "GPU utilization:"},
          make_format<MegatronBridge>};
}

}  // namespace mfu
