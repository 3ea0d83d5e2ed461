// OLMo and OLMo-core: "[step=100/1000]" and then a metric a line, "throughput/device/TPS=258,163",
// "throughput/device/MFU=44.57" (per cent), "throughput/device/flopsPS=441.0T". The "(actual avg)"
// twins are means since the start, start-up and pauses included, and are left. An A100's peak was
// taken twice too low before a fix, so the MFU can be twice too high.
#include "logs/metric_block.hpp"
#include "logs/registry.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

class Olmo : public MetricBlock {
 public:
  explicit Olmo(const LogReadOptions& options) : MetricBlock(options) {
    found.convention_hints = {"olmo-core"};
  }

  void line(const LogLine& line) override {
    LogText at(line.text);
    if (at.find("[step=")) {
      const auto number = at.integer();
      if (number && *number >= 0) begin(line, *number);
      return;
    }
    if (!at.find("throughput/")) return;
    const std::string_view rest = at.rest();
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos) return;
    const std::string_view key = rest.substr(0, equals);
    LogText text(rest.substr(equals + 1));
    if (key == "device/BPS" || key == "device/batches_per_second") {
      if (const auto value = positive(text.number())) {
        block(line, &LoggedStep::step_s).step_s = 1.0 / *value;
      }
    } else if (key == "device/TPS" || key == "device/tokens_per_second") {
      if (const auto value = positive(text.number())) {
        block(line, &LoggedStep::tokens_per_s_per_gpu).tokens_per_s_per_gpu = value;
      }
    } else if (key == "device/MFU") {
      if (const auto value = positive(text.number(-2))) block(line, &LoggedStep::mfu).mfu = value;
    } else if (key == "device/flopsPS") {
      if (const auto value = positive(text.si_number())) {
        block(line, &LoggedStep::model_flops_per_s_per_gpu).model_flops_per_s_per_gpu = value;
      }
    }
  }
};

}  // namespace

LogFormatRow olmo_format() {
  return {"olmo",
          "OLMo and OLMo-core",
          LogTier::framework,
          {"[step=", "throughput/device/"},
          {"throughput/device/BPS=", "throughput/device/TPS=", "throughput/device/MFU="},
          make_format<Olmo>};
}

}  // namespace mfu
