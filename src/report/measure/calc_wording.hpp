// Sentences about a measurement's arithmetic.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "measure/detective.hpp"
#include "measure/peaks.hpp"
#include "mfu/error.hpp"
#include "mfu/measure.hpp"

namespace mfu {

[[nodiscard]] std::string teraflops(double flops);  // "989.4 TFLOP/s"
// "6N + 12 L H T (default)": for the table; the conventions' own titles are longer.
[[nodiscard]] std::string short_title(const Convention& convention);
[[nodiscard]] std::string peak_name(const PeakRow& row);  // "H100 SXM bf16, datasheet, 1830 MHz"
[[nodiscard]] std::string peak_used_name(const PeakUsed& peak);
[[nodiscard]] std::string excuse_sentence(const Excuse& excuse);
// The convention and everything else that makes up the hypothesis.
[[nodiscard]] std::string match_convention(const Match& match);
[[nodiscard]] std::string match_changes(const Match& match, const Calculation& calculation);
[[nodiscard]] Error missing_error(MissingInput missing);
// One for each pair of inputs that say different things.
[[nodiscard]] std::vector<Error> disagreement_errors(const Calculation& calculation);

}  // namespace mfu
