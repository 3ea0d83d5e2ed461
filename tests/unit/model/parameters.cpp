// Parameters of small shapes, counted by hand beside each.
#include "catch.hpp"
#include "mfu/model.hpp"

namespace mfu {
namespace {

// Two layers, hidden 8, MLP 16, 4 heads of 2, vocabulary 10.
ModelShape small() {
  ModelShape model;
  model.layers = 2;
  model.hidden = 8;
  model.ffn_hidden = 16;
  model.heads = 4;
  model.kv_heads = 4;
  model.head_dim = 2;
  model.vocab = 10;
  return model;
}

double total(const ModelShape& model) { return count_parameters(model).total; }

}  // namespace

TEST_CASE("a dense gated stack", "[model]") {
  // Layer: 4 x 8 x 8 attention + 3 x 8 x 16 MLP + 2 x 8 norms = 656; both tables 2 x 80; norm 8.
  const ParameterCount count = count_parameters(small());
  CHECK(count.total == 2 * 656 + 160 + 8);
  CHECK(count.active == count.total);
  CHECK(count.embedding == 80);
  CHECK(count.output == 80);
  CHECK(count.positions == 0);
  CHECK(count.norms == 2 * 16 + 8);
}

TEST_CASE("what a switch adds or takes away", "[model]") {
  const double before = total(small());
  const auto changed = [before](auto change) {
    ModelShape model = small();
    change(model);
    return total(model) - before;
  };
  CHECK(changed([](ModelShape& m) { m.tied_embeddings = true; }) == -80);
  CHECK(changed([](ModelShape& m) { m.gated_mlp = false; }) == -2 * 8 * 16);
  CHECK(changed([](ModelShape& m) { m.kv_heads = 2; }) == -2 * 2 * 8 * 4);
  CHECK(changed([](ModelShape& m) { m.head_dim = 4; }) == 2 * 4 * 8 * 8);
  CHECK(changed([](ModelShape& m) { m.learned_positions = 6; }) == 6 * 8);
  CHECK(changed([](ModelShape& m) { m.qkv_bias = true; }) == 2 * 3 * 8);
  CHECK(changed([](ModelShape& m) { m.output_bias = true; }) == 2 * 8);
  CHECK(changed([](ModelShape& m) { m.mlp_bias = true; }) == 2 * (2 * 16 + 8));
  CHECK(changed([](ModelShape& m) { m.bias = true; }) == 2 * (3 * 8 + 8 + 2 * 16 + 8));
  CHECK(changed([](ModelShape& m) { m.head_bias = true; }) == 10);
  CHECK(changed([](ModelShape& m) { m.norm_bias = true; }) == 2 * 16 + 8);
  CHECK(changed([](ModelShape& m) { m.norm_weights = false; }) == -(2 * 16 + 8));
  CHECK(changed([](ModelShape& m) { m.layer_norms = 4; }) == 2 * 16);
  CHECK(changed([](ModelShape& m) { m.embedding_norm = true; }) == 8);
  CHECK(changed([](ModelShape& m) { m.qk_norm = true; }) == 2 * 2 * 2);
  CHECK(changed([](ModelShape& m) { m.qk_norm_wide = true; }) == 2 * 2 * 8);
  CHECK(changed([](ModelShape& m) { m.attention_sinks = true; }) == 2 * 4);
  // Trained beside the model, and not part of it.
  CHECK(changed([](ModelShape& m) { m.mtp_layers = 1; }) == 0);
}

TEST_CASE("experts: all of them in the total, top_k in what is active", "[model]") {
  ModelShape model = small();
  model.experts = 5;
  model.top_k = 2;
  model.moe_ffn = 4;
  model.shared_ffn = 6;
  model.moe_layers = 1;
  // One layer keeps its MLP of 384; the other has 5 x 96 experts, a router of 40, 144 shared.
  const double rest = 2 * (256 + 16) + 160 + 8 + 384 + 40 + 144;
  CHECK(count_parameters(model).total == rest + 5 * 96);
  CHECK(count_parameters(model).active == rest + 2 * 96);

  ModelShape corrected = model;
  corrected.router_bias = true;
  CHECK(count_parameters(corrected).total == rest + 5 * 96 + 5);
  CHECK(count_parameters(corrected).active == rest + 2 * 96);

  ModelShape gated = model;
  gated.shared_gate = true;
  CHECK(total(gated) == rest + 5 * 96 + 8);

  ModelShape latent = model;
  latent.latent = 3;  // experts 3 wide outside, and 8 -> 3 -> 8 around them
  CHECK(total(latent) == rest + 5 * 3 * 3 * 4 + 2 * 8 * 3);
}

TEST_CASE("latent attention, with and without a query latent", "[model]") {
  ModelShape model = small();
  const double ordinary = 256;
  model.mla = LatentAttention{6, 5, 3, 1, 2};
  // Query 8 x 6 + 6 x 16, its norm 6; latent 8 x 6, its norm 5; values 5 x 4 x 5; output 8 x 8.
  const double latent = 48 + 96 + 6 + 48 + 5 + 100 + 64;
  CHECK(total(model) - total(small()) == 2 * (latent - ordinary));
  model.mla->q_lora = 0;
  CHECK(total(model) - total(small()) == 2 * (128 + 48 + 5 + 100 + 64 - ordinary));
}

TEST_CASE("hybrid stacks count each letter", "[model]") {
  ModelShape model = small();
  model.gated_mlp = false;
  model.layers = 4;
  model.pattern = "M*E-";
  model.mamba_heads = 3;
  model.mamba_head_dim = 4;
  model.mamba_state = 5;
  model.mamba_groups = 2;
  model.experts = 5;
  model.top_k = 2;
  model.moe_ffn = 4;
  model.moe_layers = 1;
  // Inner width 12; 12 + 20 go through the convolution.
  const double mamba = 8 * (12 + 32 + 3) + 32 * 5 + 3 * 3 + 12 + 12 * 8;
  const double rest = 4 * 8 + 256 + 40 + 2 * 8 * 16 + 8 + 160;
  CHECK(count_parameters(model).total == mamba + rest + 5 * 64);
  CHECK(count_parameters(model).active == mamba + rest + 2 * 64);
}

}  // namespace mfu
