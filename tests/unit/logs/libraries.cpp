// Libraries inside a framework, runs that print a summary only, events, and columns of any name.
#include <cstdio>
#include <string>

#include "catch.hpp"
#include "unit/logs/reading.hpp"

namespace mfu {

TEST_CASE("DeepSpeed: rates, and timers of the step before", "[logs]") {
  const ReadLog read = read_log_text(
      "[2023-07-25 21:03:17,269] [INFO] [timer.py:215:stop] epoch=0/micro_step=34/global_step=34, "
      "RunningAvgSamplesPerSec=7.8, CurrSamplesPerSec=8.25, MemAllocated=59.65GB\n"
      "[2023-07-25 21:03:17,269] [INFO] [logging.py:96:log_dist] [Rank 0] rank=0 time (ms) | "
      "forward: 652.5 | backward: 2164.5 | backward_inner: 2001.8 | step: 1172.0\n"
      "[2023-07-25 21:03:17,269] [INFO] [logging.py:96:log_dist] [Rank 0] rank=0 time (ms) | "
      "forward_microstep: 1.0 | backward_microstep: 2.0 | step_microstep: 3.0\n");
  CHECK(read.log.format == "deepspeed");
  REQUIRE(read.steps() == 1);
  CHECK(read.step(0).iteration == 34);
  CHECK(read.step(0).samples_per_s == 8.25);
  CHECK(*read.step(0).step_s == Approx(3.989));
  CHECK(read.notes.has("engine-time-only"));
}

TEST_CASE("Hugging Face: bars, of which evaluation has its own", "[logs]") {
  const ReadLog read = read_log_text(
      "  Total train batch size (w. parallel, distributed & accumulation) = 512\n"
      "Map:  10%|#         | 5/50 [00:05<00:45, 9.00s/it]\n"
      "  3%|#    | 12/345 [00:07<06:50,  1.25s/it]\r  3%|#    | 12/345 [00:08<06:50,  1.30s/it]\r"
      " 10%|#    | 1/10 [00:01<00:09,  1.00s/it]\r"
      "  4%|#    | 13/345 [00:07<05:03,  2.00it/s]{'loss': 1.2, 'tokens_per_second_per_gpu': "
      "1500.5, 'epoch': 0.1}\n");
  CHECK(read.log.format == "hf-trainer");
  REQUIRE(read.steps() == 2);
  CHECK(read.step(0).iteration == 12);
  CHECK(read.step(0).step_s == 1.25);
  CHECK(read.step(1).step_s == 0.5);
  CHECK(read.step(1).tokens_per_s_per_gpu == 1500.5);
  CHECK(read.log.global_batch == 512.0);
}

TEST_CASE("Hugging Face: one summary by every rank is one run", "[logs]") {
  std::string text;
  for (int rank = 0; rank < 16; ++rank) {
    text += "{'train_runtime': 273.014" + std::to_string(rank % 9) +
            ", 'train_samples_per_second': 3.663, 'train_steps_per_second': 0.007, 'epoch': 1.0}\n";
  }
  const ReadLog read = read_log_text(text);
  CHECK(read.log.format == "hf-trainer");
  REQUIRE(read.steps() == 1);
  CHECK(read.step(0).copies == 16);
  CHECK(read.step(0).samples_per_s == 3.663);
  // 0.0065 to 0.0075 a second over 273 s: two steps, and no other number.
  CHECK(read.step(0).steps_averaged == 2);
  CHECK(*read.step(0).step_s == Approx(136.507).epsilon(1e-5));
  CHECK(read.notes.has("mean-of-run"));
  CHECK_FALSE(read.notes.has("coarse-rate"));
  // Many numbers of steps are possible: the rate is all there is.
  const ReadLog coarse = read_log_text(
      "{'train_runtime': 27301.4, 'train_samples_per_second': 3.663, 'train_steps_per_second': "
      "0.007}\n");
  CHECK(*coarse.step(0).step_s == Approx(1 / 0.007));
  CHECK(coarse.notes.has("coarse-rate"));
  const ReadLog table = read_log_text(
      "***** train metrics *****\n  train_runtime            = 0:54:00.00\n"
      "  train_samples_per_second = 10.0\n  train_steps_per_second   =  0.500\n");
  CHECK(*table.step(0).step_s == Approx(2.0));
}

TEST_CASE("trainer_state.json", "[logs]") {
  const ReadLog read = read_log_text(
      "{\n  \"epoch\": 1.0,\n  \"global_step\": 100,\n  \"log_history\": [\n    {\n"
      "      \"epoch\": 0.5,\n      \"loss\": 1.5,\n      \"step\": 50\n    },\n    {\n"
      "      \"step\": 100,\n      \"total_flos\": 1e18,\n      \"train_runtime\": 250.0,\n"
      "      \"train_samples_per_second\": 12.8,\n      \"train_steps_per_second\": 0.4\n    }\n  "
      "]\n}\n");
  CHECK(read.log.format == "trainer-state");
  CHECK(read.step(0).step_s == 2.5);
  CHECK(read.step(0).samples_per_s == 12.8);
  CHECK(read.step(0).steps_averaged == 100);
}

namespace {

// A line of a bar that has gone on at one pace.
std::string bar_line(const std::string& name, int done, int total, double each) {
  const int elapsed = static_cast<int>(done * each);
  char text[160];
  std::snprintf(text, sizeof text, "%s %2d%%|##   | %d/%d [%02d:%02d<10:00, %5.2fs/it]\r",
                name.c_str(), 100 * done / total, done, total, elapsed / 60, elapsed % 60, each);
  return text;
}

}  // namespace

TEST_CASE("a bar's steps are differences of its clock", "[logs]") {
  // The rate is a mean since the start: 2 s, then 6 s.
  std::string text;
  int clock = 0;
  for (int done = 0; done <= 120; ++done) {
    if (done > 0) clock += done <= 60 ? 2 : 6;
    char line[160];
    std::snprintf(line, sizeof line,
                  "Epoch 0: %2d%%|##   | %d/500 [%02d:%02d<10:00, %5.2fs/it, v_num=0]\r", done / 5,
                  done, clock / 60, clock % 60, done > 0 ? static_cast<double>(clock) / done : 2.0);
    text += line;
  }
  const ReadLog read = read_log_text(text);
  CHECK(read.log.format == "nemo1");
  double time = 0.0;
  int steps = 0;
  for (const LoggedStep& step : read.log.segments.at(0).steps) {
    time += *step.step_s * step.steps_averaged;
    steps += step.steps_averaged;
    CHECK(*step.step_s > 1.8);
    CHECK(*step.step_s < 6.3);
  }
  CHECK(steps == 120);
  CHECK(time == Approx(480.0).epsilon(0.005));
  CHECK(read.notes.has("times-from-bar"));
}

TEST_CASE("the training's bar is not the first nor the longest", "[logs]") {
  std::string eval;
  for (int i = 0; i <= 900; ++i) eval += bar_line("", i, 900, 1.0);
  std::string training;
  for (int i = 0; i <= 60; ++i) {
    training += bar_line("", i, 94, 3.0);
    if (i % 5 == 4) training += "\n{'loss': 1.5, 'learning_rate': 2e-05}\n";
  }
  for (const std::string& text : {eval + training, training + eval}) {
    const ReadLog read = read_log_text(text);
    CHECK(read.log.format == "hf-trainer");
    CHECK(*read.step(3).step_s == Approx(3.0).epsilon(0.01));
    CHECK(read.notes.has("bars-set-aside"));
  }
  // Without the losses nobody knows.
  std::string other;
  for (int i = 0; i <= 94; ++i) other += bar_line("", i, 94, 3.0);
  CHECK_THAT(log_outcome(eval.substr(0, eval.size() / 2) + other),
             contains("which progress bar is the training is not clear: "));
  CHECK_THAT(log_outcome(bar_line("Map:", 5, 9, 9.0) + bar_line("Map:", 6, 9, 9.0)),
             contains("no progress bar counts training steps: 'Map' of 9 (line 1)"));
  // A framework that prints its steps is believed before a bar that nobody names.
  std::string both = eval;
  for (int i = 1; i < 4; ++i) {
    both += "iter " + std::to_string(i) + ": loss 3.2202, time 893.76ms, mfu 16.68%\n";
  }
  CHECK(read_log_text(both).log.format == "nanogpt");
}

TEST_CASE("epochs of bars are counted on, each with its own", "[logs]") {
  std::string text;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    for (int i = 0; i <= 40; ++i) {
      text += bar_line("Epoch " + std::to_string(epoch) + "/3:", i, 40, 2.0);
    }
  }
  const ReadLog read = read_log_text(text);
  REQUIRE(read.log.segments.size() == 1);
  CHECK(read.log.segments[0].steps.back().iteration == 120);
  CHECK(*read.log.segments[0].steps.back().step_s == Approx(2.0).epsilon(0.02));
}

