// AMD Instinct. One device of an MI250 or MI250X is one die.
// A chip is its rates, its names and one row; columns as in struct Chip. Figures are dense.
#include "chips/rows.hpp"

namespace mfu::chips_detail {
namespace {

constexpr PrecisionRate kMi250xRates[] = {
    {fp64_tc, 256, 47.85 * kTera, 1700, documented}, {fp32, 256, 47.85 * kTera, 1700, documented},
    {fp16, 1024, 191.5 * kTera, 1700, documented},   {bf16, 1024, 191.5 * kTera, 1700, documented},
    {int8, 1024, 191.5 * kTera, 1700, documented},
};
constexpr std::string_view kMi250xAliases[] = {"MI250X OAM"};
constexpr std::string_view kMi250xUnconfirmed[] = {"fp64 and fp32 rates", "fp64_tc figure"};

constexpr PrecisionRate kMi250Rates[] = {
    {fp64_tc, 256, 45.25 * kTera, 1700, documented},
    {fp16, 1024, 181.05 * kTera, 1700, documented},
    {bf16, 1024, 181.05 * kTera, 1700, documented},
    {int8, 1024, 181.05 * kTera, 1700, documented},
};
constexpr std::string_view kMi250Aliases[] = {"MI250 OAM"};
constexpr std::string_view kMi250Unconfirmed[] = {"power"};

constexpr PrecisionRate kMi300xRates[] = {
    {fp64_tc, 256, 163.4 * kTera, 2100, documented}, {fp32, 256, 163.4 * kTera, 2100, documented},
    {tf32, 1024, 653.7 * kTera, 2100, documented},   {fp16, 2048, 1307.4 * kTera, 2100, documented},
    {bf16, 2048, 1307.4 * kTera, 2100, documented},  {fp8, 4096, 2614.9 * kTera, 2100, documented},
    {int8, 4096, 2614.9 * kTera, 2100, documented},
};
constexpr std::string_view kMi300xAliases[] = {"MI300X OAM", "MI300X 192GB HBM3"};

constexpr PrecisionRate kMi300aRates[] = {
    {fp64_tc, 256, 122.6 * kTera, 2100, documented}, {fp32, 256, 122.6 * kTera, 2100, documented},
    {tf32, 1024, 490.3 * kTera, 2100, documented},   {fp16, 2048, 980.6 * kTera, 2100, documented},
    {bf16, 2048, 980.6 * kTera, 2100, documented},   {fp8, 4096, 1961.2 * kTera, 2100, documented},
    {int8, 4096, 1961.2 * kTera, 2100, documented},
};
constexpr std::string_view kMi300aUnconfirmed[] = {"units", "power"};

constexpr std::string_view kMi325xAliases[] = {"MI325X OAM"};

constexpr PrecisionRate kMi350xRates[] = {
    {fp64_tc, 128, 72.1 * kTera, 2200, documented}, {fp32, 256, 144.2 * kTera, 2200, documented},
    {fp16, 4096, 2306.9 * kTera, 2200, documented}, {bf16, 4096, 2306.9 * kTera, 2200, documented},
    {fp8, 8192, 4613.7 * kTera, 2200, documented},  {fp6, 16384, 9227.5 * kTera, 2200, documented},
    {int8, 8192, 4613.7 * kTera, 2200, documented}, {fp4, 16384, 9227.5 * kTera, 2200, documented},
};
constexpr std::string_view kMi350xAliases[] = {"MI350X OAM", "MI350X 288GB HBM3e"};
constexpr std::string_view kMi350xUnconfirmed[] = {"fp6 and fp4 figures"};

constexpr PrecisionRate kMi355xRates[] = {
    {fp64_tc, 128, 78.6 * kTera, 2400, documented}, {fp32, 256, 157.3 * kTera, 2400, documented},
    {fp16, 4096, 2516.6 * kTera, 2400, documented}, {bf16, 4096, 2516.6 * kTera, 2400, documented},
    {fp8, 8192, 5033.2 * kTera, 2400, documented},  {fp6, 16384, 10066.3 * kTera, 2400, documented},
    {int8, 8192, 5033.2 * kTera, 2400, documented}, {fp4, 16384, 10066.3 * kTera, 2400, documented},
};
constexpr std::string_view kMi355xAliases[] = {"MI355X OAM", "MI355X 288GB HBM3e"};

constexpr Chip kAmdRows[] = {
    {"mi250x",
     "MI250X",
     "CU",
     110,
     kMi250xRates,
     0,
     1700,
     64 * kGiB,
     1638.5 * kGiga,
     280,
     kDense,
     kMi250xAliases,
     {},
     "gfx90a",
     {2, "card of two dies"},
     "",
     "A framework sees each die as a device: 191.5, not the 383 of the card",
     kMi250xUnconfirmed,
     "ml-engineering accelerator tables; documentation of a site for the clock"},
    {"mi250",
     "MI250",
     "CU",
     104,
     kMi250Rates,
     0,
     1700,
     64 * kGiB,
     1638.5 * kGiga,
     280,
     kDense,
     kMi250Aliases,
     {},
     "gfx90a",
     {2, "card of two dies"},
     "",
     "A framework sees each die as a device: 181, not the 362.1 of the card",
     kMi250Unconfirmed,
     "ml-engineering accelerator tables; a peak table"},
    {"mi300x",
     "MI300X",
     "CU",
     304,
     kMi300xRates,
     0,
     2100,
     192 * kGiB,
     5300 * kGiga,
     750,
     kSparse,
     kMi300xAliases,
     {},
     "gfx942",
     {},
     "",
     "Matrix products draw the clock down to about 1200 MHz; 2614.9 is fp8 or sparse bf16",
     {},
     "AMD ROCm documentation; a peak table that cites AMD data sheets"},
    {"mi300a",
     "MI300A",
     "CU",
     228,
     kMi300aRates,
     0,
     2100,
     128 * kGiB,
     5300 * kGiga,
     760,
     kSparse,
     {},
     {},
     "gfx942",
     {},
     "",
     "",
     kMi300aUnconfirmed,
     "a peak table that cites AMD data sheets"},
    {"mi325x",
     "MI325X",
     "CU",
     304,
     kMi300xRates,
     0,
     2100,
     256 * kGiB,
     6000 * kGiga,
     1000,
     kSparse,
     kMi325xAliases,
     {},
     "gfx942",
     {},
     "",
     "The peak of an MI300X; more power holds a higher clock",
     {},
     "AMD ROCm documentation; ml-engineering accelerator tables"},
    {"mi350x",
     "MI350X",
     "CU",
     256,
     kMi350xRates,
     0,
     2200,
     288 * kGiB,
     8000 * kGiga,
     1000,
     kSparse,
     kMi350xAliases,
     {},
     "gfx950",
     {},
     "",
     "2309.6 in some tables is a slip for 2306.9",
     kMi350xUnconfirmed,
     "AMD ROCm documentation; peak tables that cite AMD data sheets; conference reports"},
    {"mi355x",
     "MI355X",
     "CU",
     256,
     kMi355xRates,
     0,
     2400,
     288 * kGiB,
     8000 * kGiga,
     1400,
     kSparse,
     kMi355xAliases,
     {},
     "gfx950",
     {},
     "",
     "10066 as fp8 is sparse; tables that divide by 2300 take the MI350X",
     {},
     "AMD ROCm documentation; ml-engineering accelerator tables; conference reports"},
};

}  // namespace

std::span<const Chip> amd_rows() noexcept { return kAmdRows; }

}  // namespace mfu::chips_detail
