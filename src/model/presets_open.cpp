// Gemma, OLMo, Nemotron and Phi: dense models with norms or windows of their own.
#include "model/preset_row.hpp"

namespace mfu {
namespace {

constexpr std::string_view kGemma1 = "Gemma team 2024 (arXiv:2403.08295) and its config.json";
constexpr std::string_view kGemma2 = "Gemma team 2024 (arXiv:2408.00118) and its config.json";
constexpr std::string_view kGemma3 =
    "Gemma team 2025 (arXiv:2503.19786), text tower, and its config.json";
constexpr std::string_view kOlmo1 = "Groeneveld 2024 (arXiv:2402.00838) and its config.json";
constexpr std::string_view kOlmo2 = "OLMo 2025 (arXiv:2501.00656) and its config.json";
constexpr std::string_view kNemotron4 = "Parmar 2024 (arXiv:2402.16819); 340B: arXiv:2406.11704";
constexpr std::string_view kPhi3 = "Abdin 2024 (arXiv:2404.14219) and its config.json";

constexpr std::string_view kPhi3Names[] = {"phi-3-mini-3.8b", "phi-3-mini-4k"};

constexpr PresetRow kOpenRows[] = {
    {.name = "gemma-2b",
     .family = "gemma",
     .core = {18, 2048, 16384, 8, 1, 256, 256000},
     .source = kGemma1},
    {.name = "gemma-7b",
     .family = "gemma",
     .core = {28, 3072, 24576, 16, 16, 256, 256000},
     .source = kGemma1},
    {.name = "gemma-2-2b",
     .family = "gemma2",
     .core = {26, 2304, 9216, 8, 4, 256, 256000},
     .source = kGemma2,
     .window = 4096,
     .local_layers = 13},
    {.name = "gemma-2-9b",
     .family = "gemma2",
     .core = {42, 3584, 14336, 16, 8, 256, 256000},
     .source = kGemma2,
     .window = 4096,
     .local_layers = 21},
    {.name = "gemma-2-27b",
     .family = "gemma2",
     .core = {46, 4608, 36864, 32, 16, 128, 256000},
     .source = kGemma2,
     .window = 4096,
     .local_layers = 23},
    {.name = "gemma-3-1b",
     .family = "gemma3",
     .core = {26, 1152, 6912, 4, 1, 256, 262144},
     .source = kGemma3,
     .window = 512,
     .local_layers = 22},
    {.name = "gemma-3-4b",
     .family = "gemma3",
     .core = {34, 2560, 10240, 8, 4, 256, 262208},
     .source = kGemma3,
     .window = 1024,
     .local_layers = 29},
    {.name = "gemma-3-12b",
     .family = "gemma3",
     .core = {48, 3840, 15360, 16, 8, 256, 262208},
     .source = kGemma3,
     .window = 1024,
     .local_layers = 40},
    {.name = "gemma-3-27b",
     .family = "gemma3",
     .core = {62, 5376, 21504, 32, 16, 128, 262208},
     .source = kGemma3,
     .window = 1024,
     .local_layers = 52},
    {.name = "olmo-1b",
     .family = "olmo",
     .core = {16, 2048, 8192, 16, 16, 128, 50304},
     .source = kOlmo1,
     .tying = Tying::tied},
    {.name = "olmo-7b",
     .family = "olmo",
     .core = {32, 4096, 11008, 32, 32, 128, 50304},
     .source = kOlmo1},
    {.name = "olmo-2-1b",
     .family = "olmo2",
     .core = {16, 2048, 8192, 16, 16, 128, 100352},
     .source = kOlmo2},
    {.name = "olmo-2-7b",
     .family = "olmo2",
     .core = {32, 4096, 11008, 32, 32, 128, 100352},
     .source = kOlmo2},
    {.name = "olmo-2-13b",
     .family = "olmo2",
     .core = {40, 5120, 13824, 40, 40, 128, 100352},
     .source = kOlmo2},
    {.name = "olmo-2-32b",
     .family = "olmo2",
     .core = {64, 5120, 27648, 40, 8, 128, 100352},
     .source = kOlmo2},
    {.name = "nemotron-8b",
     .family = "nemotron",
     .core = {32, 4096, 16384, 32, 32, 128, 256000},
     .source = "NVIDIA 2023, Nemotron-3 8B model card"},
    {.name = "nemotron-4-15b",
     .family = "nemotron",
     .core = {32, 6144, 24576, 48, 8, 128, 256000},
     .source = kNemotron4},
    {.name = "nemotron-4-340b",
     .family = "nemotron",
     .core = {96, 18432, 73728, 96, 8, 192, 256000},
     .source = kNemotron4},
    {.name = "phi-2",
     .family = "phi",
     .core = {32, 2560, 10240, 32, 32, 80, 51200},
     .source = "Microsoft 2023, config.json"},
    {.name = "phi-3-mini",
     .family = "phi3",
     .core = {32, 3072, 8192, 32, 32, 96, 32064},
     .source = kPhi3,
     .aliases = kPhi3Names,
     .window = 2047,
     .local_layers = 32},
};

}  // namespace

std::span<const PresetRow> open_presets() noexcept { return kOpenRows; }

}  // namespace mfu
