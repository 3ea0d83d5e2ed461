// Training steps among the NVTX ranges of a process.
//
// A range is a candidate by its name: a word for a step, then a number ("iteration12", "step 12",
// "iter 12/1000", "ProfilerStep#12", "train_batch[3]"); or one of the names under which frameworks
// repeat a whole step without a number ("[pl][profile]run_training_batch", "training_step"), which
// are numbered in their order from 0. Parts of steps ("optimizer_step", "microbatch 3",
// "eval step 2") are none.
//
// Candidates of one spelling on one thread are a family. Its ranges must not overlap and its
// numbers must rise. Of several families the one is taken that has numbers; then the one with at
// least three ranges; then the one that covers the most time, which is the outermost of nested
// ones; then the first by name and thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "traces/rank_trace.hpp"

namespace mfu::traces {

struct StepName {
  std::string family;  // "iteration N"; printable
  std::optional<std::int64_t> number;
};
[[nodiscard]] std::optional<StepName> parse_step_name(std::string_view text);

class NvtxSteps {
 public:
  void add(const StepName& name, std::int64_t thread, std::int64_t begin_ns, std::int64_t end_ns);
  [[nodiscard]] bool empty() const noexcept { return families_.empty(); }

  struct Choice {
    std::string family;                 // empty: no family can be steps
    std::vector<StepSplit> windows;     // in order of begin, without overlap
    std::vector<std::string> others;    // could have been steps as well
    std::vector<std::string> unusable;  // overlap, or numbers that do not rise
  };
  [[nodiscard]] Choice choose() const;

 private:
  static constexpr std::size_t kMostFamilies = 256;
  struct Range {
    std::int64_t id = 0;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
  };
  struct Family {
    bool numbered = false;
    std::vector<Range> ranges;
  };
  [[nodiscard]] static std::vector<StepSplit> windows_of(const Family& family);
  std::map<std::pair<std::string, std::int64_t>, Family> families_;  // by name and thread
};

}  // namespace mfu::traces
