// TPUs, Gaudi, Trainium. One device of a TPU v3 or v7 is one core.
// A chip is its rates, its names and one row; columns as in struct Chip. Figures are dense.
#include "chips/rows.hpp"

namespace mfu::chips_detail {
namespace {

constexpr PrecisionRate kTpuV3Rates[] = {
    {bf16, 32768, 61.5 * kTera, 940, implied},
};
constexpr std::string_view kTpuV3Aliases[] = {"v3"};
constexpr std::string_view kTpuV3Unconfirmed[] = {
    "units", "clocks", "memory", "rate per clock (worked out from the datasheet figure)"};

constexpr PrecisionRate kTpuV4Rates[] = {
    {bf16, 32768, 275 * kTera, 1050, implied},
    {int8, 32768, 275 * kTera, 1050, implied},
};
constexpr std::string_view kTpuV4Aliases[] = {"v4"};
constexpr std::string_view kTpuV4Unconfirmed[] = {
    "clocks", "units", "rate per clock (worked out from the datasheet figure)"};

constexpr PrecisionRate kTpuV5eRates[] = {
    {bf16, 32768, 197 * kTera, 1500, implied},
    {int8, 65536, 393 * kTera, 1500, implied},
};
constexpr std::string_view kTpuV5eAliases[] = {"TPU v5 lite", "v5e", "v5litepod", "TPU v5litepod"};
constexpr std::string_view kTpuV5eUnconfirmed[] = {
    "clocks", "rate per clock (worked out from the datasheet figure)"};

constexpr PrecisionRate kTpuV5pRates[] = {
    {bf16, 32768, 459 * kTera, 1750, implied},
    {int8, 65536, 918 * kTera, 1750, implied},
};
constexpr std::string_view kTpuV5pAliases[] = {"TPU v5", "v5p"};
constexpr std::string_view kTpuV5pUnconfirmed[] = {
    "clocks", "rate per clock (worked out from the datasheet figure)"};

constexpr PrecisionRate kTpuV6eRates[] = {
    {bf16, 0, 918 * kTera, 0, unknown},
    {int8, 0, 1836 * kTera, 0, unknown},
};
constexpr std::string_view kTpuV6eAliases[] = {"TPU v6 lite", "v6e", "Trillium"};

constexpr PrecisionRate kTpuV7Rates[] = {
    {bf16, 131072, 1153.5 * kTera, 2200, implied},
    {fp8, 0, 2307 * kTera, 0, unknown},
};
constexpr std::string_view kTpuV7Aliases[] = {"TPU7x", "TPU v7x", "v7x", "Ironwood"};
constexpr std::string_view kTpuV7Unconfirmed[] = {
    "units", "clocks", "rate per clock (worked out from the datasheet figure)"};

constexpr PrecisionRate kGaudi2Rates[] = {
    {bf16, 131072, 432 * kTera, 1650, documented},
    {fp8, 0, 865 * kTera, 0, unknown},
};
constexpr std::string_view kGaudi2Aliases[] = {"HL-225", "Gaudi2"};
constexpr std::string_view kGaudi2Unconfirmed[] = {"names"};

constexpr PrecisionRate kGaudi3Rates[] = {
    {bf16, 0, 1835 * kTera, 0, unknown},
    {fp8, 0, 1835 * kTera, 0, unknown},
};
constexpr std::string_view kGaudi3Aliases[] = {"HL-325L", "Gaudi3"};
constexpr std::string_view kGaudi3Unconfirmed[] = {"names"};

constexpr PrecisionRate kTrainium1Rates[] = {
    {fp32, 0, 47.5 * kTera, 0, unknown}, {tf32, 0, 190 * kTera, 0, unknown},
    {fp16, 0, 190 * kTera, 0, unknown},  {bf16, 0, 190 * kTera, 0, unknown},
    {fp8, 0, 190 * kTera, 0, unknown},   {int8, 0, 380 * kTera, 0, unknown},
};
constexpr std::string_view kTrainium1Aliases[] = {"trn1", "trn1n", "Trainium", "Trainium1"};

constexpr PrecisionRate kTrainium2Rates[] = {
    {fp32, 0, 181 * kTera, 0, unknown}, {tf32, 0, 667 * kTera, 0, unknown},
    {fp16, 0, 667 * kTera, 0, unknown}, {bf16, 0, 667 * kTera, 0, unknown},
    {fp8, 0, 1299 * kTera, 0, unknown},
};
constexpr std::string_view kTrainium2Aliases[] = {"trn2", "trn2n", "trn2u", "Trainium2"};

constexpr Chip kOthersRows[] = {
    {"tpu-v3",
     "TPU v3",
     "MXU",
     2,
     kTpuV3Rates,
     0,
     940,
     16 * kGiB,
     450 * kGiga,
     0,
     kDense,
     kTpuV3Aliases,
     {},
     "",
     {2, "chip of two cores"},
     "",
     "JAX counts cores: 61.5 each; v3-8 is 8 cores on 4 chips",
     kTpuV3Unconfirmed,
     "peak tables that cite Google Cloud TPU documentation"},
    {"tpu-v4",
     "TPU v4",
     "MXU",
     8,
     kTpuV4Rates,
     0,
     1050,
     32 * kGiB,
     1228 * kGiga,
     0,
     kDense,
     kTpuV4Aliases,
     {},
     "",
     {},
     "",
     "One device per chip; v4-8 counts 8 cores: 4 chips, 1100 TFLOP/s",
     kTpuV4Unconfirmed,
     "peak tables that cite Google Cloud TPU documentation"},
    {"tpu-v5e",
     "TPU v5e",
     "MXU",
     4,
     kTpuV5eRates,
     0,
     1500,
     16 * kGiB,
     819 * kGiga,
     0,
     kDense,
     kTpuV5eAliases,
     {},
     "",
     {},
     "",
     "TPU v5 lite is this one, TPU v5 is v5p",
     kTpuV5eUnconfirmed,
     "Google Cloud TPU documentation"},
    {"tpu-v5p",
     "TPU v5p",
     "MXU",
     8,
     kTpuV5pRates,
     0,
     1750,
     95 * kGiB,
     2765 * kGiga,
     0,
     kDense,
     kTpuV5pAliases,
     {},
     "",
     {},
     "",
     "Also called TPU v5; v5p-8 counts 8 cores: 4 chips",
     kTpuV5pUnconfirmed,
     "Google Cloud TPU documentation"},
    {"tpu-v6e",
     "TPU v6e",
     "MXU",
     2,
     kTpuV6eRates,
     0,
     0,
     32 * kGiB,
     1638 * kGiga,
     0,
     kDense,
     kTpuV6eAliases,
     {},
     "",
     {},
     "two matrix units per core would need 3.5 GHz: their number or size is not what is written",
     "1836 is int8",
     {},
     "Google Cloud TPU documentation"},
    {"tpu-v7",
     "TPU v7",
     "MXU",
     4,
     kTpuV7Rates,
     0,
     2200,
     96 * kGiB,
     3685 * kGiga,
     0,
     kDense,
     kTpuV7Aliases,
     {},
     "",
     {2, "chip of two cores"},
     "",
     "JAX counts cores: 1153.5 each, half of the chip",
     kTpuV7Unconfirmed,
     "peak tables that cite Google Cloud TPU documentation"},
    {"gaudi2",
     "Gaudi 2",
     "MME",
     2,
     kGaudi2Rates,
     0,
     1650,
     96 * kGiB,
     2460 * kGiga,
     600,
     kDense,
     kGaudi2Aliases,
     {},
     "",
     {},
     "",
     "",
     kGaudi2Unconfirmed,
     "ml-engineering accelerator tables"},
    {"gaudi3",
     "Gaudi 3",
     "MME",
     8,
     kGaudi3Rates,
     0,
     1600,
     128 * kGiB,
     3700 * kGiga,
     900,
     kDense,
     kGaudi3Aliases,
     {},
     "",
     {},
     "the figure needs 1750 MHz, parts run at 1600 MHz (1677.7 TFLOP/s)",
     "1835 needs 1750 MHz; parts run at 1600 MHz: 1677.7",
     kGaudi3Unconfirmed,
     "ml-engineering accelerator tables and a change to them"},
    {"trainium1",
     "Trainium 1",
     "core",
     2,
     kTrainium1Rates,
     0,
     0,
     32 * kGiB,
     880 * kGiga,
     0,
     kDense,
     kTrainium1Aliases,
     {},
     "",
     {},
     "no rate per clock is published",
     "Of the chip; one of its two NeuronCores has 95",
     {},
     "AWS Neuron documentation"},
    {"trainium2",
     "Trainium 2",
     "core",
     8,
     kTrainium2Rates,
     0,
     0,
     96 * kGiB,
     2900 * kGiga,
     0,
     kDense,
     kTrainium2Aliases,
     {},
     "",
     {},
     "no rate per clock is published",
     "Of the chip; one of its eight NeuronCores has 83.4; 1299 is dense fp8, 2563 sparse",
     {},
     "AWS Neuron documentation"},
};

}  // namespace

std::span<const Chip> others_rows() noexcept { return kOthersRows; }

}  // namespace mfu::chips_detail
