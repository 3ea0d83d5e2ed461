// What was not recorded, and what a verdict cannot be given without.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diagnose/evidence.hpp"
#include "diagnose/explain/candidate.hpp"
#include "diagnose/setup.hpp"

namespace mfu::diagnosis {

// Why the data cannot carry a verdict, whatever was found; empty when it can.
[[nodiscard]] std::vector<Fact> obstacles(const RuleContext& context, const Setup& setup);

// Numbers from 0 on that are not recorded, of a job of `expected` ranks.
[[nodiscard]] std::vector<std::int64_t> missing_numbers(const Job& job, std::int64_t expected);

// "rank 5", "ranks 5, 9"; where their numbers cannot be known: how many.
[[nodiscard]] std::string names_of_missing(const std::vector<std::int64_t>& ranks,
                                           std::int64_t count);

// Zero on every rank in every step is no measurement where ranks must communicate.
[[nodiscard]] bool zero_everywhere(const Job& job, const Column& column);

}  // namespace mfu::diagnosis
