#include "engine.hpp"

#include <algorithm>

namespace second {

Effects::Effects(const Setting& setting)
    : forward(setting.steps, setting.layout.ranks, 1.0F),
      backward(setting.steps, setting.layout.ranks, 1.0F),
      stall_s(setting.steps, setting.layout.ranks, 0.0F),
      pause_s(setting.steps, setting.layout.ranks, 0.0F),
      launch(static_cast<std::size_t>(setting.layout.ranks), 1.0),
      rail(setting.steps, setting.layout.ranks, 1.0F),
      nvlink(setting.steps, setting.layout.nodes(), 1.0F),
      network(static_cast<std::size_t>(setting.steps), 1.0),
      length(setting.steps,
             setting.layout.replicas() * std::max(setting.accumulation, setting.microbatches),
             1.0F),
      stage(static_cast<std::size_t>(setting.layout.pp), 1.0),
      expert(setting.steps, setting.layout.ranks, 1.0F) {}

double Cell::waits() const {
  double sum = 0;
  for (double value : wait) sum += value;
  return sum;
}

double Cell::transfers() const {
  double sum = 0;
  for (double value : transfer) sum += value;
  return sum;
}

Engine::Engine(const Setting& setting, const Effects& effects)
    : now(static_cast<std::size_t>(setting.layout.ranks), 0.0),
      host(now),
      compute(now),
      setting_(setting),
      effects_(effects),
      device_(setting.seed, 1),
      pass_(setting.seed, 2),
      transfer_(setting.seed, 3),
      fetch_(setting.seed, 4),
      begin_(now),
      forward_s_(now),
      backward_s_(now),
      lasting_(now),
      kernels_(now.size()),
      exchanges_(now.size()),
      ran_forward_(now),
      ran_backward_(now) {
  for (int rank = 0; rank < setting.layout.ranks; ++rank) {
    at(lasting_, rank) = std::max(0.5, 1.0 + setting.speed_spread * device_.normal(rank, 0));
  }
}

void Engine::begin_step(int step) {
  step_ = step;
  transfers_ = 0;
  // Compilation, allocators, caches: the first steps of a job are slow on all ranks alike.
  const double cold = step < setting_.warmup ? (step == 0 ? 3.0 : 1.7) : 1.0;
  for (int rank = 0; rank < setting_.layout.ranks; ++rank) {
    begin_[static_cast<std::size_t>(rank)] = at(now, rank);
    // Fetching takes longer at times; never less than a good part of its usual time.
    const double fetch_s = setting_.fetch_s * (0.7 + 0.6 * fetch_.unit(step, rank));
    at(host, rank) = at(now, rank) + fetch_s + static_cast<double>(effects_.stall_s(step, rank)) +
                     (cold - 1.0) * 0.5 * setting_.compute_s;
    at(compute, rank) = at(now, rank);
    const double common = pass_.normal(step, rank, 0);
    const auto pass = [&](int which, float factor) {
      const double own = 0.7 * common + 0.7 * pass_.normal(step, rank, which);
      return std::max(0.3, 1.0 + setting_.noise * own) * at(lasting_, rank) * cold *
             static_cast<double>(factor);
    };
    at(forward_s_, rank) = pass(1, effects_.forward(step, rank));
    at(backward_s_, rank) = pass(2, effects_.backward(step, rank));
    at(kernels_, rank).clear();
    at(exchanges_, rank).clear();
    at(ran_forward_, rank) = at(ran_backward_, rank) = 0.0;
  }
}

double Engine::kernel(int rank, double ready, double work_s, double launch_s, bool backward) {
  const double took = work_s * (backward ? at(backward_s_, rank) : at(forward_s_, rank));
  const double start = std::max({ready, at(compute, rank), at(host, rank)});
  at(host, rank) += launch_s * at(effects_.launch, rank);
  // Where the host is slower than the device, the last kernel of the block waits for its launch.
  const double end = std::max(start + took, at(host, rank));
  at(kernels_, rank).push_back({start, start + took});
  (backward ? at(ran_backward_, rank) : at(ran_forward_, rank)) += took;
  at(compute, rank) = end;
  return end;
}

void Engine::pause(int rank) {
  at(host, rank) += static_cast<double>(effects_.pause_s(step_, rank));
}

double Engine::link_between(int rank, int other) const {
  const Layout& layout = setting_.layout;
  if (layout.node_of(rank) == layout.node_of(other)) {
    return static_cast<double>(effects_.nvlink(step_, layout.node_of(rank)));
  }
  return static_cast<double>(std::min(effects_.rail(step_, rank), effects_.rail(step_, other)));
}

double Engine::slowest_link(const std::vector<int>& members) const {
  if (!effects_.links) return 1.0;
  const Layout& layout = setting_.layout;
  double slowest = 1.0;
  if (layout.node_of(members.front()) == layout.node_of(members.back())) {
    slowest = static_cast<double>(effects_.nvlink(step_, layout.node_of(members.front())));
  } else {
    for (int rank : members) {
      slowest = std::min(slowest, static_cast<double>(effects_.rail(step_, rank)));
    }
  }
  return slowest * at(effects_.network, step_);
}

void Engine::meet(const std::vector<int>& members, Axis axis, double transfer_s,
                  std::vector<double>& ready) {
  double start = 0;
  for (int rank : members) start = std::max(start, at(ready, rank));
  const double spread = std::max(0.5, 1.0 + 0.03 * transfer_.normal(step_, ++transfers_, axis));
  const double end = start + setting_.latency_s + transfer_s * spread / slowest_link(members);
  for (int rank : members) {
    at(exchanges_, rank).push_back({at(ready, rank), start, end, axis});
    at(ready, rank) = end;
  }
}

double Engine::receive(int rank, int from, double ready, double sent, double transfer_s,
                       Axis axis) {
  const double speed =
      effects_.links ? link_between(rank, from) * at(effects_.network, step_) : 1.0;
  const double there = sent + setting_.latency_s + transfer_s / speed;
  if (there > ready) {
    at(exchanges_, rank).push_back({ready, std::clamp(sent, ready, there), there, axis});
  }
  return there;
}

void Engine::account(int rank, Cell& cell) {
  auto& exchanges = at(exchanges_, rank);
  std::sort(exchanges.begin(), exchanges.end(),
            [](const Exchange& a, const Exchange& b) { return a.ready < b.ready; });
  cell.forward = at(ran_forward_, rank);
  cell.backward = at(ran_backward_, rank);
  double inside = 0;  // time of exchanges, to know how much of it was hidden
  for (const Exchange& exchange : exchanges) inside += exchange.end - exchange.ready;

  // What fills the gaps between kernels. An exchange that is still under way from an earlier gap is
  // seen again: `first` only passes those that have ended.
  std::size_t first = 0;
  const auto gap = [&](double from, double to) {
    double cursor = from;
    while (first < exchanges.size() && exchanges[first].end <= from) ++first;
    for (std::size_t i = first; i < exchanges.size() && cursor < to; ++i) {
      const Exchange& exchange = exchanges[i];
      if (exchange.ready >= to) break;
      if (exchange.end <= cursor) continue;
      if (exchange.ready > cursor) {
        cell.stall += exchange.ready - cursor;
        cursor = exchange.ready;
      }
      if (exchange.start > cursor) {
        const double until = std::min(exchange.start, to);
        cell.wait[exchange.axis] += until - cursor;
        cursor = until;
      }
      const double until = std::min(exchange.end, to);
      if (until > cursor) {
        cell.transfer[exchange.axis] += until - cursor;
        cursor = until;
      }
    }
    if (cursor < to) cell.stall += to - cursor;
  };
  double cursor = at(begin_, rank);
  for (const Span& span : at(kernels_, rank)) {
    if (span.begin > cursor) gap(cursor, span.begin);
    cell.compute += span.end - span.begin;
    cursor = span.end;
  }
  if (at(now, rank) > cursor) gap(cursor, at(now, rank));
  cell.overlapped = std::max(0.0, inside - cell.waits() - cell.transfers());
}

void Engine::end_step(Timeline& timeline) {
  double sum = 0;
  for (int rank = 0; rank < setting_.layout.ranks; ++rank) {
    at(now, rank) = at(compute, rank);
    sum += at(now, rank) - at(begin_, rank);
    account(rank, timeline.cells(step_, rank));
  }
  timeline.step_s.push_back(sum / setting_.layout.ranks);
}

Timeline simulate(const Setting& setting, const Effects& effects) {
  Timeline timeline;
  timeline.cells = Table<Cell>(setting.steps, setting.layout.ranks);
  Engine engine(setting, effects);
  std::vector<PipelineOp> order;
  if (setting.shape == Shape::pipeline) {
    order = pipeline_order(setting.layout.pp, setting.virtual_stages, setting.microbatches);
  }
  for (int step = 0; step < setting.steps; ++step) {
    engine.begin_step(step);
    if (setting.shape == Shape::pipeline) {
      run_pipeline(setting, effects, order, engine, step);
    } else {
      run_flat(setting, effects, engine, step);
    }
    engine.end_step(timeline);
  }
  return timeline;
}

double mean_step_s(const Setting& setting, const Timeline& timeline) {
  double sum = 0;
  for (int step = setting.warmup; step < setting.steps; ++step) sum += at(timeline.step_s, step);
  return sum / (setting.steps - setting.warmup);
}

}  // namespace second
