// Every spelling of what a run does already, as the frameworks write it.
#include "report/diagnose/run_flags.hpp"

#include <string>

#include "catch.hpp"

using namespace mfu;

namespace {

Conditions of(const char* key, const char* value) {
  Conditions conditions;
  read_job_word(key, value, conditions);
  return conditions;
}

struct Spelling {
  const char* key;
  const char* value;
};

// Every yes sets the flag; every no leaves it.
template <std::size_t N, std::size_t M>
void check(bool Conditions::*flag, const Spelling (&yes)[N], const Spelling (&no)[M]) {
  for (const Spelling& one : yes) {
    INFO(one.key << ": " << one.value);
    CHECK(of(one.key, one.value).*flag);
  }
  for (const Spelling& one : no) {
    INFO("not " << one.key << ": " << one.value);
    CHECK_FALSE(of(one.key, one.value).*flag);
  }
}

}  // namespace

TEST_CASE("asynchronous checkpoints, in every spelling") {
  const Spelling yes[] = {{"async_save", "true"},
                          {"--async-save", "True"},
                          {"ckpt_async_save", "true"},
                          {"strategy.ckpt_async_save", "true"},
                          {"dist_ckpt_async_save", "1"},
                          {"use_persistent_ckpt_worker", "true"},
                          {"async_checkpointing", "true"},
                          {"async_checkpoint", "yes"},
                          {"enable_async_checkpoint", "true"},
                          {"checkpoint_async", "on"},
                          {"async_ckpt", "true"},
                          {"checkpoint.async_mode", "async_with_pinned_mem"},
                          {"checkpoint", "async, sharded"},
                          {"checkpoints", "async"},
                          {"checkpointing", "async"},
                          {"checkpoint_mode", "async"},
                          {"checkpoint_format", "torch_dist async"},
                          {"checkpoint_type", "async"},
                          {"ckpt", "async"},
                          {"ckpt_mode", "torch_dist async"},
                          {"ckpt_format", "torch_dist, async"},
                          {"dist_ckpt_format", "torch_dist (async)"},
                          {"save", "async"},
                          {"save_mode", "async"},
                          {"torchtitan", R"({"checkpoint":{"interval":500,"async_mode":"async"}})"},
                          {"arguments", "--ckpt-format torch_dist --async-save --num-workers 8"}};
  const Spelling no[] = {{"async_save", "false"},
                         {"checkpoint.async_mode", "disabled"},
                         {"checkpoint", "not async"},
                         {"checkpoint", "every 500 steps"},
                         {"ckpt_format", "torch_dist"},
                         {"name", "async-checkpoint-test"},
                         {"checkpoint", R"({"folder":"async-test","interval":5})"},
                         {"activation_checkpoint.mode", "selective"}};
  check(&Conditions::async_checkpoint, yes, no);
}

TEST_CASE("collection of garbage by hand, in every spelling") {
  const Spelling yes[] = {{"manual_gc", "true"},
                          {"--manual-gc", "true"},
                          {"manual_gc_interval", "50"},
                          {"model.gc_interval", "100"},
                          {"training.gc_freq", "50"},
                          {"gc", "manual every 100"},
                          {"gc", "off"},
                          {"garbage_collection", "manual"},
                          {"garbage_collection", "disabled"}};
  const Spelling no[] = {
      {"manual_gc", "false"}, {"gc_interval", "0"}, {"gc", "automatic"}, {"gc", ""}};
  check(&Conditions::manual_gc, yes, no);
}

TEST_CASE("compiled models, in every spelling") {
  const Spelling yes[] = {{"compile", "True"},
                          {"training.compile", "true"},
                          {"compile.enable", "true"},
                          {"torchtitan", R"({"compile":{"enable":true,"components":["model"]}})"},
                          {"torch_compile", "max-autotune"},
                          {"torch_compile_mode", "reduce-overhead"},
                          {"torch_compile_backend", "inductor"},
                          {"dynamo_backend", "INDUCTOR"},
                          {"use_torch_compile", "true"},
                          {"use_compile", "true"},
                          {"compile_model", "true"},
                          {"enable_compile", "true"}};
  const Spelling no[] = {
      {"compile", "false"},           {"torch_compile", "no"},
      {"dynamo_backend", "NO"},       {"torchtitan", R"({"compile":{"enable":false}})"},
      {"torch_compile_mode", "null"}, {"compiler", "gcc 12"}};
  check(&Conditions::compiled, yes, no);
}

