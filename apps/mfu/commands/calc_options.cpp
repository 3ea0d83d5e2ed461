#include "commands/calc_options.hpp"

#include <fmt/format.h>

#include <CLI/Option.hpp>
#include <algorithm>
#include <array>
#include <utility>

#include "base/decimal.hpp"
#include "base/nearest.hpp"
#include "base/note_code.hpp"
#include "inputs/model_source.hpp"
#include "mfu/chip.hpp"
#include "mfu/quantity.hpp"
#include "plan/optimal.hpp"

namespace mfu::app {
namespace {

using enum CalcPart;

constexpr std::array kCalcOptions{
    CalcOption{"--model", &CalcText::model, model, "NAME|FILE", "A preset, a config.json, or JSON"},
    CalcOption{"--params", &CalcText::params, model, "N", "Parameters, as stated: 8.03B"},
    CalcOption{"--seq-len", &CalcText::seq_len, step, "N", "Tokens of one sequence"},
    CalcOption{"--batch", &CalcText::batch, step, "N", "Sequences per step, whole job"},
    CalcOption{"--tokens-per-step", &CalcText::tokens_per_step, step, "N",
               "Tokens per step, whole job"},
    CalcOption{"--lengths", &CalcText::lengths, step, "FILE",
               "Packed documents, one length per line"},
    CalcOption{"--step-time", &CalcText::step_time, measurement, "TIME", "Per step: 12.9s"},
    CalcOption{"--tokens-per-s", &CalcText::tokens_per_s, measurement, "N", "Whole job"},
    CalcOption{"--tokens-per-s-per-gpu", &CalcText::tokens_per_s_per_gpu, measurement, "N",
               "Per GPU"},
    CalcOption{"--tflops", &CalcText::tflops, measurement, "T", "Achieved per GPU: 310T"},
    CalcOption{"--gpus", &CalcText::gpus, measurement, "N", "GPUs of the job"},
    CalcOption{"--accumulation", &CalcText::accumulation, measurement, "N",
               "Microbatches per step; explains factors"},
    CalcOption{"--chip", &CalcText::chip, peak, "NAME", "h100-sxm, a100 ..."},
    CalcOption{"--peak", &CalcText::peak, peak, "FLOP/s", "Per GPU, dense: 989.4T"},
    CalcOption{"--precision", &CalcText::precision, peak, "NAME",
               "bf16 (default), fp8 ...; bf16=0.7,fp8=0.3"},
    CalcOption{"--clock", &CalcText::clock, peak, "RULE",
               "datasheet (default), max, base, measured or MHz"},
    CalcOption{"--telemetry", &CalcText::telemetry, peak, "FILE",
               "nvidia-smi CSV: the chip and its measured clock"},
    CalcOption{"--chips", &CalcText::chips, peak, "FILE", "Your own chips: mfu.chips/1 JSON"},
    CalcOption{"--convention", &CalcText::convention, convention, "ID",
               "How FLOPs are counted (palm)"},
    CalcOption{"--attention", &CalcText::attention, convention, "HOW", "none, full, causal, exact"},
    CalcOption{"--window", &CalcText::window, convention, "HOW", "honour, ignore"},
    CalcOption{"--router", &CalcText::router, convention, "HOW", "count, skip"},
    CalcOption{"--recompute", &CalcText::recompute, convention, "WHAT",
               "none, selective, full, palm, palm-attention"},
    CalcOption{"--trainable", &CalcText::trainable, convention, "WHAT", "all, lora, none"},
};

// The value of a switch by its name.
template <typename Value, std::size_t count>
std::optional<Value> chosen(const std::string& text, std::string_view option,
                            const std::array<std::pair<std::string_view, Value>, count>& known,
                            Problems& problems) {
  if (text.empty()) return {};
  std::array<std::string_view, count> names;
  for (std::size_t i = 0; i < count; ++i) {
    if (known[i].first == text) return known[i].second;
    names[i] = known[i].first;
  }
  problems.add(Error(ErrorKind::usage, fmt::format("unknown value '{}'", text.substr(0, 80)),
                     at(option), name_hint(text, names)));
  return {};
}

Switches parse_switches(const CalcText& text, Problems& problems) {
  using Attention = std::pair<std::string_view, AttentionCount>;
  using Flag = std::pair<std::string_view, bool>;
  using Again = std::pair<std::string_view, RecomputeCount>;
  using Trained = std::pair<std::string_view, Trainable>;
  static constexpr std::array kAttention{
      Attention{"none", AttentionCount::none}, Attention{"full", AttentionCount::full},
      Attention{"causal", AttentionCount::causal}, Attention{"exact", AttentionCount::exact}};
  static constexpr std::array kWindow{Flag{"honour", true}, Flag{"ignore", false},
                                      Flag{"honor", true}};
  static constexpr std::array kRouter{Flag{"count", true}, Flag{"skip", false}};
  static constexpr std::array kRecompute{
      Again{"none", RecomputeCount::none}, Again{"selective", RecomputeCount::selective},
      Again{"full", RecomputeCount::full}, Again{"palm", RecomputeCount::palm},
      Again{"palm-attention", RecomputeCount::palm_attention}};
  static constexpr std::array kTrainable{Trained{"all", Trainable::all},
                                         Trained{"lora", Trainable::lora},
                                         Trained{"none", Trainable::none}};
  Switches switches;
  switches.attention = chosen(text.attention, "--attention", kAttention, problems);
  switches.honour_window = chosen(text.window, "--window", kWindow, problems);
  switches.count_router = chosen(text.router, "--router", kRouter, problems);
  switches.recompute = chosen(text.recompute, "--recompute", kRecompute, problems);
  switches.trainable = chosen(text.trainable, "--trainable", kTrainable, problems);
  return switches;
}

PeakUsed parse_peak(const CalcText& text, Notes& notes, std::vector<InputInfo>& files) {
  PeakUsed peak;
  const std::span<const Chip> user = user_chips(text.chips, notes, files);
  const ObservedDevices observed = observe(text.telemetry, user, notes, files);
  if (!text.precision.empty()) {
    std::vector<PrecisionShare> mix = parse_precision_mix(text.precision, at("--precision"));
    const auto most = std::max_element(
        mix.begin(), mix.end(), [](const auto& a, const auto& b) { return a.share < b.share; });
    peak.precision = most->precision;
    if (mix.size() > 1) peak.mix = std::move(mix);
  }
  if (!text.chip.empty() || !text.telemetry.empty()) {
    const ChipMatch match =
        text.chip.empty() ? only_chip(observed) : chip_of(text.chip, "--chip", "--peak", user);
    peak.chip = match.chip;
    // What the device says of itself against what was asked: shown, and refused by --strict.
    for (const std::string& doubt : doubts(observed, *match.chip)) {
      notes.add(NoteCode::device_conflict, doubt, at("--telemetry"));
    }
    if (!match.same_peak_ids.empty()) {
      notes.add(NoteCode::chip_taken,
                fmt::format("'{}' fits several chips of the same peak; {} is used", text.chip,
                            match.chip->id),
                at("--chip"));
    }
    if (!match.remark.empty()) notes.add(NoteCode::chip_name, match.remark, at("--chip"));
  }
  peak.clock = parse_clock(text.clock, observed, peak.chip);
  if (!text.peak.empty()) {
    if (peak.mix.size() > 1) {
      throw Error(ErrorKind::usage, "a given peak is for one precision", at("--precision"),
                  "give --chip without --peak to have the peak of the mix worked out");
    }
    if (!text.chip.empty()) {
      notes.add(NoteCode::peak_given, "--peak is what counts; --chip only names the chip",
                at("--peak"));
    }
    if (!text.clock.empty()) {
      throw Error(ErrorKind::usage, "a given peak has no clock", at("--clock"),
                  "give --chip without --peak to have the peak worked out at a clock");
    }
    peak.flops = parse_flops(text.peak, "--peak");
    peak.given = true;
    return peak;
  }
  if (peak.chip == nullptr) {
    throw Error(ErrorKind::usage, "there is no chip to apply it to",
                at(text.precision.empty() ? "--clock" : "--precision"),
                "--chip h100-sxm, or --peak 989.4T");
  }
  if (!peak.precision) peak.precision = Precision::bf16;
  const PrecisionShare one{*peak.precision, 1.0};
  const Peak found = peak_of_mix(
      *peak.chip, peak.mix.empty() ? std::span(&one, 1) : std::span<const PrecisionShare>(peak.mix),
      peak.clock);
  peak.flops = found.flops;
  if (found.clock_mhz > 0.0) peak.clock_mhz = found.clock_mhz;
  if (found.above_max) {
    notes.add(NoteCode::clock_above_max,
              fmt::format("{:.6g} MHz is above the maximum of {:.6g} MHz of {}", found.clock_mhz,
                          peak.chip->max_mhz, peak.chip->id),
              at("--clock"));
  }
  return peak;
}

std::vector<double> read_lengths(const std::string& path, std::vector<InputInfo>& files) {
  InputInfo info;
  info.format = "lengths";
  const std::string text = read_text(path, info);
  std::vector<double> lengths;
  Place place;
  place.file = path;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    ++place.line;
    line = line.substr(0, line.find('#'));
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t')) {
      line.remove_suffix(1);
    }
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    if (line.empty()) continue;
    const Decimal value = parse_decimal(line);
    if (value.status != DecimalStatus::ok || !(value.value > 0)) {
      throw Error(ErrorKind::format,
                  fmt::format("'{}' is not the length of a document", line.substr(0, 40)), place,
                  "one number of tokens per line");
    }
    lengths.push_back(value.value);
  }
  if (lengths.empty()) {
    throw Error(ErrorKind::insufficient, "no lengths in it", place,
                "one number of tokens per line");
  }
  files.push_back(std::move(info));
  return lengths;
}

