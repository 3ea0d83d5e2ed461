#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "mfu/chip.hpp"
#include "mfu/quantity.hpp"

namespace mfu {
namespace {

struct PrecisionName {
  std::string_view name;
  Precision precision;
};

// The first name of a precision is the one that is printed.
constexpr std::array kPrecisionNames{
    PrecisionName{"fp64_tc", Precision::fp64_tc},
    PrecisionName{"fp32", Precision::fp32},
    PrecisionName{"tf32", Precision::tf32},
    PrecisionName{"fp16", Precision::fp16},
    PrecisionName{"fp16_fp16acc", Precision::fp16_fp16acc},
    PrecisionName{"bf16", Precision::bf16},
    PrecisionName{"fp8", Precision::fp8},
    PrecisionName{"fp8_fp16acc", Precision::fp8_fp16acc},
    PrecisionName{"fp6", Precision::fp6},
    PrecisionName{"int8", Precision::int8},
    PrecisionName{"fp4", Precision::fp4},
    PrecisionName{"int4", Precision::int4},
    PrecisionName{"fp64", Precision::fp64_tc},
    PrecisionName{"float64", Precision::fp64_tc},
    PrecisionName{"float32", Precision::fp32},
    PrecisionName{"float16", Precision::fp16},
    PrecisionName{"half", Precision::fp16},
    PrecisionName{"fp16-mixed", Precision::fp16},
    PrecisionName{"16-mixed", Precision::fp16},
    PrecisionName{"fp16-fp32acc", Precision::fp16},
    PrecisionName{"fp16-fp16acc", Precision::fp16_fp16acc},
    PrecisionName{"bfloat16", Precision::bf16},
    PrecisionName{"bf16-mixed", Precision::bf16},
    PrecisionName{"float8", Precision::fp8},
    PrecisionName{"fp8-fp16acc", Precision::fp8_fp16acc},
    PrecisionName{"mxfp8", Precision::fp8},
    PrecisionName{"float6", Precision::fp6},
    PrecisionName{"float4", Precision::fp4},
    PrecisionName{"nvfp4", Precision::fp4},
    PrecisionName{"mxfp4", Precision::fp4},
};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

std::string_view to_string(Precision precision) noexcept {
  for (const PrecisionName& entry : kPrecisionNames) {
    if (entry.precision == precision) return entry.name;
  }
  return "";
}

Precision parse_precision(std::string_view text, const Place& place) {
  std::string folded(text.substr(0, 80));
  for (char& c : folded) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  for (const PrecisionName& entry : kPrecisionNames) {
    if (entry.name == folded) return entry.precision;
  }
  throw Error(ErrorKind::unsupported, "unknown precision '" + std::string(text.substr(0, 80)) + "'",
              place,
              "known: bf16, fp16, fp16_fp16acc, fp8, fp8_fp16acc, fp6, fp4, tf32, fp32, fp64_tc, "
              "int8, int4");
}

std::vector<PrecisionShare> parse_precision_mix(std::string_view text, const Place& place) {
  std::vector<PrecisionShare> mix;
  double sum = 0.0;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view part = trimmed(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    if (comma != std::string_view::npos && text.empty()) {
      throw Error(ErrorKind::usage, "the list of precisions ends with a comma", place,
                  "as in bf16=0.7,fp8=0.3");
    }
    const std::size_t equals = part.find('=');
    PrecisionShare entry{parse_precision(trimmed(part.substr(0, equals)), place), 1.0};
    if (equals != std::string_view::npos) {
      entry.share = parse_ratio(trimmed(part.substr(equals + 1)), std::string(place.what));
    } else if (comma != std::string_view::npos || !mix.empty()) {
      throw Error(ErrorKind::usage, "several precisions need the share of the time in each", place,
                  "as in bf16=0.7,fp8=0.3");
    }
    if (!(entry.share > 0.0) || entry.share > 1.0) {
      throw Error(ErrorKind::usage,
                  fmt::format("a share of {:.6g} is not between 0 and 1", entry.share), place,
                  "the shares are parts of the time; together they are 1");
    }
    if (std::any_of(mix.begin(), mix.end(), [&](const PrecisionShare& other) {
          return other.precision == entry.precision;
        })) {
      throw Error(ErrorKind::usage, std::string(to_string(entry.precision)) + " is named twice",
                  place, "one share for each precision");
    }
    sum += entry.share;
    mix.push_back(entry);
  }
  if (mix.empty()) return {{parse_precision("", place), 1.0}};
  if (std::fabs(sum - 1.0) > 1e-6) {
    throw Error(ErrorKind::usage, fmt::format("the shares sum to {:.6g}, not to 1", sum), place,
                "the shares are parts of the time; together they are 1");
  }
  return mix;
}

std::string to_text(std::span<const PrecisionShare> mix) {
  if (mix.size() == 1) return std::string(to_string(mix.front().precision));
  std::string text;
  for (const PrecisionShare& entry : mix) {
    text += fmt::format("{}{}={:.6g}", text.empty() ? "" : ",", to_string(entry.precision),
                        entry.share);
  }
  return text;
}

Peak peak_of_mix(const Chip& chip, std::span<const PrecisionShare> mix, const Clock& clock) {
  if (mix.size() == 1) return peak_at(chip, mix.front().precision, clock);
  Peak blend;
  for (const PrecisionShare& entry : mix) {
    const Peak part = peak_at(chip, entry.precision, clock);
    const bool first = &entry == &mix.front();
    blend.flops += entry.share * part.flops;
    blend.clock_mhz = first || blend.clock_mhz == part.clock_mhz ? part.clock_mhz : 0.0;
    blend.basis = first ? part.basis : std::max(blend.basis, part.basis);
    blend.above_max = blend.above_max || part.above_max;
  }
  return blend;
}

}  // namespace mfu
