// Hugging Face config.json: small ones, written here.
#include "catch.hpp"
#include "mfu/model.hpp"

namespace mfu {
namespace {

ModelShape parse(const std::string& text) {
  Notes notes;
  return parse_model(text, "config.json", notes);
}

Notes notes_of(const std::string& text) {
  Notes notes;
  (void)parse_model(text, "config.json", notes);
  return notes;
}

// The usual keys with 6 layers, hidden 64, 8 heads, and more.
std::string config(const std::string& type, const std::string& more = "") {
  return R"({"model_type":")" + type +
         R"(","num_hidden_layers":6,"hidden_size":64,"num_attention_heads":8,
             "vocab_size":100,"intermediate_size":96)" +
         (more.empty() ? "" : "," + more) + "}";
}

}  // namespace

TEST_CASE("the key names of several families", "[model]") {
  const ModelShape gpt2 = parse(
      R"({"model_type":"gpt2","n_layer":6,"n_embd":64,"n_head":8,"vocab_size":100,"n_positions":32,
          "n_inner":null})");
  CHECK(gpt2.ffn_hidden == 256);
  CHECK(gpt2.learned_positions == 32);
  CHECK((gpt2.tied_embeddings && gpt2.bias && gpt2.norm_bias && !gpt2.gated_mlp));
  CHECK(gpt2.name == "gpt2");

  const ModelShape opt = parse(config("opt", R"("ffn_dim":256,"max_position_embeddings":30)"));
  CHECK(opt.learned_positions == 32);

  const ModelShape glm = parse(
      R"({"model_type":"chatglm","num_layers":6,"hidden_size":64,"num_attention_heads":8,
          "ffn_hidden_size":96,"kv_channels":8,"multi_query_group_num":2,"padded_vocab_size":128,
          "add_qkv_bias":true})");
  CHECK(glm.kv_heads == 2);
  CHECK(glm.vocab == 128);
  CHECK(glm.qkv_bias);

  // Meta's params.json: 8/3 of 64 is 170, stretched by 1.3 is 221, to the next 32.
  const ModelShape meta = parse(
      R"({"dim":64,"n_layers":6,"n_heads":8,"n_kv_heads":2,"vocab_size":100,"multiple_of":32,
          "ffn_dim_multiplier":1.3})");
  CHECK(meta.ffn_hidden == 224);
  CHECK(meta.kv_heads == 2);
  CHECK_FALSE(meta.tied_embeddings);
}

TEST_CASE("the name is the last part of the path", "[model]") {
  CHECK(parse(config("llama", R"("_name_or_path":"meta-llama/Tiny-Llama/")")).name == "Tiny-Llama");
}

TEST_CASE("a head dimension of its own, and biases that a switch adds", "[model]") {
  const ModelShape qwen3 = parse(config("qwen3", R"("head_dim":32,"num_key_value_heads":2)"));
  CHECK(qwen3.head_dim == 32);
  CHECK(qwen3.qk_norm);
  CHECK(parse(config("qwen2")).qkv_bias);
  const ModelShape llama = parse(config("llama", R"("attention_bias":true,"mlp_bias":true)"));
  CHECK((llama.qkv_bias && llama.output_bias && llama.mlp_bias && !llama.bias));
  CHECK_FALSE(parse(config("glm4_moe", R"("attention_bias":true)")).output_bias);
  CHECK_FALSE(parse(config("starcoder2", R"("use_bias":false)")).bias);
}

TEST_CASE("falcon: multi-query before the new decoder, grouped after it", "[model]") {
  const std::string shape = R"("multi_query":true,"parallel_attn":true,"num_kv_heads":8)";
  const ModelShape before = parse(config("falcon", shape));
  CHECK(before.kv_heads == 1);
  CHECK(before.layer_norms == 1);
  const ModelShape after = parse(config("falcon", shape + R"(,"new_decoder_architecture":true)"));
  CHECK(after.kv_heads == 8);
  CHECK(after.layer_norms == 2);
}