TEST_CASE("what any log may state: world size, parameters, LoRA", "[logs]") {
  const std::string steps = "iter 1: loss 3.2, time 500.00ms\niter 2: loss 3.2, time 500.00ms\n";
  const ReadLog read = read_log_text(
      "tp_world_size: 4\n[INFO] world_size = 16, rank = 0\ntrainable params: 20,971,520 || all "
      "params: 8,051,232,768 || trainable%: 0.2605\n" +
      steps);
  CHECK(read.log.gpus == 16.0);
  CHECK(read.log.said_by.at("gpus") == "world size, line 2");
  CHECK(read.log.params == 8051232768.0);
  CHECK(read.log.trainable_params == 20971520.0);
  CHECK(read.log.frozen_weights);
  const ReadLog all =
      read_log_text("  Number of trainable parameters = 8,030,261,248\nlora_r: None\n" + steps);
  CHECK(all.log.params == 8030261248.0);
  CHECK_FALSE(all.log.frozen_weights);
  const ReadLog swift = read_log_text(
      "[INFO:swift] PeftModelForCausalLM: 7636.5M Params (20.2M Trainable [0.2645%]), 0.1M "
      "Buffers.\n" +
      steps);
  CHECK(swift.log.params == 7636.5e6);
  CHECK(swift.log.trainable_params == 20.2e6);
  CHECK(swift.log.frozen_weights);
  // A rank in a list of arguments is another thing, or is not used.
  CHECK_FALSE(
      read_log_text("  kv_lora_rank ........ 32\n  lora_rank: 8\n" + steps).log.frozen_weights);
  // Two sizes are none.
  CHECK_FALSE(read_log_text("world_size: 8\nworld_size: 16\n" + steps).log.gpus);
  CHECK_FALSE(read_log_text("local world size: 8\n" + steps).log.gpus);
}

