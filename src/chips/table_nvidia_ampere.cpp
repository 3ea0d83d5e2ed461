// NVIDIA Volta, Turing and Ampere for data centres.
// A chip is its rates, its names and one row; columns as in struct Chip. Figures are dense.
#include "chips/rows.hpp"

namespace mfu::chips_detail {
namespace {

constexpr PrecisionRate kA100Sxm480gbRates[] = {
    {fp64_tc, 128, 19.5 * kTera, 1410, documented}, {fp32, 128, 19.5 * kTera, 1410, documented},
    {tf32, 1024, 156 * kTera, 1410, documented},    {fp16, 2048, 312 * kTera, 1410, documented},
    {bf16, 2048, 312 * kTera, 1410, documented},    {int8, 4096, 624 * kTera, 1410, documented},
};
constexpr std::string_view kA100Sxm480gbAliases[] = {"A100-SXM4-80GB", "A100 SXM"};
constexpr std::uint16_t kA100Sxm480gbPci[] = {0x20B2};

constexpr std::string_view kA100Sxm440gbAliases[] = {"A100-SXM4-40GB", "A100-PG509-200"};
constexpr std::uint16_t kA100Sxm440gbPci[] = {0x20B0};

constexpr std::string_view kA100Pcie80gbAliases[] = {"A100 80GB PCIe"};
constexpr std::string_view kA100Pcie80gbUnconfirmed[] = {"base clock"};
constexpr std::uint16_t kA100Pcie80gbPci[] = {0x20B5};

constexpr std::string_view kA100Pcie40gbAliases[] = {"A100-PCIE-40GB"};
constexpr std::uint16_t kA100Pcie40gbPci[] = {0x20F1};

constexpr PrecisionRate kA800Rates[] = {
    {fp64_tc, 128, 19.5 * kTera, 1410, documented}, {tf32, 1024, 156 * kTera, 1410, documented},
    {fp16, 2048, 312 * kTera, 1410, documented},    {bf16, 2048, 312 * kTera, 1410, documented},
    {int8, 4096, 624 * kTera, 1410, documented},
};
constexpr std::string_view kA800Aliases[] = {"A800-SXM4-80GB",   "A800-SXM4-40GB",
                                             "A800 80GB PCIe",   "A800 80GB PCIe LC",
                                             "A800 40GB Active", "A800 SXM"};
constexpr std::string_view kA800Unconfirmed[] = {"power", "memory"};
constexpr std::uint16_t kA800Pci[] = {0x20F3};

constexpr PrecisionRate kA30Rates[] = {
    {fp64_tc, 128, 10.3 * kTera, 1440, implied}, {fp32, 128, 10.3 * kTera, 1440, implied},
    {tf32, 1024, 82 * kTera, 1430, implied},     {fp16, 2048, 165 * kTera, 1440, implied},
    {bf16, 2048, 165 * kTera, 1440, implied},    {int8, 4096, 330 * kTera, 1440, implied},
};
constexpr std::string_view kA30Aliases[] = {"A30 24GB"};
constexpr std::string_view kA30Unconfirmed[] = {
    "units",       "clocks",    "tf32 figure",
    "int8 figure", "bandwidth", "rate per clock (worked out from the datasheet figure)"};

constexpr PrecisionRate kV100Sxm2Rates[] = {
    {fp32, 128, 15.7 * kTera, 1530, documented},
    {fp16, 1024, 125 * kTera, 1530, documented},
};
constexpr std::string_view kV100Sxm2Aliases[] = {"V100-SXM2-16GB", "V100 SXM2", "V100 SXM"};
constexpr std::string_view kV100Sxm2Unconfirmed[] = {
    "base clock", "power", "rate per clock (worked out from the datasheet figure)"};

constexpr PrecisionRate kV100PcieRates[] = {
    {fp32, 128, 14 * kTera, 1367, implied},
    {fp16, 1024, 112 * kTera, 1367, implied},
};
constexpr std::string_view kV100PcieAliases[] = {"V100-PCIE-16GB", "V100 PCIe"};
constexpr std::string_view kV100PcieUnconfirmed[] = {
    "boost clock", "power", "bandwidth", "rate per clock (worked out from the datasheet figure)"};

constexpr PrecisionRate kT4Rates[] = {
    {fp32, 128, 8.1 * kTera, 1582, implied},
    {fp16, 1024, 65 * kTera, 1590, documented},
    {int8, 2048, 130 * kTera, 1590, documented},
    {int4, 4096, 260 * kTera, 1590, documented},
};
constexpr std::string_view kT4Aliases[] = {"T4 16GB"};
constexpr std::string_view kT4Unconfirmed[] = {
    "rate per clock (worked out from the datasheet figure)"};
constexpr std::uint16_t kT4Pci[] = {0x1EB8};

constexpr Chip kNvidiaAmpereRows[] = {
    {"a100-sxm4-80gb",
     "A100 SXM 80GB",
     "SM",
     108,
     kA100Sxm480gbRates,
     1275,
     1410,
     80 * kGiB,
     2039 * kGiga,
     400,
     kSparse,
     kA100Sxm480gbAliases,
     kA100Sxm480gbPci,
     "",
     {},
     "",
     "No fp8: tables that print 624 for it mean sparse bf16 or dense int8",
     {},
     "peak tables that cite NVIDIA datasheets; an NVIDIA kernel library; driver captures"},
    {"a100-sxm4-40gb",
     "A100 SXM 40GB",
     "SM",
     108,
     kA100Sxm480gbRates,
     1095,
     1410,
     40 * kGiB,
     1555 * kGiga,
     400,
     kSparse,
     kA100Sxm440gbAliases,
     kA100Sxm440gbPci,
     "",
     {},
     "",
     "No fp8; many machines set the application clock to the base of 1095 MHz",
     {},
     "peak tables that cite NVIDIA datasheets; an NVIDIA kernel library; driver captures"},
    {"a100-pcie-80gb",
     "A100 PCIe 80GB",
     "SM",
     108,
     kA100Sxm480gbRates,
     1065,
     1410,
     80 * kGiB,
     1935 * kGiga,
     300,
     kSparse,
     kA100Pcie80gbAliases,
     kA100Pcie80gbPci,
     "",
     {},
     "",
     "No fp8; 300 W hold the clock below 1410 MHz under load",
     kA100Pcie80gbUnconfirmed,
     "peak tables that cite NVIDIA datasheets; an NVIDIA kernel library"},
    {"a100-pcie-40gb",
     "A100 PCIe 40GB",
     "SM",
     108,
     kA100Sxm480gbRates,
     765,
     1410,
     40 * kGiB,
     1555 * kGiga,
     250,
     kSparse,
     kA100Pcie40gbAliases,
     kA100Pcie40gbPci,
     "",
     {},
     "",
     "No fp8; 250 W hold the clock below 1410 MHz under load",
     {},
     "peak tables that cite NVIDIA datasheets; an NVIDIA kernel library; card databases"},
    {"a800",
     "A800",
     "SM",
     108,
     kA800Rates,
     0,
     1410,
     80 * kGiB,
     2039 * kGiga,
     400,
     kSparse,
     kA800Aliases,
     kA800Pci,
     "",
     {},
     "",
     "The compute of an A100; only NVLink is slower. Memory and power are those of the SXM4 80GB "
     "part",
     kA800Unconfirmed,
     "comparison pages; driver name table"},
    {"a30",
     "A30",
     "SM",
     56,
     kA30Rates,
     930,
     1440,
     24 * kGiB,
     933 * kGiga,
     165,
     kSparse,
     kA30Aliases,
     {},
     "",
     {},
     "",
     "",
     kA30Unconfirmed,
     "a peak table; a hardware catalogue for its power"},
    {"v100-sxm2",
     "V100 SXM2",
     "SM",
     80,
     kV100Sxm2Rates,
     1290,
     1530,
     16 * kGiB,
     900 * kGiga,
     300,
     kDense,
     kV100Sxm2Aliases,
     {},
     "",
     {},
     "",
     "No bf16 and no TF32: train in fp16",
     kV100Sxm2Unconfirmed,
     "peak tables that cite NVIDIA datasheets; card databases for clocks and memory"},
    {"v100-pcie",
     "V100 PCIe",
     "SM",
     80,
     kV100PcieRates,
     1245,
     1380,
     16 * kGiB,
     900 * kGiga,
     250,
     kDense,
     kV100PcieAliases,
     {},
     "",
     {},
     "",
     "No bf16 and no TF32: train in fp16; 1380 MHz would be 113.0 TFLOP/s",
     kV100PcieUnconfirmed,
     "peak tables that cite NVIDIA datasheets; card databases for the base clock"},
    {"t4",
     "T4",
     "SM",
     40,
     kT4Rates,
     585,
     1590,
     16 * kGiB,
     320 * kGiga,
     70,
     kDense,
     kT4Aliases,
     kT4Pci,
     "",
     {},
     "",
     "No bf16; 70 W hold it near 24 TFLOP/s in long matrix products",
     kT4Unconfirmed,
     "peak tables that cite NVIDIA datasheets; driver captures"},
};

}  // namespace

std::span<const Chip> nvidia_ampere_rows() noexcept { return kNvidiaAmpereRows; }

}  // namespace mfu::chips_detail
