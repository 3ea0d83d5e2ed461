// Slow places: ranks that take longer than their peers, as candidates.
#pragma once

#include <functional>
#include <vector>

#include "diagnose/explain/candidate.hpp"
#include "diagnose/explain/readings.hpp"
#include "diagnose/places/place.hpp"

namespace mfu::diagnosis {

// A place with its and its peers' seconds in each step.
struct SlowPlace {
  RankSet place;
  std::vector<Contrast> levels;
  Course course;  // of the difference
  Contrast on;    // means over the steps in which it is there

  [[nodiscard]] double excess() const { return on.culprits - on.peers; }
};

// `row_of` gives a step's seconds, one a rank.
[[nodiscard]] SlowPlace watched(const RuleContext& context, RankSet place, const RowOf& row_of);
// The slow places of some rows of seconds, found one after the other with those before put right.
// Those that are alike (same kind of place, same course, similar size) are one. `by_stage`: ranks
// are held against those of their stage.
[[nodiscard]] std::vector<SlowPlace> slow_places(RuleContext& context,
                                                 const std::function<RowOf()>& rows,
                                                 const std::function<void(const RankSet&)>& mend,
                                                 bool by_stage);
[[nodiscard]] DeviceStory devices_of(const RuleContext& context, const SlowPlace& slow);
// With `kind` as its first fact; its fix is the caller's.
[[nodiscard]] Candidate candidate_of(RuleContext& context, const SlowPlace& slow,
                                     const Readings& readings, FactKind kind);
// Adds what is coincident with a place, as far as its name does not say it.
void name_coincidence(const Job& job, const RankSet& place, Finding& finding);

}  // namespace mfu::diagnosis