TEST_CASE("steps that are only counted take the time between their lines", "[logs]") {
  // 0.4 s a step, dates of whole seconds.
  std::string text;
  for (int i = 0; i < 300; ++i) {
    char line[96];
    const int second = static_cast<int>(0.4 * i);
    std::snprintf(line, sizeof line, "2025-01-17 10:%02d:%02d INFO step %d | loss 2.31\n",
                  second / 60, second % 60, i);
    text += line;
  }
  const ReadLog read = read_log_text(text);
  CHECK(read.log.format == "timestamped-steps");
  CHECK(read.notes.has("times-from-timestamps"));
  double time = 0.0;
  std::size_t count = 0;
  for (const LoggedStep& step : read.log.segments.at(0).steps) {
    if (!step.step_s) continue;
    CHECK(*step.step_s == Approx(0.4).epsilon(0.11));
    time += *step.step_s;
    ++count;
  }
  CHECK(count == 299);
  CHECK(time / static_cast<double>(count) == Approx(0.4).epsilon(0.01));
  // A step number without a loss is any progress, and a loss without a date has no time.
  CHECK_THAT(log_outcome("2025-01-17 10:00:07 INFO step 1\n2025-01-17 10:00:17 INFO step 2\n"),
             contains("not a training log"));
}

namespace {
std::string mllog(const std::string& key, const std::string& value, double seconds,
                  const std::string& metadata = "") {
  return R"(:::MLLOG {"namespace": "", "time_ms": )" +
         std::to_string(static_cast<long>(seconds * 1000)) +
         R"(, "event_type": "POINT_IN_TIME", "key": ")" + key + R"(", "value": )" + value +
         R"(, "metadata": {"file": "a.py", "lineno": 1)" + metadata + "}}\n";
}
}  // namespace