double parse_tflops(const std::string& text) {
  // The option's name says the unit; the letter may be there all the same.
  const Decimal bare = parse_decimal(text);
  const bool tera = bare.status == DecimalStatus::ok && bare.value < 1e6;
  return parse_flops(tera ? text + "T" : text, "--tflops");
}

double positive_seconds(const std::string& text) {
  const double seconds = parse_seconds(text, "--step-time");
  if (seconds > 0) return seconds;
  throw Error(ErrorKind::usage, fmt::format("'{}' is not a time", text.substr(0, 80)),
              at("--step-time"), "it must be more than 0");
}

// N alone is enough for the closed forms in N: 6n stands in for palm, which needs the shape.
const Convention& pick_convention(const CalcText& text, Notes& notes) {
  if (!text.convention.empty()) {
    try {
      return find_convention(text.convention);
    } catch (const Error& error) {
      throw Error(error.kind(), error.message(), at("--convention"), error.hint());
    }
  }
  if (text.model.empty() && !text.params.empty()) {
    notes.add(NoteCode::convention_6n,
              "without the model's shape attention cannot be counted: 6n, not palm",
              at("--convention"));
    return find_convention("6n");
  }
  return find_convention(kDefaultConvention);
}

void parse_model_part(const CalcText& text, ParsedCalc& parsed, Problems& problems, Notes& notes) {
  if (!text.params.empty()) {
    parsed.input.params = 1.0;
    problems.attempt([&] {
      parsed.input.params = parse_large(text.params, "--params");
      constexpr double kFewest = 1e5;  // fewer is a number of billions without its letter
      if (*parsed.input.params < kFewest) {
        throw Error(ErrorKind::usage, "'" + text.params + "' parameters, or " + text.params + "B?",
                    at("--params"), "write 7B, 350M or every digit");
      }
    });
  }
  if (!text.model.empty()) {
    parsed.input.model = ModelShape{};
    problems.attempt([&] {
      parsed.input.model = load_model(text.model, parsed.files, notes);
      check_size(*parsed.input.model, parsed.input.params, notes);
    });
  }
}

}  // namespace

