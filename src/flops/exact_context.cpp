// How many keys a query sees on average. Sums over packed documents weigh each by its tokens.
#include <algorithm>

#include "flops/exact.hpp"
#include "flops/required.hpp"

namespace mfu {
namespace {

double full_context(AttentionCount attention, double length) {
  switch (attention) {
    case AttentionCount::none:
      return 0.0;
    case AttentionCount::full:
      return length;
    case AttentionCount::causal:
      return length / 2.0;
    case AttentionCount::exact:
      return (length + 1.0) / 2.0;
  }
  return 0.0;
}

double context(AttentionCount attention, double length, double window, WindowCount count) {
  const double all = full_context(attention, length);
  if (attention == AttentionCount::none || window <= 0.0 || window >= length) return all;
  if (attention == AttentionCount::full) return window;
  double seen = 0.0;
  switch (count) {
    case WindowCount::pairs:
      seen = window - window * (window - 1.0) / (2.0 * length);
      break;
    case WindowCount::continuous:
      seen = window - window * window / (2.0 * length);
      break;
    case WindowCount::half:
      seen = window / 2.0;
      break;
  }
  // The exact pairs of a window of nearly s are half a key more than the "half" of s: a window must
  // not make a count larger.
  return std::min(seen, all);
}

}  // namespace

double mean_context(const Work& work, AttentionCount attention, double window, WindowCount count,
                    bool ignores_packing) {
  if (attention == AttentionCount::none) return 0.0;
  if (work.lengths.empty() || ignores_packing) {
    require_seq_len(work);
    return context(attention, work.seq_len, window, count);
  }
  double tokens = 0.0;
  double pairs = 0.0;
  for (const double length : work.lengths) {
    tokens += length;
    pairs += length * context(attention, length, window, count);
  }
  return tokens > 0.0 ? pairs / tokens : 0.0;
}

}  // namespace mfu
