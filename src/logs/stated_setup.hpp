// What a log of any format says of its run in words that frameworks share: world size, parameters,
// trainable parameters. LoRA is believed of the counts, not of a rank in a list of arguments: that
// stands there whether it is used or not.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "logs/lines.hpp"
#include "logs/training_log.hpp"

namespace mfu {

class StatedSetup {
 public:
  // Any of them makes a line worth asking about.
  [[nodiscard]] static std::span<const std::string_view> words();

  void line(const LogLine& line);
  // What the format itself has not found.
  void add_to(TrainingLog& log) const;

 private:
  struct Figure {
    std::optional<double> value;
    std::int64_t line = 0;
    bool contradicted = false;
    void say(std::optional<double> stated, std::int64_t at);
  };
  Figure world_size_;
  Figure params_;
  Figure trainable_;
};

}  // namespace mfu