TEST_CASE("fused attention, in every spelling") {
  const Spelling yes[] = {{"use_flash_attn", "true"},
                          {"--use-flash-attn", "true"},
                          {"use_flash_attn_v3", "true"},
                          {"use_flash_attention", "true"},
                          {"use_flash_attention_2", "true"},
                          {"use_flash_attention_3", "true"},
                          {"use_fused_attention", "true"},
                          {"use_sdpa", "true"},
                          {"model.flash_attention", "True"},
                          {"flash_attn", "2.5.8"},
                          {"attn_implementation", "flash_attention_2"},
                          {"attn_implementation", "sdpa"},
                          {"_attn_implementation", "flash_attention_3"},
                          {"attn_config.attn_impl", "flash"},
                          {"model.attn_type", "flex"},
                          {"attention_backend", "AttnBackend.flash"},
                          {"attention_backend", "fused"},
                          {"attn_backend", "sdpa"},
                          {"transformer_impl", "transformer_engine"},
                          {"attention_impl", "xformers"},
                          {"attention_implementation", "sdpa"},
                          {"attention", "FlashAttention-3"},
                          {"attention", "cudnn_flash_te"},
                          {"attn", "flash"}};
  const Spelling no[] = {{"use_flash_attn", "false"},      {"attn_implementation", "eager"},
                         {"attention_backend", "unfused"}, {"transformer_impl", "local"},
                         {"attention", "no flash"},        {"attention", "dot_product"}};
  check(&Conditions::fused_attention, yes, no);
}

TEST_CASE("overlap of gradients and of parameters, in every spelling") {
  const Spelling gradients[] = {{"overlap_grad_reduce", "true"},
                                {"--overlap-grad-reduce", "true"},
                                {"ddp.overlap_grad_reduce", "True"},
                                {"optim.overlap_grad_sync", "true"},
                                {"deepspeed", R"({"zero_optimization":{"overlap_comm":true}})"},
                                {"overlap_comm", "true"}};
  const Spelling no[] = {{"overlap_grad_reduce", "false"}, {"overlap_param_gather", "true"}};
  check(&Conditions::gradients_overlap, gradients, no);
  const Spelling parameters[] = {{"overlap_param_gather", "true"},
                                 {"overlap_param_gather_with_optimizer_step", "true"},
                                 {"optim.overlap_param_sync", "true"},
                                 {"fsdp_forward_prefetch", "true"},
                                 {"fsdp_backward_prefetch", "BACKWARD_PRE"},
                                 {"forward_prefetch", "true"},
                                 {"backward_prefetch", "backward_pre"}};
  const Spelling not_parameters[] = {{"overlap_param_gather", "false"},
                                     {"fsdp_backward_prefetch", "NO_PREFETCH"},
                                     {"overlap_grad_reduce", "true"}};
  check(&Conditions::parameters_overlap, parameters, not_parameters);
}

TEST_CASE("a sharded optimizer, in every spelling, and that there is none") {
  for (const auto& [key, value] : {Spelling{"use_distributed_optimizer", "true"},
                                   {"--use-distributed-optimizer", "true"},
                                   {"distributed_optimizer", "true"},
                                   {"use_torch_fsdp2", "true"},
                                   {"fsdp", "full_shard auto_wrap"},
                                   {"zero_stage", "3"},
                                   {"ds", R"({"zero_optimization":{"stage":2}})"},
                                   {"optim.name", "distributed_fused_adam"},
                                   {"optimizer", "distributed_fused_adam"}}) {
    INFO(key << ": " << value);
    CHECK(of(key, value).sharded == std::optional(true));
  }
  CHECK(of("use_distributed_optimizer", "false").sharded == std::optional(false));
  CHECK(of("zero_stage", "0").sharded == std::optional(false));
  CHECK_FALSE(of("optimizer", "adamw").sharded);
}

