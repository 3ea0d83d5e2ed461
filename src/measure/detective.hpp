// The way back from a printed figure to what produced it.
#pragma once

#include <cstddef>
#include <vector>

#include "measure/peaks.hpp"
#include "mfu/flops.hpp"
#include "mfu/measure.hpp"

namespace mfu {

struct Reported {
  bool is_ratio = false;  // MFU or HFU; else FLOP/s of one GPU
  double value = 0.0;
  double half_unit = 0.0;  // half a unit of the last printed digit, relative to the value
};

enum class WrongFactor {
  none,
  gpus_not_divided,    // the whole job's throughput against one GPU
  gpus_divided_twice,  // a GPU's throughput divided by the GPUs again
  accumulation_twice,
  accumulation_missed,
  forward_only,  // the backward pass is missing: 1/3
  three_times,   // forward and backward counted three times over
  with_embedding,
  without_embedding,
  sequence_doubled,
  sequence_halved,
  recomputed_full,  // a hardware figure
  recomputed_selective,
};

struct Match {
  const Convention* convention = nullptr;
  WrongFactor factor = WrongFactor::none;
  PeakRow peak;  // `used` where it is the measurement's own
  bool hardware = false;
  double value = 0.0;           // of the reported kind
  double relative_error = 0.0;  // (value - reported) / reported
  int departures = 0;           // from what was stated: convention, peak, factor
  bool tied = false;            // within the rounding of what is printed
};

struct Detection {
  Reported reported;
  double tolerance = 0.0;      // relative: rounding of the figure and of the measurement
  std::vector<Match> matches;  // best first: within the tolerance by departures, then by error
  std::size_t tried = 0;
  std::size_t ties = 0;  // all within the tolerance, also those that are not listed
};

// Which convention, peak or single wrong factor turns the measurement into the printed figure.
// `half_unit`: the rounding of the measurement itself, relative. At most `most` matches are kept.
[[nodiscard]] Detection detect(const Calculation& calculation, const Reported& reported,
                               double half_unit, std::size_t most = 10);

}  // namespace mfu
