#include "faults/job/step_model.hpp"

#include <algorithm>

namespace mfu::faults {

namespace {

constexpr std::size_t at(CommKind kind) { return static_cast<std::size_t>(kind); }

struct Chunk {
  bool forward = true;
  int microbatch = 0;
};

// The order in which one stage works through its microbatches.
std::vector<Chunk> schedule(int stages, int stage, int microbatches, bool gpipe) {
  std::vector<Chunk> order;
  const int warm = gpipe ? microbatches : std::min(stages - 1 - stage, microbatches);
  int next_forward = 0;
  int next_backward = 0;
  while (next_forward < warm) order.push_back({true, next_forward++});
  while (next_forward < microbatches) {
    order.push_back({true, next_forward++});
    order.push_back({false, next_backward++});
  }
  while (next_backward < microbatches) order.push_back({false, next_backward++});
  return order;
}

class StepRun {
 public:
  StepRun(const Layout& layout, const StepInputs& inputs, std::vector<double>& clock,
          std::vector<RankStep>& out)
      : layout_(layout), in_(inputs), clock_(clock), out_(out) {}

  void run() {
    for (std::size_t r = 0; r < out_.size(); ++r) {
      out_[r] = RankStep{};
      out_[r].begin = clock_[r];
      out_[r].own_stall += in_.stall_before[r];
      clock_[r] += in_.stall_before[r];
    }
    for (int stage = 0; stage < layout_.pp; ++stage) {
      orders_.push_back(schedule(layout_.pp, stage, in_.microbatches, in_.gpipe));
    }
    for (int d = 0; d < layout_.dp; ++d) run_pipeline(d);
    for (int group = 0; group < layout_.dp_groups(); ++group) {
      meet(layout_.ranks_of_dp_group(group), CommKind::dp, in_.dp_transfer[index(group)]);
    }
    std::vector<int> everyone(out_.size());
    for (std::size_t r = 0; r < everyone.size(); ++r) everyone[r] = static_cast<int>(r);
    meet(everyone, CommKind::world, in_.world_transfer);
    bool pauses = false;
    for (std::size_t r = 0; r < out_.size(); ++r) {
      out_[r].compute = out_[r].forward + out_[r].backward + in_.optimizer[r];
      clock_[r] += in_.optimizer[r] + in_.stall_after[r];
      out_[r].own_stall += in_.stall_after[r];
      pauses = pauses || in_.stall_after[r] > 0.0;
    }
    if (pauses) meet(everyone, CommKind::world, 0.0);
    for (std::size_t r = 0; r < out_.size(); ++r) out_[r].end = clock_[r];
  }

 private:
  // All members arrive, then the collective takes `transfer`.
  void meet(const std::vector<int>& members, CommKind kind, double transfer) {
    double start = 0.0;
    for (const int rank : members) start = std::max(start, clock_[index(rank)]);
    for (const int rank : members) {
      out_[index(rank)].wait[at(kind)] += start - clock_[index(rank)];
      out_[index(rank)].transfer[at(kind)] += transfer;
      clock_[index(rank)] = start + transfer;
    }
  }

  void run_pipeline(int d) {
    const int stages = layout_.pp;
    const int m = in_.microbatches;
    constexpr double kNotYet = -1.0;
    std::vector<double> forward_done(index(stages * m), kNotYet);
    std::vector<double> backward_done(index(stages * m), kNotYet);
    std::vector<std::size_t> next(index(stages), 0);
    std::size_t left = index(2 * stages * m);
    while (left > 0) {
      for (int stage = 0; stage < stages; ++stage) {
        const std::vector<Chunk>& order = orders_[index(stage)];
        while (next[index(stage)] < order.size()) {
          const Chunk chunk = order[next[index(stage)]];
          double arrives = 0.0;
          if (chunk.forward && stage > 0) {
            arrives = forward_done[index((stage - 1) * m + chunk.microbatch)];
          } else if (!chunk.forward && stage + 1 < stages) {
            arrives = backward_done[index((stage + 1) * m + chunk.microbatch)];
          }
          if (arrives == kNotYet) break;
          const double done =
              run_chunk(d, stage, chunk, static_cast<int>(next[index(stage)]), arrives);
          (chunk.forward ? forward_done : backward_done)[index(stage * m + chunk.microbatch)] =
              done;
          ++next[index(stage)];
          --left;
        }
      }
    }
  }

  // arrives: when the neighbour finished its part; 0: no neighbour is needed.
  double run_chunk(int d, int stage, Chunk chunk, int position, double arrives) {
    const int lanes = layout_.lanes();
    const double landed = arrives + in_.p2p_transfer;
    double together = 0.0;
    for (int lane = 0; lane < lanes; ++lane) {
      const std::size_t r = index(layout_.rank(d, stage, lane));
      RankStep& split = out_[r];
      if (arrives > 0.0 && landed > clock_[r]) {
        const double gap = landed - clock_[r];
        const double moving = std::min(gap, in_.p2p_transfer);
        split.transfer[at(CommKind::p2p)] += moving;
        split.wait[at(CommKind::p2p)] += gap - moving;
        clock_[r] = landed;
      }
      if (in_.pause[r] > 0.0 && in_.pause_chunk[r] == position) {
        split.own_stall += in_.pause[r];
        clock_[r] += in_.pause[r];
      }
      const std::size_t item = r * index(in_.microbatches) + index(chunk.microbatch);
      const double work = chunk.forward ? in_.forward[item] : in_.backward[item];
      (chunk.forward ? split.forward : split.backward) += work;
      clock_[r] += work;
      together = std::max(together, clock_[r]);
    }
    if (lanes > 1) {
      const double transfer = in_.lockstep_transfer[index(layout_.unit(d, stage))];
      for (int lane = 0; lane < lanes; ++lane) {
        const std::size_t r = index(layout_.rank(d, stage, lane));
        out_[r].wait[at(CommKind::lockstep)] += together - clock_[r];
        out_[r].transfer[at(CommKind::lockstep)] += transfer;
        clock_[r] = together + transfer;
      }
      together += transfer;
    }
    return together;
  }

  const Layout& layout_;
  const StepInputs& in_;
  std::vector<double>& clock_;
  std::vector<RankStep>& out_;
  std::vector<std::vector<Chunk>> orders_;
};

}  // namespace

void StepInputs::resize(const Layout& layout, int microbatch_count) {
  microbatches = microbatch_count;
  const std::size_t ranks = index(layout.ranks());
  forward.assign(ranks * index(microbatch_count), 0.0);
  backward.assign(ranks * index(microbatch_count), 0.0);
  for (auto* values : {&optimizer, &stall_before, &pause, &stall_after}) values->assign(ranks, 0.0);
  pause_chunk.assign(ranks, 0);
  lockstep_transfer.assign(index(layout.units()), 0.0);
  dp_transfer.assign(index(layout.dp_groups()), 0.0);
}

void run_step(const Layout& layout, const StepInputs& inputs, std::vector<double>& clock,
              std::vector<RankStep>& out) {
  StepRun(layout, inputs, clock, out).run();
}

}  // namespace mfu::faults