TEST_CASE("fp8, in every spelling") {
  const Spelling yes[] = {{"fp8", "hybrid"},
                          {"fp8", "true"},
                          {"--fp8-format", "e4m3"},
                          {"fp8_recipe", "delayed"},
                          {"model.fp8_hybrid", "true"},
                          {"fp8_e4m3", "true"},
                          {"float8", "rowwise"},
                          {"float8.enable_float8_linear", "true"},
                          {"enable_fp8_linear", "true"},
                          {"model.converters", R"(["float8"])"},
                          {"model", R"({"converters":["float8"]})"},
                          {"mixed_precision", "fp8"},
                          {"mixed_precision_recipe", "bf16_with_fp8_mixed"},
                          {"trainer.precision", "transformer-engine"},
                          {"use_fp8", "true"}};
  const Spelling no[] = {{"fp8", "null"},
                         {"fp8", "none"},
                         {"mixed_precision", "bf16"},
                         {"precision", "bf16-mixed"},
                         {"model.converters", "[]"}};
  check(&Conditions::fp8, yes, no);
}

TEST_CASE("the loader and the buckets, with their numbers") {
  CHECK(of("num_workers", "8").loader_workers == "8");
  CHECK(of("dataloader_num_workers", "4").loader_workers == "4");
  CHECK(of("loader_workers", "4").loader_workers == "4");
  CHECK(of("dataloader_workers", "4").loader_workers == "4");
  CHECK(of("data_workers", "4").loader_workers == "4");
  CHECK(of("dataloader", "num_workers=32 prefetch=8").loader_workers == "32");
  CHECK(of("dataloader", "num_workers=32 prefetch=8").prefetch == "8");
  CHECK(of("data", R"({"num_workers":6})").loader_workers == "6");
  CHECK(of("num_workers", "many").loader_workers.empty());
  CHECK(of("num_workers", "0").loader_workers.empty());
  CHECK(of("prefetch_factor", "2").prefetch == "2");
  CHECK(of("dataloader_prefetch_factor", "2").prefetch == "2");
  CHECK(of("ddp_bucket_size", "40000000").bucket == "ddp_bucket_size 40000000");
  CHECK(of("ddp_bucket_cap_mb", "100").bucket == "ddp_bucket_cap_mb 100");
  CHECK(of("optim.bucket_cap_mb", "100").bucket == "bucket_cap_mb 100");
  CHECK(of("reduce_bucket_size", "5").bucket == "reduce_bucket_size 5");
  CHECK(of("bucket_size", "5").bucket == "bucket_size 5");
  const Spelling tokenised[] = {{"data", "pretokenized shards"}, {"input", "tokenised"},
                                {"dataset", "indexed .bin"},     {"data_format", "mmap"},
                                {"dataset_type", "mmap"},        {"model.data.data_impl", "mmap"}};
  const Spelling raw[] = {{"data", "raw text"}, {"data", "not tokenized"}, {"name", "tokenized"}};
  check(&Conditions::tokenised, tokenised, raw);
  const Spelling local[] = {{"data", "mmap on local NVMe"},
                            {"input", "tmpfs"},
                            {"dataset", "local disk"},
                            {"data_location", "nvme"}};
  const Spelling remote[] = {{"data", "s3"}, {"data", "not local"}};
  check(&Conditions::local_data, local, remote);
}

TEST_CASE("values that are no flags at all are no trouble") {
  for (const char* value :
       {"", "{", "}}}", "--", "a:", "=", ":::", "[", "\"", "--x --y", "{\"a\":{"}) {
    INFO(value);
    const Conditions conditions = of("setup", value);
    CHECK_FALSE(conditions.async_checkpoint);
    CHECK(conditions.loader_workers.empty());
  }
  CHECK_FALSE(of("", "true").compiled);
}
