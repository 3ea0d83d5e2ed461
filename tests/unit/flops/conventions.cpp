// The table of conventions: each row is complete and pinned by a value; switches are taken or
// refused.
#include <fmt/format.h>

#include <set>
#include <string>

#include "catch.hpp"
#include "unit/flops/rows.hpp"
#include "unit/flops/shapes.hpp"

using namespace flops_rows;
using mfu::AttentionCount;
using mfu::RecomputeCount;
using mfu::Trainable;

namespace conventions_counted {

mfu::FlopCount count(const mfu::ModelShape& shape, double seq_len, const char* id,
                     const mfu::Switches& switches = {}) {
  return mfu::count_flops(shape, {.seq_len = seq_len}, mfu::find_convention(id), switches);
}

mfu::Error refusal(const mfu::ModelShape& shape, const mfu::Work& work, const char* id,
                   const mfu::Switches& switches = {}) {
  try {
    static_cast<void>(mfu::count_flops(shape, work, mfu::find_convention(id), switches));
  } catch (const mfu::Error& error) {
    return error;
  }
  FAIL(id << " did not refuse");
  return {mfu::ErrorKind::io, ""};
}

TEST_CASE("every convention says whose number it is", "[flops]") {
  std::set<std::string_view> ids;
  for (const mfu::Convention& row : mfu::conventions()) {
    INFO(row.id);
    CHECK(ids.insert(row.id).second);
    for (const std::string_view text :
         {row.title, row.formula, row.leaves_out, row.source, row.date}) {
      CHECK(!text.empty());
    }
    CHECK(row.count != nullptr);
    CHECK(&mfu::find_convention(row.id) == &row);
  }
  for (const char* id : {"palm",
                         "exact-full",
                         "exact-causal",
                         "exact",
                         "6n",
                         "6n-kaplan",
                         "nanogpt",
                         "llm-foundry",
                         "narayanan-2021",
                         "korthikanti-2022",
                         "megatron-lm",
                         "megatron-bridge",
                         "nemo-24.07",
                         "nemo",
                         "bigscience-2021",
                         "maxtext",
                         "maxtext-2025-06",
                         "torchtitan",
                         "torchtitan-2024-02",
                         "verl",
                         "olmo",
                         "olmo-core",
                         "lingua",
                         "litgpt",
                         "nanotron",
                         "levanter",
                         "cookbook",
                         "gpt-neox",
                         "megatron-deepspeed",
                         "hf-trainer"}) {
    CHECK(ids.count(id) == 1);
  }
  CHECK(mfu::conventions().front().id == "palm");
}

TEST_CASE("Llama 3.1 8B at 8,192 by three conventions", "[flops]") {
  const mfu::ModelShape shape = llama_8b();
  CHECK(fmt::format("{:.2f}", *count(shape, 8192, "palm").model_flops / 1e9) == "61.07");
  CHECK(fmt::format("{:.2f}", *count(shape, 8192, "exact-causal").model_flops / 1e9) == "51.47");
  CHECK(fmt::format("{:.2f}", *count(shape, 8192, "6n").model_flops / 1e9) == "48.18");
  CHECK(count(shape, 8192, "palm").params == 8030261248.0);
  CHECK(*count(shape, 8192, "palm").model_flops == 61066469376.0);
}

// What no other file pins. Sources of the values: torchtitan, its 2024-12 benchmark on this shape;
// nanoGPT, its formula executed on GPT-2; the rest, their formulas worked by hand.
TEST_CASE("each convention is pinned", "[flops]") {
  const mfu::ModelShape llama = llama_8b();
  const double n = 8030261248.0;
  const double table = 128256.0 * 4096.0;
  const double layers_squared = 32.0 * 4096.0 * 4096.0;
  const double square_attention = 32.0 * 4096.0 * 8192.0;  // L h s
  struct Pin {
    const char* id;
    double model;
  };
  for (const Pin& pin : {
           Pin{"palm", 61066469376.0},
           Pin{"6n", 6.0 * n},
           Pin{"6n-kaplan", 41877528576.0},
           Pin{"exact-full", 57912852480.0},
           Pin{"exact-causal", 51470401536.0},
           Pin{"exact", 51470401536.0 + 6.0 * 32.0 * 8192.0 * 0.5},
           Pin{"korthikanti-2022", 72.0 * layers_squared + 12.0 * square_attention + 6.0 * table},
           Pin{"megatron-lm", 51470401536.0},
           Pin{"megatron-bridge", 51470401536.0},
           Pin{"gpt-neox", 72.0 * layers_squared + 12.0 * square_attention + 4.5 * table},
           Pin{"megatron-deepspeed", 72.0 * layers_squared + 12.0 * square_attention + 4.5 * table},
           Pin{"nemo-24.07", 57912852480.0},
           Pin{"nemo", 51470401536.0},
           Pin{"maxtext", 51470401536.0},
           Pin{"maxtext-2025-06", 57912852480.0},
           Pin{"levanter", 57988349952.0},
           Pin{"nanogpt", 61066469376.0},
           Pin{"llm-foundry", 61066469376.0},
           Pin{"torchtitan", 57914449920.0},
           Pin{"torchtitan-2024-02", 61066469376.0},
           Pin{"verl", 51470401536.0 + 6.0 * table},
           Pin{"nanotron", 57912852480.0},
           Pin{"hf-trainer", 6.0 * (n - table)},
           Pin{"olmo", 2.0 * (n - table) + 4.0 * n + 12.0 * square_attention},
           Pin{"olmo-core", 57914449920.0},
           Pin{"lingua", 6.0 * (n - table) + 7.0 * square_attention},
           Pin{"litgpt", 6.0 * n + 20.0 * square_attention},
           Pin{"cookbook", 96.0 * layers_squared +
                               32.0 * 4096.0 * 4096.0 * 3.0 * (2.0 * 1.5 + 2.0 - 8.0) +
                               12.0 * square_attention + 2.0 * table + 4.0 * 4096.0},
       }) {
    INFO(pin.id);
    CHECK(*count(llama, 8192, pin.id).model_flops == Approx(pin.model).epsilon(1e-12));
  }
  CHECK(*count(llama, 8192, "narayanan-2021").hardware_flops ==
        Approx(96.0 * layers_squared + 16.0 * square_attention + 6.0 * table));
  CHECK(*count(llama, 8192, "bigscience-2021").hardware_flops == 96.0 * layers_squared);
  CHECK(!count(llama, 8192, "narayanan-2021").model_flops);
  CHECK(!count(llama, 8192, "bigscience-2021").model_flops);

  mfu::ModelShape small = gpt2();
  small.given_params = 124337664.0;
  CHECK(*count(small, 1024, "nanogpt").model_flops * 1024.0 == 875062886400.0);
  CHECK(*count(small, 1024, "exact-full").model_flops * 1024.0 == 874944921600.0);
  CHECK(*count(small, 1024, "llm-foundry").model_flops ==
        6.0 * 124337664.0 + 12.0 * 12.0 * 768.0 * 1024.0);
}

TEST_CASE("NeMo counts some families in its own way", "[flops]") {
  mfu::ModelShape oss = gpt_oss_120b();
  CHECK(*count(oss, 4096, "nemo").model_flops ==
        Approx(*count(oss, 4096, "exact", {.count_router = false}).model_flops).epsilon(1e-12));
  oss.family = "";
  CHECK(*count(oss, 4096, "nemo").model_flops == Approx(34330853376.0).epsilon(1e-12));
}

TEST_CASE("MaxText halved Gemma 3 before it halved the others", "[flops]") {
  mfu::ModelShape shape = llama_8b();
  shape.window = 1024;
  shape.local_layers = 16;
  const double others = *count(shape, 8192, "maxtext-2025-06").model_flops;
  shape.family = "gemma3_text";
  const double gemma = *count(shape, 8192, "maxtext-2025-06").model_flops;
  CHECK(others - gemma == Approx(6.0 * 8192.0 * (32 * 8192.0 - 16 * 4096.0 - 16 * 512.0)));
}

TEST_CASE("a stated N takes the place of the derived one", "[flops]") {
  mfu::ModelShape shape = llama_8b();
  const mfu::Convention& six = mfu::find_convention("6n");
  CHECK(*mfu::count_flops(shape, {.seq_len = 1.0, .params = 7e9}, six).model_flops == 42e9);
  CHECK(*mfu::count_flops({}, {.params = 7e9}, six).model_flops == 42e9);
  shape.given_params = 8e9;
  CHECK(mfu::count_flops(shape, {}, six).params == 8e9);
  // Of a mixture of experts what is stated beside the shape is the total, not what a token meets.
  mfu::ModelShape moe = mixtral();
  moe.given_params = 46.7e9;
  CHECK(mfu::count_flops(moe, {}, six).params == Approx(12.88e9).epsilon(0.01));
  CHECK(mfu::count_flops(moe, {}, mfu::find_convention("hf-trainer")).params ==
        46.7e9 - 32000.0 * 4096.0);
}

TEST_CASE("recomputation and frozen weights of the closed forms", "[flops]") {
  const mfu::ModelShape shape = llama_8b();
  const double n = 8030261248.0;
  const double core = 4.0 * 32.0 * 4096.0 * 8192.0;  // 4 L H Q T
  const auto hardware = [&](const char* id, RecomputeCount recompute) {
    return *count(shape, 8192, id, {.recompute = recompute}).hardware_flops;
  };
  CHECK(hardware("palm", RecomputeCount::none) == 6.0 * n + 3.0 * core);
  CHECK(hardware("palm", RecomputeCount::palm) == 7.5 * n + 4.0 * core);
  CHECK(hardware("palm", RecomputeCount::palm_attention) == 6.0 * n + 4.0 * core);
  CHECK(hardware("palm", RecomputeCount::full) == 8.0 * n + 4.0 * core);
  CHECK(hardware("6n", RecomputeCount::full) == 8.0 * n);
  CHECK(hardware("llm-foundry", RecomputeCount::full) ==
        Approx(*count(shape, 8192, "llm-foundry").model_flops * 4.0 / 3.0));
  CHECK(hardware("gpt-neox", RecomputeCount::full) ==
        Approx(*count(shape, 8192, "narayanan-2021").hardware_flops));
  CHECK(hardware("korthikanti-2022", RecomputeCount::full) ==
        Approx(*count(shape, 8192, "narayanan-2021").hardware_flops));
  // The model FLOPs do not depend on it.
  CHECK(*count(shape, 8192, "palm", {.recompute = RecomputeCount::full}).model_flops ==
        *count(shape, 8192, "palm").model_flops);

  CHECK(*count(shape, 8192, "6n", {.trainable = Trainable::lora}).model_flops == 4.0 * n);
  CHECK(*count(shape, 8192, "6n", {.trainable = Trainable::none}).model_flops == 2.0 * n);
  CHECK(*count(shape, 8192, "palm", {.trainable = Trainable::lora}).model_flops ==
        4.0 * n + 3.0 * core);
  CHECK(*count(shape, 8192, "palm", {.trainable = Trainable::none}).model_flops == 2.0 * n + core);
  CHECK(*count(shape, 8192, "palm", {.attention = AttentionCount::causal}).model_flops ==
        6.0 * n + 1.5 * core);
}

TEST_CASE("a switch without a meaning is refused by name", "[flops]") {
  const mfu::ModelShape shape = llama_8b();
  const mfu::Work work{.seq_len = 8192.0};
  struct Case {
    const char* id;
    mfu::Switches switches;
    const char* named;
  };
  for (const Case& wrong : {
           Case{"6n", {.attention = AttentionCount::full}, "--attention"},
           Case{"6n", {.honour_window = true}, "--window"},
           Case{"palm", {.count_router = true}, "--router"},
           Case{"hf-trainer", {.recompute = RecomputeCount::full}, "--recompute"},
           Case{"korthikanti-2022", {.trainable = Trainable::lora}, "--trainable"},
           Case{"llm-foundry", {.recompute = RecomputeCount::selective}, "--recompute selective"},
           Case{"narayanan-2021", {.recompute = RecomputeCount::none}, "--recompute none"},
           Case{"cookbook", {.trainable = Trainable::lora}, "--trainable lora"},
       }) {
    const mfu::Error error = refusal(shape, work, wrong.id, wrong.switches);
    INFO(error.what());
    CHECK(error.kind() == mfu::ErrorKind::unsupported);
    CHECK_THAT(error.message(), contains(wrong.named));
    CHECK_THAT(error.message(), contains(wrong.id));
  }
}

TEST_CASE("closed forms refuse stacks that they cannot describe", "[flops]") {
  for (const char* id : {"narayanan-2021", "korthikanti-2022", "gpt-neox", "cookbook"}) {
    CHECK(refusal(mixtral(), {.seq_len = 4096.0}, id).kind() == mfu::ErrorKind::unsupported);
    CHECK(refusal(nemotron_3_nano(), {.seq_len = 4096.0}, id).kind() ==
          mfu::ErrorKind::unsupported);
  }
}

TEST_CASE("everything that is missing is named at once", "[flops]") {
  const auto names = [](const mfu::Error& error, std::initializer_list<const char*> keys) {
    INFO(error.what());
    CHECK(error.kind() == mfu::ErrorKind::insufficient);
    for (const char* key : keys) CHECK_THAT(error.message(), contains(key));
  };
  names(refusal({}, {}, "exact-causal"),
        {"layers", "hidden", "heads", "ffn_hidden", "vocab", "seq_len"});
  names(refusal({}, {}, "6n"), {"layers", "hidden", "heads", "ffn_hidden", "vocab", "params"});
  names(refusal({}, {}, "narayanan-2021"), {"layers", "hidden", "vocab", "seq_len"});
  mfu::ModelShape shape = mixtral();
  shape.top_k = 0;
  shape.moe_ffn = 0;
  names(refusal(shape, {.seq_len = 1024.0}, "exact"), {"top_k", "moe_ffn"});
  names(refusal({}, {.params = 1e9}, "palm"), {"layers", "heads", "seq_len"});
  shape = nemotron_3_nano();
  shape.mamba_state = 0;
  names(refusal(shape, {.seq_len = 1024.0}, "megatron-bridge"), {"mamba_state"});
  // What the formula does not need is not asked for: the runs of BLOOM's prequel give no heads.
  shape = llama_8b();
  shape.heads = 0;
  CHECK(count(shape, 2048, "narayanan-2021").hardware_flops);
}

TEST_CASE("an unknown convention lists the near ones", "[flops]") {
  const auto hint = [](const char* id) {
    try {
      static_cast<void>(mfu::find_convention(id));
    } catch (const mfu::Error& error) {
      CHECK(error.kind() == mfu::ErrorKind::usage);
      CHECK_THAT(error.message(), contains(id));
      return error.hint();
    }
    return std::string();
  };
  CHECK(hint("plam") == "did you mean 'palm'?");
  CHECK(hint("deepspeed") == "did you mean one of 'megatron-deepspeed'?");
  CHECK_THAT(hint("megatron"), contains("'megatron-lm'"));
  CHECK_THAT(hint("zzzzzzzz"), contains("one of: palm, "));
}

TEST_CASE("settings name the switches as they stood", "[flops]") {
  CHECK(count(llama_8b(), 8192, "exact-causal", {.honour_window = false}).settings ==
        "attention=causal window=ignore router=count recompute=none trainable=all");
  CHECK(count(llama_8b(), 8192, "6n").settings == "recompute=none trainable=all");
  CHECK(count(llama_8b(), 8192, "hf-trainer").settings.empty());
}

TEST_CASE("a length or a parameter count that is no number is refused", "[flops]") {
  CHECK(refusal(llama_8b(), {.seq_len = -1.0}, "palm").kind() == mfu::ErrorKind::usage);
  CHECK(refusal(llama_8b(), {.seq_len = std::nan("")}, "palm").kind() == mfu::ErrorKind::usage);
  CHECK(refusal(llama_8b(), {.lengths = {10.0, 0.0}}, "exact").kind() == mfu::ErrorKind::usage);
  CHECK(refusal(llama_8b(), {.params = 0.0}, "6n").kind() == mfu::ErrorKind::usage);
}

}  // namespace conventions_counted
