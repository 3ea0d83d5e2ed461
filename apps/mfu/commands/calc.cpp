// mfu calc: one measurement, its MFU, and the same run by other conventions.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/nearest.hpp"
#include "commands/calc_options.hpp"
#include "commands/commands.hpp"
#include "inputs/model_source.hpp"
#include "mfu/measure.hpp"
#include "mfu/render.hpp"
#include "mfu/report.hpp"
#include "mfu/version.hpp"
#include "options.hpp"
#include "outputs/publish.hpp"
#include "outputs/terminal.hpp"
#include "render/rows.hpp"
#include "report/measure/calc_section.hpp"
#include "report/measure/references.hpp"
#include "report/report_of.hpp"

namespace mfu::app {
namespace {

using Json = nlohmann::json;

struct CalcCommandText {
  CalcText calc;
  OutputText output;
  GateText gates;
  std::string rows;
  bool verbose = false;
};

Judged judged_of(const CalcSection& section) {
  return {section.calculation.mfu(), section.calculation.hfu(),
          section.calculation.status == CalcStatus::impossible, section.mfu_missing,
          section.impossible_because};
}

Report calculated(const ParsedCalc& parsed, const GateLimits& limits, Notes& notes) {
  const std::vector<const Convention*> others = usual_conventions();
  Calculation calculation = calculate(parsed.input, others);
  Problems problems;
  for (const Error& problem : calc_problems(calculation)) problems.add(problem);
  problems.throw_if_any();
  Report report = report_of("calc");
  report.inputs = parsed.files;
  report.notes = notes.all();
  report.calc = describe_calc(std::move(calculation));
  report.calc->references = placed_among_references(*report.calc);
  const Judged judged = judged_of(*report.calc);
  if (limits.strict) refuse_if_strict(report.notes, judged, "the answer is given anyway");
  if (limits.min_mfu) report.gates.push_back(judge_min_mfu(limits, judged));
  return report;
}

std::string row_text(const std::string& key, const Json& value, Problems& problems) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || (value.is_object() && key == "model")) return value.dump();
  Place place;
  place.what = key;
  problems.add(Error(ErrorKind::format, "is neither a string nor a number", place,
                     "values are written as on the command line: \"12.9s\", 64"));
  return {};
}

void take_lengths(const Json& value, std::vector<double>& lengths, Problems& problems) {
  Place place;
  place.what = "lengths";
  for (const Json& length : value) {
    if (length.is_number() && length.get<double>() > 0) {
      lengths.push_back(length.get<double>());
      continue;
    }
    problems.add(Error(ErrorKind::format, "holds a value that is not a document length", place));
    return;
  }
  if (lengths.empty()) problems.add(Error(ErrorKind::insufficient, "holds no lengths", place));
}

// The options of one row, over those of the command line.
std::string answer_row(std::string_view line, const std::string& path, RowPlace row,
                       const CalcText& base, const GateLimits& limits, int& exit_code) {
  Place place;
  place.file = path;
  place.line = static_cast<std::int64_t>(row.number);
  int own_exit = 2;
  std::string answer;
  try {
    const Json object = Json::parse(line, nullptr, false);
    if (!object.is_object()) {
      throw Error(ErrorKind::format, "not a JSON object", place,
                  R"(one row per line: {"model": "llama-3.1-8b", "step_time": "12.9s", ...})");
    }
    CalcText text = base;
    std::vector<double> lengths;
    Problems problems;
    for (const auto& [key, value] : object.items()) {
      if (key == "id") {
        row.id = value.is_string() ? value.get<std::string>() : value.dump();
      } else if (key == "lengths" && value.is_array()) {
        take_lengths(value, lengths, problems);
      } else if (const CalcOption* option = find_calc_option(key)) {
        if (!value.is_null()) text.*option->member = row_text(key, value, problems);
      } else {
        std::vector<std::string_view> names;
        for (const CalcOption& known : calc_options()) names.push_back(known.name.substr(2));
        problems.add(Error(ErrorKind::usage, fmt::format("unknown key '{}'", key.substr(0, 80)),
                           place, name_hint(key, names)));
      }
    }
    Notes notes;
    const ParsedCalc parsed = parse_measurement(text, problems, notes, lengths);
    Report report = calculated(parsed, limits, notes);
    for (const Gate& gate : report.gates) {
      if (!gate.passed) report.exit_code = 1;
    }
    own_exit = report.exit_code;
    answer = render_row_json(report, row);
  } catch (const Error& error) {
    answer = render_row_error_json(error, "calc", version(), own_exit, row);
  }
  exit_code = std::max(exit_code, own_exit);
  return answer;
}

