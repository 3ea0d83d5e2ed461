#include "measure/references.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "measure/reference_rows.hpp"
#include "mfu/error.hpp"

namespace mfu {
namespace {

constexpr double kLike = 4.0;  // a factor, of GPUs and of parameters

// Powers of two between them; nothing: one is not known.
double distance(double a, double b) { return std::fabs(std::log2(a / b)); }

ModelShape shape_of(const ReferencePoint& point) {
  const ReferenceShape& s = point.shape;
  ModelShape shape;
  shape.name = std::string(point.model);
  shape.layers = s.layers;
  shape.hidden = s.hidden;
  shape.ffn_hidden = s.ffn_hidden;
  shape.heads = s.heads;
  shape.kv_heads = s.kv_heads;
  shape.head_dim = s.head_dim;
  shape.vocab = s.vocab;
  shape.gated_mlp = s.gated_mlp;
  shape.tied_embeddings = s.tied_embeddings;
  shape.learned_positions = s.learned_positions;
  return shape;
}

}  // namespace

std::span<const ReferencePoint> references() noexcept { return measurement::reference_rows(); }

std::optional<double> restated_mfu(const ReferencePoint& point, const Convention& convention,
                                   const Switches& switches) {
  if (point.standing != Standing::reproduced || point.shape.layers == 0 ||
      !(point.tokens_per_second_per_gpu > 0) || !(point.peak_flops > 0)) {
    return {};
  }
  try {
    Work work;
    work.seq_len = point.seq_len;
    const FlopCount count = count_flops(shape_of(point), work, convention, switches);
    if (!count.model_flops) return {};
    return *count.model_flops * point.tokens_per_second_per_gpu / point.peak_flops;
  } catch (const Error&) {
    return {};  // the convention has no meaning for this shape
  }
}

ReferencePlacement place_among(double mfu, std::optional<double> gpus, std::optional<double> params,
                               std::string_view chip, const Convention* convention,
                               const Switches& switches, std::size_t most) {
  ReferencePlacement placement;
  placement.position = mfu < kUsualLow ? -1 : mfu > kUsualHigh ? 1 : 0;
  if (!gpus || !(*gpus > 0)) return placement;
  struct Candidate {
    const ReferencePoint* point;
    double far;
  };
  std::vector<Candidate> like;
  for (const ReferencePoint& point : references()) {
    if (!(point.mfu > 0)) continue;
    const double by_gpus = distance(point.gpus, *gpus);
    const double by_params = params && *params > 0 ? distance(point.params, *params) : 0.0;
    if (by_gpus > std::log2(kLike) || by_params > std::log2(kLike)) continue;
    like.push_back({&point, by_gpus + by_params + (point.chip == chip ? 0.0 : 1.0)});
  }
  std::stable_sort(like.begin(), like.end(),
                   [](const Candidate& a, const Candidate& b) { return a.far < b.far; });
  if (like.size() > most) like.resize(most);
  for (const Candidate& candidate : like) {
    placement.nearest.push_back(
        {candidate.point, convention != nullptr
                              ? restated_mfu(*candidate.point, *convention, switches)
                              : std::nullopt});
  }
  return placement;
}

}  // namespace mfu