TEST_CASE("experts and the layers that have them", "[model]") {
  const auto layers = [](const std::string& more) {
    return parse(config("qwen3_moe", R"("num_experts":8,"num_experts_per_tok":2,
                                        "moe_intermediate_size":32)" +
                                         (more.empty() ? "" : "," + more)))
        .moe_layers;
  };
  CHECK(layers("") == 6);
  CHECK(layers(R"("mlp_only_layers":[0,3])") == 4);
  CHECK(layers(R"("decoder_sparse_step":2)") == 3);
  CHECK(layers(R"("decoder_sparse_step":2,"mlp_only_layers":[1])") == 2);
  CHECK(layers(R"("first_k_dense_replace":1)") == 5);
  CHECK(layers(R"("first_k_dense_replace":1,"moe_layer_freq":2)") == 2);
  CHECK(layers(R"("moe_layer_freq":[0,1,1,1,0,1])") == 4);
  CHECK_THROWS_WITH(layers(R"("moe_layer_freq":[0,1])"), contains("2 entries for 6 layers"));
  CHECK_THROWS_WITH(layers(R"("mlp_only_layers":[6])"), contains("no such layer: 6"));

  const ModelShape shared =
      parse(config("deepseek_v3",
                   R"("n_routed_experts":8,"num_experts_per_tok":2,"moe_intermediate_size":32,
         "n_shared_experts":2,"num_nextn_predict_layers":1,"kv_lora_rank":16,"q_lora_rank":null,
         "qk_nope_head_dim":8,"qk_rope_head_dim":4,"v_head_dim":8,"head_dim":4)"));
  CHECK(shared.shared_ffn == 64);
  CHECK(shared.router_bias);
  CHECK(shared.mtp_layers == 1);
  CHECK(shared.mla->q_lora == 0);
  CHECK(shared.head_dim == 12);
  CHECK(parse(config("mixtral", R"("num_local_experts":8,"num_experts_per_tok":2)")).moe_ffn == 96);
  CHECK(parse(config("qwen2_moe", R"("num_experts":8,"num_experts_per_tok":2,
       "moe_intermediate_size":32,"shared_expert_intermediate_size":80)"))
            .shared_ffn == 80);
  CHECK_THROWS_WITH(parse(config("mixtral", R"("num_local_experts":8)")),
                    contains("num_experts_per_tok is missing"));
}

TEST_CASE("which layers have a window", "[model]") {
  const auto local = [](const std::string& type, const std::string& more) {
    const ModelShape model = parse(config(type, more));
    return model.window == 0 ? std::int64_t{0} : model.local_layers;
  };
  CHECK(local("mistral", R"("sliding_window":16)") == 6);
  CHECK(local("mistral", R"("sliding_window":null)") == 0);
  CHECK(local("gemma2", R"("sliding_window":16)") == 3);
  CHECK(local("gemma3_text", R"("sliding_window":16)") == 5);
  CHECK(local("gemma3_text", R"("sliding_window":16,"sliding_window_pattern":2)") == 3);
  CHECK(local("gpt_oss", R"("sliding_window":16)") == 3);
  CHECK(local("qwen2", R"("sliding_window":16,"max_window_layers":2)") == 0);
  CHECK(local("qwen2", R"("sliding_window":16,"max_window_layers":2,"use_sliding_window":false)") ==
        0);
  CHECK(local("qwen2", R"("sliding_window":16,"max_window_layers":2,"use_sliding_window":true)") ==
        4);
  const std::string kinds = R"("layer_types":["full_attention","sliding_attention",
      "full_attention","full_attention","sliding_attention","full_attention"])";
  CHECK(local("llama", kinds + R"(,"sliding_window":16)") == 2);
  CHECK_THROWS_WITH(local("llama", kinds), contains("needs a sliding_window"));
  CHECK_THROWS_WITH(local("llama", R"("layer_types":["full_attention"])"),
                    contains("1 entries for 6 layers"));
}

