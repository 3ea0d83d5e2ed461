// Any line that begins with a date and has a step number and a loss: "2025-01-17 10:00:07 INFO step
// 20 | loss 2.31". What a step takes is the distance of the lines' timestamps.
#include <array>

#include "logs/registry.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

// "step 20", "step=20", "global_step: 20/1000", "iter: 20".
std::optional<std::int64_t> stamped_number(std::string_view text) {
  static constexpr std::array<std::string_view, 8> kNames{
      "global_step", "step", "Step", "iteration", "Iteration", "iter", "Iter", "STEP"};
  for (const std::string_view name : kNames) {
    const std::size_t found = text.find(name);
    if (found == std::string_view::npos) continue;
    std::size_t at = found + name.size();
    const std::size_t behind = at;
    while (at < text.size() && at < behind + 4 &&
           (text[at] == ' ' || text[at] == ':' || text[at] == '=' || text[at] == '#' ||
            text[at] == '[')) {
      ++at;
    }
    if (at == behind || at >= text.size() || !digit(text[at])) continue;
    LogText number(text.substr(at));
    const auto value = number.integer();
    if (value && *value >= 0) return value;
  }
  return std::nullopt;
}

bool tells_a_loss(std::string_view text) {
  for (const std::string_view word : {"val", "eval", "test"}) {
    if (text.find(word) != std::string_view::npos) return false;
  }
  return text.find("loss") != std::string_view::npos || text.find("Loss") != std::string_view::npos;
}

class TimestampedSteps : public LogFormat {
 public:
  using LogFormat::LogFormat;

  void line(const LogLine& line) override {
    // Another format has the steps.
    if (line.iteration >= 0 && steps.count() == 0) return;
    if (!line.timestamp_s || !tells_a_loss(line.text)) return;
    const auto iteration = stamped_number(line.text);
    if (!iteration) return;
    LoggedStep step = step_at(line, *iteration);
    // A stand-in until the distances are known: a format without a time has no step.
    step.tokens = 1.0;
    steps.add(step, line.origin);
  }

  void finish(std::vector<LogSegment>& segments) override {
    for (LogSegment& segment : segments) {
      for (LoggedStep& step : segment.steps) step.tokens.reset();
    }
  }
};

}  // namespace

LogFormatRow timestamped_steps_format() {
  return {"timestamped-steps",
          "any lines with a date, a step number and a loss",
          LogTier::any_line,
          {"step", "Step", "iter", "Iter", "STEP"},
          {},
          make_format<TimestampedSteps>};
}

}  // namespace mfu
