// The config.json files of the shared corpus, where it is there: each has the count that its index
// states.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "mfu/model.hpp"

namespace mfu {
namespace {

const std::filesystem::path kConfigs = std::filesystem::path(MFU_SHARED_DIR) / "corpus/configs";

ModelShape read(const std::string& file, Notes& notes) {
  std::ifstream in(kConfigs / file);
  REQUIRE(in);
  std::stringstream text;
  text << in.rdbuf();
  return parse_model(text.str(), file, notes);
}

struct Row {
  const char* file;
  std::int64_t total;
  std::int64_t active;
};

constexpr Row kRows[] = {
    {"bloom-560m.json", 559214592, 559214592},
    {"deepseek-v3.json", 671026419200, 37552282624},
    {"gpt-neox-h2ogpt-6.9b.json", 6857302016, 6857302016},
    {"gpt2-large.json", 774030080, 774030080},
    {"llama-2-70b-mlperf.json", 68976648192, 68976648192},
    {"llama-3-70b.json", 70553706496, 70553706496},
    {"llama-3.1-8b.json", 8030261248, 8030261248},
    {"mistral-7b-v0.1.json", 7241732096, 7241732096},
    {"mixtral-8x7b.json", 46702792704, 12879925248},
    {"qwen2.5-7b.json", 7615616512, 7615616512},
    {"qwen3-30b-a3b.json", 30532122624, 3353032704},
    {"qwen3-4b.json", 4022468096, 4022468096},
    // Two layers of 18.87 M attention, 16 experts of 4.72 M (2 active), router and norms.
    {"qwen3vl-moe-toy-veomni.json", 811149824, 679029248},
};

}  // namespace

TEST_CASE("config.json files of real models have the count that is known", "[model]") {
  if (!std::filesystem::is_directory(kConfigs)) MFU_SKIP("the shared corpus is not here");
  for (const Row& row : kRows) {
    CAPTURE(row.file);
    Notes notes;
    const ParameterCount count = count_parameters(read(row.file, notes));
    CHECK(static_cast<std::int64_t>(count.total) == row.total);
    CHECK(static_cast<std::int64_t>(count.active) == row.active);
    CHECK_FALSE(notes.has("model-family-unknown"));
    CHECK_FALSE(notes.has("model-name-differs"));
  }
}

TEST_CASE("config.json files of real models: windows, towers and what is refused", "[model]") {
  if (!std::filesystem::is_directory(kConfigs)) MFU_SKIP("the shared corpus is not here");
  Notes notes;
  const ModelShape falcon = read("falcon-40b.json", notes);
  CHECK(falcon.kv_heads == 8);
  CHECK(count_parameters(falcon).total == Approx(41.3e9).epsilon(0.001));
  const ModelShape mistral = read("mistral-7b-v0.1.json", notes);
  CHECK(mistral.window == 4096);
  CHECK(mistral.local_layers == 32);
  CHECK(read("qwen2.5-7b.json", notes).window == 0);
  CHECK(read("mixtral-8x7b.json", notes).window == 0);
  const ModelShape gemma = read("gemma3-toy-veomni.json", notes);
  CHECK(gemma.window == 4);
  CHECK(gemma.local_layers == 1);
  const ModelShape deepseek = read("deepseek-v3.json", notes);
  CHECK(deepseek.moe_layers == 58);
  CHECK(deepseek.mtp_layers == 1);
  CHECK(deepseek.head_dim == 192);
  CHECK(notes.all().empty());
  (void)read("qwen3vl-moe-toy-veomni.json", notes);
  CHECK(notes.has("text-tower-only"));

  CHECK_THROWS_WITH(read("t5-v1_1-test.json", notes), contains("encoder-decoder ('t5')"));
  CHECK_THROWS_WITH(read("glm-moe-dsa-toy-veomni.json", notes), contains("glm_moe_dsa"));
}

}  // namespace mfu
