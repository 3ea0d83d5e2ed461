// Mixtures of experts, and hybrid stacks.
#include "model/preset_row.hpp"

namespace mfu {
namespace {

constexpr std::string_view kMixtral = "Jiang 2024 (arXiv:2401.04088) and its config.json";
constexpr std::string_view kQwen3Moe = "Qwen 2025 (arXiv:2505.09388) table 2 and its config.json";
constexpr std::string_view kV2 = "DeepSeek 2024 (arXiv:2405.04434) and its config.json";
constexpr std::string_view kV3 = "DeepSeek 2024 (arXiv:2412.19437) and its config.json";
constexpr std::string_view kGptOss = "OpenAI 2025 (arXiv:2508.10925) and its config.json";
constexpr std::string_view kNemotron3 =
    "NVIDIA 2025 and 2026, Nemotron 3: shape in Megatron-Bridge";
constexpr std::string_view kNanoPattern = "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME";
constexpr std::string_view kSuperPattern =
    "MEMEMEM*EMEMEMEM*EMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEM*EMEMEMEME";
constexpr std::string_view kUltraPattern =
    "MEMEMEM*EMEMEM*EMEMEMEM*EMEMEMEM*EMEMEM*EMEMEMEM*EMEMEMEM*EMEMEM*EMEMEMEM*EMEMEMEM*EMEMEM*"
    "EMEMEMEM*EMEMEMEME";
constexpr std::string_view kHybrid8bPattern =
    "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-";

constexpr std::string_view kMixtral7b[] = {"mixtral", "mixtral-8x7b-v0.1"};
constexpr std::string_view kMixtral22b[] = {"mixtral-8x22b-v0.1", "mixtral-8x22b-v0.3"};
constexpr std::string_view kQwen30b[] = {"qwen3-30b"};
constexpr std::string_view kQwen235b[] = {"qwen3-235b"};
constexpr std::string_view kLite[] = {"deepseek-v2-lite-16b"};
constexpr std::string_view kV2Names[] = {"deepseek-v2-236b"};
constexpr std::string_view kV3Names[] = {"deepseek-v3-671b", "deepseek-r1", "deepseek-v3-0324"};
constexpr std::string_view kKimi[] = {"kimi-k2-1t", "kimi"};
constexpr std::string_view kNano[] = {"nemotron-3-nano-30b-a3b"};
constexpr std::string_view kSuper[] = {"nemotron-3-super-120b-a12b"};
constexpr std::string_view kUltra[] = {"nemotron-3-ultra-550b-a55b"};
constexpr std::string_view kOlmoe[] = {"olmoe"};

constexpr PresetRow kMoeRows[] = {
    {.name = "mixtral-8x7b",
     .family = "mixtral",
     .core = {32, 4096, 14336, 32, 8, 128, 32000},
     .source = kMixtral,
     .aliases = kMixtral7b,
     .moe = {8, 2, 14336}},
    {.name = "mixtral-8x22b",
     .family = "mixtral",
     .core = {56, 6144, 16384, 48, 8, 128, 32768},
     .source = "Mistral AI 2024, config.json",
     .aliases = kMixtral22b,
     .moe = {8, 2, 16384}},
    {.name = "qwen3-30b-a3b",
     .family = "qwen3_moe",
     .core = {48, 2048, 6144, 32, 4, 128, 151936},
     .source = kQwen3Moe,
     .aliases = kQwen30b,
     .moe = {128, 8, 768}},
    {.name = "qwen3-235b-a22b",
     .family = "qwen3_moe",
     .core = {94, 4096, 12288, 64, 4, 128, 151936},
     .source = kQwen3Moe,
     .aliases = kQwen235b,
     .moe = {128, 8, 1536}},
    {.name = "olmoe-1b-7b",
     .family = "olmoe",
     .core = {16, 2048, 1024, 16, 16, 128, 50304},
     .source = "Muennighoff 2024 (arXiv:2409.02060) and its config.json",
     .aliases = kOlmoe,
     .moe = {64, 8, 1024}},
    {.name = "deepseek-v2-lite",
     .family = "deepseek_v2",
     .core = {27, 2048, 10944, 16, 16, 0, 102400},
     .source = kV2,
     .aliases = kLite,
     .moe = {64, 6, 1408, 2816, 1},
     .mla = {0, 512, 128, 64, 128}},
    {.name = "deepseek-v2",
     .family = "deepseek_v2",
     .core = {60, 5120, 12288, 128, 128, 0, 102400},
     .source = kV2,
     .aliases = kV2Names,
     .moe = {160, 6, 1536, 3072, 1},
     .mla = {1536, 512, 128, 64, 128}},
    {.name = "deepseek-v3",
     .family = "deepseek_v3",
     .core = {61, 7168, 18432, 128, 128, 0, 129280},
     .source = kV3,
     .aliases = kV3Names,
     .mtp_layers = 1,
     .moe = {256, 8, 2048, 2048, 3},
     .mla = {1536, 512, 128, 64, 128}},
    {.name = "kimi-k2",
     .family = "kimi_k2",
     .core = {61, 7168, 18432, 64, 64, 0, 163840},
     .source = "Moonshot 2025 (arXiv:2507.20534) and its config.json",
     .aliases = kKimi,
     .moe = {384, 8, 2048, 2048, 1},
     .mla = {1536, 512, 128, 64, 128}},
    {.name = "gpt-oss-20b",
     .family = "gpt_oss",
     .core = {24, 2880, 2880, 64, 8, 64, 201088},
     .source = kGptOss,
     .window = 128,
     .local_layers = 12,
     .moe = {32, 4, 2880}},
    {.name = "gpt-oss-120b",
     .family = "gpt_oss",
     .core = {36, 2880, 2880, 64, 8, 64, 201088},
     .source = kGptOss,
     .window = 128,
     .local_layers = 18,
     .moe = {128, 4, 2880}},
    {.name = "nemotron-h-8b",
     .family = "nemotron_h",
     .core = {52, 4096, 21504, 32, 8, 128, 131072},
     .source = "NVIDIA 2025 (arXiv:2504.03624) and its config.json",
     .mamba = {kHybrid8bPattern, 128, 64, 128, 8}},
    {.name = "nemotron-3-nano",
     .family = "nemotron_h",
     .core = {52, 2688, 0, 32, 2, 128, 131072},
     .source = kNemotron3,
     .aliases = kNano,
     .moe = {128, 6, 1856, 3712},
     .mamba = {kNanoPattern, 64, 64, 128, 8}},
    {.name = "nemotron-3-super",
     .family = "nemotron_h",
     .core = {88, 4096, 0, 32, 2, 128, 131072},
     .source = kNemotron3,
     .aliases = kSuper,
     .moe = {512, 22, 2688, 5376, 0, 1024},
     .mamba = {kSuperPattern, 128, 64, 128, 8, "*E"}},
    {.name = "nemotron-3-ultra",
     .family = "nemotron_h",
     .core = {108, 8192, 0, 64, 2, 128, 131072},
     .source = kNemotron3,
     .aliases = kUltra,
     .moe = {512, 22, 5120, 10240, 0, 2048},
     .mamba = {kUltraPattern, 256, 64, 128, 8, "*E"}},
};

}  // namespace

std::span<const PresetRow> moe_presets() noexcept { return kMoeRows; }

}  // namespace mfu
