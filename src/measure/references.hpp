// Published measurements to place one's own among. They calibrate ambition and prove nothing: only
// the same job before and after, under one convention, does.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mfu/flops.hpp"
#include "mfu/model.hpp"

namespace mfu {

// How the printed figure stands to its own inputs.
enum class Standing {
  reproduced,      // counted anew under its convention it is what is printed
  fitted,          // a convention was chosen because it fits: no evidence
  not_reproduced,  // what is printed does not follow from its own inputs
  not_checkable,   // nothing is printed to count from
};

// What FLOPs are counted from. Zeros: not told.
struct ReferenceShape {
  std::int64_t layers = 0, hidden = 0, ffn_hidden = 0, heads = 0, kv_heads = 0, head_dim = 0;
  std::int64_t vocab = 0;
  bool gated_mlp = false;
  bool tied_embeddings = false;
  std::int64_t learned_positions = 0;
};

struct ReferencePoint {
  std::string_view id, model;
  std::string_view system;  // that trained it; empty: not told
  std::string_view source;
  std::string_view date;  // of the source: "2024-02"; empty: it has none
  std::string_view chip;  // id of the chip table
  double gpus = 0.0;
  double params = 0.0;
  double seq_len = 0.0;
  double mfu = 0.0;             // as printed; 0: none
  double hfu = 0.0;             // as printed; 0: none
  std::string_view convention;  // id; empty: not told
  double peak_flops = 0.0;      // of one GPU, that the source holds it against
  Standing standing = Standing::not_checkable;
  std::string_view note;
  double tokens_per_second_per_gpu = 0.0;  // 0: not told
  ReferenceShape shape;
};
[[nodiscard]] std::span<const ReferencePoint> references() noexcept;

// The usual range of LLM training on many GPUs.
inline constexpr double kUsualLow = 0.30;
inline constexpr double kUsualHigh = 0.60;
// Told of one of two clusters of the same make that diverged; by whom and of what job is not known.
inline constexpr double kToldOfDiverged = 0.23;

// The point's MFU under another convention, against its own peak; nothing where the source does not
// allow it: no shape or throughput, or the figure itself does not reproduce.
[[nodiscard]] std::optional<double> restated_mfu(const ReferencePoint& point,
                                                 const Convention& convention,
                                                 const Switches& switches = {});

struct PlacedReference {
  const ReferencePoint* point = nullptr;
  std::optional<double> restated;
};
struct ReferencePlacement {
  int position = 0;  // against the usual range: -1 below, 0 within, 1 above
  std::vector<PlacedReference> nearest;
};
// Points of like scale: GPUs and parameters within a factor of four, the nearest first, the same
// chip before others; at most `most`. Without parameters by GPUs alone. Points that print no MFU
// are none.
[[nodiscard]] ReferencePlacement place_among(double mfu, std::optional<double> gpus,
                                             std::optional<double> params, std::string_view chip,
                                             const Convention* convention, const Switches& switches,
                                             std::size_t most = 3);

}  // namespace mfu
