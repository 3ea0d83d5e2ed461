#include "diagnose/fit/schedule.hpp"

#include <algorithm>

namespace mfu::diagnosis {

namespace {

constexpr double kMostOperations = 65536.0;

struct Step {
  int chunk;
  int microbatch;
  bool forward;
};

// The k-th forward (or backward) of any stage: microbatches come in groups as large as the number
// of stages, and a group passes through all chunks before the next one starts.
Step virtual_step(int k, int stages, int chunks, bool forward) {
  const int in_group = k % (stages * chunks);
  const int chunk = in_group / stages;
  const int microbatch = k / (stages * chunks) * stages + in_group % stages;
  return {forward ? chunk : chunks - 1 - chunk, microbatch, forward};
}

std::vector<Step> order_of_stage(PipelineSchedule kind, int stage, int stages, int microbatches,
                                 int chunks) {
  const int total = microbatches * chunks;
  const auto make = [&](int k, bool forward) {
    return chunks > 1 ? virtual_step(k, stages, chunks, forward) : Step{0, k, forward};
  };
  int ahead = total;
  if (kind != PipelineSchedule::gpipe) {
    ahead = chunks > 1 ? (stages - stage - 1) * 2 + (chunks - 1) * stages : stages - stage - 1;
    ahead = std::min(ahead, total);
  }
  std::vector<Step> order;
  for (int k = 0; k < ahead; ++k) order.push_back(make(k, true));
  for (int k = ahead; k < total; ++k) {
    order.push_back(make(k, true));
    order.push_back(make(k - ahead, false));
  }
  for (int k = total - ahead; k < total; ++k) order.push_back(make(k, false));
  return order;
}

}  // namespace

std::optional<Schedule> Schedule::build(PipelineSchedule kind, int stages, int microbatches,
                                        int chunks) {
  if (stages < 1 || microbatches < 1 || chunks < 1) return std::nullopt;
  if (chunks > 1 && microbatches % stages != 0) return std::nullopt;
  if (2.0 * microbatches * chunks * stages > kMostOperations) return std::nullopt;
  const auto pieces = static_cast<std::size_t>(microbatches) * static_cast<std::size_t>(chunks);

  std::vector<std::vector<Step>> orders;
  for (int p = 0; p < stages; ++p) {
    orders.push_back(order_of_stage(kind, p, stages, microbatches, chunks));
  }
  // done[direction][stage][chunk x microbatch] = index in the list, -1: not yet.
  const auto slot = [&](const Step& step) {
    return static_cast<std::size_t>(step.chunk * microbatches + step.microbatch);
  };
  std::vector<std::vector<std::int32_t>> forward_at(static_cast<std::size_t>(stages),
                                                    std::vector<std::int32_t>(pieces, -1));
  std::vector<std::vector<std::int32_t>> backward_at = forward_at;
  const auto need = [&](int stage, const Step& step, bool& ready) -> std::int32_t {
    const bool first = stage == 0;
    const bool last = stage + 1 == stages;
    std::int32_t index = -1;
    if (step.forward) {
      if (first && step.chunk == 0) return -1;
      const Step from{first ? step.chunk - 1 : step.chunk, step.microbatch, true};
      index = forward_at[static_cast<std::size_t>(first ? stages - 1 : stage - 1)][slot(from)];
    } else if (last && step.chunk + 1 == chunks) {
      index = forward_at[static_cast<std::size_t>(stage)][slot(step)];
    } else {
      const Step from{last ? step.chunk + 1 : step.chunk, step.microbatch, false};
      index = backward_at[static_cast<std::size_t>(last ? 0 : stage + 1)][slot(from)];
    }
    ready = index >= 0;
    return index;
  };

  Schedule result;
  result.stages_ = static_cast<std::size_t>(stages);
  result.pieces_ = static_cast<double>(pieces);
  std::vector<std::size_t> next(static_cast<std::size_t>(stages), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (int p = 0; p < stages; ++p) {
      const auto at = static_cast<std::size_t>(p);
      while (next[at] < orders[at].size()) {
        const Step& step = orders[at][next[at]];
        bool ready = true;
        const std::int32_t after = need(p, step, ready);
        if (!ready) break;
        auto& done = step.forward ? forward_at : backward_at;
        done[at][slot(step)] = static_cast<std::int32_t>(result.operations_.size());
        result.operations_.push_back({p, step.microbatch, after, step.forward});
        ++next[at];
        moved = true;
      }
    }
  }
  if (result.operations_.size() != 2 * pieces * result.stages_) return std::nullopt;
  result.ends_.resize(result.operations_.size());
  result.free_at_.resize(result.stages_);
  result.forward_seconds_.resize(result.stages_);
  result.backward_seconds_.resize(result.stages_);
  return result;
}

double Schedule::replay(std::span<const double> compute, std::span<const double> forward_share,
                        std::span<const double> weight) {
  for (std::size_t p = 0; p < stages_; ++p) {
    forward_seconds_[p] = compute[p] * forward_share[p] / pieces_;
    backward_seconds_[p] = compute[p] * (1.0 - forward_share[p]) / pieces_;
    free_at_[p] = 0.0;
  }
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const Operation& op = operations_[i];
    const auto p = static_cast<std::size_t>(op.stage);
    double seconds = op.forward ? forward_seconds_[p] : backward_seconds_[p];
    if (!weight.empty()) seconds *= weight[static_cast<std::size_t>(op.microbatch)];
    const double ready = op.after < 0 ? 0.0 : ends_[static_cast<std::size_t>(op.after)];
    free_at_[p] = std::max(free_at_[p], ready) + seconds;
    ends_[i] = free_at_[p];
  }
  return *std::max_element(free_at_.begin(), free_at_.end());
}

}  // namespace mfu::diagnosis
