// Collects what a formula needs and the model or run lacks, so that all of it is named at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mfu/flops.hpp"
#include "mfu/model.hpp"

namespace mfu {

class Missing {
 public:
  // A value that is not positive was not given.
  void need(std::string_view key, std::int64_t value);
  void need_seq_len(const Work& work, bool ignores_packing);
  void add(std::string_view key);
  [[nodiscard]] bool empty() const noexcept { return keys_.empty(); }
  // Throws Error{insufficient} naming all of them, and what needs them.
  void check(std::string_view who) const;

 private:
  std::string keys_;
};

// What the layers of the shape need: widths of attention, MLP, experts and Mamba as far as it has
// such layers.
void require_layers(const ModelShape& model, Missing& missing);

// Throws Error{insufficient} where the sequence length was not given.
void require_seq_len(const Work& work);

}  // namespace mfu