TEST_CASE("MLPerf: step times, and what lies between events", "[logs]") {
  const std::string head = mllog("global_batch_size", "16", 1) +
                           mllog("max_sequence_length", "512", 1) +
                           mllog("submission_benchmark", "\"bert\"", 1);
  const ReadLog timed = read_log_text(
      mllog("init_start", "null", 0) + head +
      mllog("tracked_stats", R"({"train_step_timing in s": 18.25})", 20, R"(, "step": 4194304)") +
      mllog("tracked_stats", R"({"train_step_time": 18.5, "reduced_train_loss": 7.7})", 40) +
      mllog("tracked_stats", R"({"validation_step_timing in s": 6.5})", 50) +
      mllog("tracked_stats", R"({"throughput": 99.0})", 60));
  CHECK(timed.log.format == "mlperf");
  REQUIRE(timed.steps() == 2);
  CHECK(timed.step(0).step_s == 18.25);
  CHECK(timed.step(1).iteration == 2);
  CHECK(timed.log.global_batch == 16.0);
  CHECK(timed.log.seq_len == 512.0);

  const ReadLog losses =
      read_log_text(head + mllog("block_start", "null", 100, R"(, "samples_count": 0)") +
                    mllog("train_loss", "2.0", 105, R"(, "samples_count": 160)") +
                    mllog("train_loss", "1.9", 110, R"(, "samples_count": 320)") +
                    mllog("eval_start", "null", 111, R"(, "samples_count": 320)") +
                    mllog("eval_stop", "null", 131, R"(, "samples_count": 320)") +
                    mllog("block_start", "null", 131, R"(, "samples_count": 320)") +
                    mllog("train_loss", "1.8", 137, R"(, "samples_count": 480)"));
  REQUIRE(losses.steps() == 3);
  CHECK(losses.step(0).step_s == 0.5);
  CHECK(losses.step(0).steps_averaged == 10);
  CHECK(losses.step(2).step_s == 0.6);
  REQUIRE(losses.log.pauses.size() == 1);
  CHECK(losses.log.pauses[0].seconds == 20.0);

  const ReadLog blocks =
      read_log_text(head + mllog("block_start", "null", 100, R"(, "epoch_count": 160)") +
                    mllog("block_stop", "null", 120) +
                    mllog("block_start", "null", 150, R"(, "epoch_count": 160)") +
                    mllog("block_stop", "null", 160));
  REQUIRE(blocks.steps() == 2);
  CHECK(blocks.step(0).step_s == 2.0);
  CHECK(blocks.step(1).step_s == 1.0);
  CHECK(blocks.step(1).iteration == 20);

  std::string ranks;
  for (const char* rank : {" 0: ", " 1: "}) {
    ranks += rank + mllog("global_batch_size", "8", 1);
    ranks += rank + mllog("tracked_stats", R"({"train_step_time": 2.0})", 3);
  }
  CHECK(read_log_text(ranks).steps() == 1);

  // The launcher names its processes only after the first lines.
  const ReadLog late = read_log_text(
      mllog("cache_clear", "true", 0) + head + "1: " + mllog("cache_clear", "true", 1) +
      "0: " + mllog("tracked_stats", R"({"train_step_time": 0.431})", 2) +
      "1: " + mllog("submission_org", "\"a\"", 2) +
      "0: " + mllog("tracked_stats", R"({"train_step_time": 0.432})", 3));
  REQUIRE(late.steps() == 2);
  CHECK(late.step(0).step_s == 0.431);
  CHECK(late.log.global_batch == 16.0);
  const ReadLog rate = read_log_text(head + mllog("tracked_stats", R"({"throughput": 99.0})", 60));
  CHECK(rate.step(0).samples_per_s == 99.0);
  CHECK(rate.notes.has("throughput-only"));
}

