// Two sides held against one another, and what is asked of the result.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/side.hpp"
#include "mfu/compare.hpp"

namespace mfu {

// One key of the set-up in which the sides differ. Keys of one `cause` go together: tensor and data
// parallel sizes are one change of layout. An empty cause: it follows from another.
struct Difference {
  std::string key;    // as in setup: "gpus", "tp"
  std::string cause;  // "batch", "sequence", "layout", "scale", "chip", "model" ...
  std::optional<double> before, after;
  std::string before_text, after_text;
};

// How the sides were brought under one convention.
enum class Restatement {
  none,
  counts,  // both counted under `convention`
  tokens,  // the same model and sequence: tokens a second of a GPU, whatever the FLOPs of one
  flops,   // FLOP/s of a GPU under the same convention, against the peak of `after`
};

struct PartChange {
  std::string id;
  double before = 0.0;  // seconds a step
  double after = 0.0;
};

struct ComparisonDetail {
  Side before, after;
  std::vector<Difference> differences;
  std::vector<std::string> causes;  // of the differences, each once
  Restatement restated = Restatement::none;
  std::string restated_convention;
  bool same_data = false;  // the two sides are the same measurement
  bool per_gpu = false;    // work a step or GPUs differ: seconds a step do not compare
  bool split_differs = false;
  std::vector<PartChange> parts;  // sum to the steps
};

// `comparable` is false where something stands in the way that options.reconvert does not allow to
// take out, or that cannot be taken out: then only reasons and differences are filled.
[[nodiscard]] Comparison compare(const Side& before, const Side& after,
                                 const CompareOptions& options);

// The ids that a run's or a log's change can be expected of: factors and their parts.
[[nodiscard]] std::span<const std::string_view> expectable_factors() noexcept;

// Whether the change is the one that was aimed at: the factor moved, and for the better; a part of
// a factor: that it is the largest part of it.
[[nodiscard]] bool is_as_expected(const Comparison& comparison, std::string_view factor);

// Fails only when the slowdown is beyond `limit` and its interval excludes none.
struct Regression {
  double slowdown = 0.0;  // share of the speed that is lost; below 0: quicker
  std::optional<Interval> interval;
  bool beyond_limit = false;
  bool certain = false;
  [[nodiscard]] bool failed() const noexcept { return beyond_limit && certain; }
};
[[nodiscard]] Regression regression_of(const Comparison& comparison, double limit) noexcept;

}  // namespace mfu