TEST_CASE("a hybrid stack by its pattern", "[model]") {
  const ModelShape hybrid =
      parse(config("nemotron_h",
                   R"("hybrid_override_pattern":"M-M*ME","mamba_num_heads":8,"mamba_head_dim":16,
         "ssm_state_size":16,"n_groups":2,"conv_kernel":4,"n_routed_experts":8,
         "num_experts_per_tok":2,"moe_intermediate_size":32,"mamba_hidden_act":"silu")"));
  CHECK(hybrid.pattern == "M-M*ME");
  CHECK(hybrid.moe_layers == 1);
  CHECK(hybrid.mamba_state == 16);
  CHECK_FALSE(hybrid.gated_mlp);
}

TEST_CASE("the text half of a larger model", "[model]") {
  const std::string text =
      R"({"model_type":"qwen3_vl","tie_word_embeddings":true,"vision_config":{"hidden_size":9},
          "text_config":)" +
      config("qwen3_vl_text") + "}";
  CHECK(parse(text).hidden == 64);
  CHECK(parse(text).tied_embeddings);
  CHECK(parse(text).qk_norm);
  CHECK(notes_of(text).has("text-tower-only"));
  CHECK_THROWS_WITH(parse(R"({"text_config":{"model_type":"llama","vocab_size":0}})"),
                    contains("(text_config.vocab_size)"));
  CHECK_THROWS_WITH(parse(R"({"text_config":{"model_type":"llama"}})"),
                    contains("text_config.num_hidden_layers, text_config.hidden_size"));
}

TEST_CASE("what has no count here is refused by name", "[model]") {
  CHECK_THROWS_WITH(parse(config("t5", R"("is_encoder_decoder":true)")),
                    contains("(is_encoder_decoder)") && contains("'t5'"));
  CHECK_THROWS_WITH(parse(config("bert")), contains("'bert' is an encoder"));
  CHECK_THROWS_WITH(parse(config("mamba2")), contains("'mamba2'"));
  CHECK_THROWS_WITH(parse(config("new", R"("index_topk":64)")), contains("(index_topk)"));
  CHECK_THROWS_WITH(parse(config("new", R"("linear_num_key_heads":4)")),
                    contains("(linear_num_key_heads)"));
  CHECK_THROWS_WITH(parse(config("llama", R"("layer_types":["full_attention","linear_attention",
      "full_attention","full_attention","full_attention","full_attention"])")),
                    contains("'linear_attention'") && contains("(layer_types)"));
  CHECK_THROWS_WITH(parse(config("nemotron_h", R"("hybrid_override_pattern":"MG")")),
                    contains("'G' is not a known kind"));
  try {
    (void)parse(config("new", R"("kda_heads":2)"));
    FAIL("accepted");
  } catch (const Error& problem) {
    CHECK(problem.kind() == ErrorKind::unsupported);
  }
  // Switched off, it changes nothing.
  CHECK(parse(config("llama", R"("index_topk":null,"attention_chunk_size":0)")).layers == 6);
}

TEST_CASE("an unknown type with ordinary keys is counted, and said to be assumed", "[model]") {
  const Notes notes = notes_of(config("brand_new", R"("hidden_act":"silu")"));
  CHECK(notes.has("model-family-unknown"));
  CHECK(parse(config("brand_new", R"("hidden_act":"silu")")).gated_mlp);
  CHECK_FALSE(parse(config("brand_new", R"("hidden_act":"relu")")).gated_mlp);
}

TEST_CASE("an intermediate size that is not given is assumed for gated families", "[model]") {
  const std::string bare =
      R"({"model_type":"llama","num_hidden_layers":6,"hidden_size":64,"num_attention_heads":8,
          "vocab_size":100})";
  CHECK(notes_of(bare).has("ffn-hidden-assumed"));
}

}  // namespace mfu
