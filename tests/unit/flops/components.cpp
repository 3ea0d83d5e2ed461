// The exact count, component by component.
#include <string>

#include "catch.hpp"
#include "unit/flops/rows.hpp"
#include "unit/flops/shapes.hpp"

using namespace flops_rows;
using mfu::AttentionCount;
using mfu::RecomputeCount;
using mfu::Trainable;

namespace {

mfu::FlopCount count(const mfu::ModelShape& shape, double seq_len, const char* id = "exact-causal",
                     const mfu::Switches& switches = {}) {
  return mfu::count_flops(shape, {.seq_len = seq_len}, mfu::find_convention(id), switches);
}

double total(const mfu::ModelShape& shape, double seq_len, const char* id = "exact-causal",
             const mfu::Switches& switches = {}) {
  return *count(shape, seq_len, id, switches).model_flops;
}

const mfu::Component* find(const mfu::FlopCount& count, const std::string& id) {
  for (const mfu::Component& component : count.components) {
    if (component.id == id) return &component;
  }
  return nullptr;
}

double forward(const mfu::FlopCount& count, const std::string& id) {
  const mfu::Component* component = find(count, id);
  return component == nullptr ? 0.0 : component->forward;
}

double packed(const mfu::ModelShape& shape, std::vector<double> lengths, const char* id) {
  return *mfu::count_flops(shape, {.lengths = std::move(lengths)}, mfu::find_convention(id))
              .model_flops;
}

const mfu::Switches kNoRouter{.count_router = false};

}  // namespace

// Worked by hand for Llama 3.1 8B at 8,192: 2 FLOPs a weight and token, forward.
TEST_CASE("components of Llama 3.1 8B", "[flops]") {
  const mfu::FlopCount c = count(llama_8b(), 8192);
  CHECK(forward(c, "qkv") == 2.0 * 32 * 4096 * 128 * (32 + 2 * 8));
  CHECK(forward(c, "attention_output") == 2.0 * 32 * 4096 * 4096);
  CHECK(forward(c, "mlp") == 2.0 * 32 * 3 * 4096 * 14336);
  CHECK(forward(c, "scores_values") == 2.0 * 32 * (32 * 256) * 4096);
  CHECK(forward(c, "logits") == 2.0 * 4096 * 128256);
  CHECK(c.components.size() == 5);
  CHECK(c.components.front().id == "qkv");
  CHECK(c.components.back().id == "logits");
}

TEST_CASE("experts, shared experts and router are counted apart", "[flops]") {
  const mfu::FlopCount c = count(deepseek_v3(), 4096);
  CHECK(forward(c, "mlp") == 2.0 * 3 * 3 * 7168 * 18432);
  CHECK(forward(c, "experts") == 2.0 * 58 * 3 * 7168 * 8 * 2048);
  CHECK(forward(c, "shared_experts") == 2.0 * 58 * 3 * 7168 * 2048);
  CHECK(forward(c, "router") == 2.0 * 58 * 7168 * 256);
  CHECK(find(count(deepseek_v3(), 4096, "exact-causal", kNoRouter), "router") == nullptr);
}

TEST_CASE("latent attention has projections of its own", "[flops]") {
  const mfu::FlopCount c = count(deepseek_v3(), 4096);
  CHECK(forward(c, "qkv") ==
        2.0 * 61 *
            (7168.0 * 1536 + 1536.0 * 128 * 192 + 7168.0 * (512 + 64) + 512.0 * 128 * (128 + 128)));
  CHECK(forward(c, "scores_values") == 2.0 * 61 * 2048 * 128 * (192 + 128));
  mfu::ModelShape direct = deepseek_v3();
  direct.mla->q_lora = 0;
  CHECK(forward(count(direct, 4096), "qkv") - forward(c, "qkv") ==
        2.0 * 61 * (7168.0 * 128 * 192 - 7168.0 * 1536 - 1536.0 * 128 * 192));
}

TEST_CASE("anchors, a token", "[flops]") {
  const auto close = [](double got, double wanted) { return off_by(got, wanted) < 5e-7; };
  CHECK(close(total(llama_8b(), 8192), 5.147040e10));
  mfu::ModelShape large = llama_8b();
  large.layers = 80;
  large.hidden = 8192;
  large.ffn_hidden = 28672;
  large.heads = 64;
  CHECK(close(total(large, 8192), 4.492225e11));
  large.layers = 126;
  large.hidden = 16384;
  large.ffn_hidden = 53248;
  large.heads = 128;
  CHECK(close(total(large, 8192), 2.523956e12));
  // These three with Megatron's norms of latents.
  CHECK(close(total(deepseek_v3(), 4096, "megatron-lm"), 2.498121e11));
  CHECK(total(deepseek_v3(), 4096, "exact-causal", kNoRouter) == 249811304448.0);
  mfu::ModelShape predicts = deepseek_v3();
  predicts.mtp_layers = 1;
  CHECK(close(total(predicts, 4096, "megatron-lm"), 2.599930e11));
  CHECK(close(total(gpt_oss_120b(), 4096, "megatron-lm"), 3.433085e10));
  CHECK(close(total(gpt_oss_120b(), 4096, "exact-causal", kNoRouter), 3.263040e10));
  CHECK(close(total(nemotron_3_nano(), 8192, "megatron-lm"), 2.227809e10));
  CHECK(total(nemotron_3_nano(), 8192, "exact-causal", kNoRouter) ==
        Approx(20.77e9).epsilon(5e-4));  // with the true inner width
}

