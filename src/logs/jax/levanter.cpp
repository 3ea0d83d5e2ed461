// levanter: metrics throughput/mfu (per cent), throughput/tokens_per_second and
// throughput/examples_per_second (whole job), throughput/duration (seconds), as its JSON logger and
// trackers print them, "key": value or key=value, with the step on the same line. Written from the
// program's source; no log of it has been seen.
#include "base/note_code.hpp"
#include "logs/registry.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

class Levanter : public LogFormat {
 public:
  explicit Levanter(const LogReadOptions& options) : LogFormat(options) {
    found.convention_hints = {"levanter"};
  }

  void line(const LogLine& line) override {
    const std::string_view text = line.text;
    LoggedStep step = step_at(line, 0);
    step.step_s = positive(value(text, "throughput/duration"));
    step.tokens_per_s = positive(value(text, "throughput/tokens_per_second"));
    step.samples_per_s = positive(value(text, "throughput/examples_per_second"));
    step.mfu = positive(value(text, "throughput/mfu", -2));
    set(found.peak_flops_assumed, "peak_flops_assumed",
        positive(value(text, "throughput/theoretical_flops_per_device")), "metrics", line.number);
    if (!step.step_s && !step.tokens_per_s && !step.mfu) return;
    const auto number = value(text, "step");
    if (!number || *number < 0.0 || *number > 9e15) {
      note(NoteCode::steps_not_numbered, "lines without a step number: counted from 1", line);
    }
    step.iteration =
        number && *number >= 0.0 && *number <= 9e15 ? static_cast<std::int64_t>(*number) : next_;
    next_ = step.iteration + 1;
    steps.add(step, line.origin);
  }

 private:
  // Behind the key as a whole word: '": 1', "=1", ": 1".
  static std::optional<double> value(std::string_view text, std::string_view key, int shift = 0) {
    LogText at(text);
    while (at.find(key)) {
      LogText behind(at.rest());
      (void)behind.take("\"");
      (void)behind.take("'");
      behind.blanks();
      if (behind.take(":") || behind.take("=")) {
        if (const auto number = behind.number(shift)) return number;
      }
    }
    return std::nullopt;
  }

  std::int64_t next_ = 1;
};

}  // namespace

LogFormatRow levanter_format() {
  return {"levanter",
          "levanter",
          LogTier::framework,
          {"throughput/mfu", "throughput/duration", "throughput/tokens_per_second",
           "throughput/theoretical_flops_per_device"},
          {"throughput/mfu", "throughput/tokens_per_second"},
          make_format<Levanter>};
}

}  // namespace mfu
