// Every sentence of the tool. Nothing here computes more than a ratio of two numbers that it shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/evidence.hpp"
#include "mfu/diagnose.hpp"
#include "report/conditions.hpp"

namespace mfu {

// Whom a finding is about: "rank 13 on n1", "ranks 8-15", "stage 3 of 4", "all ranks".
struct Subject {
  std::string name;
  bool plural = false;
};

// What the sentences need to know beside the fact itself.
struct WordingContext {
  Subject subject;
  Locality locality = Locality::none;
  std::int64_t ranks = 0;
  double materiality = 0.05;
  double communication_materiality = 0.15;  // of steady exposed transfer
};

[[nodiscard]] std::string family_name(Family family);  // for people: "single-GPU efficiency"
[[nodiscard]] std::string cause_name(Cause cause);     // "stage partition"; none: ""
[[nodiscard]] std::string persistence_phrase(Persistence persistence,
                                             std::optional<std::int64_t> onset_step,
                                             std::optional<double> period_steps);
// A name from the file, cut between characters where it would crowd out the sentence.
[[nodiscard]] std::string shortened(const std::string& name);
[[nodiscard]] std::string number_list(std::vector<std::int64_t> numbers);  // "0-3, 7"
[[nodiscard]] std::string name_list(const std::vector<std::string>& names);
[[nodiscard]] Subject subject_of(Locality locality, const Culprits& culprits, int stages);
[[nodiscard]] std::string fact_sentence(const Fact& fact, const WordingContext& context);
[[nodiscard]] std::string part_label(PartId part);

// advice.cpp
struct Advice {
  std::vector<std::string> actions;  // cheapest first
  std::string owner;
  std::string refuted_by;  // continues "not if ..."
};
[[nodiscard]] Advice advice_for(Family family, Cause cause, Locality locality,
                                Persistence persistence, const Subject& subject,
                                const Conditions& conditions = {});
// The command to run after the fix, which says whether this factor moved.
[[nodiscard]] std::string verify_command(FactorId aimed_at);
// What to measure so that an inconclusive diagnosis becomes a verdict; by the facts that say why.
[[nodiscard]] std::vector<std::string> deciding_measurements(const std::vector<Fact>& facts);

}  // namespace mfu