std::span<const CalcOption> calc_options() noexcept { return kCalcOptions; }

const CalcOption* find_calc_option(std::string_view key) noexcept {
  const auto same = [&](std::string_view name) {
    name.remove_prefix(2);
    return std::equal(name.begin(), name.end(), key.begin(), key.end(),
                      [](char in_name, char in_key) {
                        return in_name == in_key || (in_name == '-' && in_key == '_');
                      });
  };
  for (const CalcOption& option : kCalcOptions) {
    if (same(option.name)) return &option;
  }
  return nullptr;
}

void add_calc_options(CLI::App& command, CalcText& text, std::span<const CalcPart> parts) {
  for (const CalcOption& option : kCalcOptions) {
    if (std::find(parts.begin(), parts.end(), option.part) == parts.end()) continue;
    add_text_option(command, text, option);
  }
}

ParsedCalc parse_calc(const CalcText& text, Problems& problems, Notes& notes,
                      const std::vector<double>& inline_lengths) {
  ParsedCalc parsed;
  CalcInput& input = parsed.input;
  parse_model_part(text, parsed, problems, notes);
  const auto take = [&](const std::string& value, std::string_view option,
                        std::optional<double>& target,
                        double (*parse)(std::string_view, std::string_view), bool measured) {
    if (value.empty()) return;
    target = 1.0;
    problems.attempt([&] { target = parse(value, option); });
    if (measured) parsed.rounding += rounding_of(value);
  };
  take(text.seq_len, "--seq-len", input.seq_len, parse_count, false);
  take(text.batch, "--batch", input.batch, parse_count, false);
  take(text.tokens_per_step, "--tokens-per-step", input.tokens_per_step, parse_count, false);
  take(text.gpus, "--gpus", input.gpus, parse_count, false);
  take(text.accumulation, "--accumulation", input.accumulation, parse_count, false);
  take(text.tokens_per_s, "--tokens-per-s", input.tokens_per_second, parse_large, true);
  take(text.tokens_per_s_per_gpu, "--tokens-per-s-per-gpu", input.tokens_per_second_per_gpu,
       parse_large, true);
  if (!text.step_time.empty()) {
    input.step_seconds = 1.0;
    problems.attempt([&] { input.step_seconds = positive_seconds(text.step_time); });
    parsed.rounding += rounding_of(text.step_time);
  }
  if (!text.tflops.empty()) {
    input.achieved_flops = 1.0;
    problems.attempt([&] { input.achieved_flops = parse_tflops(text.tflops); });
    parsed.rounding += rounding_of(text.tflops);
  }
  input.lengths = inline_lengths;
  if (!text.lengths.empty()) {
    input.lengths = {1.0};
    problems.attempt([&] { input.lengths = read_lengths(text.lengths, parsed.files); });
  }
  if (!text.chip.empty() || !text.peak.empty() || !text.precision.empty() || !text.clock.empty() ||
      !text.telemetry.empty()) {
    input.peak = PeakUsed{1.0, nullptr, {}, {}, {}, {}, true};
    problems.attempt([&] { input.peak = parse_peak(text, notes, parsed.files); });
  }
  problems.attempt([&] { input.convention = &pick_convention(text, notes); });
  input.switches = parse_switches(text, problems);
  return parsed;
}

ParsedCalc parse_measurement(const CalcText& text, Problems& problems, Notes& notes,
                             const std::vector<double>& inline_lengths) {
  ParsedCalc parsed = parse_calc(text, problems, notes, inline_lengths);
  // Without a convention nothing is counted: only what is missing, or disagrees, is found.
  CalcInput asked = parsed.input;
  asked.convention = nullptr;
  Calculation found = calculate(asked);
  if (problems.any()) found.disagreements.reset();  // of what could not be read
  for (const Error& problem : calc_problems(found)) problems.add(problem);
  problems.throw_if_any();
  return parsed;
}

std::vector<const Convention*> usual_conventions() {
  std::vector<const Convention*> usual;
  for (const std::string_view id : {"palm", "exact-causal", "6n"}) {
    usual.push_back(&find_convention(id));
  }
  return usual;
}

std::vector<const Convention*> all_conventions() {
  std::vector<const Convention*> all;
  for (const Convention& convention : conventions()) all.push_back(&convention);
  return all;
}

}  // namespace mfu::app
