// NVIDIA parts that share a die with another row, or of which little more than the tensor figure
// was found. What stands in `unconfirmed` is recalled. Columns as in struct Chip; figures are
// dense.
#include "chips/rows.hpp"

namespace mfu::chips_detail {
namespace {

constexpr std::string_view kRecalled[] = {"units",  "clocks",    "rate per clock",
                                          "memory", "bandwidth", "power"};
constexpr std::string_view kFp32Recalled[] = {
    "units", "clocks", "rate per clock", "fp32 figure", "memory", "bandwidth", "power"};
constexpr std::string_view kTf32Recalled[] = {
    "units", "clocks", "rate per clock", "fp32 and tf32 figures", "memory", "bandwidth", "power"};
constexpr std::string_view kFp16AccRecalled[] = {
    "units", "clocks", "rate per clock", "fp16_fp16acc figure", "memory", "bandwidth", "power"};
constexpr std::string_view kAsAnother[] = {"units", "clocks", "memory", "bandwidth", "power"};

constexpr PrecisionRate kA100Rates[] = {
    {fp64_tc, 128, 19.5 * kTera, 1410, documented}, {fp32, 128, 19.5 * kTera, 1410, documented},
    {tf32, 1024, 156 * kTera, 1410, documented},    {fp16, 2048, 312 * kTera, 1410, documented},
    {bf16, 2048, 312 * kTera, 1410, documented},    {int8, 4096, 624 * kTera, 1410, documented},
};
constexpr std::string_view kA100Sxm64Aliases[] = {"A100-SXM-64GB"};
constexpr std::uint16_t kA100Sxm64Pci[] = {0x20B3};
constexpr std::string_view kA100Sxm64Unconfirmed[] = {"units", "bandwidth", "power"};

constexpr PrecisionRate kGh200Rates[] = {
    {fp64_tc, 256, 66.9 * kTera, 1980, documented}, {fp32, 256, 66.9 * kTera, 1980, documented},
    {tf32, 2048, 494.7 * kTera, 1830, documented},  {fp16, 4096, 989.4 * kTera, 1830, documented},
    {bf16, 4096, 989.4 * kTera, 1830, documented},  {fp8, 8192, 1978.9 * kTera, 1830, documented},
    {int8, 8192, 1978.9 * kTera, 1830, documented},
};
constexpr std::string_view kGh200Big[] = {"GH200 144G HBM3e"};
constexpr std::uint16_t kGh200BigPci[] = {0x2348};
constexpr std::string_view kGh200BigUnconfirmed[] = {"memory", "power"};

constexpr PrecisionRate kH800PcieRates[] = {
    {tf32, 2048, 378 * kTera, 1620, implied},  {fp16, 4096, 756 * kTera, 1620, implied},
    {bf16, 4096, 756 * kTera, 1620, implied},  {fp8, 8192, 1513 * kTera, 1620, implied},
    {int8, 8192, 1513 * kTera, 1620, implied},
};
constexpr std::string_view kH800PcieAliases[] = {"H800 PCIe 80GB"};
constexpr std::uint16_t kH800PciePci[] = {0x2322};
constexpr PrecisionRate kH800NvlRates[] = {
    {tf32, 2048, 417.5 * kTera, 1545, implied},  {fp16, 4096, 835.5 * kTera, 1545, implied},
    {bf16, 4096, 835.5 * kTera, 1545, implied},  {fp8, 8192, 1670.5 * kTera, 1545, implied},
    {int8, 8192, 1670.5 * kTera, 1545, implied},
};
constexpr std::uint16_t kH800NvlPci[] = {0x233A};

constexpr PrecisionRate kH20VariantRates[] = {
    {fp32, 0, 44 * kTera, 0, unknown},  {tf32, 0, 74 * kTera, 0, unknown},
    {fp16, 0, 148 * kTera, 0, unknown}, {bf16, 0, 148 * kTera, 0, unknown},
    {fp8, 0, 296 * kTera, 0, unknown},  {int8, 0, 296 * kTera, 0, unknown},
};
constexpr std::string_view kH20eAliases[] = {"H20-3e 141GB"};
constexpr std::uint16_t kH20ePci[] = {0x232C};
constexpr std::string_view kH20eUnconfirmed[] = {"maximum clock", "power"};

constexpr PrecisionRate kV100SxmRates[] = {
    {fp32, 128, 15.7 * kTera, 1530, documented},
    {fp16, 1024, 125 * kTera, 1530, documented},
};
constexpr PrecisionRate kV100PcieVariantRates[] = {
    {fp32, 128, 14 * kTera, 1367, implied},
    {fp16, 1024, 112 * kTera, 1367, implied},
};
constexpr std::string_view kV100BigUnconfirmed[] = {
    "base clock", "power", "bandwidth", "rate per clock (worked out from the datasheet figure)"};
constexpr std::string_view kV100PcieBigUnconfirmed[] = {
    "boost clock", "power", "bandwidth", "rate per clock (worked out from the datasheet figure)"};

constexpr PrecisionRate kV100sRates[] = {
    {fp32, 128, 16.4 * kTera, 1597, implied},
    {fp16, 1024, 130 * kTera, 1590, implied},
};
constexpr std::string_view kV100sAliases[] = {"V100S-PCIE-32GB", "V100S"};

constexpr PrecisionRate kA4000Rates[] = {
    {fp32, 256, 19.2 * kTera, 1560, implied},
    {tf32, 512, 38.3 * kTera, 1560, implied},
    {fp16, 1024, 76.7 * kTera, 1560, implied},
    {bf16, 1024, 76.7 * kTera, 1560, implied},
};
constexpr std::string_view kA4000Aliases[] = {"A4000"};

constexpr PrecisionRate kRtx3090TiRates[] = {
    {fp32, 256, 40 * kTera, 1860, implied}, {tf32, 256, 40 * kTera, 1860, implied},
    {fp16, 512, 80 * kTera, 1860, implied}, {fp16_fp16acc, 1024, 160 * kTera, 1860, implied},
    {bf16, 512, 80 * kTera, 1860, implied},
};
constexpr std::string_view kRtx3090TiAliases[] = {"3090 Ti"};

constexpr PrecisionRate kRtx3070TiRates[] = {
    {fp32, 256, 21.75 * kTera, 1770, implied},
    {tf32, 256, 21.75 * kTera, 1770, implied},
    {fp16, 512, 43.5 * kTera, 1770, implied},
    {bf16, 512, 43.5 * kTera, 1770, implied},
};
constexpr std::string_view kRtx3070TiAliases[] = {"3070 Ti"};

constexpr PrecisionRate kL20Rates[] = {
    {fp16, 0, 119.5 * kTera, 0, unknown},
    {bf16, 0, 119.5 * kTera, 0, unknown},
};
constexpr std::string_view kL20Aliases[] = {"L20 48GB"};
constexpr std::uint16_t kL20Pci[] = {0x26BA};

constexpr Chip kNvidiaVariantsRows[] = {
    {"a100-sxm-64gb",
     "A100 SXM 64GB",
     "SM",
     108,
     kA100Rates,
     0,
     1410,
     64 * kGiB,
     1635 * kGiga,
     400,
     kSparse,
     kA100Sxm64Aliases,
     kA100Sxm64Pci,
     "",
     {},
     "",
     "A custom part of one machine; treated as an A100 with other memory",
     kA100Sxm64Unconfirmed,
     "driver name table; the figures of an A100"},
    {"gh200-144gb",
     "GH200 144GB",
     "SM",
     132,
     kGh200Rates,
     0,
     1980,
     144 * kGiB,
     4800 * kGiga,
     900,
     kSparse,
     kGh200Big,
     kGh200BigPci,
     "",
     {},
     "",
     "A GH200 with faster memory: the same peak, 4.8 instead of 4.0 TB/s",
     kGh200BigUnconfirmed,
     "ml-engineering accelerator tables; measurements of peaks per clock; driver name table"},
    {"v100-sxm2-32gb",
     "V100 SXM2 32GB",
     "SM",
     80,
     kV100SxmRates,
     1290,
     1530,
     32 * kGiB,
     900 * kGiga,
     300,
     kDense,
     {},
     {},
     "",
     {},
     "",
     "No bf16 and no TF32: train in fp16",
     kV100BigUnconfirmed,
     "peak tables that cite NVIDIA datasheets; card databases for clocks"},
    {"v100-pcie-32gb",
     "V100 PCIe 32GB",
     "SM",
     80,
     kV100PcieVariantRates,
     1245,
     1380,
     32 * kGiB,
     900 * kGiga,
     250,
     kDense,
     {},
     {},
     "",
     {},
     "",
     "No bf16 and no TF32: train in fp16; 1380 MHz would be 113.0 TFLOP/s",
     kV100PcieBigUnconfirmed,
     "peak tables that cite NVIDIA datasheets; card databases for the base clock"},
    {"h800-pcie",
     "H800 PCIe",
     "SM",
     114,
     kH800PcieRates,
     1095,
     1755,
     80 * kGiB,
     2000 * kGiga,
     350,
     kSparse,
     kH800PcieAliases,
     kH800PciePci,
     "",
     {},
     "",
     "The compute of an H100 PCIe: 756, not the 989.4 of the SXM part",
     kAsAnother,
     "driver name table; the figures of an H100 PCIe"},
    {"h800-nvl",
     "H800 NVL",
     "SM",
     132,
     kH800NvlRates,
     0,
     1785,
     94 * kGiB,
     3938 * kGiga,
     400,
     kSparse,
     {},
     kH800NvlPci,
     "",
     {},
     "",
     "The compute of an H100 NVL, for one GPU",
     kAsAnother,
     "driver name table; the figures of an H100 NVL"},
    {"h20-3e",
     "H20-3e",
     "SM",
     78,
     kH20VariantRates,
     0,
     1980,
     141 * kGiB,
     4800 * kGiga,
     400,
     kSparse,
     kH20eAliases,
     kH20ePci,
     "",
     {},
     "sold with its throughput capped: no clock times the units gives the figure",
     "An H20 with other memory",
     kH20eUnconfirmed,
     "published comparisons and a measurement"},
    {"v100s-pcie",
     "V100S PCIe",
     "SM",
     80,
     kV100sRates,
     0,
     1597,
     32 * kGiB,
     1134 * kGiga,
     250,
     kDense,
     kV100sAliases,
     {},
     "",
     {},
     "",
     "No bf16 and no TF32; not a V100 PCIe (112)",
     kFp32Recalled,
     "the figure of two peak tables"},
    {"rtx-a4000",
     "RTX A4000",
     "SM",
     48,
     kA4000Rates,
     0,
     1560,
     16 * kGiB,
     448 * kGiga,
     140,
     kSparse,
     kA4000Aliases,
     {},
     "",
     {},
     "",
     "Not an A40: half its tensor figure",
     kTf32Recalled,
     "the figure of a peak table"},
    {"rtx-3090-ti",
     "RTX 3090 Ti",
     "SM",
     84,
     kRtx3090TiRates,
     0,
     0,
     24 * kGiB,
     1008 * kGiga,
     450,
     kSparse,
     kRtx3090TiAliases,
     {},
     "",
     {},
     "",
     "GeForce: accumulating in FP32, as training does, halves the fp16 rate",
     kFp16AccRecalled,
     "the figure of a peak table"},
    {"rtx-3070-ti",
     "RTX 3070 Ti",
     "SM",
     48,
     kRtx3070TiRates,
     0,
     0,
     8 * kGiB,
     608 * kGiga,
     290,
     kSparse,
     kRtx3070TiAliases,
     {},
     "",
     {},
     "",
     "21.75 is the fp32 rate outside the tensor cores",
     kRecalled,
     "the figures of a corrected peak table"},
    {"l20",
     "L20",
     "SM",
     92,
     kL20Rates,
     0,
     0,
     48 * kGiB,
     864 * kGiga,
     275,
     kSparse,
     kL20Aliases,
     kL20Pci,
     "",
     {},
     "no documented clock and rate give the figure",
     "Not an L40",
     kRecalled,
     "the figure of three peak tables"},
};

}  // namespace

std::span<const Chip> nvidia_variants_rows() noexcept { return kNvidiaVariantsRows; }

}  // namespace mfu::chips_detail
