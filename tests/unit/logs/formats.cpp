// One or two lines of each format, written for this test, and what is read from them.
#include <string>

#include "catch.hpp"
#include "mfu/model.hpp"
#include "unit/logs/reading.hpp"

namespace mfu {
namespace {

const char* const kMegatron =
    " [2026-01-02 03:04:05] iteration        7/     100 | consumed samples:          448 | elapsed "
    "time per iteration (ms): 2500.5 | throughput per GPU (TFLOP/s/GPU): 400.2 | learning rate: "
    "1.0E-04 | global batch size:    64 | lm loss: 2.0E+00 | loss scale: 1.0 | grad norm: 1.000 | "
    "number of skipped iterations:   0 | number of nan iterations:   0 |";

}  // namespace

TEST_CASE("Megatron-LM: the iteration line", "[logs]") {
  const ReadLog read = read_log_text(std::string(kMegatron) + "\n");
  CHECK(read.log.format == "megatron-lm");
  const LoggedStep& step = read.step(0);
  CHECK(step.iteration == 7);
  CHECK(step.line == 1);
  CHECK(step.step_s == 2.5005);
  CHECK(step.global_batch == 64.0);
  CHECK(*step.model_flops_per_s_per_gpu == Approx(400.2e12).epsilon(1e-15));
  CHECK(step.timestamp_s == 1767323045.0);
  CHECK_FALSE(step.skipped);
  CHECK_FALSE(step.mfu);
  // Glued to the next message, behind a prefix, and with all updates skipped.
  const ReadLog glued = read_log_text(
      "node1: 3:  iteration 10/ 1000 | elapsed time per iteration (ms): 1147.6 | global batch "
      "size: "
      "16 | loss scale: 8388608.0 | number of skipped iterations:  10 |Number of parameters: "
      "6.98\n");
  CHECK(glued.step(0).step_s == 1.1476);
  CHECK(glued.step(0).skipped);
}

TEST_CASE("Megatron-LM of 2020: no batch, and a learning rate without a colon", "[logs]") {
  const ReadLog read = read_log_text(
      "  batch_size ...................... 8\n"
      "  model_parallel_size ............. 4\n"
      "  num_layers ...................... 24\n"
      "  world_size ...................... 16\n"
      " iteration      100/  500000 | elapsed time per iteration (ms): 700.0 | learning rate "
      "1.000E-04 | lm loss 5.000E+00 | loss scale 1024.0 |\n");
  CHECK(read.step(0).step_s == 0.7);
  CHECK(read.log.global_batch == 32.0);
  CHECK(read.notes.has("batch-of-2020"));
}

TEST_CASE("Megatron's arguments block becomes a shape", "[logs]") {
  const std::string block =
      "------------------------ arguments ------------------------\n"
      "  bf16 ............................................ True\n"
      "  context_parallel_size ........................... 2\n"
      "  data_parallel_size .............................. 4\n"
      "  expert_model_parallel_size ...................... 8\n"
      "  ffn_hidden_size ................................. 14336\n"
      "  fp8 ............................................. None\n"
      "  global_batch_size ............................... 128\n"
      "  group_query_attention ........................... True\n"
      "  hidden_size ..................................... 4096\n"
      "  kv_channels ..................................... 128\n"
      "  log_interval .................................... 5\n"
      "  micro_batch_size ................................ 2\n"
      "  moe_ffn_hidden_size ............................. 7168\n"
      "  moe_layer_freq .................................. [0, 1, 1, 1]\n"
      "  moe_router_topk ................................. 2\n"
      "  num_attention_heads ............................. 32\n"
      "  num_experts ..................................... 8\n"
      "  num_layers ...................................... 4\n"
      "  num_query_groups ................................ 8\n"
      "  padded_vocab_size ............................... None\n"
      "  position_embedding_type ......................... rope\n"
      "  recompute_granularity ........................... selective\n"
      "  seq_length ...................................... 4096\n"
      "  swiglu .......................................... True\n"
      "  tensor_model_parallel_size ...................... 4\n"
      "  untie_embeddings_and_output_weights ............. True\n"
      "  virtual_pipeline_model_parallel_size ............ None\n"
      "  world_size ...................................... 64\n"
      "-------------------- end of arguments ---------------------\n"
      " > padded vocab (size: 32000) with 256 dummy tokens (new size: 32256)\n";
  const ReadLog read = read_log_text(block + kMegatron + "\n");
  const TrainingLog& log = read.log;
  CHECK(log.gpus == 64.0);
  CHECK(log.global_batch == 128.0);
  CHECK(log.seq_len == 4096.0);
  CHECK(log.microbatches == 16.0);
  CHECK(log.parallel == std::map<std::string, int>{{"tp", 4}, {"cp", 2}, {"ep", 8}, {"dp", 4}});
  CHECK(log.precision == "bf16");
  CHECK(log.recompute == "selective");
  CHECK(log.said_by.at("seq_len") == "arguments block, line 2");
  CHECK(log.said_by.at("model") == "arguments block, line 2; vocabulary, line 31");
  CHECK(read.step(0).steps_averaged == 5);
  Notes notes;
  const ModelShape shape = parse_model(log.model_json, "log", notes);
  CHECK(shape.layers == 4);
  CHECK(shape.vocab == 32256);
  CHECK(shape.kv_heads == 8);
  CHECK(shape.experts == 8);
  CHECK(shape.top_k == 2);
  CHECK(shape.moe_ffn == 7168);
  CHECK(shape.moe_layers == 3);
  CHECK(shape.gated_mlp);
  CHECK_FALSE(shape.tied_embeddings);
  // Latent attention.
  const ReadLog latent = read_log_text(
      "  hidden_size ..................................... 64\n"
      "  kv_lora_rank .................................... 16\n"
      "  multi_latent_attention .......................... True\n"
      "  num_attention_heads ............................. 4\n"
      "  num_layers ...................................... 2\n"
      "  padded_vocab_size ............................... 128\n"
      "  q_lora_rank ..................................... None\n"
      "  qk_head_dim ..................................... 8\n"
      "  qk_pos_emb_head_dim ............................. 4\n"
      "  v_head_dim ...................................... 8\n" +
      std::string(kMegatron) + "\n");
  const ModelShape mla = parse_model(latent.log.model_json, "log", notes);
  REQUIRE(mla.mla);
  CHECK(mla.mla->kv_lora == 16);
  CHECK(mla.mla->q_lora == 0);
  CHECK(mla.vocab == 128);
}

TEST_CASE("several runs in one file: the last arguments are taken", "[logs]") {
  const ReadLog read = read_log_text(
      "  world_size ...................................... 8\n" + std::string(kMegatron) +
      "\n  world_size ...................................... 16\n" + kMegatron + "\n");
  CHECK(read.log.gpus == 16.0);
  CHECK(read.notes.has("arguments-differ"));
}

TEST_CASE("Megatron's pauses", "[logs]") {
  const ReadLog read =
      read_log_text(std::string(kMegatron) +
                    "\n"
                    "(min, max) time across ranks (ms):\n"
                    "    evaluate .......................................: (5000.00, 5100.25)\n"
                    "    save-checkpoint ................................: (24000.0, 24895.13)\n"
                    "time (ms) | save-checkpoint: 350.5\n"
                    "INFO: a word about evaluate: 12\n"
                    "Saved Kineto trace to trace.json\n");
  REQUIRE(read.log.pauses.size() == 4);
  CHECK(read.log.pauses[0].kind == "evaluation");
  CHECK(read.log.pauses[0].seconds == 5.10025);
  CHECK(read.log.pauses[0].after_iteration == 7);
  CHECK(read.log.pauses[1].seconds == 24.89513);
  CHECK(read.log.pauses[2].seconds == 0.3505);
  CHECK(read.log.pauses[3].kind == "profiler");
}

TEST_CASE("BigScience: seconds, and FLOPs of the hardware", "[logs]") {
  const ReadLog read = read_log_text(
      "[default7]: iteration 10/ 115311 | consumed samples: 20480 | consumed tokens: 41943040 | "
      "elapsed time per iteration (s): 105.22 | global batch size: 2048 | lm loss: 2.4E+00 | "
      "samples "
      "per second: 19.463 | TFLOPs: 149.02 |\n"
      "[default7]: iteration 11/ 115311 | consumed samples: 22528 | consumed tokens: 46137344 | "
      "elapsed time per iteration (s): 105.00 | global batch size: 2048 | lm loss: 2.4E+00 | "
      "samples "
      "per second: 19.500 | TFLOPs: 149.32 |\n");
  CHECK(read.log.format == "megatron-deepspeed");
  CHECK(read.step(0).step_s == 105.22);
  CHECK(read.step(0).samples_per_s == 19.463);
  CHECK(*read.step(0).hardware_flops_per_s_per_gpu == Approx(149.02e12).epsilon(1e-15));
  CHECK_FALSE(read.step(0).model_flops_per_s_per_gpu);
  CHECK_FALSE(read.step(0).tokens);
  CHECK(read.step(1).tokens == 4194304.0);
  CHECK(read.log.seq_len == 2048.0);
}

TEST_CASE("GPT-NeoX: the batch is rate times time where that is whole", "[logs]") {
  const std::string line =
      " samples/sec: 7.799 | iteration       34/   10000 | elapsed time per iteration (ms): 4103.1 "
      "| "
      "learning rate: 2.1E-06 | approx flops per GPU: 112.9TFLOPS | lm_loss: 1.1E+01 |\n";
  const ReadLog read = read_log_text(line);
  CHECK(read.log.format == "gpt-neox");
  CHECK(read.step(0).step_s == 4.1031);
  CHECK(read.step(0).global_batch == 32.0);
  CHECK(read.step(0).model_flops_per_s_per_gpu == 112.9e12);
}

TEST_CASE("Primus: the first of two numbers is the interval's", "[logs]") {
  const ReadLog read = read_log_text(
      " iteration 3/ 50 | consumed samples: 192 | elapsed time per iteration (ms): 1460.8/1450.4 | "
      "hip mem usage/free/total/usage_ratio: 10GiB/20GiB/30GiB/33% | throughput per GPU "
      "(TFLOP/s/GPU): 500.5/499.0 | tokens per GPU (tokens/s/GPU): 11200.5/11190.0 | global batch "
      "size: 64 | lm loss: 2.0E+00 |\n"
      " iteration 4/ 50 | elapsed time per iteration (ms): 1470.0/1451.0 | compute per GPU "
      "(TFLOP/s/GPU): 501.5 (avg 499.5) | tokens/s/GPU inst/harmonic mean: 11100.5/11180.0 | "
      "global "
      "batch size: 64 | lm loss: 2.0E+00 |\n");
  CHECK(read.log.format == "primus");
  CHECK(read.step(0).step_s == 1.4608);
  CHECK(read.step(0).tokens_per_s_per_gpu == 11200.5);
  CHECK(*read.step(0).model_flops_per_s_per_gpu == Approx(500.5e12).epsilon(1e-15));
  CHECK(read.step(1).step_s == 1.47);
  CHECK(read.step(1).tokens_per_s_per_gpu == 11100.5);
  CHECK(*read.step(1).model_flops_per_s_per_gpu == Approx(501.5e12).epsilon(1e-15));
}

TEST_CASE("Megatron-Bridge: two lines of one step are one step", "[logs]") {
  const ReadLog read = read_log_text(
      "Step Time : 2.50s GPU utilization: 1158.1MODEL_TFLOP/s/GPU\n"
      "[2026-01-02 03:04:05] iteration 7/ 100 | elapsed time per iteration (ms): 2500.5 | global "
      "batch size: 64 | lm loss: 2.0E+00 |\n"
      "Step Time : 2.60s GPU utilization: 0.0TFLOP/s/GPU\n"
      "[2026-01-02 03:04:08] iteration 8/ 100 | elapsed time per iteration (ms): 2600.5 | global "
      "batch size: 64 | lm loss: 2.0E+00 |\n");
  CHECK(read.log.format == "megatron-bridge");
  REQUIRE(read.steps() == 2);
  CHECK(read.step(0).iteration == 7);
  CHECK(read.step(0).step_s == 2.5005);
  CHECK(*read.step(0).model_flops_per_s_per_gpu == Approx(1158.1e12).epsilon(1e-15));
  CHECK(read.step(0).global_batch == 64.0);
  CHECK_FALSE(read.step(1).model_flops_per_s_per_gpu);
}

TEST_CASE("torchtitan: step times from the banner, else from timestamps", "[logs]") {
  const std::string steps =
      "[rank0]:[titan] 2026-02-24 19:46:17,508 - root - INFO - \x1b[31mstep:  4  \x1b[32mloss:  "
      "7.6  "
      "memory: 66.91GiB(37.51%)  tps: 10,050  tflops: 314.71  mfu: 13.99%\x1b[39m\n"
      "[rank0]:[titan] 2026-02-24 19:46:19,145 - root - INFO - step:  5  loss:  7.0  memory: "
      "66.91GiB(37.51%)  tps: 10,007  tflops: 313.36  mfu: 13.93%\n";
  const ReadLog bare = read_log_text(steps);
  CHECK(bare.log.format == "torchtitan");
  CHECK_FALSE(bare.step(0).step_s);
  CHECK(bare.step(1).step_s == 1.637);
  CHECK(bare.step(0).tokens_per_s_per_gpu == 10050.0);
  CHECK(bare.step(0).mfu == 0.1399);
  const ReadLog full = read_log_text(
      "[rank0]:[titan] 2026-02-24 19:46:00,000 - root - INFO - Building 2-D device mesh with "
      "['dp_shard', 'tp'], [4, 2]\n"
      "[rank0]:[titan] 2026-02-24 19:46:00,000 - root - INFO - GPU capacity: NVIDIA H100 80GB HBM3 "
      "with 95.00GiB memory\n"
      "[rank0]:[titan] 2026-02-24 19:46:00,000 - root - INFO - Peak FLOPS used for computing MFU: "
      "9.890e+14\n"
      "[rank0]:[titan] 2026-02-24 19:46:00,000 - root - INFO - Trainer is initialized with local "
      "batch size 2, global batch size 16, gradient accumulation steps 2, sequence length 8192\n" +
      steps);
  CHECK(full.log.gpus == 8.0);
  CHECK(full.log.global_batch == 16.0);
  CHECK(full.log.seq_len == 8192.0);
  CHECK(full.log.device_name == "NVIDIA H100 80GB HBM3");
  CHECK(full.log.peak_flops_assumed == 989e12);
  CHECK(*full.step(0).step_s == Approx(2.0 * 2 * 8192 / (10050.0 * 2)).epsilon(1e-12));
  // Early 2024: words, and no tflops.
  const ReadLog old = read_log_text(
      "2024-04-01 10:00:00,000 - root - INFO - step: 10  loss:  4.9  memory: 36.0GiB(45%)  wps: "
      "2,345  mfu: 41.20%\n");
  CHECK(old.step(0).tokens_per_s_per_gpu == 2345.0);
}

TEST_CASE("nanoGPT: -100 % stands for none", "[logs]") {
  const ReadLog read = read_log_text(
      "tokens per iteration will be: 491,520\n"
      "iter 0: loss 4.2648, time 9371.81ms, mfu -100.00%\n"
      "iter 10: loss nan, time 893.76ms, mfu 16.68%\n"
      "iter 20: loss 2.7, time 0.00ms, mfu 16.68%\n");
  CHECK(read.log.format == "nanogpt");
  REQUIRE(read.steps() == 2);
  CHECK_FALSE(read.step(0).mfu);
  CHECK(read.step(1).step_s == 0.89376);
  CHECK(read.step(1).mfu == 0.1668);
  CHECK(read.step(1).tokens == 491520.0);
  CHECK(read.log.peak_flops_assumed == 312e12);
  CHECK(read.notes.has("mfu-not-yet"));
}

TEST_CASE("nanochat", "[logs]") {
  const ReadLog read = read_log_text(
      "Total batch size 524,288 => gradient accumulation steps: 1\n"
      "step 00010/21400 (0.05%) | loss: 10.59 | lrm: 1.00 | dt: 490.49ms | tok/sec: 1,068,941 | "
      "mfu: "
      "47.92 | total time: 0.00m\n");
  CHECK(read.log.format == "nanochat");
  CHECK(read.step(0).iteration == 10);
  CHECK(read.step(0).step_s == 0.49049);
  CHECK(read.step(0).tokens_per_s == 1068941.0);
  CHECK(read.step(0).mfu == 0.4792);
  CHECK(read.step(0).tokens == 524288.0);
}

TEST_CASE("nanotron: suffixes", "[logs]") {
  const ReadLog read = read_log_text(
      "01/17/2024 13:47:27 [INFO|DP=0|PP=0|TP=0|ip-1]: iteration: 1200 / 10000 | consumed_tokens: "
      "634K "
      "| elapsed_time_per_iteration_ms: 11.5K | tokens_per_sec: 14.2K | tokens_per_sec_per_gpu: "
      "1.78K | global_batch_size: 1.02K | model_tflops_per_gpu: 187 | hardware_tflops_per_gpu: "
      "250\n");
  CHECK(read.log.format == "nanotron");
  CHECK(read.step(0).iteration == 1200);
  CHECK(read.step(0).step_s == 11.5);
  CHECK(read.step(0).global_batch == 1020.0);
  CHECK(read.step(0).model_flops_per_s_per_gpu == 187e12);
  CHECK(read.step(0).hardware_flops_per_s_per_gpu == 250e12);
  CHECK(read.log.gpus == 8.0);
}

TEST_CASE("NeMo 1 and 2", "[logs]") {
  const ReadLog one = read_log_text(
      "Epoch 0:   1%|1   | 795/77225 [9:07:58<878:01:48, 41.36s/it, v_num=, "
      "global_step=794.0]\r"
      "Epoch 0: :   3%|3 | 9000/301500 [1:42:42<55:37:46, v_num=0-56, reduced_train_loss=nan.0, "
      "global_step=9e+3, train_step_timing in s=0.615]\r"
      "Epoch 0: :   3%|3 | 9000/301500 [1:42:43<55:37:46, v_num=0-56, global_step=9e+3, "
      "train_step_timing in s=0.700]\n");
  CHECK(one.log.format == "nemo1");
  REQUIRE(one.steps() == 2);
  CHECK(one.step(0).iteration == 794);
  CHECK(one.step(0).step_s == 41.36);
  CHECK(one.step(1).iteration == 9000);
  CHECK(one.step(1).step_s == 0.615);
  const ReadLog two = read_log_text(
      "job/0 [default0]:Training epoch 1, iteration 0/19 | lr: 3e-06 | global_batch_size: 512 | "
      "global_step: 20 | reduced_train_loss: 11.03 | train_step_timing in s: 7.592 | "
      "TFLOPS_per_GPU: 410.5 | consumed_samples: 10240\n");
  CHECK(two.log.format == "nemo2");
  CHECK(two.step(0).iteration == 20);
  CHECK(two.step(0).step_s == 7.592);
  CHECK(two.step(0).global_batch == 512.0);
  CHECK(*two.step(0).model_flops_per_s_per_gpu == Approx(410.5e12).epsilon(1e-15));
}

TEST_CASE("MaxText: what is above any chip is kept and said", "[logs]") {
  const ReadLog read = read_log_text(
      "Config param per_device_batch_size: 24\nConfig param max_target_length: 2048\n"
      "Num_devices: 4, shape (1, 4)\n"
      "completed step: 1, seconds: 0.002, TFLOP/s/device: 917442.000, Tokens/s/device: 1.0, loss: "
      "1\n"
      "completed step: 2, seconds: 5.658, TFLOP/s/device: 135.158, Tokens/s/device: 8687.815, "
      "total_weights: 196608, loss: 11.689\n");
  CHECK(read.log.format == "maxtext");
  CHECK(read.step(1).step_s == 5.658);
  CHECK(read.step(1).tokens_per_s_per_gpu == 8687.815);
  CHECK(read.log.global_batch == 96.0);
  CHECK(read.log.seq_len == 2048.0);
  REQUIRE(read.notes.has("above-any-chip"));
  const ReadLog old =
      read_log_text("completed step: 15107, seconds: 2.167, TFLOP/s: 36.722, loss: 2.191\n");
  CHECK(*old.step(0).model_flops_per_s_per_gpu == Approx(36.722e12).epsilon(1e-15));
}

TEST_CASE("litgpt: a step is the sum of its iterations", "[logs]") {
  const ReadLog read = read_log_text(
      "Epoch 1 | iter 6 step 2 | loss train: 1.6, val: n/a | iter time: 100.00 ms (step)\n"
      "Epoch 1 | iter 7 step 2 | loss train: 1.6, val: n/a | iter time: 820.50 ms\n"
      "Epoch 1 | iter 8 step 3 | loss train: 1.6, val: n/a | iter time: 500.25 ms (step)\n");
  CHECK(read.log.format == "litgpt");
  REQUIRE(read.steps() == 1);  // what came before iteration 6 is not known
  CHECK(read.step(0).iteration == 3);
  CHECK(*read.step(0).step_s == Approx(1.32075).epsilon(1e-12));
}

TEST_CASE("metrics a line: Composer and OLMo", "[logs]") {
  const ReadLog composer = read_log_text(
      "[batch=12/4800]:\n\t Train time/train: 0.0081\n\t Train throughput/batches_per_sec: 0.25\n"
      "\t Train throughput/device/tokens_per_sec: 4096.5\n\t Train throughput/device/mfu: 0.39\n"
      "[batch=13/4800]:\n\t Train throughput/batches_per_sec: 0.5\n");
  CHECK(composer.log.format == "composer");
  REQUIRE(composer.steps() == 2);
  CHECK(composer.step(0).iteration == 12);
  CHECK(composer.step(0).step_s == 4.0);
  CHECK(composer.step(0).mfu == 0.39);
  CHECK(composer.step(1).step_s == 2.0);
  const ReadLog olmo = read_log_text(
      "2026-01-01 00:00:00.000 host:0 olmo_core.train:88 INFO [step=100/1000,epoch=1]\n"
      "    throughput/device/BPS=4.0\n    throughput/device/BPS (actual avg)=2.0\n"
      "    throughput/device/MFU=44.57\n    throughput/device/TPS=258,163\n"
      "    throughput/device/flopsPS=441.0T\n    throughput/total tokens=52,428,800\n");
  CHECK(olmo.log.format == "olmo");
  CHECK(olmo.step(0).iteration == 100);
  CHECK(olmo.step(0).step_s == 0.25);
  CHECK(olmo.step(0).mfu == 0.4457);
  CHECK(olmo.step(0).tokens_per_s_per_gpu == 258163.0);
  CHECK(olmo.step(0).model_flops_per_s_per_gpu == 441e12);
}

TEST_CASE("prime-rl, verl, levanter", "[logs]") {
  const ReadLog prime = read_log_text(
      "03:22:14 [INFO] [TRAIN] [Rank 0] step: 289, loss: 0.4, tokens_per_second: 76477.73, mfu: "
      "337.59\n");
  CHECK(prime.log.format == "prime-rl");
  CHECK(*prime.step(0).mfu == Approx(3.3759));
  CHECK(prime.step(0).tokens_per_s == 76477.73);
  CHECK(prime.notes.has("logged-mfu-above-100"));
  const ReadLog verl = read_log_text(
      "(TaskRunner pid=12) step:3 - actor/loss:0.1 - perf/mfu/actor:np.float64(0.39) - "
      "perf/throughput:1234.5 - perf/total_num_tokens:524288 - timing_s/step:45.25\n");
  CHECK(verl.log.format == "verl");
  CHECK(verl.step(0).iteration == 3);
  CHECK(verl.step(0).step_s == 45.25);
  CHECK(verl.step(0).mfu == 0.39);
  CHECK(verl.step(0).tokens == 524288.0);
  const ReadLog levanter = read_log_text(
      R"({"step": 12, "throughput/duration": 1.5, "throughput/mfu": 55.5, "throughput/tokens_per_second": 1000000.0})"
      "\n");
  CHECK(levanter.log.format == "levanter");
  CHECK(levanter.step(0).iteration == 12);
  CHECK(levanter.step(0).step_s == 1.5);
  CHECK(levanter.step(0).mfu == 0.555);
}

}  // namespace mfu
