#include "logs/needles.hpp"

#include <queue>

namespace mfu {

std::size_t Needles::add(std::string_view literal, std::uint64_t bits) {
  all_.push_back({literal, bits});
  return all_.size() - 1;
}

void Needles::build() {
  // Bytes that no literal has share class 0.
  class_of_.fill(0);
  classes_ = 1;
  for (const Literal& literal : all_) {
    for (const char c : literal.text) {
      unsigned char& of_byte = class_of_[static_cast<unsigned char>(c)];
      if (of_byte == 0) of_byte = static_cast<unsigned char>(classes_++);
    }
  }
  seen_.assign(all_.size(), 0);
  std::vector<std::vector<int>> tree(1, std::vector<int>(classes_, -1));
  bits_.assign(1, 0);
  literals_.assign(1, {});
  for (std::size_t i = 0; i < all_.size(); ++i) {
    std::size_t state = 0;
    for (const char c : all_[i].text) {
      const std::size_t step = class_of_[static_cast<unsigned char>(c)];
      if (tree[state][step] < 0) {
        tree[state][step] = static_cast<int>(tree.size());
        tree.emplace_back(classes_, -1);
        bits_.push_back(0);
        literals_.emplace_back();
      }
      state = static_cast<std::size_t>(tree[state][step]);
    }
    bits_[state] |= all_[i].bits;
    literals_[state].push_back(static_cast<std::uint16_t>(i));
  }
  std::vector<std::size_t> fail(tree.size(), 0);
  std::queue<std::size_t> open;
  for (int& child : tree[0]) {
    if (child < 0) {
      child = 0;
    } else {
      open.push(static_cast<std::size_t>(child));
    }
  }
  while (!open.empty()) {
    const std::size_t state = open.front();
    open.pop();
    const std::size_t shorter = fail[state];
    bits_[state] |= bits_[shorter];
    literals_[state].insert(literals_[state].end(), literals_[shorter].begin(),
                            literals_[shorter].end());
    for (std::size_t step = 0; step < classes_; ++step) {
      int& child = tree[state][step];
      if (child < 0) {
        child = tree[shorter][step];
      } else {
        fail[static_cast<std::size_t>(child)] = static_cast<std::size_t>(tree[shorter][step]);
        open.push(static_cast<std::size_t>(child));
      }
    }
  }
  next_.resize(tree.size() * classes_);
  for (std::size_t state = 0; state < tree.size(); ++state) {
    for (std::size_t step = 0; step < classes_; ++step) {
      const auto to = static_cast<std::size_t>(tree[state][step]);
      next_[state * classes_ + step] =
          static_cast<std::uint16_t>(to | (literals_[to].empty() ? 0 : kFound));
    }
  }
}

}  // namespace mfu
