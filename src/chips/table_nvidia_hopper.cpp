// NVIDIA Hopper and Blackwell for data centres.
// A chip is its rates, its names and one row; columns as in struct Chip. Figures are dense.
#include "chips/rows.hpp"

namespace mfu::chips_detail {
namespace {

constexpr PrecisionRate kH100Sxm580gbRates[] = {
    {fp64_tc, 256, 66.9 * kTera, 1980, documented}, {fp32, 256, 66.9 * kTera, 1980, documented},
    {tf32, 2048, 494.7 * kTera, 1830, documented},  {fp16, 4096, 989.4 * kTera, 1830, documented},
    {bf16, 4096, 989.4 * kTera, 1830, documented},  {fp8, 8192, 1978.9 * kTera, 1830, documented},
    {int8, 8192, 1978.9 * kTera, 1830, documented},
};
constexpr std::string_view kH100Sxm580gbAliases[] = {
    "H100 80GB HBM3",      "H100 SXM", "H100 SXM5", "H100 SXM 80GB",
    "H100 SXM5 80GB HBM3", "H100SXM",  "a3mega"};
constexpr std::uint16_t kH100Sxm580gbPci[] = {0x2330};

constexpr PrecisionRate kH100PcieRates[] = {
    {fp64_tc, 256, 51.2 * kTera, 1755, documented}, {fp32, 256, 51.2 * kTera, 1755, documented},
    {tf32, 2048, 378 * kTera, 1620, implied},       {fp16, 4096, 756 * kTera, 1620, implied},
    {bf16, 4096, 756 * kTera, 1620, implied},       {fp8, 8192, 1513 * kTera, 1620, implied},
    {int8, 8192, 1513 * kTera, 1620, implied},
};
constexpr std::string_view kH100PcieAliases[] = {"H100 PCIe", "H100 PCIe 80GB", "H100PCIe"};
constexpr std::string_view kH100PcieUnconfirmed[] = {"maximum clock"};
constexpr std::uint16_t kH100PciePci[] = {0x2331};

constexpr PrecisionRate kH100NvlRates[] = {
    {fp64_tc, 256, 60 * kTera, 1776, implied},   {fp32, 256, 60 * kTera, 1776, implied},
    {tf32, 2048, 417.5 * kTera, 1545, implied},  {fp16, 4096, 835.5 * kTera, 1545, implied},
    {bf16, 4096, 835.5 * kTera, 1545, implied},  {fp8, 8192, 1670.5 * kTera, 1545, implied},
    {int8, 8192, 1670.5 * kTera, 1545, implied},
};
constexpr std::string_view kH100NvlAliases[] = {"H100 NVL", "H100 NVL 94GB"};
constexpr std::string_view kH100NvlUnconfirmed[] = {"units", "clocks"};
constexpr std::uint16_t kH100NvlPci[] = {0x2321};

constexpr std::string_view kH200SxmAliases[] = {"H200", "H200 SXM", "H200 SXM5", "H200 SXM 141GB",
                                                "a3ultra"};
constexpr std::uint16_t kH200SxmPci[] = {0x2335};

constexpr std::string_view kH200NvlAliases[] = {"H200 NVL", "H200 NVL 141GB"};
constexpr std::string_view kH200NvlUnconfirmed[] = {"units", "maximum clock"};
constexpr std::uint16_t kH200NvlPci[] = {0x233B};

constexpr PrecisionRate kH800SxmRates[] = {
    {tf32, 2048, 494.7 * kTera, 1830, documented},  {fp16, 4096, 989.4 * kTera, 1830, documented},
    {bf16, 4096, 989.4 * kTera, 1830, documented},  {fp8, 8192, 1978.9 * kTera, 1830, documented},
    {int8, 8192, 1978.9 * kTera, 1830, documented},
};
constexpr std::string_view kH800SxmAliases[] = {"H800", "H800 SXM5", "H800 80GB HBM3"};
constexpr std::string_view kH800SxmUnconfirmed[] = {"units"};
constexpr std::uint16_t kH800SxmPci[] = {0x2324};

constexpr PrecisionRate kH20Rates[] = {
    {fp32, 0, 44 * kTera, 0, unknown},  {tf32, 0, 74 * kTera, 0, unknown},
    {fp16, 0, 148 * kTera, 0, unknown}, {bf16, 0, 148 * kTera, 0, unknown},
    {fp8, 0, 296 * kTera, 0, unknown},  {int8, 0, 296 * kTera, 0, unknown},
};
constexpr std::string_view kH20Aliases[] = {"H20 NVL16", "H20 96GB"};
constexpr std::string_view kH20Unconfirmed[] = {"maximum clock", "power"};
constexpr std::uint16_t kH20Pci[] = {0x2329, 0x230E};

constexpr std::string_view kGh200Aliases[] = {"GH200 480GB", "GH200 120GB", "GH200 96GB HBM3"};
constexpr std::string_view kGh200Unconfirmed[] = {"power"};
constexpr std::uint16_t kGh200Pci[] = {0x2342};

constexpr PrecisionRate kB200Rates[] = {
    {fp64_tc, 128, 37 * kTera, 1953, implied}, {fp32, 256, 75 * kTera, 1980, implied},
    {tf32, 4096, 1125 * kTera, 1856, implied}, {fp16, 8192, 2250 * kTera, 1856, implied},
    {bf16, 8192, 2250 * kTera, 1856, implied}, {fp8, 16384, 4500 * kTera, 1856, implied},
    {fp6, 16384, 4500 * kTera, 1856, implied}, {int8, 16384, 4500 * kTera, 1856, implied},
    {fp4, 32768, 9000 * kTera, 1856, implied},
};
constexpr std::string_view kB200Aliases[] = {"B200 SXM", "B200 SXM6"};
constexpr std::uint16_t kB200Pci[] = {0x2901};

constexpr PrecisionRate kB100Rates[] = {
    {fp16, 0, 1750 * kTera, 0, unknown},
    {bf16, 0, 1750 * kTera, 0, unknown},
    {fp8, 0, 3500 * kTera, 0, unknown},
    {fp4, 0, 7000 * kTera, 0, unknown},
};
constexpr std::string_view kB100Unconfirmed[] = {
    "units",  "datasheet figures",
    "memory", "bandwidth",
    "power",  "rate per clock (worked out from the datasheet figure)"};

constexpr PrecisionRate kGb200Rates[] = {
    {fp64_tc, 128, 40 * kTera, 2062, documented}, {fp32, 256, 80 * kTera, 2062, documented},
    {tf32, 4096, 1250 * kTera, 2008, implied},    {fp16, 8192, 2500 * kTera, 2008, implied},
    {bf16, 8192, 2500 * kTera, 2008, implied},    {fp8, 16384, 5000 * kTera, 2008, implied},
    {fp6, 16384, 5000 * kTera, 2008, implied},    {int8, 16384, 5000 * kTera, 2008, implied},
    {fp4, 32768, 10000 * kTera, 2008, implied},
};
constexpr std::string_view kGb200Aliases[] = {"GB200 NVL72"};
constexpr std::uint16_t kGb200Pci[] = {0x2941};

constexpr PrecisionRate kB300Rates[] = {
    {fp64_tc, 0, 1.25 * kTera, 0, unknown},     {fp32, 256, 75 * kTera, 1980, implied},
    {tf32, 4096, 1125 * kTera, 1856, implied},  {fp16, 8192, 2250 * kTera, 1856, implied},
    {bf16, 8192, 2250 * kTera, 1856, implied},  {fp8, 16384, 4500 * kTera, 1856, implied},
    {fp6, 16384, 4500 * kTera, 1856, implied},  {int8, 560, 150 * kTera, 1810, implied},
    {fp4, 49152, 13500 * kTera, 1856, implied},
};
constexpr std::string_view kB300Aliases[] = {"B300 SXM6 AC", "B300 SXM"};
constexpr std::string_view kB300Unconfirmed[] = {"units", "int8 rate"};
constexpr std::uint16_t kB300Pci[] = {0x3182};

constexpr PrecisionRate kGb300Rates[] = {
    {fp32, 256, 80 * kTera, 2055, implied},     {tf32, 4096, 1250 * kTera, 2008, implied},
    {fp16, 8192, 2500 * kTera, 2008, implied},  {bf16, 8192, 2500 * kTera, 2008, implied},
    {fp8, 16384, 5000 * kTera, 2008, implied},  {fp6, 16384, 5000 * kTera, 2008, implied},
    {fp4, 49152, 15000 * kTera, 2008, implied},
};
constexpr std::string_view kGb300Aliases[] = {"GB300 NVL72", "GB300 NVL"};
constexpr std::string_view kGb300Unconfirmed[] = {"units"};
constexpr std::uint16_t kGb300Pci[] = {0x31C2};

constexpr Chip kNvidiaHopperRows[] = {
    {"h100-sxm5-80gb",
     "H100 SXM",
     "SM",
     132,
     kH100Sxm580gbRates,
     0,
     1980,
     80 * kGiB,
     3350 * kGiga,
     700,
     kSparse,
     kH100Sxm580gbAliases,
     kH100Sxm580gbPci,
     "",
     {},
     "",
     "Two clocks on one datasheet: tensor figures mean 1830 MHz, fp32 and fp64 figures 1980 MHz; "
     "1979 is the sparse bf16 figure",
     {},
     "NVIDIA H100 datasheet; clocks from driver captures"},
    {"h100-pcie",
     "H100 PCIe",
     "SM",
     114,
     kH100PcieRates,
     1095,
     1755,
     80 * kGiB,
     2000 * kGiga,
     350,
     kSparse,
     kH100PcieAliases,
     kH100PciePci,
     "",
     {},
     "",
     "1513 on the datasheet is sparse bf16 or dense fp8",
     kH100PcieUnconfirmed,
     "NVIDIA H100 datasheet and PCIe product brief; card databases for clocks"},
    {"h100-nvl",
     "H100 NVL",
     "SM",
     132,
     kH100NvlRates,
     1080,
     1785,
     94 * kGiB,
     3938 * kGiga,
     400,
     kSparse,
     kH100NvlAliases,
     kH100NvlPci,
     "",
     {},
     "",
     "Some sheets print the bridged pair of two GPUs; 1671 is sparse for one GPU or dense for the "
     "pair",
     kH100NvlUnconfirmed,
     "peak tables that cite NVIDIA datasheets"},
    {"h200-sxm",
     "H200 SXM",
     "SM",
     132,
     kH100Sxm580gbRates,
     0,
     1980,
     141 * kGiB,
     4800 * kGiga,
     700,
     kSparse,
     kH200SxmAliases,
     kH200SxmPci,
     "",
     {},
     "",
     "A bare H200 is the SXM part; the compute of an H100 SXM",
     {},
     "peak tables that cite NVIDIA datasheets; driver captures"},
    {"h200-nvl",
     "H200 NVL",
     "SM",
     132,
     kH100NvlRates,
     0,
     1785,
     141 * kGiB,
     4800 * kGiga,
     600,
     kSparse,
     kH200NvlAliases,
     kH200NvlPci,
     "",
     {},
     "",
     "Not the SXM part: 835.5, not 989.4; 1635 MHz were measured in long runs, above the 1545 MHz "
     "that the figure means",
     kH200NvlUnconfirmed,
     "peak tables that cite NVIDIA datasheets; a measured run"},
    {"h800-sxm",
     "H800 SXM",
     "SM",
     132,
     kH800SxmRates,
     0,
     1980,
     80 * kGiB,
     3350 * kGiga,
     700,
     kSparse,
     kH800SxmAliases,
     kH800SxmPci,
     "",
     {},
     "",
     "The compute of an H100 SXM; NVLink and fp64 are cut. A bare H800 is the SXM part",
     kH800SxmUnconfirmed,
     "driver name table; an issue of a kernel library for its figures"},
    {"h20",
     "H20",
     "SM",
     78,
     kH20Rates,
     0,
     1980,
     96 * kGiB,
     4000 * kGiga,
     400,
     kSparse,
     kH20Aliases,
     kH20Pci,
     "",
     {},
     "sold with its throughput capped: no clock times the units gives the figure",
     "148 is all it gives, 142 were measured",
     kH20Unconfirmed,
     "published comparisons and a measurement"},
    {"gh200",
     "GH200",
     "SM",
     132,
     kH100Sxm580gbRates,
     0,
     1980,
     96 * kGiB,
     4000 * kGiga,
     900,
     kSparse,
     kGh200Aliases,
     kGh200Pci,
     "",
     {},
     "",
     "480GB and 120GB in its name are memory of the CPU, not of the GPU",
     kGh200Unconfirmed,
     "ml-engineering accelerator tables; measurements of peaks per clock; driver name table"},
    {"b200",
     "B200",
     "SM",
     148,
     kB200Rates,
     0,
     1965,
     180 * kGiB,
     7700 * kGiga,
     1000,
     kSparse,
     kB200Aliases,
     kB200Pci,
     "",
     {},
     "",
     "4500 is sparse bf16 or dense fp8; VRAM is printed as 180, 186 and 192 GB",
     {},
     "NVIDIA Blackwell datasheet; an NVIDIA kernel library; driver captures"},
    {"b100",
     "B100",
     "SM",
     148,
     kB100Rates,
     0,
     0,
     192 * kGiB,
     8000 * kGiga,
     700,
     kSparse,
     {},
     {},
     "",
     {},
     "no clock is published",
     "Quoted as 1750 and as 1800; hardly sold",
     kB100Unconfirmed,
     "recalled"},
    {"gb200",
     "GB200",
     "SM",
     152,
     kGb200Rates,
     0,
     2062,
     186 * kGiB,
     8000 * kGiga,
     1200,
     kSparse,
     kGb200Aliases,
     kGb200Pci,
     "",
     {2, "superchip board of two GPUs"},
     "",
     "5000 is sparse bf16 of one GPU, or dense bf16 of the board of two; 10000 is sparse bf16 of "
     "the board",
     {},
     "NVIDIA Blackwell datasheet; an NVIDIA kernel library; driver captures"},
    {"b300",
     "B300",
     "SM",
     148,
     kB300Rates,
     0,
     0,
     288 * kGiB,
     8000 * kGiga,
     1100,
     kSparse,
     kB300Aliases,
     kB300Pci,
     "",
     {},
     "",
     "int8 is cut to 150: 4500 is fp8; dense fp4 is quoted between 12600 and 15000",
     kB300Unconfirmed,
     "published HGX B300 tables; driver name table"},
    {"gb300",
     "GB300",
     "SM",
     152,
     kGb300Rates,
     0,
     2070,
     288 * kGiB,
     8000 * kGiga,
     1400,
     kSparse,
     kGb300Aliases,
     kGb300Pci,
     "",
     {2, "superchip board of two GPUs"},
     "",
     "5000 is sparse bf16 of one GPU, or dense bf16 of the board of two",
     kGb300Unconfirmed,
     "ml-engineering accelerator tables; driver captures"},
};

}  // namespace

std::span<const Chip> nvidia_hopper_rows() noexcept { return kNvidiaHopperRows; }

}  // namespace mfu::chips_detail
