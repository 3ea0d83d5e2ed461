#include "faults/job/layout.hpp"

namespace mfu::faults {

namespace {

template <class Predicate>
std::vector<int> ranks_where(const Layout& layout, Predicate predicate) {
  std::vector<int> found;
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    if (predicate(rank)) found.push_back(rank);
  }
  return found;
}

}  // namespace

std::vector<int> Layout::ranks_of_node(int node) const {
  return ranks_where(*this, [&](int rank) { return node_of(rank) == node; });
}

std::vector<int> Layout::ranks_of_unit(int wanted) const {
  return ranks_where(*this, [&](int rank) { return unit(dp_of(rank), stage_of(rank)) == wanted; });
}

std::vector<int> Layout::ranks_of_dp_group(int group) const {
  return ranks_where(*this, [&](int rank) { return dp_group_of(rank) == group; });
}

std::string Layout::node_name(int node) const {
  std::string digits = std::to_string(node);
  while (digits.size() < 3) digits.insert(digits.begin(), '0');
  return "node" + digits;
}

}  // namespace mfu::faults
