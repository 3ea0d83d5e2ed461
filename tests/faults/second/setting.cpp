#include "setting.hpp"

#include <algorithm>

namespace second {
namespace {

std::vector<std::string> names_of_nodes(int nodes, Random& random) {
  const int style = random.below(3);
  const int first = random.between(1, 400);
  std::vector<std::string> names;
  for (int node = 0; node < nodes; ++node) {
    std::string number = std::to_string(style == 0 ? node : first + node);
    number.insert(0, number.size() < 4 ? 4 - number.size() : 0, '0');
    names.push_back((style == 0 ? "n" : style == 1 ? "gpu-" : "host") + number);
  }
  return names;
}

int power_of_two_near(double value) {
  int power = 8;
  while (power * 1.42 < value) power *= 2;
  return power;
}

void place_pipeline(Layout& layout, Random& random) {
  layout.pp = random.one_of({1, 2, 4, 4, 8});
  while (layout.pp > 2 && layout.ranks / layout.pp < 2) layout.pp /= 2;
  layout.tp = layout.pp == 1 ? layout.per_node : random.one_of({1, 2, 4, 8});
  while (layout.tp > 1 && (layout.tp > layout.per_node || layout.ranks / layout.pp < layout.tp)) {
    layout.tp /= 2;
  }
  layout.dp = layout.ranks / (layout.pp * layout.tp);
}

}  // namespace

std::vector<int> Layout::ranks_of(const std::vector<int>& which) const {
  std::vector<int> all;
  for (int node : which) {
    for (int rank = node * per_node; rank < std::min(ranks, (node + 1) * per_node); ++rank) {
      all.push_back(rank);
    }
  }
  return all;
}

std::string shape_name(const Setting& setting) {
  switch (setting.shape) {
    case Shape::sharded:
      return "sharded";
    case Shape::hybrid:
      return "hybrid";
    case Shape::ddp:
      return "ddp";
    case Shape::expert:
      return "expert";
    case Shape::ring:
      return "ring";
    case Shape::pipeline:
      break;
  }
  if (setting.layout.pp == 1) return "tensor";
  return setting.virtual_stages > 1 ? "pipeline-interleaved" : "pipeline-1f1b";
}

Setting draw_setting(std::uint64_t seed, Random& random, const std::vector<Shape>& allowed) {
  Setting setting;
  setting.seed = seed;
  setting.shape = at(allowed, random.below(count_of(allowed)));
  Layout& layout = setting.layout;
  layout.per_node = random.chance(0.8) ? 8 : 4;
  const double wish =
      random.chance(0.9) ? random.log_uniform(8, 300) : random.log_uniform(300, 4200);
  layout.ranks = power_of_two_near(wish);
  const bool any_multiple = setting.shape == Shape::sharded || setting.shape == Shape::ddp;
  if (any_multiple && random.chance(0.4)) {
    layout.ranks = std::max(1, static_cast<int>(wish) / layout.per_node) * layout.per_node;
  }
  layout.ranks = std::clamp(layout.ranks, 8, 4096);
  if (setting.shape == Shape::hybrid) layout.ranks = std::max(layout.ranks, 4 * layout.per_node);
  layout.dp = layout.ranks;
  if (setting.shape == Shape::pipeline) place_pipeline(layout, random);
  if (setting.shape == Shape::expert) {
    layout.ranks = std::max(layout.ranks, 32);
    layout.ep = random.one_of({4, 8, 8});
    layout.dp = layout.ranks / layout.ep;
  }
  if (setting.shape == Shape::ring) {
    layout.cp = random.one_of({2, 4});
    layout.dp = layout.ranks / layout.cp;
  }
  if (layout.nodes() >= 4 && random.chance(0.3)) layout.per_rack = random.one_of({2, 4});
  layout.node_names = names_of_nodes(layout.nodes(), random);

  setting.steps = static_cast<int>(random.log_uniform(8, 61));
  if (layout.ranks > 512) setting.steps = std::min(setting.steps, 24);
  if (layout.ranks > 2048) setting.steps = std::min(setting.steps, 16);
  setting.blocks = layout.ranks > 512 ? 4 : random.between(4, 10);
  setting.accumulation = random.one_of({1, 1, 1, 2});
  if (setting.shape == Shape::pipeline) {
    // The interleaved order wants whole rounds of the pipeline.
    setting.microbatches = layout.pp * random.one_of({2, 2, 3, 4});
    setting.virtual_stages = layout.pp > 1 && random.chance(0.35) ? 2 : 1;
    setting.accumulation = 1;
  }
  setting.compute_s = random.log_uniform(0.3, 8.0);
  setting.launch_share = random.uniform(0.1, 0.5);
  setting.transfer_share = random.uniform(0.1, 0.5);
  setting.exchange_share = random.uniform(0.005, 0.025);
  setting.latency_s = random.log_uniform(5e-6, 5e-5);
  setting.speed_spread = random.uniform(0.001, 0.003);
  setting.noise = random.uniform(0.001, 0.004);
  setting.fetch_s = setting.compute_s * random.log_uniform(0.0003, 0.005);
  setting.grows_over_nodes = layout.nodes() > 1;
  return setting;
}

}  // namespace second
