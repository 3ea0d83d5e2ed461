// NVIDIA cards with graphics silicon.
// A chip is its rates, its names and one row; columns as in struct Chip. Figures are dense.
#include "chips/rows.hpp"

namespace mfu::chips_detail {
namespace {

constexpr PrecisionRate kA10Rates[] = {
    {fp32, 256, 31.2 * kTera, 1695, documented}, {tf32, 512, 62.5 * kTera, 1695, documented},
    {fp16, 1024, 125 * kTera, 1695, documented}, {bf16, 1024, 125 * kTera, 1695, documented},
    {int8, 2048, 250 * kTera, 1695, documented},
};
constexpr std::string_view kA10Aliases[] = {"A10 24GB"};
constexpr std::string_view kA10Unconfirmed[] = {"power", "rate per clock"};
constexpr std::uint16_t kA10Pci[] = {0x2236};

constexpr PrecisionRate kA10gRates[] = {
    {fp32, 256, 35 * kTera, 1710, implied},   {tf32, 256, 35 * kTera, 1710, implied},
    {fp16, 512, 70 * kTera, 1710, implied},   {bf16, 512, 70 * kTera, 1710, implied},
    {int8, 1024, 140 * kTera, 1710, implied},
};
constexpr std::string_view kA10gAliases[] = {"A10G 24GB"};
constexpr std::string_view kA10gUnconfirmed[] = {
    "datasheet figures", "boost clock", "rate per clock (worked out from the datasheet figure)"};
constexpr std::uint16_t kA10gPci[] = {0x2237};

constexpr PrecisionRate kA40Rates[] = {
    {fp32, 256, 37.4 * kTera, 1740, documented},   {tf32, 512, 74.8 * kTera, 1740, documented},
    {fp16, 1024, 149.7 * kTera, 1740, documented}, {bf16, 1024, 149.7 * kTera, 1740, documented},
    {int8, 2048, 299.3 * kTera, 1740, documented},
};
constexpr std::string_view kA40Aliases[] = {"A40 48GB"};
constexpr std::string_view kA40Unconfirmed[] = {"rate per clock"};
constexpr std::uint16_t kA40Pci[] = {0x2235};

constexpr PrecisionRate kL4Rates[] = {
    {fp32, 256, 30.3 * kTera, 2040, implied},  {tf32, 512, 60 * kTera, 2020, implied},
    {fp16, 1024, 121 * kTera, 2040, implied},  {bf16, 1024, 121 * kTera, 2040, implied},
    {fp8, 2048, 242.5 * kTera, 2040, implied}, {int8, 2048, 242.5 * kTera, 2040, implied},
};
constexpr std::string_view kL4Aliases[] = {"L4 24GB"};
constexpr std::string_view kL4Unconfirmed[] = {
    "units", "clocks", "rate per clock (worked out from the datasheet figure)"};
constexpr std::uint16_t kL4Pci[] = {0x27B8};

constexpr PrecisionRate kL40Rates[] = {
    {fp32, 256, 90.5 * kTera, 2490, documented},   {tf32, 256, 90.5 * kTera, 2490, documented},
    {fp16, 512, 181.05 * kTera, 2490, documented}, {bf16, 512, 181.05 * kTera, 2490, documented},
    {fp8, 1024, 362 * kTera, 2490, documented},    {int8, 1024, 362 * kTera, 2490, documented},
};
constexpr std::string_view kL40Aliases[] = {"L40 48GB"};
constexpr std::string_view kL40Unconfirmed[] = {
    "maximum clock", "rate per clock (worked out from the datasheet figure)"};
constexpr std::uint16_t kL40Pci[] = {0x26B5};

constexpr PrecisionRate kL40sRates[] = {
    {fp32, 256, 91.6 * kTera, 2520, documented}, {tf32, 512, 183 * kTera, 2520, documented},
    {fp16, 1024, 362.05 * kTera, 2490, implied}, {bf16, 1024, 362.05 * kTera, 2490, implied},
    {fp8, 2048, 733 * kTera, 2520, documented},  {int8, 2048, 733 * kTera, 2520, documented},
};
constexpr std::string_view kL40sAliases[] = {"L40S 48GB"};
constexpr std::string_view kL40sUnconfirmed[] = {
    "rate per clock (worked out from the datasheet figure)"};
constexpr std::uint16_t kL40sPci[] = {0x26B9};

constexpr PrecisionRate kRtxA6000Rates[] = {
    {fp32, 256, 38.7 * kTera, 1800, documented},   {tf32, 512, 77.4 * kTera, 1800, documented},
    {fp16, 1024, 154.8 * kTera, 1800, documented}, {bf16, 1024, 154.8 * kTera, 1800, documented},
    {int8, 2048, 309.7 * kTera, 1800, documented},
};
constexpr std::string_view kRtxA6000Aliases[] = {"A6000"};
constexpr std::string_view kRtxA6000Unconfirmed[] = {"maximum clock"};
constexpr std::uint16_t kRtxA6000Pci[] = {0x2230};

constexpr PrecisionRate kRtx6000AdaRates[] = {
    {fp32, 256, 91.1 * kTera, 2505, documented},   {tf32, 512, 182.1 * kTera, 2505, documented},
    {fp16, 1024, 364.2 * kTera, 2505, documented}, {bf16, 1024, 364.2 * kTera, 2505, documented},
    {fp8, 2048, 728.5 * kTera, 2505, documented},  {int8, 2048, 728.5 * kTera, 2505, documented},
};
constexpr std::string_view kRtx6000AdaAliases[] = {"RTX 6000 Ada Generation", "6000 Ada"};
constexpr std::string_view kRtx6000AdaUnconfirmed[] = {
    "base clock", "maximum clock", "rate per clock (worked out from the datasheet figure)"};
constexpr std::uint16_t kRtx6000AdaPci[] = {0x26B1};

constexpr PrecisionRate kRtxPro6000BlackwellRates[] = {
    {fp16, 1024, 503.8 * kTera, 2617, implied},
    {bf16, 1024, 503.8 * kTera, 2617, implied},
};
constexpr std::string_view kRtxPro6000BlackwellAliases[] = {
    "RTX PRO 6000 Blackwell Workstation Edition", "RTX PRO 6000 Blackwell Server Edition",
    "RTX PRO 6000"};
constexpr std::string_view kRtxPro6000BlackwellUnconfirmed[] = {"boost clock"};
constexpr std::uint16_t kRtxPro6000BlackwellPci[] = {0x2BB1, 0x2BB5};

constexpr PrecisionRate kRtx3090Rates[] = {
    {fp32, 256, 35.6 * kTera, 1695, documented},
    {tf32, 256, 35.6 * kTera, 1695, documented},
    {fp16, 512, 71 * kTera, 1695, documented},
    {fp16_fp16acc, 1024, 142 * kTera, 1695, documented},
    {bf16, 512, 71 * kTera, 1695, documented},
    {int8, 2048, 284 * kTera, 1695, documented},
};
constexpr std::string_view kRtx3090Aliases[] = {"3090", "RTX3090"};
constexpr std::string_view kRtx3090Unconfirmed[] = {"fp16_fp16acc figure", "maximum clock"};

constexpr PrecisionRate kRtx4090Rates[] = {
    {fp32, 256, 82.6 * kTera, 2520, documented},
    {tf32, 256, 82.6 * kTera, 2520, documented},
    {fp16, 512, 165.2 * kTera, 2520, documented},
    {fp16_fp16acc, 1024, 330.3 * kTera, 2520, documented},
    {bf16, 512, 165.2 * kTera, 2520, documented},
    {fp8, 1024, 330.3 * kTera, 2520, documented},
    {fp8_fp16acc, 2048, 660.6 * kTera, 2520, documented},
    {int8, 2048, 660.6 * kTera, 2520, documented},
};
constexpr std::string_view kRtx4090Aliases[] = {"4090", "RTX4090"};
constexpr std::string_view kRtx4090Unconfirmed[] = {
    "maximum clock", "rate per clock (worked out from the datasheet figure)"};

constexpr PrecisionRate kRtx5090Rates[] = {
    {fp32, 256, 104.8 * kTera, 2407, implied},
    {tf32, 256, 104.8 * kTera, 2407, implied},
    {fp16, 512, 209.5 * kTera, 2407, implied},
    {fp16_fp16acc, 1024, 419 * kTera, 2407, implied},
    {bf16, 512, 209.5 * kTera, 2407, implied},
    {fp8, 1024, 419 * kTera, 2407, implied},
    {fp8_fp16acc, 2048, 838 * kTera, 2407, implied},
    {int8, 2048, 838 * kTera, 2407, implied},
    {fp4, 4096, 1676 * kTera, 2407, implied},
};
constexpr std::string_view kRtx5090Aliases[] = {"5090", "RTX5090"};
constexpr std::string_view kRtx5090Unconfirmed[] = {"boost clock", "power", "fp8_fp16acc figure",
                                                    "maximum clock"};

constexpr Chip kNvidiaCardsRows[] = {
    {"a10",
     "A10",
     "SM",
     72,
     kA10Rates,
     885,
     1695,
     24 * kGiB,
     600 * kGiga,
     150,
     kSparse,
     kA10Aliases,
     kA10Pci,
     "",
     {},
     "",
     "",
     kA10Unconfirmed,
     "peak tables that cite NVIDIA datasheets; card databases"},
    {"a10g",
     "A10G",
     "SM",
     80,
     kA10gRates,
     0,
     1710,
     24 * kGiB,
     600 * kGiga,
     300,
     kSparse,
     kA10gAliases,
     kA10gPci,
     "",
     {},
     "",
     "Half the tensor rate of an A10: 70, not 125 TFLOP/s",
     kA10gUnconfirmed,
     "recalled; 80 units at half rate give the figure; driver name table"},
    {"a40",
     "A40",
     "SM",
     84,
     kA40Rates,
     1305,
     1740,
     48 * kGiB,
     696 * kGiga,
     300,
     kSparse,
     kA40Aliases,
     kA40Pci,
     "",
     {},
     "",
     "",
     kA40Unconfirmed,
     "NVIDIA A40 datasheet; card databases for clocks"},
    {"l4",
     "L4",
     "SM",
     58,
     kL4Rates,
     795,
     2040,
     24 * kGiB,
     300 * kGiga,
     72,
     kSparse,
     kL4Aliases,
     kL4Pci,
     "",
     {},
     "",
     "242 and 485 on the datasheet are sparse; 72 W hold the clock far below 2040 MHz",
     kL4Unconfirmed,
     "peak tables that cite NVIDIA datasheets; a published comparison"},
    {"l40",
     "L40",
     "SM",
     142,
     kL40Rates,
     735,
     2490,
     48 * kGiB,
     864 * kGiga,
     300,
     kSparse,
     kL40Aliases,
     kL40Pci,
     "",
     {},
     "",
     "Half the tensor rate of an L40S on its datasheet; one comparison lists 362 for it",
     kL40Unconfirmed,
     "NVIDIA L40 datasheet; card databases for clocks"},
    {"l40s",
     "L40S",
     "SM",
     142,
     kL40sRates,
     1110,
     2520,
     48 * kGiB,
     864 * kGiga,
     350,
     kSparse,
     kL40sAliases,
     kL40sPci,
     "",
     {},
     "",
     "The datasheet contradicts itself: 362.05 means 2490 MHz, its other figures 2520 MHz, where "
     "bf16 is 366.4",
     kL40sUnconfirmed,
     "NVIDIA L40S datasheet; clocks from driver captures"},
    {"rtx-a6000",
     "RTX A6000",
     "SM",
     84,
     kRtxA6000Rates,
     1410,
     2100,
     48 * kGiB,
     768 * kGiga,
     300,
     kSparse,
     kRtxA6000Aliases,
     kRtxA6000Pci,
     "",
     {},
     "",
     "309.7 on the datasheet is sparse; 38.7 is the fp32 rate outside the tensor cores",
     kRtxA6000Unconfirmed,
     "peak tables; card databases for clocks"},
    {"rtx-6000-ada",
     "RTX 6000 Ada",
     "SM",
     142,
     kRtx6000AdaRates,
     915,
     3105,
     48 * kGiB,
     960 * kGiga,
     300,
     kSparse,
     kRtx6000AdaAliases,
     kRtx6000AdaPci,
     "",
     {},
     "",
     "1457 on the datasheet is sparse fp8; 728.5 is dense fp8, not bf16",
     kRtx6000AdaUnconfirmed,
     "card databases; units from an NVIDIA whitepaper"},
    {"rtx-pro-6000-blackwell",
     "RTX PRO 6000 Blackwell",
     "SM",
     188,
     kRtxPro6000BlackwellRates,
     0,
     0,
     96 * kGiB,
     1792 * kGiga,
     600,
     kSparse,
     kRtxPro6000BlackwellAliases,
     kRtxPro6000BlackwellPci,
     "",
     {},
     "",
     "The 1 PFLOP/s of the datasheet is sparse; the Max-Q edition runs at a lower clock and is not "
     "this row",
     kRtxPro6000BlackwellUnconfirmed,
     "an NVIDIA kernel library (503.8 dense bf16)"},
    {"rtx-3090",
     "RTX 3090",
     "SM",
     82,
     kRtx3090Rates,
     1395,
     2100,
     24 * kGiB,
     936 * kGiga,
     350,
     kSparse,
     kRtx3090Aliases,
     {},
     "",
     {},
     "",
     "GeForce: accumulating in FP32, as training does, halves the fp16 rate; 35.6 is the fp32 rate",
     kRtx3090Unconfirmed,
     "peak tables; card databases for clocks"},
    {"rtx-4090",
     "RTX 4090",
     "SM",
     128,
     kRtx4090Rates,
     2235,
     3105,
     24 * kGiB,
     1008 * kGiga,
     450,
     kSparse,
     kRtx4090Aliases,
     {},
     "",
     {},
     "",
     "GeForce: accumulating in FP32, as training does, halves the fp16 rate of 330.3; 82.6 is the "
     "fp32 rate; sources disagree on fp8; cards boost above 2520 MHz",
     kRtx4090Unconfirmed,
     "NVIDIA Ada whitepaper; card databases"},
    {"rtx-5090",
     "RTX 5090",
     "SM",
     170,
     kRtx5090Rates,
     2017,
     3105,
     32 * kGiB,
     1792 * kGiga,
     575,
     kSparse,
     kRtx5090Aliases,
     {},
     "",
     {},
     "",
     "GeForce: accumulating in FP32, as training does, halves the fp16 rate of 419; clocks of 2.9 "
     "GHz were measured, 20 % above the datasheet",
     kRtx5090Unconfirmed,
     "peak tables; a measured rate per clock"},
};

}  // namespace

std::span<const Chip> nvidia_cards_rows() noexcept { return kNvidiaCardsRows; }

}  // namespace mfu::chips_detail
