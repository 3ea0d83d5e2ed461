// Logs that print one metric a line: a block of them is a step.
#pragma once

#include "base/note_code.hpp"
#include "logs/format.hpp"

namespace mfu {

class MetricBlock : public LogFormat {
 public:
  using LogFormat::LogFormat;
  void end() override { flush(); }

 protected:
  // A block starts; `iteration` -1: it has no number.
  void begin(const LogLine& line, std::int64_t iteration) {
    flush();
    step_ = step_at(line, iteration);
    origin_ = line.origin;
    open_ = true;
  }
  // The step to fill. A metric that comes again starts the next block.
  LoggedStep& block(const LogLine& line, const std::optional<double> LoggedStep::*field) {
    if (!open_ || (told_ && step_.*field)) begin(line, -1);
    told_ = true;
    return step_;
  }
  void flush() {
    if (open_ && told_) {
      if (step_.iteration < 0) {
        step_.iteration = next_;
        notes.add(NoteCode::steps_not_numbered, "blocks without a step number: counted from 1");
      }
      next_ = step_.iteration + 1;
      steps.add(step_, origin_);
    }
    open_ = false;
    told_ = false;
  }

 private:
  LoggedStep step_;
  std::uint64_t origin_ = 0;
  std::int64_t next_ = 1;
  bool open_ = false;
  bool told_ = false;
};

}  // namespace mfu
