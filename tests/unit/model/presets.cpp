// Every preset against the size that its publisher states, and the names by which it is found.
#include <array>
#include <cmath>
#include <set>
#include <string>

#include "catch.hpp"
#include "mfu/model.hpp"

namespace mfu {
namespace {

struct Published {
  std::string_view name;
  double total;
  double active = 0.0;  // 0: not stated, or dense
};

// To the unit, where a checkpoint or its publisher states it.
constexpr Published kExact[] = {
    {"gpt2", 124439808},
    {"gpt2-medium", 354823168},
    {"gpt2-large", 774030080},
    {"gpt2-xl", 1557611200},
    {"opt-125m", 125239296},
    {"opt-1.3b", 1315758080},
    {"opt-6.7b", 6658473984},
    {"bloom-560m", 559214592},
    {"bloom-1b1", 1065314304},
    {"bloom-1b7", 1722408960},
    {"bloom-3b", 3002557440},
    {"bloom-7b1", 7069016064},
    {"bloom-176b", 176247271424},
    {"pythia-70m", 70426624},
    {"pythia-160m", 162322944},
    {"pythia-410m", 405334016},
    {"pythia-1b", 1011781632},
    {"pythia-1.4b", 1414647808},
    {"pythia-2.8b", 2775208960},
    {"pythia-6.9b", 6857302016},
    {"pythia-12b", 11846072320},
    {"gpt-neox-20b", 20554567680},
    {"gpt-j-6b", 6050882784},
    {"falcon-7b", 6921720704},
    {"falcon-180b", 179522565120},
    {"mpt-7b", 6649286656},
    {"llama-1-7b", 6738415616},
    {"llama-1-13b", 13015864320},
    {"llama-1-30b", 32528943616},
    {"llama-1-65b", 65285660672},
    {"llama-2-7b", 6738415616},
    {"llama-2-13b", 13015864320},
    {"llama-2-70b", 68976648192},
    {"llama-3-8b", 8030261248},
    {"llama-3-70b", 70553706496},
    {"llama-3.1-8b", 8030261248},
    {"llama-3.1-70b", 70553706496},
    {"llama-3.1-405b", 405853388800},
    {"llama-3.2-1b", 1235814400},
    {"llama-3.2-3b", 3212749824},
    {"llama-3.3-70b", 70553706496},
    {"tinyllama-1.1b", 1100048384},
    {"mistral-7b", 7241732096},
    {"mistral-7b-v0.3", 7248023552},
    {"mistral-nemo", 12247782400},
    {"qwen2.5-0.5b", 494032768},
    {"qwen2.5-1.5b", 1543714304},
    {"qwen2.5-3b", 3085938688},
    {"qwen2.5-7b", 7615616512},
    {"qwen2.5-14b", 14770033664},
    {"qwen2.5-32b", 32763876352},
    {"qwen2.5-72b", 72706203648},
    {"qwen3-4b", 4022468096},
    {"qwen3-8b", 8190735360},
    {"qwen3-14b", 14768307200},
    {"qwen3-32b", 32762123264},
    {"qwen3-30b-a3b", 30532122624, 3353032704},
    {"qwen3-235b-a22b", 235093634560},
    {"mixtral-8x7b", 46702792704, 12879925248},
    {"deepseek-v2-lite", 15706484224},
    {"deepseek-v2", 235741434880},
    {"deepseek-v3", 671026419200, 37552282624},
    {"gpt-oss-20b", 20914757184},
    {"gpt-oss-120b", 116829156672},
    {"gemma-2b", 2506172416},
    {"gemma-7b", 8537680896},
    {"gemma-2-2b", 2614341888},
    {"gemma-2-9b", 9241705984},
    {"gemma-2-27b", 27227128320},
    {"gemma-3-1b", 999885952},
    {"olmo-1b", 1176764416},
    {"olmo-7b", 6888095744},
    {"olmoe-1b-7b", 6919161856},
    {"phi-2", 2779683840},
    {"phi-3-mini", 3821079552},
};

// As printed in papers and model cards: within 1 %, or half a unit of the last digit.
struct Printed {
  std::string_view name;
  double total;
  double digit;
};
constexpr Printed kPrinted[] = {
    {"gpt3-125m", 125e6, 1e6},
    {"gpt3-350m", 356e6, 1e6},
    {"gpt3-760m", 760e6, 10e6},
    {"gpt3-1.3b", 1.3e9, 0.1e9},
    {"gpt3-2.7b", 2.7e9, 0.1e9},
    {"gpt3-6.7b", 6.7e9, 0.1e9},
    {"gpt3-13b", 13e9, 1e9},
    {"gpt3-175b", 175e9, 1e9},
    {"mt-nlg-530b", 530e9, 1e9},
    {"opt-2.7b", 2.7e9, 0.1e9},
    {"opt-13b", 13e9, 1e9},
    {"opt-30b", 30e9, 1e9},
    {"opt-66b", 66e9, 1e9},
    {"opt-175b", 175e9, 1e9},
    {"falcon-40b", 41.3e9, 0.1e9},
    {"mpt-30b", 30e9, 1e9},
    {"palm-8b", 8.63e9, 0.01e9},
    {"palm-62b", 62.5e9, 0.01e9},
    {"palm-540b", 540.35e9, 0.01e9},
    {"codellama-34b", 33.7e9, 0.1e9},
    {"mistral-small-24b", 23.6e9, 0.1e9},
    {"mixtral-8x22b", 141e9, 1e9},
    {"qwen3-0.6b", 0.6e9, 0.1e9},
    {"qwen3-1.7b", 1.7e9, 0.1e9},
    {"kimi-k2", 1.03e12, 0.01e12},
    {"gemma-3-4b", 3.88e9, 0.01e9},
    {"gemma-3-12b", 11.77e9, 0.01e9},
    {"gemma-3-27b", 27.02e9, 0.01e9},
    {"olmo-2-1b", 1.48e9, 0.01e9},
    {"olmo-2-7b", 7.3e9, 0.1e9},
    {"olmo-2-13b", 13.7e9, 0.1e9},
    {"olmo-2-32b", 32.2e9, 0.1e9},
    {"nemotron-8b", 8.5e9, 0.2e9},
    {"nemotron-4-15b", 15.6e9, 0.1e9},
    {"nemotron-4-340b", 341e9, 1e9},
    {"nemotron-h-8b", 8.1e9, 0.1e9},
    {"nemotron-3-nano", 31.6e9, 0.1e9},
    {"nemotron-3-super", 120.6e9, 0.1e9},
    {"nemotron-3-ultra", 550e9, 1e9},
};

}  // namespace

TEST_CASE("presets have the parameters that their publishers state", "[model]") {
  std::set<std::string_view> checked;
  for (const Published& row : kExact) {
    CAPTURE(row.name);
    const ParameterCount count = count_parameters(find_model(row.name));
    CHECK(static_cast<std::int64_t>(count.total) == static_cast<std::int64_t>(row.total));
    if (row.active > 0.0) {
      CHECK(static_cast<std::int64_t>(count.active) == static_cast<std::int64_t>(row.active));
    }
    checked.insert(row.name);
  }
  for (const Printed& row : kPrinted) {
    CAPTURE(row.name);
    const double total = count_parameters(find_model(row.name)).total;
    CAPTURE(total);
    CHECK(std::fabs(total - row.total) <= std::max(0.01 * row.total, 0.5 * row.digit));
    checked.insert(row.name);
  }
  for (const ModelPreset& preset : model_presets()) {
    CAPTURE(preset.name);
    CHECK(checked.count(preset.name) == 1);
    CHECK_FALSE(preset.source.empty());
  }
}

TEST_CASE("a preset is found by each of its names, and no name means two", "[model]") {
  std::set<std::string_view> names;
  for (const ModelPreset& preset : model_presets()) {
    CAPTURE(preset.name);
    CHECK(find_model(preset.name).name == preset.name);
    CHECK(names.insert(preset.name).second);
    for (const std::string_view alias : preset.aliases) {
      CAPTURE(alias);
      CHECK(find_model(alias).name == preset.name);
      CHECK(names.insert(alias).second);
    }
  }
}

TEST_CASE("case, separators and words that leave the shape alone do not matter", "[model]") {
  CHECK(find_model("Llama_3.1 8B").name == "llama-3.1-8b");
  CHECK(find_model("llama3.1-8b").name == "llama-3.1-8b");
  CHECK(find_model("meta-llama/Meta-Llama-3.1-8B-Instruct").name == "llama-3.1-8b");
  CHECK(find_model("Qwen/Qwen2.5-7B").name == "qwen2.5-7b");
  CHECK(find_model("qwen2_5-7b-instruct").name == "qwen2.5-7b");
  CHECK(find_model("google/gemma-3-27b-it").name == "gemma-3-27b");
  CHECK(find_model("GPT-2").name == "gpt2");
  // A point that is lost makes another size: 1.3 and 13 billion.
  CHECK(find_model("GPT3-1.3B").name == "gpt3-1.3b");
  CHECK(find_model("gpt-3-13b").name == "gpt3-13b");
  CHECK(find_model("gemma-2b").name == "gemma-2b");
  CHECK(find_model("gemma-2-2b").name == "gemma-2-2b");
}

TEST_CASE("a name that leaves something open is refused with its variants", "[model]") {
  const auto hint_of = [](std::string_view name) {
    try {
      (void)find_model(name);
    } catch (const Error& problem) {
      CHECK(problem.kind() == ErrorKind::unsupported);
      return std::string(problem.message()) + " | " + problem.hint();
    }
    return std::string("found");
  };
  CHECK_THAT(hint_of("7b"), contains("llama-2-7b"));
  CHECK_THAT(hint_of("7b"), contains("does not say which model"));
  CHECK_THAT(hint_of("llama-8b"), contains("llama-3.1-8b"));
  CHECK_THAT(hint_of("qwen3"), contains("qwen3-32b"));
  CHECK_THAT(hint_of("llama-3.1-9b"), contains("unknown model 'llama-3.1-9b'"));
  CHECK_THAT(hint_of("llama-3.1-9b"), contains("llama-3.1-8b"));
  CHECK_THAT(hint_of("lama-3.1-8b"), contains("near names: llama-3.1-8b"));
  CHECK_THAT(hint_of(""), contains("unknown model"));
  CHECK_THAT(hint_of(std::string(5000, 'x')), contains("unknown model"));
}

}  // namespace mfu
