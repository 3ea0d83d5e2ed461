// The `model` object of the formats.
#include "catch.hpp"
#include "mfu/model.hpp"

namespace mfu {
namespace model_object {

ModelShape parse(const std::string& text) {
  Notes notes;
  return parse_model(text, "model.json", notes);
}

Notes notes_of(const std::string& text, MissingKeys missing = MissingKeys::refuse) {
  Notes notes;
  (void)parse_model(text, "model.json", notes, missing);
  return notes;
}

// Keys of a small model, and more.
std::string with(const std::string& more) {
  return R"({"layers":4,"hidden":64,"heads":8,"vocab":100)" + (more.empty() ? "" : "," + more) +
         "}";
}

TEST_CASE("defaults of the model object", "[model]") {
  const ModelShape model = parse(with(R"("ffn_hidden":96)"));
  CHECK(model.layers == 4);
  CHECK(model.kv_heads == 8);
  CHECK(model.head_dim == 8);
  CHECK(model.gated_mlp);
  CHECK_FALSE(model.tied_embeddings);
  CHECK(notes_of(with(R"("ffn_hidden":96)")).has("gating-assumed"));
  CHECK(notes_of(with(R"("ffn_hidden":96,"gated_mlp":true)")).all().empty());

  // The classic MLP is four times as wide; a gated one 8/3, to the next 256.
  CHECK(parse(with("")).ffn_hidden == 256);
  CHECK_FALSE(parse(with("")).gated_mlp);
  CHECK(parse(with(R"("gated_mlp":true)")).ffn_hidden == 256);
  CHECK(parse(R"({"layers":4,"hidden":4096,"heads":8,"vocab":100,"gated_mlp":true})").ffn_hidden ==
        11008);
}

TEST_CASE("every key of the model object", "[model]") {
  const ModelShape moe = parse(with(
      R"("ffn_hidden":96,"gated_mlp":true,"kv_heads":2,"head_dim":16,"tied_embeddings":true,
         "experts":8,"top_k":2,"moe_ffn":32,"shared_ffn":16,"dense_layers":1,"window":128,
         "local_layers":2,"mtp_layers":1,"qkv_bias":true,"qk_norm":true,"norm_bias":true,
         "router_bias":true,"bias":true,"name":"small","params":1e9)"));
  CHECK(moe.moe_layers == 3);
  CHECK(moe.moe_ffn == 32);
  CHECK(moe.window == 128);
  CHECK(moe.local_layers == 2);
  CHECK(moe.mtp_layers == 1);
  CHECK(moe.given_params == 1e9);
  CHECK((moe.bias && moe.qkv_bias && moe.qk_norm && moe.norm_bias && moe.router_bias));
  CHECK(parse(with(R"("gated_mlp":true,"experts":8,"top_k":2,"moe_ffn":32,"moe_layers":3)"))
            .moe_layers == 3);
  CHECK(parse(with(R"("gated_mlp":true,"ffn_hidden":96,"experts":8,"top_k":2)")).moe_ffn == 96);
  CHECK(parse(with(R"("window":16)")).local_layers == 4);

  const ModelShape latent =
      parse(with(R"("mla":{"q_lora":null,"kv_lora":16,"qk_nope":8,"qk_rope":4,"v":8})"));
  REQUIRE(latent.mla);
  CHECK(latent.mla->q_lora == 0);
  CHECK(latent.head_dim == 12);

  const ModelShape hybrid = parse(
      R"({"pattern":"M*-E","mtp_pattern":"*E","hidden":64,"heads":8,"vocab":100,"mamba_heads":8,
          "mamba_head_dim":16,"mamba_state":16,"mamba_groups":2,"experts":8,"top_k":2,"moe_ffn":32,
          "latent":16})");
  CHECK(hybrid.layers == 4);
  CHECK(hybrid.moe_layers == 1);
  CHECK_FALSE(hybrid.gated_mlp);
  CHECK(hybrid.ffn_hidden == 256);
  CHECK(hybrid.latent == 16);
}

TEST_CASE("learned positions take their length from what is given", "[model]") {
  CHECK(parse(with(R"("learned_pos_emb":true,"seq_len":512)")).learned_positions == 512);
  CHECK(parse(with(R"("learned_pos_emb":true,"seq_len":512,"max_positions":2048)"))
            .learned_positions == 2048);
  CHECK(parse(with(R"("seq_len":512)")).learned_positions == 0);
  CHECK(notes_of(with(R"("learned_pos_emb":true)")).has("positions-unknown"));
}

TEST_CASE("an object with nothing but a name is a preset", "[model]") {
  CHECK(parse(R"({"name":"Llama-3.1-8B"})").layers == 32);
  CHECK(parse(R"({"name":"gpt3-1.3b","seq_len":2048})").hidden == 2048);
  CHECK_THROWS_WITH(parse("{\n  \"name\": \"gpt-9\"}"), contains("model.json:2:11 (name)"));
}

TEST_CASE("missing keys are all named at once, or left where a closed form may do", "[model]") {
  CHECK_THROWS_WITH(parse(R"({"layers":4})"), contains("hidden, heads, vocab are missing"));
  CHECK_THROWS_WITH(parse(R"({"layers":4,"hidden":64,"vocab":9})"), contains("heads is missing"));
  CHECK_THROWS_WITH(parse(R"({"params":7e9})"), contains("layers, hidden, heads, vocab"));
  CHECK_THROWS_WITH(parse("{}"), contains("neither a model's shape nor a config.json"));
  CHECK(
      notes_of(R"({"params":7e9,"name":"gpt-7b"})", MissingKeys::leave).has("model-keys-missing"));
  CHECK(notes_of(R"({"name":"maxtext-22b"})", MissingKeys::leave).has("model-unknown"));
  const std::string uneven = R"({"layers":4,"hidden":100,"heads":8,"vocab":9})";
  CHECK_THROWS_WITH(parse(uneven), contains("head_dim (hidden 100 is not a multiple of 8 heads)"));
  CHECK(notes_of(uneven, MissingKeys::leave).has("model-keys-missing"));
  Notes notes;
  const ModelShape palm = parse_model(R"({"layers":32,"heads":16,"head_dim":256,"params":8.63e9})",
                                      "model.json", notes, MissingKeys::leave);
  CHECK(palm.heads == 16);
  CHECK(palm.hidden == 0);
  CHECK(palm.given_params == 8.63e9);
}

TEST_CASE("a wrong value has a place", "[model]") {
  CHECK_THROWS_WITH(parse("{\"layers\": 4,\n \"hidden\": \"64\"}"),
                    contains("model.json:2:12 (hidden)") && contains("without quotes"));
  CHECK_THROWS_WITH(parse(with(R"("kv_heads":3)")), contains("8 heads do not share 3"));
  CHECK_THROWS_WITH(parse(with(R"("ffn_hidden":1.5)")), contains("whole number"));
  CHECK_THROWS_WITH(parse(with(R"("head_dim":-8)")), contains("above 0, found -8"));
  CHECK_THROWS_WITH(parse(with(R"("head_dim":0)")), contains("above 0, found 0"));
  CHECK_THROWS_WITH(parse(with(R"("ffn_hidden":1e12)")), contains("too large"));
  CHECK_THROWS_WITH(parse(with(R"("experts":8)")), contains("top_k is missing"));
  CHECK_THROWS_WITH(parse(with(R"("experts":8,"top_k":9,"moe_ffn":4)")), contains("more than"));
  CHECK_THROWS_WITH(parse(with(R"("top_k":2)")), contains("without experts"));
  CHECK_THROWS_WITH(parse(with(R"("mla":{"q_lora":4})")), contains("mla.kv_lora is missing"));
  CHECK_THROWS_WITH(parse(with(R"("pattern":"MG")")), contains("'G' is not a known kind of layer"));
  CHECK_THROWS_WITH(parse(with(R"("pattern":"**")")), contains("2 letters for 4 layers"));
  CHECK_THROWS_WITH(parse(with(R"("sliding_window":true)")), contains("unknown width"));
  CHECK_THROWS_WITH(parse(with(R"("hidden":64)")), contains("given twice"));
  CHECK_THROWS_WITH(parse("{\"layers\":4,\n  oops}"), contains("model.json:2:3"));
  CHECK_THROWS_WITH(parse("[1]"), contains("expected a model's object"));
  CHECK_THROWS_WITH(parse(""), contains("found nothing"));
  CHECK_THROWS_WITH(parse(with("") + "x"), contains("model.json:1:"));
}

TEST_CASE("unknown keys: a note, unless they are misspelt or change the count", "[model]") {
  CHECK(notes_of(with(R"("colour":"red")")).has("unknown-keys"));
  CHECK_THROWS_WITH(parse(with(R"("kvheads":2)")), contains("did you mean 'kv_heads'?"));
  CHECK_THROWS_WITH(parse(with(R"("linear_attention_heads":2)")), contains("changes the count"));
}

TEST_CASE("a stated count or a name that contradicts the shape is noted", "[model]") {
  const double parameters = count_parameters(parse(with(R"("gated_mlp":true)"))).total;
  const auto stated = [&](double factor) {
    return with(R"("gated_mlp":true,"params":)" + std::to_string(factor * parameters));
  };
  CHECK(notes_of(stated(1.019)).all().empty());
  CHECK(notes_of(stated(1.021)).has("params-differ"));
  CHECK(notes_of(stated(0.979)).has("params-differ"));
  CHECK(notes_of(with(R"("name":"llama-2-7b")")).has("model-name-differs"));
  CHECK(notes_of(with(R"("name":"tiny-0.25M")")).all().empty());
  // Experts and active sizes state no total.
  CHECK(notes_of(with(R"("name":"mixtral-8x7b")")).all().empty());
  CHECK(notes_of(with(R"("name":"moe-a3b")")).all().empty());
}

}  // namespace model_object
}  // namespace mfu
