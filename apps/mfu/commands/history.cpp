// mfu history add|show|baseline: what is usual for a job under one convention.
#include "compare/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/nearest.hpp"
#include "commands/commands.hpp"
#include "inputs/saved_report.hpp"
#include "mfu/report.hpp"
#include "options.hpp"
#include "outputs/history_file.hpp"
#include "outputs/publish.hpp"
#include "outputs/terminal.hpp"
#include "report/compare/history_section.hpp"
#include "report/report_of.hpp"

namespace mfu::app {
namespace {

struct HistoryText {
  std::vector<std::string> words;  // add, show or baseline; then reports
  std::string db, job, label, time;
  OutputText output;
  bool strict = false;
  bool verbose = false;
};

constexpr std::array kActions{HistoryAction::add, HistoryAction::show, HistoryAction::baseline};

std::optional<HistoryAction> action_named(std::string_view word) {
  for (const HistoryAction action : kActions) {
    if (to_string(action) == word) return action;
  }
  return {};
}

std::string now_text() {
  // A reproducible build sets the time.
  const std::string fixed = environment("SOURCE_DATE_EPOCH");
  std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  if (!fixed.empty()) {
    long long seconds = 0;
    const auto [end, error] = std::from_chars(fixed.data(), fixed.data() + fixed.size(), seconds);
    if (error == std::errc{} && end == fixed.data() + fixed.size()) {
      now = static_cast<std::time_t>(seconds);
    }
  }
  std::tm parts{};
  if (gmtime_r(&now, &parts) == nullptr) return "";
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

Report started(HistoryAction action) {
  Report report = report_of("history");
  report.history = HistorySection{};
  report.history->action = action;
  return report;
}

int run_add(const HistoryText& text, std::vector<OutputTarget>& targets) {
  Report report = started(HistoryAction::add);
  std::vector<HistoryEntry> entries;
  for (std::size_t i = 1; i < text.words.size(); ++i) {
    InputInfo info;
    const SavedReport saved = read_report(text.words[i], info);
    report.inputs.push_back(std::move(info));
    Place place;
    place.file = text.words[i];
    if (saved.side.status == CalcStatus::impossible) {
      throw Error(ErrorKind::insufficient, "its MFU is impossible, so it is not kept in a history",
                  place);
    }
    HistoryEntry entry = entry_of(saved, text.job);
    if (!log_speed(entry)) {
      throw Error(ErrorKind::insufficient, "has neither an MFU nor a step time to keep", place);
    }
    entry.label = text.label;
    entry.time = text.time.empty() ? now_text() : text.time;
    entries.push_back(std::move(entry));
  }
  append_history(text.db, entries);
  describe_history(*report.history, group_history(entries, ""));
  report.history->title = fmt::format(
      "added {} to {}",
      entries.size() == 1 ? std::string("1 record") : fmt::format("{} records", entries.size()),
      text.db);
  return publish(report, targets, text.verbose);
}

int run_read(const HistoryText& text, HistoryAction action, std::vector<OutputTarget>& targets) {
  Report report = started(action);
  Notes notes;
  InputInfo info;
  const std::vector<HistoryEntry> entries = read_history(text.db, info, notes);
  report.inputs.push_back(std::move(info));
  report.notes = notes.all();
  std::vector<HistorySeries> series = group_history(entries, text.job);
  Place place;
  place.file = text.db;
  if (series.empty()) {
    std::vector<HistorySeries> all = group_history(entries, "");
    std::vector<std::string_view> jobs;
    for (const HistorySeries& one : all) jobs.push_back(one.job);
    throw Error(ErrorKind::insufficient,
                text.job.empty() ? "holds no records"
                                 : "holds no records of '" + text.job.substr(0, 80) + "'",
                place,
                jobs.empty() ? "mfu history add REPORT --db FILE" : name_hint(text.job, jobs));
  }
  if (text.strict) refuse_if_strict(report.notes, {}, "the rest is shown anyway");
  describe_history(*report.history, std::move(series));
  return publish(report, targets, text.verbose);
}

int run_history(const CLI::App& command, const HistoryText& text) {
  Problems problems;
  refuse_unknown_options(command, problems);
  const std::string word = text.words.empty() ? std::string() : text.words.front();
  const std::optional<HistoryAction> action = action_named(word);
  if (!action) {
    std::vector<std::string_view> names;
    for (const HistoryAction one : kActions) names.push_back(to_string(one));
    problems.add(Error(ErrorKind::usage,
                       word.empty() ? "what to do with the history?"
                                    : "unknown action '" + word.substr(0, 80) + "'",
                       {}, name_hint(word, names)));
  }
  if (text.db.empty()) {
    problems.add(Error(ErrorKind::usage, "which history?", at("--db"),
                       "--db history.jsonl: an append-only file"));
  }
  if (action == HistoryAction::add && text.words.size() < 2) {
    problems.add(Error(ErrorKind::usage, "no report to add", {},
                       "mfu log train.log --json > report.json, then mfu history add report.json"));
  }
  if (action != HistoryAction::add && text.words.size() > 1) {
    problems.add(Error(ErrorKind::usage, "'" + text.words[1].substr(0, 80) + "' is one too many",
                       {}, "the history is --db FILE"));
  }
  refuse_to_overwrite(text.output, {text.db}, problems);
  problems.throw_if_any();
  std::vector<OutputTarget> targets = open_outputs(text.output, problems);
  problems.throw_if_any();
  return *action == HistoryAction::add ? run_add(text, targets) : run_read(text, *action, targets);
}

}  // namespace

std::function<int()> add_history(CLI::App& parent) {
  CLI::App* command = parent.add_subcommand("history", "Keep measurements, and show what is usual");
  const auto text = std::make_shared<HistoryText>();
  command->add_option("ACTION", text->words, "add REPORT.., show or baseline")->type_name("");
  command->add_option("--db", text->db, "The history: JSON Lines, append-only")->type_name("FILE");
  command->add_option("--job", text->job, "Its name; else the report's, or model and GPUs")
      ->type_name("NAME");
  command->add_option("--label", text->label, "Of the new record: a commit, a run")
      ->type_name("TEXT");
  command->add_option("--time", text->time, "Of the new record; else now")->type_name("TEXT");
  command->add_flag("--strict", text->strict, "Exit 2 when a record cannot be read");
  add_output_options(*command, text->output);
  command->add_flag("-v,--verbose", text->verbose, "Show all notes");
  command->allow_extras();
  command->footer(
      "Examples:\n"
      "  mfu history add report.json --db history.jsonl --job nightly --label 4f2c1d\n"
      "  mfu history show --db history.jsonl\n"
      "  mfu history baseline --db history.jsonl --job nightly --json\n"
      "  mfu log train.log --chip a100 --against history --db history.jsonl");
  return [command, text] { return run_history(*command, *text); };
}

}  // namespace mfu::app
