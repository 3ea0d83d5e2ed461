// The chips. One row is one place: its rates stand right above it, and a name that a driver or a
// person uses for it is one entry in its aliases. Figures are dense; "sparse" headline numbers of
// the datasheets are twice these.
#include "mfu/chip.hpp"

namespace mfu {
namespace {

using enum Precision;

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;
constexpr bool kDocumented = false;  // the datasheet's clock was found in writing
constexpr bool kImplied = true;      // it follows from the figure, to the nearest 15 MHz step

// All A100 share one die configuration, one boost clock and one datasheet column.
constexpr PrecisionRate kA100Rates[] = {
    {fp64_tc, 128, 19.5 * kTera, 1410, kDocumented}, {fp32, 128, 19.5 * kTera, 1410, kDocumented},
    {tf32, 1024, 156 * kTera, 1410, kDocumented},    {fp16, 2048, 312 * kTera, 1410, kDocumented},
    {bf16, 2048, 312 * kTera, 1410, kDocumented},    {int8, 4096, 624 * kTera, 1410, kDocumented},
};

// The SXM part's tensor figures mean 1830 MHz, its FP32 and FP64 figures the maximum clock.
constexpr PrecisionRate kH100SxmRates[] = {
    {fp64_tc, 256, 66.9 * kTera, 1980, kDocumented}, {fp32, 256, 66.9 * kTera, 1980, kDocumented},
    {tf32, 2048, 494.7 * kTera, 1830, kDocumented},  {fp16, 4096, 989.4 * kTera, 1830, kDocumented},
    {bf16, 4096, 989.4 * kTera, 1830, kDocumented},  {fp8, 8192, 1978.9 * kTera, 1830, kDocumented},
    {int8, 8192, 1978.9 * kTera, 1830, kDocumented},
};

constexpr PrecisionRate kH100PcieRates[] = {
    {fp64_tc, 256, 51.2 * kTera, 1755, kDocumented}, {fp32, 256, 51.2 * kTera, 1755, kDocumented},
    {tf32, 2048, 378 * kTera, 1620, kImplied},       {fp16, 4096, 756 * kTera, 1620, kImplied},
    {bf16, 4096, 756 * kTera, 1620, kImplied},       {fp8, 8192, 1513 * kTera, 1620, kImplied},
    {int8, 8192, 1513 * kTera, 1620, kImplied},
};

// Per GPU; some datasheets print the bridged pair.
constexpr PrecisionRate kHopperNvlRates[] = {
    {fp64_tc, 256, 60 * kTera, 1785, kImplied},   {fp32, 256, 60 * kTera, 1785, kImplied},
    {tf32, 2048, 417.5 * kTera, 1545, kImplied},  {fp16, 4096, 835.5 * kTera, 1545, kImplied},
    {bf16, 4096, 835.5 * kTera, 1545, kImplied},  {fp8, 8192, 1670.5 * kTera, 1545, kImplied},
    {int8, 8192, 1670.5 * kTera, 1545, kImplied},
};

// FP32 accumulate; the datasheet's headline FP16 and FP8 figures of twice this accumulate in FP16.
constexpr PrecisionRate kRtx4090Rates[] = {
    {fp32, 256, 82.6 * kTera, 2520, kImplied},  {tf32, 256, 82.6 * kTera, 2520, kImplied},
    {fp16, 512, 165.2 * kTera, 2520, kImplied}, {bf16, 512, 165.2 * kTera, 2520, kImplied},
    {fp8, 1024, 330.3 * kTera, 2520, kImplied}, {int8, 2048, 660.6 * kTera, 2520, kImplied},
};

// What "A100", "A100 80GB" or "A100 PCIe" leave open makes no difference to a peak: match.cpp
// accepts them and says which other rows they could mean.
constexpr std::string_view kA100Sxm80Aliases[] = {"A100-SXM4-80GB"};
constexpr std::string_view kA100Sxm40Aliases[] = {"A100-SXM4-40GB"};
constexpr std::string_view kA100Pcie80Aliases[] = {"A100 80GB PCIe"};
constexpr std::string_view kA100Pcie40Aliases[] = {"A100-PCIE-40GB"};
constexpr std::string_view kH100SxmAliases[] = {
    "H100 80GB HBM3",      "H100 SXM", "H100 SXM5", "H100 SXM 80GB",
    "H100 SXM5 80GB HBM3", "H100SXM",  "a3mega"};
constexpr std::string_view kH100PcieAliases[] = {"H100 PCIe", "H100 PCIe 80GB", "H100PCIe"};
constexpr std::string_view kH100NvlAliases[] = {"H100 NVL", "H100 NVL 94GB"};
// The SXM part's driver name carries no form factor: a bare "H200" is the SXM.
constexpr std::string_view kH200SxmAliases[] = {"H200", "H200 SXM", "H200 SXM5", "H200 SXM 141GB",
                                                "a3ultra"};
constexpr std::string_view kH200NvlAliases[] = {"H200 NVL", "H200 NVL 141GB"};

constexpr std::string_view kRtx4090Aliases[] = {"RTX 4090", "GeForce RTX 4090"};

constexpr Chip kChips[] = {
    {"a100-sxm4-80gb", "A100 SXM 80GB", 108, kA100Rates, 1275, 1410, 80 * kGiB, 2039 * kGiga,
     kA100Sxm80Aliases, "NVIDIA A100 datasheet; clocks from driver captures"},
    {"a100-sxm4-40gb", "A100 SXM 40GB", 108, kA100Rates, 1095, 1410, 40 * kGiB, 1555 * kGiga,
     kA100Sxm40Aliases, "NVIDIA A100 datasheet; clocks from driver captures"},
    {"a100-pcie-80gb", "A100 PCIe 80GB", 108, kA100Rates, 1065, 1410, 80 * kGiB, 1935 * kGiga,
     kA100Pcie80Aliases, "NVIDIA A100 datasheet; base clock not confirmed"},
    {"a100-pcie-40gb", "A100 PCIe 40GB", 108, kA100Rates, 765, 1410, 40 * kGiB, 1555 * kGiga,
     kA100Pcie40Aliases, "NVIDIA A100 datasheet"},
    {"h100-sxm5-80gb", "H100 SXM", 132, kH100SxmRates, 0, 1980, 80 * kGiB, 3350 * kGiga,
     kH100SxmAliases, "NVIDIA H100 datasheet; clocks from driver captures"},
    {"h100-pcie", "H100 PCIe", 114, kH100PcieRates, 1095, 1755, 80 * kGiB, 2000 * kGiga,
     kH100PcieAliases, "NVIDIA H100 datasheet and PCIe product brief; maximum clock not confirmed"},
    {"h100-nvl", "H100 NVL", 132, kHopperNvlRates, 1080, 1785, 94 * kGiB, 3938 * kGiga,
     kH100NvlAliases, "NVIDIA H100 NVL datasheet; units and clocks not confirmed"},
    {"h200-sxm", "H200 SXM", 132, kH100SxmRates, 0, 1980, 141 * kGiB, 4800 * kGiga, kH200SxmAliases,
     "NVIDIA H200 datasheet; clocks from driver captures"},
    {"h200-nvl", "H200 NVL", 132, kHopperNvlRates, 0, 1785, 141 * kGiB, 4800 * kGiga,
     kH200NvlAliases, "NVIDIA H200 NVL datasheet; units and maximum clock not confirmed"},
    {"rtx-4090", "RTX 4090", 128, kRtx4090Rates, 2235, 0, 24 * kGiB, 1008 * kGiga, kRtx4090Aliases,
     "NVIDIA Ada datasheet; sources disagree on FP8, maximum clock not confirmed"},
};

}  // namespace

std::span<const Chip> chips() noexcept { return kChips; }

}  // namespace mfu