int run_rows(const CalcCommandText& text, const GateLimits& limits, Problems& problems) {
  OutputText output = text.output;
  if (output.out.empty()) output.json = true;
  for (const std::string& specification : output.out) {
    if (specification.starts_with("json")) continue;
    problems.add(Error(ErrorKind::usage, "rows are answered in JSON Lines", Place{.what = "--out"},
                       "--out json:PATH"));
  }
  problems.throw_if_any();
  std::vector<OutputTarget> targets = open_outputs(output, problems);
  problems.throw_if_any();
  InputInfo info;
  const std::string rows = read_text(text.rows, info);
  std::string answers;
  int exit_code = 0;
  RowPlace row;
  for (std::size_t begin = 0; begin < rows.size();) {
    const std::size_t end = std::min(rows.find('\n', begin), rows.size());
    const std::string_view line = std::string_view(rows).substr(begin, end - begin);
    begin = end + 1;
    ++row.number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    answers += answer_row(line, text.rows, row, text.calc, limits, exit_code);
  }
  if (answers.empty()) {
    throw Error(ErrorKind::insufficient, "no rows in it", Place{.file = text.rows},
                "one JSON object per line");
  }
  for (OutputTarget& target : targets) {
    if (target.renderer->format == "json") target.output.write(answers);
  }
  return exit_code;
}

int run_calc(const CLI::App& command, const CalcCommandText& text) {
  Problems problems;
  refuse_unknown_options(command, problems);
  const GateLimits limits = parse_gates(text.gates, problems);
  if (!text.rows.empty()) return run_rows(text, limits, problems);
  Notes notes;
  const ParsedCalc parsed = parse_measurement(text.calc, problems, notes);
  std::vector<OutputTarget> targets = open_outputs(text.output, problems);
  problems.throw_if_any();
  Report report = calculated(parsed, limits, notes);
  return publish(report, targets, text.verbose);
}

}  // namespace

std::function<int()> add_calc(CLI::App& parent) {
  CLI::App* command =
      parent.add_subcommand("calc", "MFU of one measurement, and by other conventions");
  const auto text = std::make_shared<CalcCommandText>();
  constexpr std::array kParts{CalcPart::model, CalcPart::step, CalcPart::measurement,
                              CalcPart::peak, CalcPart::convention};
  add_calc_options(*command, text->calc, kParts);
  command->add_option("--rows", text->rows, "Many: one JSON object per line")->type_name("FILE");
  add_output_options(*command, text->output);
  add_gate_options(*command, text->gates, false);
  command->add_flag("-v,--verbose", text->verbose, "Also say what was assumed");
  command->allow_extras();
  command->footer(
      "Examples:\n"
      "  mfu calc --model llama-3.1-8b --chip h100-sxm --gpus 64 --seq-len 8192 \\\n"
      "           --batch 512 --step-time 12.9s\n"
      "  mfu calc --tflops 140T --peak 312T\n"
      "  mfu calc --params 7B --tokens-per-s-per-gpu 3,700 --chip a100 --convention 6n\n"
      "  mfu calc --rows runs.jsonl --chip h100-sxm");
  return [command, text] { return run_calc(*command, *text); };
}

}  // namespace mfu::app
