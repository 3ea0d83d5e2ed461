// Composer and llm-foundry: "[batch=12/4800]:" and then a metric a line,
// "Train throughput/device/tokens_per_sec: 1234.5". Rates are means over a window of 100 batches;
// mfu is a fraction. Written from the program's source and reports; no log of it has been seen.
#include "base/note_code.hpp"
#include "logs/metric_block.hpp"
#include "logs/registry.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

class Composer : public MetricBlock {
 public:
  explicit Composer(const LogReadOptions& options) : MetricBlock(options) {
    found.convention_hints = {"llm-foundry"};
  }

  void line(const LogLine& line) override {
    LogText at(line.text);
    if (at.find("[batch=")) {
      const auto number = at.integer();
      if (number && *number >= 0 && at.take("/")) begin(line, *number);
      return;
    }
    if (!at.find("throughput/")) return;
    const std::string_view rest = at.rest();
    const std::size_t colon = rest.find(": ");
    if (colon == std::string_view::npos) return;
    const std::string_view key = rest.substr(0, colon);
    const auto value = positive(LogText(rest.substr(colon + 2)).number());
    if (!value) return;
    note_window(line);
    if (key == "batches_per_sec") {
      block(line, &LoggedStep::step_s).step_s = 1.0 / *value;
    } else if (key == "samples_per_sec") {
      block(line, &LoggedStep::samples_per_s).samples_per_s = value;
    } else if (key == "tokens_per_sec") {
      block(line, &LoggedStep::tokens_per_s).tokens_per_s = value;
    } else if (key == "device/tokens_per_sec") {
      block(line, &LoggedStep::tokens_per_s_per_gpu).tokens_per_s_per_gpu = value;
    } else if (key == "device/flops_per_sec") {
      block(line, &LoggedStep::model_flops_per_s_per_gpu).model_flops_per_s_per_gpu = value;
    } else if (key == "device/mfu") {
      block(line, &LoggedStep::mfu).mfu = value;
    }
  }

 private:
  void note_window(const LogLine& line) {
    if (said_) return;
    said_ = true;
    note(NoteCode::smoothed_time, "rates are means over a window of batches", line);
  }
  bool said_ = false;
};

}  // namespace

LogFormatRow composer_format() {
  return {"composer",
          "Composer and llm-foundry",
          LogTier::framework,
          {"[batch=", "Train throughput/"},
          {"[batch=", "throughput/batches_per_sec", "throughput/device/mfu"},
          make_format<Composer>};
}

}  // namespace mfu