TEST_CASE("components sum to the total, under every convention that has them", "[flops]") {
  for (const mfu::ModelShape& shape :
       {llama_8b(), mixtral(), deepseek_v3(), gpt_oss_120b(), nemotron_3_nano(), gpt2()}) {
    for (const mfu::Convention& row : mfu::conventions()) {
      for (const Trainable trainable : {Trainable::all, Trainable::lora, Trainable::none}) {
        mfu::FlopCount c;
        try {
          mfu::Switches switches;
          if (trainable != Trainable::all) switches.trainable = trainable;
          c = mfu::count_flops(shape, {.seq_len = 4096.0}, row, switches);
        } catch (const mfu::Error& error) {
          CHECK(error.kind() == mfu::ErrorKind::unsupported);
          continue;
        }
        INFO(shape.name << " " << row.id);
        const double figure = c.model_flops.value_or(c.hardware_flops.value_or(0.0));
        CHECK(figure > 0.0);
        CHECK(std::isfinite(figure));
        if (c.components.empty()) continue;
        double sum = 0.0;
        for (const mfu::Component& component : c.components) {
          CHECK(component.forward > 0.0);
          CHECK(component.backward >= 0.0);
          sum += component.forward + component.backward;
        }
        CHECK(sum == Approx(figure).epsilon(1e-14));
      }
    }
  }
}

TEST_CASE("forward alone is a third, frozen weights two thirds of the linear part", "[flops]") {
  for (const mfu::ModelShape& shape : {llama_8b(), mixtral(), deepseek_v3(), nemotron_3_nano()}) {
    const double all = total(shape, 4096, "exact");
    CHECK(total(shape, 4096, "exact", {.trainable = Trainable::none}) ==
          Approx(all / 3.0).epsilon(1e-14));
    const mfu::FlopCount c = count(shape, 4096, "exact");
    const mfu::FlopCount frozen = count(shape, 4096, "exact", {.trainable = Trainable::lora});
    const double scan = forward(c, "mamba") > 0.0 ? 23.0 * 7 * 4096 * 128 : 0.0;
    const double core = 3.0 * (forward(c, "scores_values") + scan);
    CHECK(*frozen.model_flops == Approx((all - core) * 2.0 / 3.0 + core).epsilon(1e-14));
    CHECK(find(frozen, "scores_values")->backward == find(c, "scores_values")->backward);
  }
}

TEST_CASE("recomputation adds to the hardware count only", "[flops]") {
  const mfu::ModelShape shape = llama_8b();
  const mfu::FlopCount c = count(shape, 8192, "exact-full");
  const auto added = [&](RecomputeCount recompute) {
    const mfu::FlopCount again = count(shape, 8192, "exact-full", {.recompute = recompute});
    CHECK(*again.model_flops == *c.model_flops);
    return *again.hardware_flops - *c.model_flops;
  };
  const double core = forward(c, "scores_values");
  const double logits = forward(c, "logits");
  const double all = *c.model_flops / 3.0;
  CHECK(added(RecomputeCount::none) == 0.0);
  CHECK(added(RecomputeCount::selective) == Approx(core));
  CHECK(added(RecomputeCount::palm_attention) == Approx(core));
  CHECK(added(RecomputeCount::full) == Approx(all - logits));
  CHECK(added(RecomputeCount::palm) == Approx(0.75 * (all - core) + core));
  // Nothing is recomputed where there is no backward pass.
  const mfu::FlopCount inference = count(
      shape, 8192, "exact-full", {.recompute = RecomputeCount::full, .trainable = Trainable::none});
  CHECK(*inference.hardware_flops == *inference.model_flops);
}

TEST_CASE("MTP adds a layer, a projection and the logits for each depth", "[flops]") {
  mfu::ModelShape shape = deepseek_v3();
  const double none = total(shape, 4096);
  shape.mtp_layers = 1;
  const mfu::FlopCount one = count(shape, 4096);
  CHECK(forward(one, "logits") == 2.0 * 2.0 * 7168 * 129280);
  shape.mtp_layers = 2;
  CHECK(total(shape, 4096) - *one.model_flops == Approx(*one.model_flops - none).epsilon(1e-12));
  CHECK(total(shape, 4096, "maxtext") < total(shape, 4096));
}

