// nanoGPT: "iter 10: loss 3.2202, time 893.76ms, mfu 16.68%". The time is that of this iteration;
// the MFU a running mean (0.9 of the old) against an A100's 312 TFLOP/s on every GPU, and -100 %
// before the first. Early 2023 printed no mfu.
#include "base/note_code.hpp"
#include "logs/registry.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

class NanoGpt : public LogFormat {
 public:
  explicit NanoGpt(const LogReadOptions& options) : LogFormat(options) {
    found.convention_hints = {"nanogpt"};
  }

  void line(const LogLine& line) override {
    LogText at(line.text);
    if (at.take("tokens per iteration will be:")) {
      tokens_ = positive(at.number());
      return;
    }
    if (at.take("block_size = ")) {
      set(found.seq_len, "seq_len", positive(at.number()), "configuration", line.number);
      return;
    }
    if (!at.find("iter ")) return;
    const auto iteration = at.integer();
    if (!iteration || *iteration < 0 || !at.take(":") || !at.find("loss ") || !at.find("time ")) {
      return;
    }
    const auto seconds = positive(at.number(-3));
    if (!seconds || !at.take("ms")) return;
    LoggedStep step = step_at(line, *iteration);
    step.step_s = seconds;
    step.tokens = tokens_;
    if (at.find("mfu ")) {
      const auto mfu = at.number(-2);
      if (mfu && *mfu > 0.0) {
        step.mfu = mfu;
        set(found.peak_flops_assumed, "peak_flops_assumed", 312e12,
            "nanoGPT divides by an A100's peak on every GPU", line.number);
      } else if (mfu) {
        note(NoteCode::mfu_not_yet, "mfu -100 % means none yet", line);
      }
    }
    steps.add(step, line.origin);
  }

 private:
  std::optional<double> tokens_;
};

}  // namespace

LogFormatRow nanogpt_format() {
  return {"nanogpt",
          "nanoGPT",
          LogTier::framework,
          {": loss ", "tokens per iteration will be:", "block_size = "},
          {"iter ", ": loss ", ", time "},
          make_format<NanoGpt>};
}

}  // namespace mfu
