// Which format a log is of: exactly one, or an error that says what came near.
#include <string>

#include "catch.hpp"
#include "unit/logs/reading.hpp"

namespace mfu {
namespace {

const std::string kTitan =
    "[rank0]:[titan] 2026-02-24 19:46:17,508 - root - INFO - step:  4  loss:  7.6  memory: "
    "66.91GiB(37.51%)  tps: 10,050  tflops: 314.71  mfu: 13.99%\n";
const std::string kNanoGpt = "iter 10: loss 3.2202, time 893.76ms, mfu 16.68%\n";
const std::string kMaxText =
    "completed step: 2, seconds: 5.658, TFLOP/s/device: 135.158, Tokens/s/device: 8687.815, loss: "
    "1\n";

}  // namespace

TEST_CASE("two signatures: the richer wins, and a note says so", "[logs]") {
  const ReadLog read = read_log_text(
      "[2023-07-25 21:03:17,269] [INFO] [timer.py:215:stop] epoch=0/micro_step=34/global_step=34, "
      "RunningAvgSamplesPerSec=7.8, CurrSamplesPerSec=8.25\n"
      " samples/sec: 7.799 | iteration 34/ 10000 | elapsed time per iteration (ms): 4103.1 | "
      "approx "
      "flops per GPU: 112.9TFLOPS | lm_loss: 1.1E+01 |\n");
  CHECK(read.log.format == "gpt-neox");
  CHECK(read.log.also == std::vector<std::string>{"deepspeed"});
  REQUIRE(read.notes.has("two-signatures"));
}

TEST_CASE("two formats that explain a log equally well are an error", "[logs]") {
  LogReadOptions options;
  const std::string both =
      "step: 8, loss: 1.0, tokens_per_second: 100.0, mfu: 42.0\n"
      "step 00001/21400 (0.05%) | loss: 10.59 | dt: 0ms | tok/sec: 1\n"
      "{\"step\": 1, \"throughput/tokens_per_second\": 100.0, \"throughput/mfu\": 42.0}\n";
  CHECK_THAT(log_outcome(both), contains("format: train.log: two formats explain this log equally "
                                         "well: prime-rl and levanter (say which with --format)"));
  options.format = "levanter";
  CHECK(log_outcome(both, options) == "ok: levanter");
}

TEST_CASE("more lines weigh more than a stray one", "[logs]") {
  std::string text = kMaxText;
  for (int i = 0; i < 100; ++i) {
    text += "iter " + std::to_string(i) + ": loss 3.2, time 893.76ms\n";
  }
  CHECK(read_log_text(text).log.format == "nanogpt");
}

TEST_CASE("a log of no known kind: the two nearest and what they miss", "[logs]") {
  CHECK(log_outcome("iter 10: loss 3.2\niter 20: loss 3.1\n") ==
        "format: train.log: not a training log of a known kind; nearest: nanogpt (has 'iter ', ': "
        "loss ', lacks ', time '); litgpt (has 'iter ', lacks 'iter time:', 'step)') (JSON Lines "
        "and CSV are read with --columns)");
  CHECK_THAT(log_outcome("good morning\n"),
             contains("no format's words are in it (known: megatron-lm, "));
  CHECK_THAT(log_outcome(""), contains("the log is empty"));
  CHECK_THAT(log_outcome("\n\n\r\n"), contains("the log is empty"));
  CHECK_THAT(log_outcome("\xFF\xFEi\0t\0"), contains("UTF-16"));
  CHECK_THAT(log_outcome("\x28\xB5\x2F\xFD...."), contains("zstd -dc FILE | mfu log -"));
}

TEST_CASE("a format that is asked for", "[logs]") {
  LogReadOptions options;
  options.format = "nanogpt";
  CHECK(log_outcome(kTitan + kNanoGpt, options) == "ok: nanogpt");
  options.format = "nanogbt";
  CHECK_THAT(
      log_outcome(kNanoGpt, options),
      contains("usage: train.log: no log format is called 'nanogbt' (did you mean 'nanogpt'?)"));
}

TEST_CASE("a start without a step still says what it says", "[logs]") {
  const ReadLog read = read_log_text(
      "[rank0]:[titan] 2025-08-22 07:52:57,467 - root - INFO - Peak FLOPS used for computing MFU: "
      "9.890e+14\n");
  CHECK(read.log.format == "torchtitan");
  CHECK(read.log.segments.empty());
  CHECK(read.notes.has("no-steps"));
}

TEST_CASE("a last line cut anywhere never gives a wrong number", "[logs]") {
  for (const std::string& line : {kTitan, kNanoGpt, kMaxText}) {
    const ReadLog whole = read_log_text(line + line);
    for (std::size_t length = 0; length < line.size(); ++length) {
      CAPTURE(length, line);
      const ReadLog cut = read_log_text(line + line.substr(0, length));
      for (const LogSegment& segment : cut.log.segments) {
        for (const LoggedStep& step : segment.steps) {
          const LoggedStep& full = whole.step(0);
          if (step.step_s) CHECK(step.step_s == full.step_s);
          if (step.mfu) CHECK(step.mfu == full.mfu);
          if (step.tokens_per_s_per_gpu)
            CHECK(step.tokens_per_s_per_gpu == full.tokens_per_s_per_gpu);
          if (step.model_flops_per_s_per_gpu) {
            CHECK(step.model_flops_per_s_per_gpu == full.model_flops_per_s_per_gpu);
          }
        }
      }
    }
  }
}

TEST_CASE("the pieces in which a log arrives change nothing", "[logs]") {
  std::string text;
  for (int i = 1; i < 40; ++i) {
    text += "[rank" + std::to_string(i % 3) + "]: iter " + std::to_string(i) +
            ": loss 3.2, time 893.76ms\r\n";
  }
  const ReadLog whole = read_log_text(text);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{64}}) {
    const ReadLog one = read_log_text(text, {}, piece);
    REQUIRE(one.steps() == whole.steps());
    CHECK(one.step(38).line == whole.step(38).line);
  }
}

TEST_CASE("the formats have distinct names", "[logs]") {
  const std::vector<LogFormatInfo> formats = log_formats();
  for (std::size_t i = 0; i < formats.size(); ++i) {
    CHECK_FALSE(formats[i].summary.empty());
    for (std::size_t k = 0; k < i; ++k) CHECK(formats[i].name != formats[k].name);
  }
  CHECK(formats.size() <= 64);  // a bit each
}

}  // namespace mfu