TEST_CASE("lines before the launcher names its processes", "[logs]") {
  // The second run has a name on its lines, the first had none: two runs, not two ranks.
  std::string text;
  for (int i = 1; i <= 20; ++i) text += "iter " + std::to_string(i) + ": loss 3.2, time 500.00ms\n";
  for (int i = 1; i <= 20; ++i) {
    text += "0: iter " + std::to_string(i) + ": loss 3.2, time 501.00ms\n";
  }
  const ReadLog read = read_log_text(text);
  REQUIRE(read.log.segments.size() == 2);
  CHECK(read.steps() == 40);
}

TEST_CASE("JSON Lines: known names, told names, units", "[logs]") {
  const ReadLog known = read_log_text(
      "{\"step\": 10, \"step_time_ms\": 250.5, \"nested\": {\"mfu\": 9}, \"mfu\": \"0.4\"}\n"
      "not json\n{\"step\": 11, \"step_time_ms\": 251.5}\n");
  CHECK(known.log.format == "json-lines");
  REQUIRE(known.steps() == 2);
  CHECK(known.step(0).step_s == 0.2505);
  CHECK(known.step(0).mfu == 0.4);
  LogReadOptions options;
  options.columns = {{"step_time", "dt:ms"}, {"step", "i"}, {"tokens", "n_tok"}};
  const ReadLog told = read_log_text("{\"i\": 3, \"dt\": 1500, \"n_tok\": 4096}\n", options);
  CHECK(told.step(0).iteration == 3);
  CHECK(told.step(0).step_s == 1.5);
  CHECK(told.step(0).tokens == 4096.0);
  CHECK_FALSE(told.notes.has("unit-assumed"));
  options.columns = {{"step_time", "dt"}};
  CHECK(read_log_text("{\"dt\": 1.5}\n", options).notes.has("unit-assumed"));
  options.columns = {{"step_time", "dt"}, {"tokens", "tok"}};
  CHECK_THAT(log_outcome("{\"dt\": 1.5}\n", options),
             contains("no column 'tok', which was named for tokens"));
  CHECK_THAT(log_outcome("iter 1: loss 3.0, time 500.0ms\n", options),
             contains("no line has the columns that were named"));
  options.columns = {{"step_time", "dtt:ms"}};
  CHECK_THAT(log_outcome("{\"i\": 1, \"dt\": 1.5}\n", options),
             contains("format: --columns: no column 'dtt', which was named for step_time (did you "
                      "mean 'dt'?)"));
  CHECK_THAT(log_outcome("i,dt,tok\n1,2,3\n", options), contains("did you mean 'dt'?"));
  options.columns = {{"steptime", "dt"}};
  CHECK_THAT(log_outcome("{\"dt\": 1.5}\n", options),
             contains("no column quantity is called 'steptime' (did you mean 'step_time'?)"));
}

TEST_CASE("CSV: header, separators, empty cells", "[logs]") {
  const ReadLog read = read_log_text(
      "step,loss,step_time_s,tokens_per_second\n1,3.5,2.5,1000\n2,3.4,,1010\n3,3.3,2.4,\n");
  CHECK(read.log.format == "csv");
  REQUIRE(read.steps() == 3);
  CHECK(read.step(0).step_s == 2.5);
  CHECK_FALSE(read.step(1).step_s);
  CHECK(read.step(1).tokens_per_s == 1010.0);
  LogReadOptions options;
  options.columns = {{"step_time", "Zeit:ms"}};
  CHECK(read_log_text("step;Zeit\n1;2500\n", options).step(0).step_s == 2.5);
  // A comma in quotes moves no column.
  for (const char* text :
       {"text,step,Zeit\n\"a, b\",1,2500\n", "text,step,Zeit\n\"a \"\"b\"\", c\",1,2500\n",
        "\"a, b\",step,Zeit\n1,1,2500\n", "step,Zeit,text\n1,\"2,500\",\"open\n"}) {
    CAPTURE(text);
    CHECK(read_log_text(text, options).step(0).step_s == 2.5);
  }
}

