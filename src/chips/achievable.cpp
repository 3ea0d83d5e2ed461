// What matrix products have reached on real chips. Figures in FLOP/s, dense.
#include <algorithm>

#include "chips/rows.hpp"

namespace mfu {
namespace {

using namespace chips_detail;

constexpr Achievable kMeasured[] = {
    {"a100-sxm4-80gb", bf16, 271.2 * kTera, 0, "", "ml-engineering accelerator tables"},
    {"a100-pcie-80gb", bf16, 252.9 * kTera, 0, "", "ml-engineering accelerator tables"},
    {"h100-sxm5-80gb", bf16, 794.5 * kTera, 0, "an H200 reaches the same",
     "ml-engineering accelerator tables"},
    {"h100-sxm5-80gb", fp8, 1402.6 * kTera, 0, "", "ml-engineering accelerator tables"},
    {"h200-sxm", fp8, 1453.4 * kTera, 0, "", "ml-engineering accelerator tables"},
    {"gh200", bf16, 828.6 * kTera, 0, "900 W", "ml-engineering accelerator tables"},
    {"gh200", fp8, 1535 * kTera, 0, "", "ml-engineering accelerator tables"},
    {"b200", bf16, 1745 * kTera, 0, "", "ml-engineering accelerator tables"},
    {"b200", fp8, 3432.5 * kTera, 0, "", "ml-engineering accelerator tables"},
    {"b300", bf16, 1769 * kTera, 0, "", "ml-engineering accelerator tables"},
    {"b300", fp8, 3353.3 * kTera, 0, "", "ml-engineering accelerator tables"},
    {"gb200", bf16, 1822 * kTera, 0, "", "ml-engineering accelerator tables"},
    {"gb200", fp8, 3615.6 * kTera, 0, "", "ml-engineering accelerator tables"},
    {"mi355x", bf16, 1565 * kTera, 0, "", "ml-engineering accelerator tables"},
    {"mi325x", bf16, 784.9 * kTera, 0, "", "ml-engineering accelerator tables"},
    {"mi300x", bf16, 668.4 * kTera, 0, "", "ml-engineering accelerator tables"},
    {"mi300x", fp16, 654 * kTera, 1115, "", "AMD ROCm blog on achievable FLOPs"},
    {"mi300x", bf16, 708 * kTera, 1207, "", "AMD ROCm blog on achievable FLOPs"},
    {"mi300x", fp8, 1273 * kTera, 1230, "", "AMD ROCm blog on achievable FLOPs"},
    {"mi325x", fp16, 794 * kTera, 1354, "", "AMD ROCm blog on achievable FLOPs"},
    {"mi325x", bf16, 843 * kTera, 1447, "", "AMD ROCm blog on achievable FLOPs"},
    {"mi325x", fp8, 1519 * kTera, 1464, "", "AMD ROCm blog on achievable FLOPs"},
    {"gaudi2", bf16, 418.7 * kTera, 0, "", "ml-engineering accelerator tables"},
    {"gaudi3", bf16, 1243 * kTera, 0, "", "ml-engineering accelerator tables"},
    {"h20", bf16, 142.25 * kTera, 0, "", "a published H20 measurement"},
    {"t4", fp16, 24 * kTera, 0, "", "NVIDIA developer forum"},
    {"a100-sxm4-40gb", fp16, 257 * kTera, 0, "random inputs; zeros give 295",
     "thonking.ai, matrix multiplications"},
    {"h100-sxm5-80gb", bf16, 780.2 * kTera, 0, "autotuned", "a published benchmark gist"},
};

}  // namespace

std::span<const Achievable> achievable() noexcept { return kMeasured; }

const Achievable* best_achievable(const Chip& chip, Precision precision) noexcept {
  const Achievable* best = nullptr;
  for (const Achievable& row : kMeasured) {
    if (row.chip_id != chip.id || row.precision != precision) continue;
    if (best == nullptr || row.flops > best->flops) best = &row;
  }
  return best;
}

}  // namespace mfu