TEST_CASE("packed documents weigh by their tokens", "[flops]") {
  const mfu::ModelShape shape = llama_8b();
  for (const char* id : {"palm", "exact-full", "exact-causal", "exact", "megatron-lm", "verl"}) {
    INFO(id);
    // One document is a sequence; equal documents are the same work at that length.
    CHECK(packed(shape, {8192.0}, id) == Approx(total(shape, 8192, id)).epsilon(1e-14));
    CHECK(packed(shape, {2048.0, 2048.0, 2048.0}, id) ==
          Approx(total(shape, 2048, id)).epsilon(1e-14));
    // sum s_i^2 / sum s_i: 512, 1024 and 2048 see as much as 1,536 tokens.
    if (std::string(id) != "exact") {
      CHECK(packed(shape, {512.0, 1024.0, 2048.0}, id) ==
            Approx(total(shape, 1536, id)).epsilon(1e-14));
    }
  }
  // Exact pairs: sum s_i (s_i + 1) / 2.
  const double linear = total(shape, 1, "exact", {.attention = AttentionCount::none});
  CHECK(packed(shape, {1.0, 3.0}, "exact") ==
        Approx(linear + 6.0 * 32 * 8192 * (1.0 + 6.0) / 4.0).epsilon(1e-14));
  // nanoGPT's length is the block's, whatever is in it.
  const mfu::Convention& nanogpt = mfu::find_convention("nanogpt");
  CHECK(*mfu::count_flops(shape, {.seq_len = 4096.0, .lengths = {1024.0, 3072.0}}, nanogpt)
             .model_flops == total(shape, 4096, "nanogpt"));
}

TEST_CASE("windows count the token itself", "[flops]") {
  // The first w tokens see 1..w, the others w: counted one by one.
  const int s = 300;
  const int w = 128;
  double pairs = 0.0;
  for (int i = 1; i <= s; ++i) pairs += std::min(i, w);
  mfu::ModelShape shape = llama_8b();
  shape.window = w;
  shape.local_layers = shape.layers;
  CHECK(forward(count(shape, s, "exact"), "scores_values") ==
        Approx(2.0 * 32 * 8192 * pairs / s).epsilon(1e-14));
  CHECK(forward(count(shape, s, "exact-full"), "scores_values") == 2.0 * 32 * 8192 * w);
  CHECK(total(shape, 100, "exact") == total(llama_8b(), 100, "exact"));
  CHECK(total(shape, s, "exact", {.honour_window = false}) == total(llama_8b(), s, "exact"));
}

TEST_CASE("more model or more context is never less work", "[flops]") {
  for (const mfu::ModelShape& shape : {llama_8b(), mixtral(), deepseek_v3(), gpt_oss_120b()}) {
    for (const char* id : {"exact-full", "exact-causal", "exact", "palm", "maxtext", "verl"}) {
      INFO(shape.name << " " << id);
      double before = 0.0;
      for (const double seq_len : {1.0, 100.0, 128.0, 129.0, 1024.0, 8192.0, 131072.0}) {
        const double now = total(shape, seq_len, id);
        CHECK(now >= before);
        before = now;
      }
      mfu::ModelShape more = shape;
      more.layers += 1;
      more.moe_layers += shape.experts > 0 ? 1 : 0;
      CHECK(total(more, 1024, id) > total(shape, 1024, id));
      more = shape;
      more.vocab += 128;
      CHECK(total(more, 1024, id) > total(shape, 1024, id));
    }
    CHECK(total(shape, 4096, "exact-causal") <= total(shape, 4096, "exact"));
    CHECK(total(shape, 4096, "exact") <= total(shape, 4096, "exact-full"));
    CHECK(total(shape, 4096, "exact-full", {.attention = AttentionCount::none}) <
          total(shape, 4096, "exact-causal"));
  }
  for (const char* id : {"exact-full", "exact-causal", "exact", "maxtext", "verl"}) {
    mfu::ModelShape shape = llama_8b();
    shape.local_layers = 16;
    double before = 0.0;
    for (const std::int64_t window : {1, 2, 64, 1023, 2047, 2048, 4096}) {
      shape.window = window;
      const double now = total(shape, 2048, id);
      INFO(id << " " << window);
      CHECK(now >= before);
      CHECK(now <= total(llama_8b(), 2048, id));
      before = now;
    }
  }
}

TEST_CASE("fewer key/value heads save projections, not scores", "[flops]") {
  mfu::ModelShape many = llama_8b();
  many.kv_heads = 32;
  const mfu::FlopCount a = count(llama_8b(), 8192);
  const mfu::FlopCount b = count(many, 8192);
  CHECK(forward(a, "scores_values") == forward(b, "scores_values"));
  CHECK(forward(b, "qkv") == 2.0 * forward(a, "qkv"));
}

TEST_CASE("tied and untied outputs cost the same", "[flops]") {
  mfu::ModelShape tied = llama_8b();
  tied.tied_embeddings = true;
  CHECK(total(tied, 8192) == total(llama_8b(), 8192));
  CHECK(total(tied, 8192, "torchtitan") == Approx(total(llama_8b(), 8192, "torchtitan")));
  CHECK(total(tied, 8192, "palm") < total(llama_8b(), 8192, "palm"));
}