TEST_CASE("values by rank", "[logs]") {
  const ReadLog timers = read_log_text(
      " iteration 10/ 100 | elapsed time per iteration (ms): 1040.0 | global batch size: 16 | lm "
      "loss: 1.0E+01 |\n"
      "times across ranks (ms):\n  forward-backward:\n     rank  0: 801.10\n     rank 11: 960.55\n"
      "  optimizer:\n     rank  0: 40.10\nsomething else\n     rank  5: 1.0\n");
  CHECK(timers.log.format == "megatron-lm");
  REQUIRE(timers.log.rank_values.size() == 3);
  CHECK(timers.log.rank_values[1].series == "forward-backward");
  CHECK(timers.log.rank_values[1].rank == 11);
  CHECK(timers.log.rank_values[1].value == 0.96055);
  CHECK(timers.log.rank_values[1].iteration == 10);
  CHECK(timers.log.rank_values[2].series == "optimizer");

  const ReadLog scores = read_log_text(
      "job/0 [default0]:    GPU relative performance:\n"
      "job/0 [default0]:      Rank=5 Node=n1 Score=0.51\n"
      "GPU individual perf scores: {0: 1.0, 1: 0.99}\n");
  CHECK(scores.log.format == "nvrx");
  CHECK(scores.log.segments.empty());
  REQUIRE(scores.log.rank_values.size() == 3);
  CHECK(scores.log.rank_values[0].series == "gpu-relative-score");
  CHECK(scores.log.rank_values[0].rank == 5);
  CHECK(scores.log.rank_values[0].value == 0.51);
  CHECK(scores.log.rank_values[2].series == "gpu-individual-score");

  const ReadLog detector = read_log_text(
      "[2024-03-14 23:07:56] | MnRtt/Rnk: 3453.08ms/8 | MxRtt/Rnk: 3468.20ms/0 | MnPwr/Rnk: "
      "601796W/8 | MnEtpt/Rnk: 296.02TF/0 | MxEtpt/Rnk: 297.32TF/8\n"
      "^^^^ Bottom 4 Ranks with lowest  Etpt(TF): 296.02/0, 296.17/2,\n");
  CHECK(detector.log.format == "megatron-straggler");
  REQUIRE(detector.log.rank_values.size() == 6);
  CHECK(detector.log.rank_values[0].value == 3.45308);
  CHECK(*&detector.log.rank_values[2].value == Approx(601.796));
  CHECK(detector.log.rank_values[5].rank == 2);
  CHECK(detector.log.rank_values[5].value == 296.17e12);

  const ReadLog greyhound = read_log_text(
      "INFO:root:[2025-05-04 14:20:55.10] Esimated iteration time: {'rank0': 1126199.5, 'rank1': "
      "1128187.5}\n");
  REQUIRE(greyhound.log.rank_values.size() == 2);
  CHECK(greyhound.log.rank_values[1].value == 1.1281875);

  const ReadLog ascend = read_log_text(
      "Step,Type,Index,Computing,Communication(Not Overlapped),Free\n"
      "3,rank,7,1500000.0,250000.0,1000.0\n3,stage,\"(0,1)\",1,2,3\n");
  CHECK(ascend.log.format == "ascend-step-trace");
  REQUIRE(ascend.log.rank_values.size() == 3);
  CHECK(ascend.log.rank_values[0].rank == 7);
  CHECK(ascend.log.rank_values[0].iteration == 3);
  CHECK(ascend.log.rank_values[0].value == 1.5);
}

}  // namespace mfu
