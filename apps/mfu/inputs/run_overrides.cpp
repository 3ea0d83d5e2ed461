#include "inputs/run_overrides.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/note_code.hpp"
#include "inputs/model_source.hpp"
#include "mfu/flops.hpp"
#include "mfu/quantity.hpp"

namespace mfu::app {
namespace {

struct OverrideOption {
  std::string_view name;
  std::string OverrideText::*member;
  std::string_view type, help;
};
constexpr std::array kOverrideOptions{
    OverrideOption{"--model", &OverrideText::model, "NAME|FILE", "The model, if the file has none"},
    OverrideOption{"--seq-len", &OverrideText::seq_len, "N", "Tokens of one sequence"},
    OverrideOption{"--batch", &OverrideText::batch, "N", "Sequences per step, whole job"},
    OverrideOption{"--tokens-per-step", &OverrideText::tokens_per_step, "N",
                   "Tokens per step, whole job"},
    OverrideOption{"--gpus", &OverrideText::gpus, "N", "GPUs whose work and peak are counted"},
    OverrideOption{"--chip", &OverrideText::chip, "NAME", "h100-sxm, a100 ..."},
    OverrideOption{"--peak", &OverrideText::peak, "FLOP/s", "Per GPU, dense: 989.4T"},
    OverrideOption{"--precision", &OverrideText::precision, "NAME",
                   "Of the peak; a mix: bf16=0.7,fp8=0.3"},
    OverrideOption{"--clock", &OverrideText::clock, "RULE",
                   "datasheet, max, base, measured or MHz"},
    OverrideOption{"--chips", &OverrideText::chips, "FILE", "Your own chips: mfu.chips/1 JSON"},
    OverrideOption{"--convention", &OverrideText::convention, "ID", "How FLOPs are counted"},
};

// The file's telemetry has the clock, so "measured" needs none here.
Clock clock_of(const std::string& text) {
  if (text == "measured") return {ClockRule::measured, 0.0};
  return parse_clock(text, {}, nullptr);
}

std::string shown(const std::optional<double>& value) {
  return value ? fmt::format("{:.10g}", *value) : std::string();
}

// The work of a step depends on these: if the run says otherwise, one of the two is wrong, and it
// an option must not settle that silently.
void contradict(const RunTimings& run, const Overrides& overrides, Notes& notes) {
  const Workload& workload = run.workload;
  const auto tell = [&](std::string_view option, const std::optional<double>& given,
                        std::string_view what, const std::optional<double>& own) {
    if (!given || !own || *given == *own) return;
    notes.add(NoteCode::contradicts_run,
              fmt::format("the run itself says {:.10g} {}, {} says {:.10g}: the option is used",
                          *own, what, option, *given),
              at(option));
  };
  const auto product = [](const std::optional<double>& a, const std::optional<double>& b) {
    return a && b ? std::optional(*a * *b) : std::nullopt;
  };
  tell("--seq-len", overrides.seq_len, "tokens per sequence", workload.seq_len);
  tell("--batch", overrides.global_batch, "sequences per step", workload.global_batch);
  const std::optional<double>& seq_len = overrides.seq_len ? overrides.seq_len : workload.seq_len;
  if (overrides.tokens_per_step) {
    const std::optional<double> own = workload.tokens_per_step
                                          ? workload.tokens_per_step
                                          : product(workload.global_batch, workload.seq_len);
    tell("--tokens-per-step", overrides.tokens_per_step, "tokens per step", own);
    const std::optional<double> asked = product(overrides.global_batch, seq_len);
    if (asked && *asked != *overrides.tokens_per_step) {
      notes.add(NoteCode::options_contradict,
                fmt::format("--batch makes {:.10g} tokens per step, --tokens-per-step says "
                            "{:.10g}: the tokens are used",
                            *asked, *overrides.tokens_per_step),
                at("--tokens-per-step"));
    }
  } else if (overrides.global_batch && !workload.global_batch) {
    const std::optional<double> asked = product(overrides.global_batch, seq_len);
    if (asked && workload.tokens_per_step && *asked != *workload.tokens_per_step) {
      notes.add(NoteCode::contradicts_run,
                fmt::format("the run itself says {:.10g} tokens per step, --batch makes {:.10g}: "
                            "the option is used",
                            *workload.tokens_per_step, *asked),
                at("--batch"));
    }
  }
}

}  // namespace

void add_override_options(CLI::App& command, OverrideText& text) {
  for (const OverrideOption& option : kOverrideOptions) {
    add_text_option(command, text, option);
  }
}

Overrides parse_overrides(const OverrideText& text, Problems& problems, Notes& notes,
                          std::vector<InputInfo>& files) {
  Overrides overrides;
  overrides.model = text.model;
  // A path in a run file is relative to that file; one on the command line is not.
  std::error_code ignored;
  if (!text.model.empty() && std::filesystem::exists(text.model, ignored)) {
    overrides.model = std::filesystem::absolute(text.model, ignored).string();
  }
  // An unknown name would leave the run without an MFU, and the reason only in a note.
  problems.attempt([&] {
    if (text.model.empty()) return;
    Notes said_again;
    std::vector<InputInfo> read_again;
    (void)load_model(text.model, read_again, said_again);
  });
  overrides.chip = text.chip;
  const auto count = [&](const std::string& value, std::string_view option,
                         std::optional<double>& target) {
    if (value.empty()) return;
    problems.attempt([&] { target = parse_count(value, option); });
  };
  count(text.seq_len, "--seq-len", overrides.seq_len);
  count(text.batch, "--batch", overrides.global_batch);
  count(text.tokens_per_step, "--tokens-per-step", overrides.tokens_per_step);
  std::optional<double> gpus;
  count(text.gpus, "--gpus", gpus);
  if (gpus) {
    if (*gpus != std::floor(*gpus) || *gpus > 1 << 24) {
      problems.add(Error(ErrorKind::usage, "'" + text.gpus + "' is not a number of GPUs",
                         at("--gpus"), "write a whole number"));
    } else {
      overrides.gpus = static_cast<std::int64_t>(*gpus);
    }
  }
  problems.attempt([&] {
    if (!text.peak.empty()) overrides.peak_flops = parse_flops(text.peak, "--peak");
  });
  problems.attempt([&] { overrides.user_chips = user_chips(text.chips, notes, files); });
  problems.attempt([&] {
    if (!text.chip.empty()) {
      (void)chip_of(text.chip, "--chip", "--peak", overrides.user_chips);
    }
  });
  problems.attempt([&] {
    if (!text.precision.empty()) {
      overrides.precision = to_text(parse_precision_mix(text.precision, at("--precision")));
    }
  });
  problems.attempt([&] {
    if (!text.clock.empty()) overrides.clock = clock_of(text.clock);
  });
  problems.attempt([&] {
    if (!text.convention.empty()) {
      overrides.convention = std::string(find_convention(text.convention).id);
    }
  });
  return overrides;
}

void override_run(RunTimings& run, const Overrides& overrides, Notes& notes) {
  const auto say = [&](std::string_view option, const std::string& before,
                       const std::string& after) {
    if (before.empty() || before == after) return;
    notes.add(NoteCode::overridden,
              fmt::format("{} replaces the file's \"{}\" with \"{}\"", option, before, after),
              at(option));
  };
  const auto words = [&](const std::string& value, std::string_view option, std::string& target) {
    if (value.empty()) return;
    say(option, target, value);
    target = value;
  };
  const auto number = [&](const std::optional<double>& value, std::string_view option,
                          std::optional<double>& target) {
    if (!value) return;
    say(option, shown(target), shown(value));
    target = value;
  };
  Workload& workload = run.workload;
  const bool recount = !overrides.model.empty() || !overrides.convention.empty() ||
                       overrides.seq_len || overrides.global_batch || overrides.tokens_per_step;
  if (recount && workload.flops_per_step) {
    notes.add(NoteCode::overridden,
              "the file's flops_per_step is not used: the work is counted from the options",
              at("--model"));
    workload.flops_per_step.reset();
  }
  words(overrides.model, "--model", run.model);
  if (!overrides.model.empty()) {
    run.model_json = overrides.model.starts_with('{') ? overrides.model : std::string();
  }
  contradict(run, overrides, notes);
  number(overrides.seq_len, "--seq-len", workload.seq_len);
  number(overrides.global_batch, "--batch", workload.global_batch);
  const bool tokens_change = overrides.seq_len || overrides.global_batch;
  if (tokens_change && !overrides.tokens_per_step) workload.tokens_per_step.reset();
  number(overrides.tokens_per_step, "--tokens-per-step", workload.tokens_per_step);
  words(overrides.convention, "--convention", run.convention);
  Hardware& hardware = run.hardware;
  if (!overrides.chip.empty() && hardware.peak_tflops && !overrides.peak_flops) {
    say("--chip", shown(hardware.peak_tflops) + "T", overrides.chip);
    hardware.peak_tflops.reset();
  }
  words(overrides.chip, "--chip", hardware.chip);
  words(overrides.precision, "--precision", hardware.precision);
  if (overrides.peak_flops) {
    const double tflops = *overrides.peak_flops / 1e12;
    say("--peak", shown(hardware.peak_tflops), shown(tflops));
    hardware.peak_tflops = tflops;
  }
  if (overrides.gpus) {
    if (hardware.count) {
      say("--gpus", fmt::format("{}", *hardware.count), fmt::format("{}", *overrides.gpus));
    }
    hardware.count = overrides.gpus;
  }
  if (overrides.clock) run.clock = *overrides.clock;
}

}  // namespace mfu::app
