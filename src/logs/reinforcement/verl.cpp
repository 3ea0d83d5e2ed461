// verl: "step:12 - actor/..:0.1 - perf/mfu/actor:0.39 - perf/throughput:1234.5 - timing_s/step:45.2
// - perf/total_num_tokens:524288". perf/throughput is of one GPU; perf/mfu/actor, a fraction, is
// that of the actor's update and not of the step, which generates and scores, too. Written from the
// program's source; no log of it has been seen.
#include "base/note_code.hpp"
#include "logs/registry.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

class Verl : public LogFormat {
 public:
  explicit Verl(const LogReadOptions& options) : LogFormat(options) {
    found.convention_hints = {"verl"};
  }

  void line(const LogLine& line) override {
    LogText at(line.text);
    if (!at.find("step:")) return;
    const auto iteration = at.integer();
    if (!iteration || *iteration < 0 || !at.find(" - ")) return;
    const std::string_view rest = at.rest();
    LoggedStep step = step_at(line, *iteration);
    step.step_s = positive(value(rest, "timing_s/step:"));
    if (!step.step_s) step.step_s = positive(value(rest, "perf/time_per_step:"));
    step.tokens = positive(value(rest, "perf/total_num_tokens:"));
    step.tokens_per_s_per_gpu = positive(value(rest, "perf/throughput:"));
    step.mfu = positive(value(rest, "perf/mfu/actor:"));
    if (step.mfu) {
      note(NoteCode::mfu_of_update,
           "perf/mfu/actor is the MFU of the actor's update, not of the whole step", line);
    }
    if (step.step_s || step.tokens_per_s_per_gpu || step.mfu) steps.add(step, line.origin);
  }

 private:
  static std::optional<double> value(std::string_view text, std::string_view key) {
    LogText at(text);
    if (!at.find(key)) return std::nullopt;
    (void)at.take("np.float64(");
    return at.number();
  }
};

}  // namespace

LogFormatRow verl_format() {
  return {"verl",
          "verl",
          LogTier::framework,
          {"perf/", "timing_s/step:"},
          {"step:", "timing_s/step:", "perf/throughput:"},
          make_format<Verl>};
}

}  // namespace mfu
