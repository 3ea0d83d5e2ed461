// Values that only plans have: long times, money, a rate of failures, a warm-up.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mfu/plan.hpp"

namespace mfu::app {

// All throw Error{usage} at the option.

// As parse_seconds(), and days, weeks and years: "30d", "2.5 days", "6w", "5y". More than 0.
[[nodiscard]] double parse_long_time(const std::string& text, std::string_view option);

// "2,664M" is 2.664 billion to one and 2.664 million to another. Every other number passes.
void refuse_comma_and_scale(std::string_view text, std::string_view option);

struct Money {
  double amount = 0.0;
  std::string currency;  // "$", "EUR"; empty: not named
};
// "1M", "$1.5M", "EUR 120,000", "250k".
[[nodiscard]] Money parse_money(const std::string& text, std::string_view option);
// Of one GPU: "2.5/h", "$60/d", "2.5/gpu-hour"; the amount is per GPU-second.
[[nodiscard]] Money parse_money_price(const std::string& text, std::string_view option);

struct Mtbf {
  double seconds = 0.0;
  bool per_gpu = false;
};
// "50000h/gpu" or "3h/job": which of the two must be said.
[[nodiscard]] Mtbf parse_mtbf(const std::string& text, std::string_view option);

// "1%", "0.01" or "2000 steps": a share of the steps, or steps.
struct Portion {
  std::optional<double> share;
  std::optional<double> steps;
};
[[nodiscard]] Portion parse_portion(const std::string& text, std::string_view option);

// "3e-4": above 0 and below 1, which no rate of Adam reaches.
[[nodiscard]] double parse_learning_rate(const std::string& text, std::string_view option);

}  // namespace mfu::app
