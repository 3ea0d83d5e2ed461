// The logs of the shared corpus, where it is there: each is of one format, and has the facts that
// the corpus' index states.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mfu/model.hpp"
#include "statistics/robust.hpp"
#include "unit/logs/reading.hpp"

namespace mfu {
namespace {

const std::filesystem::path kCorpus = std::filesystem::path(MFU_SHARED_DIR) / "corpus";

ReadLog read_file(const std::string& file) {
  ReadLog read;
  ByteSource source = ByteSource::open((kCorpus / file).string());
  read.log = read_log(source, {}, read.notes, &read.evidence);
  return read;
}

using Maybe = std::optional<double>;
constexpr std::nullopt_t none = std::nullopt;

// A step that is checked: which, by its line; and what it has.
struct Row {
  const char* file;
  const char* format;
  const char* also;  // formats that find steps of theirs in it, too
  std::size_t steps;
  std::size_t segments;
  std::int64_t line;
  std::int64_t iteration;
  Maybe step_s;
  Maybe tflops;  // model, or hardware where the format counts those
  Maybe batch;   // of the step or of the run
  Maybe mfu;
};

const Row kRows[] = {
    {"bloom176b_chronicles_lines.log", "megatron-deepspeed", "", 18, 1, 1, 12695, 105.22, 149.02,
     2048, none},
    {"bloom_tr1_13b_lines.log", "megatron-lm", "", 10, 1, 1, 29020, 22.3066, none, 1024, none},
    {"deepspeed_microstep_2020.log", "deepspeed", "", 3, 2, 1, 2650, none, none, none, none},
    {"gptneox_deepspeed_step34.log", "gpt-neox", "deepspeed", 1, 1, 4, 34, 4.1031, 112.9, 32, none},
    {"hf_accelerate_deepspeed_tqdm_glued.log", "hf-trainer", "deepspeed", 2, 1, 2, 12, 1.23, none,
     none, none},
    {"hf_trainer_deepspeed_dup_summary.log", "hf-trainer", "", 1, 1, 1, 2, 273.0145 / 2, none, none,
     none},
    {"litgpt_finetune.log", "litgpt", "", 5, 1, 8, 1, 1.36903, none, none, none},
    {"maxtext_old_tflops_no_device.log", "maxtext", "", 3, 1, 1, 15107, 2.167, 36.722, none, none},
    {"maxtext_understand_logs.log", "maxtext", "", 12, 2, 19, 9, 5.667, 134.924, none, none},
    {"megatron_2026_timers_info_prefix.log", "megatron-lm", "", 1, 1, 9, 10, 1.1476, none, 16,
     none},
    {"megatron_bridge_step_time.log", "megatron-bridge", "megatron-lm", 5, 2, 1, 1, 11.65, 1158.1,
     none, none},
    {"megatron_core_llama31_8b_dp2tp4.log", "megatron-lm", "", 50, 1, 490, 1, 16.178, 11.6, 32,
     none},
    {"megatron_core_mistral7b_tp2dp4.log", "megatron-lm", "", 50, 1, 615, 1, 17.4402, 10.2, 32,
     none},
    {"megatron_core_mixtral_16xh100.log", "megatron-lm", "", 3, 1, 1, 71, 5.3616, 243.6, 128, none},
    {"megatron_core_qwen7b_dp2tp4pp2.log", "megatron-lm", "", 40, 1, 619, 1, 23.4267, 31.4, 64,
     none},
    {"megatron_v2_gpt2_v100_tp4pp4.log", "megatron-lm", "", 20, 1, 17, 10, 2.1522, none, 4, none},
    {"megds_3d_perf_n16_ds_off.log", "megatron-lm", "", 52, 1, 17, 1, 144.9156, none, 1024, none},
    {"megds_zero_v1_perf_n16.log", "megatron-lm", "", 3, 1, 12, 1, 121.8998, none, 768, none},
    {"mlperf_v41_clemson_bert_multirank.txt", "mlperf", "", 1, 1, 51, 2247, none, none, 1536, none},
    {"mlperf_v41_dell_llama2lora.txt", "mlperf", "", 33, 1, 22, 20, 0.5512, none, 8, none},
    {"mlperf_v41_google_maxtext_gpt3.txt", "mlperf", "", 26, 1, 29, 12, 67.45 / 6, none, 4096,
     none},
    {"mlperf_v41_nvidia_gpt3_n32.txt", "mlperf", "", 61, 1, 24, 1, 18.14687156677246, none, 2048,
     none},
    {"mlperf_v50_coreweave_llama405b.txt", "mlperf", "", 69, 1, 27, 1, 11.308293342590332, none,
     768, none},
    {"mlperf_v50_tinycorp_bert.txt", "mlperf", "", 16, 1, 27, 1562, 1267.762 / 1562, none, 96,
     none},
    {"nanogpt_old_no_mfu_8xa100.log", "nanogpt", "", 7, 1, 1, 1631, 0.56194, none, none, none},
    {"nanogpt_shakespeare_a100.log", "nanogpt", "", 13, 1, 2, 10, 0.89376, none, none, 0.1668},
    {"nanotron_tiny_8gpu.log", "nanotron", "", 3, 1, 1, 991, 0.045, 0.00869, 20, none},
    {"nemo1_progressbar_nan.log", "nemo1", "", 2, 1, 2, 9000, 0.615, none, none, none},
    {"nemo2_bionemo_gbs1.log", "nemo2", "", 4, 1, 1, 120, 0.03146, none, 1, none},
    {"nemo2_pretrain_default0.log", "nemo2", "", 40, 3, 1, 0, 10.31, none, 512, none},
    {"olmo_core_block.log", "olmo", "", 1, 1, 9, 1, 1 / 3.939, 441.0, none, 0.4457},
    {"prime_rl_mfu_over_100.log", "prime-rl", "", 2, 2, 1, 289, none, none, none, 3.3759},
    {"torchtitan_b200_all_ranks_noprefix.log", "torchtitan", "", 2, 1, 1, 4, none, 314.69, none,
     0.1399},
    {"torchtitan_debug_no_gradnorm.log", "torchtitan", "", 7, 1, 6, 26, 0.097, 16.03, none, 0.0162},
    {"torchtitan_startup_rank0_rank1.log", "torchtitan", "", 0, 0, 0, 0, none, none, 8, none},
};

const LoggedStep* step_of_line(const TrainingLog& log, std::int64_t line) {
  for (const LogSegment& segment : log.segments) {
    for (const LoggedStep& step : segment.steps) {
      if (step.line == line) return &step;
    }
  }
  return nullptr;
}

// Over the steps from `from` on.
std::vector<double> times(const TrainingLog& log, std::int64_t from) {
  std::vector<double> all;
  for (const LogSegment& segment : log.segments) {
    for (const LoggedStep& step : segment.steps) {
      if (step.step_s && step.iteration >= from) all.push_back(*step.step_s);
    }
  }
  return all;
}

void check_value(const Maybe& found, const Maybe& wanted) {
  REQUIRE(found.has_value() == wanted.has_value());
  if (wanted) CHECK(*found == Approx(*wanted).epsilon(1e-7));
}

}  // namespace

TEST_CASE("every log of the corpus has its facts, and one format alone", "[logs]") {
  if (!std::filesystem::is_directory(kCorpus / "logs")) MFU_SKIP("the shared corpus is not here");
  for (const Row& row : kRows) {
    CAPTURE(row.file);
    const ReadLog read = read_file(std::string("logs/") + row.file);
    CHECK(read.log.format == row.format);
    CHECK(read.steps() == row.steps);
    CHECK(read.log.segments.size() == row.segments);
    // The matrix: what each format finds. One has the best score; others find steps only where the
    // row says so.
    double best = 0.0;
    double second = 0.0;
    std::string others;
    for (const LogEvidence& evidence : read.evidence) {
      if (evidence.score > best) {
        second = best;
        best = evidence.score;
      } else {
        second = std::max(second, evidence.score);
      }
      if (evidence.steps > 0 && evidence.format != row.format)
        others += std::string(evidence.format);
    }
    if (row.steps > 0) CHECK(best > second);
    CHECK(others == row.also);
    CHECK(read.notes.has("two-signatures") == !others.empty());
    if (row.steps == 0) {
      check_value(read.log.global_batch, row.batch);
      continue;
    }
    const LoggedStep* const step = step_of_line(read.log, row.line);
    REQUIRE(step != nullptr);
    CHECK(step->iteration == row.iteration);
    check_value(step->step_s, row.step_s);
    check_value(step->mfu, row.mfu);
    Maybe flops = step->model_flops_per_s_per_gpu ? step->model_flops_per_s_per_gpu
                                                  : step->hardware_flops_per_s_per_gpu;
    if (flops) flops = *flops / 1e12;
    check_value(flops, row.tflops);
    check_value(step->global_batch ? step->global_batch : read.log.global_batch, row.batch);
  }
  // No file is forgotten.
  for (const auto& entry : std::filesystem::directory_iterator(kCorpus / "logs")) {
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    CHECK(std::any_of(std::begin(kRows), std::end(kRows),
                      [&name](const Row& row) { return name == row.file; }));
  }
}

TEST_CASE("the long logs of the corpus: medians, outliers, arguments", "[logs]") {
  if (!std::filesystem::is_directory(kCorpus / "logs")) MFU_SKIP("the shared corpus is not here");
  struct Long {
    const char* file;
    double last_s;
    double last_tflops;
    double median_s;
    double max_s;
    std::map<std::string, int> parallel;
    double gpus, seq_len, batch, microbatches;
    std::int64_t layers, hidden, ffn, heads, kv_heads, vocab;
  };
  const Long rows[] = {
      {"logs/megatron_core_llama31_8b_dp2tp4.log",
       8.0019,
       23.5,
       8.0577,
       24.7281,
       {{"tp", 4}, {"pp", 1}, {"cp", 1}, {"ep", 1}, {"dp", 2}},
       8,
       1024,
       32,
       16,
       32,
       4096,
       14336,
       32,
       8,
       128512},
      {"logs/megatron_core_mistral7b_tp2dp4.log",
       8.5465,
       20.8,
       8.5620,
       10.3901,
       {{"tp", 2}, {"pp", 1}, {"cp", 1}, {"ep", 1}, {"dp", 4}},
       8,
       1024,
       32,
       8,
       32,
       4096,
       14336,
       32,
       8,
       32768},
      {"logs/megatron_core_qwen7b_dp2tp4pp2.log",
       10.3416,
       71.1,
       10.3782,
       10.9594,
       {{"tp", 4}, {"pp", 2}, {"cp", 1}, {"ep", 1}, {"dp", 2}},
       16,
       4096,
       64,
       16,
       28,
       3584,
       18944,
       28,
       4,
       152064},
  };
  for (const Long& row : rows) {
    CAPTURE(row.file);
    const ReadLog read = read_file(row.file);
    const LoggedStep& last = read.log.segments.back().steps.back();
    CHECK(last.step_s == row.last_s);
    CHECK(*last.model_flops_per_s_per_gpu == Approx(row.last_tflops * 1e12));
    const std::vector<double> steady = times(read.log, 6);
    // The index takes a middle value of an even number of steps; the median lies beside it.
    CHECK(median(steady) == Approx(row.median_s).epsilon(5e-4));
    CHECK(*std::max_element(steady.begin(), steady.end()) == row.max_s);
    CHECK(read.log.parallel == row.parallel);
    CHECK(read.log.gpus == row.gpus);
    CHECK(read.log.seq_len == row.seq_len);
    CHECK(read.log.global_batch == row.batch);
    CHECK(read.log.microbatches == row.microbatches);
    CHECK(read.log.recompute == "full");
    CHECK(read.log.precision == "bf16");
    Notes notes;
    const ModelShape shape = parse_model(read.log.model_json, row.file, notes);
    CHECK(shape.layers == row.layers);
    CHECK(shape.hidden == row.hidden);
    CHECK(shape.ffn_hidden == row.ffn);
    CHECK(shape.heads == row.heads);
    CHECK(shape.kv_heads == row.kv_heads);
    CHECK(shape.vocab == row.vocab);
    CHECK(std::any_of(read.log.pauses.begin(), read.log.pauses.end(),
                      [](const LoggedPause& pause) { return pause.kind == "profiler"; }));
  }
}

TEST_CASE("the traps of the corpus", "[logs]") {
  if (!std::filesystem::is_directory(kCorpus / "logs")) MFU_SKIP("the shared corpus is not here");
  // Seven ranks without a name on their lines, different in the last digit.
  const ReadLog titan = read_file("logs/torchtitan_b200_all_ranks_noprefix.log");
  CHECK(titan.step(0).copies == 7);
  CHECK(titan.step(0).tokens_per_s_per_gpu == 10050.0);
  CHECK(titan.step(1).step_s == 1.637);
  CHECK(*titan.step(0).model_flops_per_s_per_gpu / *titan.step(0).mfu ==
        Approx(2250e12).epsilon(0.001));
  // Sixteen summaries of one run.
  const ReadLog trainer = read_file("logs/hf_trainer_deepspeed_dup_summary.log");
  CHECK(trainer.step(0).copies == 16);
  CHECK(trainer.step(0).samples_per_s == 3.663);
  // The dispatch of a step is no step: kept as printed, above any H100's or v5p's peak.
  const ReadLog maxtext = read_file("logs/maxtext_understand_logs.log");
  CHECK(*maxtext.step(1).model_flops_per_s_per_gpu == Approx(2400.734e12));
  CHECK(read_file("logs/prime_rl_mfu_over_100.log").notes.has("logged-mfu-above-100"));
  CHECK_FALSE(read_file("logs/nanogpt_shakespeare_a100.log").step(0).mfu);
  const ReadLog bloom = read_file("logs/bloom176b_chronicles_lines.log");
  CHECK(bloom.step(0).samples_per_s == 19.463);
  CHECK(bloom.log.seq_len == 2048.0);
  CHECK_FALSE(bloom.step(12).global_batch);  // the line is cut before it
  const ReadLog banner = read_file("logs/torchtitan_startup_rank0_rank1.log");
  CHECK(banner.log.peak_flops_assumed == 9.89e14);
  CHECK(banner.log.seq_len == 8192.0);
  const ReadLog skipped = read_file("logs/megatron_2026_timers_info_prefix.log");
  CHECK(skipped.step(0).skipped);
  REQUIRE(skipped.log.pauses.size() == 1);
  CHECK(skipped.log.pauses[0].seconds == 24.89513);
  CHECK(read_file("logs/nanotron_tiny_8gpu.log").log.gpus == 8.0);
  CHECK(read_file("logs/megatron_v2_gpt2_v100_tp4pp4.log").step(0).steps_averaged == 10);
  CHECK(read_file("logs/mlperf_v41_clemson_bert_multirank.txt").step(0).samples_per_s ==
        3351.4020921814963);
  CHECK(read_file("logs/olmo_core_block.log").step(0).tokens_per_s_per_gpu == 258163.0);
  CHECK(median(times(read_file("logs/nemo2_pretrain_default0.log").log, 1)) ==
        Approx(7.56).epsilon(0.005));
}

TEST_CASE("further facts of the corpus' index", "[logs]") {
  if (!std::filesystem::is_directory(kCorpus / "logs")) MFU_SKIP("the shared corpus is not here");
  const ReadLog engine = read_file("logs/deepspeed_microstep_2020.log");
  CHECK(*engine.step(0).samples_per_s == Approx(13.19749106827976));
  CHECK(engine.notes.has("engine-time-only"));  // the wall clock says 3.33
  CHECK(*read_file("logs/gptneox_deepspeed_step34.log").step(0).samples_per_s == 7.799);
  const ReadLog glued = read_file("logs/hf_accelerate_deepspeed_tqdm_glued.log");
  CHECK(*glued.step(1).step_s == Approx(1 / 1.09));
  const ReadLog maxtext = read_file("logs/maxtext_understand_logs.log");
  CHECK(step_of_line(maxtext.log, 19)->tokens_per_s_per_gpu == 8672.758);
  CHECK(*maxtext.step(0).step_s == Approx(44.9).epsilon(0.001));
  CHECK(maxtext.step(1).step_s == 0.319);
  const ReadLog bridge = read_file("logs/megatron_bridge_step_time.log");
  CHECK(step_of_line(bridge.log, 5)->step_s == 20.2891);
  CHECK(read_file("logs/mlperf_v41_google_maxtext_gpt3.txt").log.seq_len == 2048.0);
  CHECK(read_file("logs/mlperf_v41_nvidia_gpt3_n32.txt").log.seq_len == 2048.0);
  CHECK(read_file("logs/mlperf_v50_coreweave_llama405b.txt").log.seq_len == 8192.0);
  CHECK(read_file("logs/mlperf_v50_tinycorp_bert.txt").log.seq_len == 512.0);
  CHECK(median(times(read_file("logs/nanogpt_old_no_mfu_8xa100.log").log, 0)) ==
        Approx(0.5627).epsilon(1e-3));
  CHECK(median(times(read_file("logs/nanogpt_shakespeare_a100.log").log, 1)) ==
        Approx(0.894).epsilon(1e-3));
  const ReadLog tiny = read_file("logs/nanotron_tiny_8gpu.log");
  CHECK(tiny.step(0).tokens_per_s == 14200.0);
  CHECK(tiny.step(0).tokens_per_s_per_gpu == 1780.0);
  CHECK(read_file("logs/nemo1_progressbar_nan.log").step(0).step_s == 41.36);
  CHECK(*read_file("logs/prime_rl_mfu_over_100.log").step(0, 1).mfu == Approx(0.4246));
  const ReadLog debug = read_file("logs/torchtitan_debug_no_gradnorm.log");
  CHECK(debug.step(4).tokens_per_s_per_gpu == 169197.0);
  std::vector<double> rates;
  for (const LoggedStep& step : debug.log.segments[0].steps) {
    rates.push_back(*step.tokens_per_s_per_gpu);
  }
  CHECK(median(rates) == Approx(205e3).epsilon(0.01));
  const ReadLog startup = read_file("logs/torchtitan_startup_rank0_rank1.log");
  CHECK(*startup.log.global_batch * *startup.log.seq_len == 65536.0);
}

TEST_CASE("the sources of the corpus that speak by rank", "[logs]") {
  if (!std::filesystem::is_directory(kCorpus / "straggler")) {
    MFU_SKIP("the shared corpus is not here");
  }
  struct Source {
    const char* file;
    const char* format;
    std::size_t values;
    const char* series;  // of one value
    std::int64_t rank;
    double value;
  };
  const Source rows[] = {
      {"straggler/greyhound_local_controller.log", "greyhound", 28, "iteration-time", 3, 1.1354065},
      {"straggler/megatron_straggler_detector.log", "megatron-straggler", 34,
       "estimated-throughput", 30, 560.82e12},
      {"straggler/megatron_times_across_ranks_all.log", "megatron-lm", 11, "forward-backward", 3,
       0.96055},
      {"straggler/nvrx_ddp_test_stdout.log", "nvrx", 8, "gpu-relative-score", 2, 0.51},
      {"straggler/nvrx_nemo_straggler_report.log", "nvrx", 80, "gpu-relative-score", 5, 0.97},
  };
  for (const Source& row : rows) {
    CAPTURE(row.file);
    const ReadLog read = read_file(row.file);
    CHECK(read.log.format == row.format);
    CHECK(read.log.rank_values.size() == row.values);
    const auto found = std::find_if(read.log.rank_values.begin(), read.log.rank_values.end(),
                                    [&row](const LoggedRankValue& one) {
                                      return one.series == row.series && one.rank == row.rank;
                                    });
    REQUIRE(found != read.log.rank_values.end());
    CHECK(found->value == row.value);
  }
}

}  // namespace mfu
