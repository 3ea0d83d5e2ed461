#include "options.hpp"

#include <fmt/format.h>

#include <CLI/Option.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <set>
#include <utility>

#include "base/nearest.hpp"
#include "mfu/quantity.hpp"

namespace mfu::app {
namespace {

constexpr std::array kFamilies{Family::imbalance, Family::single_gpu_efficiency, Family::straggler,
                               Family::stall,     Family::communication,         Family::healthy,
                               Family::mixed,     Family::inconclusive};

Error wrong(std::string_view option, std::string message, std::string hint) {
  Place place;
  place.what = std::string(option);
  return Error(ErrorKind::usage, std::move(message), std::move(place), std::move(hint));
}

std::string in_quotes(std::string_view text) {
  return "'" + std::string(text.substr(0, 80)) + (text.size() > 80 ? "...'" : "'");
}

template <typename Integer>
std::optional<Integer> integer(std::string_view text) {
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return {};
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

void parse_steps(std::string_view text, Selection& selection) {
  const Error error = wrong("--steps", in_quotes(text) + " is not a range of steps",
                            "write 21..500, 21.. or ..500: step ids, both ends included");
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) throw error;
  const std::string_view first = text.substr(0, dots);
  const std::string_view last = text.substr(dots + 2);
  if (first.empty() && last.empty()) throw error;
  if (!first.empty()) {
    selection.first_step = integer<std::int64_t>(first);
    if (!selection.first_step) throw error;
  }
  if (!last.empty()) {
    selection.last_step = integer<std::int64_t>(last);
    if (!selection.last_step) throw error;
  }
  if (selection.first_step && selection.last_step && *selection.first_step > *selection.last_step) {
    throw wrong("--steps", in_quotes(text) + " ends before it begins", "write 21..500");
  }
}

void parse_ranks(std::string_view text, Selection& selection) {
  constexpr std::int64_t kMostRanks = 10'000'000;  // a typing error must not fill memory
  for (const std::string_view part : split(text, ',')) {
    const Error error =
        wrong("--ranks", in_quotes(part) + " is not a rank or a range of ranks", "write 0,3-5");
    const std::size_t dash = part.find('-');
    const auto first = integer<std::int64_t>(part.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : integer<std::int64_t>(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first) throw error;
    if (*last - *first >= kMostRanks) {
      throw wrong("--ranks", in_quotes(part) + " is more ranks than any job has", "write 0,3-5");
    }
    for (std::int64_t i = 0; i <= *last - *first; ++i) selection.ranks.push_back(*first + i);
  }
}

}  // namespace

namespace {

// What --json and --rows carry in one message; on a terminal each has its own line.
std::string all_messages(const std::vector<Error>& all) {
  if (all.size() == 1) return all.front().message();
  std::string text;
  for (const Error& error : all) {
    const std::string place = error.place().str();
    text += (text.empty() ? "" : "; ") + place + (place.empty() ? "" : ": ") + error.message();
  }
  return text;
}

}  // namespace

UsageErrors::UsageErrors(std::vector<Error> all)
    : Error(all.front().kind(), all_messages(all), all.size() == 1 ? all.front().place() : Place{},
            all.front().hint()),
      all_(std::move(all)) {}

Place at(std::string_view option) {
  Place place;
  place.what = std::string(option);
  return place;
}

void Problems::throw_if_any() const {
  if (!found_.empty()) throw UsageErrors(found_);
}

void add_output_options(CLI::App& command, OutputText& text) {
  command.add_flag("--json", text.json, "Answer as JSON (mfu.report/1)");
  command.add_option("--out", text.out, "text, json, md, csv, github, junit, prom, line")
      ->allow_extra_args(false)
      ->type_name("FORMAT[:PATH]");
}

namespace {

// Where a step of GitHub Actions leaves its summary.
std::string step_summary_path() {
  std::string path = environment("GITHUB_STEP_SUMMARY");
  if (path.empty()) {
    throw wrong("--out", "github has no file to write to: $GITHUB_STEP_SUMMARY is not set",
                "outside GitHub Actions name one: github:summary.md");
  }
  return path;
}

}  // namespace

std::vector<OutputTarget> open_outputs(const OutputText& text, Problems& problems) {
  std::vector<std::string> specifications = text.out;
  if (text.json) specifications.emplace_back("json");
  std::vector<OutputTarget> targets;
  std::set<std::string> files;
  bool standard = false;
  for (const std::string& specification : specifications) {
    problems.attempt([&] {
      const std::size_t colon = specification.find(':');
      const Renderer& renderer = find_renderer(specification.substr(0, colon));
      std::string path =
          colon == std::string::npos ? std::string("-") : specification.substr(colon + 1);
      const bool step_summary = renderer.format == "github" && colon == std::string::npos;
      if (step_summary) path = step_summary_path();
      if (path.empty()) {
        throw wrong("--out", in_quotes(specification) + " names no file", "write json:report.json");
      }
      if (path != "-") {
        if (!files.insert(path).second) {
          throw wrong("--out", "two results for " + in_quotes(path), "give each a file of its own");
        }
        targets.push_back({&renderer, step_summary                ? Output::appending(path)
                                      : renderer.format == "prom" ? Output::replacing(path)
                                                                  : Output::file(path)});
        return;
      }
      if (standard) {
        throw wrong("--out", "two results for standard output",
                    "give one of them a file: json:PATH");
      }
      standard = true;
      targets.push_back({&renderer, Output::standard()});
    });
  }
  if (!standard) targets.push_back({&find_renderer("text"), Output::standard()});
  return targets;
}

bool writes_to_standard_output(const OutputText& text) {
  return text.json || std::any_of(text.out.begin(), text.out.end(), [](const std::string& one) {
           const bool named = one.find(':') != std::string::npos && !one.ends_with(":-");
           return !named && one != "github";
         });
}

void move_text_to_standard_error(std::vector<OutputTarget>& targets) {
  for (OutputTarget& target : targets) {
    if (target.output.is_standard()) target.output = Output::standard_error();
  }
}

void refuse_to_overwrite(const OutputText& text, const std::vector<std::string>& inputs,
                         Problems& problems) {
  for (const std::string& specification : text.out) {
    const std::size_t colon = specification.find(':');
    if (colon == std::string::npos) continue;
    const std::string path = specification.substr(colon + 1);
    for (const std::string& input : inputs) {
      std::error_code ignored;
      if (!std::filesystem::equivalent(path, input, ignored)) continue;
      problems.add(wrong("--out", in_quotes(path) + " is an input", "write to another file"));
    }
  }
}

bool wants_json(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--") return false;
    std::string_view value;
    if (arguments[i] == "--json") return true;
    if (arguments[i] == "--out" && i + 1 < arguments.size()) value = arguments[i + 1];
    if (arguments[i].starts_with("--out=")) value = std::string_view(arguments[i]).substr(6);
    if (value == "json" || value == "json:-") return true;
  }
  return false;
}

void add_selection_options(CLI::App& command, SelectionText& text) {
  command.add_option("--steps", text.steps, "Only these step ids, both ends included")
      ->type_name("A..B");
  command.add_option("--skip", text.skip, "Leave out the first N steps")->type_name("N");
  command.add_option("--ranks", text.ranks, "Only these ranks: 0,3-5")->type_name("LIST");
}

Selection parse_selection(const SelectionText& text, Problems& problems) {
  Selection selection;
  if (!text.steps.empty()) problems.attempt([&] { parse_steps(text.steps, selection); });
  if (!text.ranks.empty()) problems.attempt([&] { parse_ranks(text.ranks, selection); });
  if (!text.skip.empty()) {
    if (const auto skip = integer<std::size_t>(text.skip)) {
      selection.skip = *skip;
    } else {
      problems.add(wrong("--skip", in_quotes(text.skip) + " is not a number of steps", "write 10"));
    }
  }
  return selection;
}

void add_analysis_options(CLI::App& command, AnalysisText& text) {
  command.add_option("--reference", text.reference, "Reference compute: median (default), mean")
      ->type_name("NAME");
  command
      .add_option("--target-efficiency", text.target_efficiency,
                  "Single-GPU efficiency target (45%)")
      ->type_name("RATIO");
  command
      .add_option("--materiality", text.materiality,
                  "Material share of the step (5%; transfer 3 x)")
      ->type_name("RATIO");
  command
      .add_option("--communication-materiality", text.communication_materiality,
                  "The same for steady exposed transfer (15%)")
      ->type_name("RATIO");
  command.add_option("--seed", text.seed, "Seed of the bootstrap")->type_name("N");
}

DiagnoseOptions parse_analysis(const AnalysisText& text, Problems& problems) {
  DiagnoseOptions options;
  if (!text.reference.empty()) {
    constexpr std::array<std::string_view, 2> kReferences{"median", "mean"};
    if (text.reference == "mean") {
      options.reference = Reference::mean;
    } else if (text.reference != "median") {
      problems.add(wrong("--reference", "unknown reference " + in_quotes(text.reference),
                         name_hint(text.reference, kReferences)));
    }
  }
  const auto ratio = [&](const std::string& value, std::string_view option, double& target) {
    if (value.empty()) return;
    problems.attempt([&] {
      const double parsed = parse_ratio(value, option);
      if (!(parsed > 0)) throw wrong(option, "must be more than 0", "write 45%");
      target = parsed;
    });
  };
  ratio(text.target_efficiency, "--target-efficiency", options.target_efficiency);
  ratio(text.materiality, "--materiality", options.materiality);
  // Healthy jobs expose up to 7 % of a step as transfer: three times the share of other losses.
  if (!text.materiality.empty()) {
    options.communication_materiality = std::min(0.5, 3.0 * options.materiality);
  }
  ratio(text.communication_materiality, "--communication-materiality",
        options.communication_materiality);
  if (!text.seed.empty()) {
    if (const auto seed = integer<std::uint64_t>(text.seed)) {
      options.seed = *seed;
    } else {
      problems.add(
          wrong("--seed", in_quotes(text.seed) + " is not a seed", "write a whole number"));
    }
  }
  return options;
}

void add_gate_options(CLI::App& command, GateText& text, bool verdicts) {
  command.add_option("--min-mfu", text.min_mfu, "Exit 1 when the MFU is lower: 40%")
      ->type_name("RATIO");
  if (verdicts) {
    command.add_option("--fail-on", text.fail_on, "Exit 1 on these verdicts: straggler,stall")
        ->allow_extra_args(false)
        ->type_name("FAMILY[,..]");
  }
  command.add_flag("--strict", text.strict, "Exit 2 on data loss, assumption or MFU over 100 %");
}

GateLimits parse_gates(const GateText& text, Problems& problems) {
  GateLimits limits;
  limits.strict = text.strict;
  if (!text.min_mfu.empty()) {
    problems.attempt([&] {
      limits.min_mfu = parse_ratio(text.min_mfu, "--min-mfu");
      limits.min_mfu_text = text.min_mfu;
    });
  }
  std::vector<std::string_view> names;
  for (const Family family : kFamilies) names.push_back(to_string(family));
  for (const std::string& list : text.fail_on) {
    limits.fail_on_text += (limits.fail_on_text.empty() ? "" : ",") + list;
    for (const std::string_view name : split(list, ',')) {
      bool known = false;
      for (const Family family : kFamilies) {
        if (to_string(family) != name) continue;
        limits.fail_on.push_back(family);
        known = true;
      }
      if (!known) {
        problems.add(
            wrong("--fail-on", "unknown family " + in_quotes(name), name_hint(name, names)));
      }
    }
  }
  return limits;
}

void refuse_unknown_options(const CLI::App& command, Problems& problems) {
  std::vector<std::string> storage;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) storage.push_back("--" + name);
  }
  const std::vector<std::string_view> known(storage.begin(), storage.end());
  for (const std::string& argument : command.remaining()) {
    const std::string name = argument.substr(0, argument.find('='));
    const std::string_view near = nearest_name(name, known);
    problems.add(Error(ErrorKind::usage, "unknown option " + in_quotes(name), {},
                       near.empty() ? "mfu " + command.get_name() + " --help lists the options"
                                    : "did you mean '" + std::string(near) + "'?"));
  }
}

}  // namespace mfu::app
