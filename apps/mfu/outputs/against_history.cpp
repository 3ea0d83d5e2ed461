#include "outputs/against_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "base/nearest.hpp"
#include "base/note_code.hpp"
#include "compare/history.hpp"
#include "mfu/quantity.hpp"
#include "outputs/history_file.hpp"

namespace mfu::app {

void add_against_options(CLI::App& command, AgainstText& text) {
  command.add_option("--against", text.against, "history: compare it with what is usual")
      ->type_name("WHAT");
  command.add_option("--db", text.db, "The history file, of mfu history add")->type_name("FILE");
  command.add_option("--job", text.job, "Its name in the history")->type_name("NAME");
}

bool parse_against(const AgainstText& text, Problems& problems) {
  if (text.against.empty()) {
    if (!text.db.empty() || !text.job.empty()) {
      problems.add(Error(ErrorKind::usage, "a history, but nothing to do with it",
                         at(text.db.empty() ? "--job" : "--db"), "--against history"));
    }
    return false;
  }
  if (text.against != "history") {
    problems.add(Error(ErrorKind::usage,
                       "'" + text.against.substr(0, 80) + "' is not something to compare with",
                       at("--against"), "--against history --db FILE"));
  }
  if (text.db.empty()) {
    problems.add(Error(ErrorKind::usage, "which history?", at("--against"), "--db history.jsonl"));
  }
  return true;
}

namespace {

// A misspelt job would pass every gate there is.
void note_without_baseline(const std::string& job, bool any_of_job,
                           const std::vector<std::string>& jobs, const std::string& path,
                           Notes& notes) {
  std::string said = any_of_job ? "too few records of '" + job.substr(0, 80) +
                                      "' were measured the same way, at one level"
                                : "there are no records of '" + job.substr(0, 80) + "'";
  if (!any_of_job && !jobs.empty()) {
    const std::vector<std::string_view> names(jobs.begin(), jobs.end());
    const std::string hint = name_hint(job, names);
    if (!hint.empty()) said += " (" + hint + ")";
  }
  notes.add(NoteCode::history_no_baseline, said + ": the gate has nothing to compare with",
            Place{.file = path});
}

}  // namespace

void hold_against_history(const AgainstText& text, const Side& side, bool gated, Report& report,
                          Notes& notes) {
  const HistoryEntry now = entry_of(side, report.command, text.job);
  InputInfo info;
  std::vector<HistoryEntry> entries = read_history(text.db, info, notes);
  report.inputs.push_back(std::move(info));
  std::vector<std::string> jobs;
  for (const HistoryEntry& entry : entries) {
    if (std::find(jobs.begin(), jobs.end(), entry.job) == jobs.end()) jobs.push_back(entry.job);
  }
  const bool any_of_job = std::find(jobs.begin(), jobs.end(), now.job) != jobs.end();
  std::size_t others = 0;
  std::erase_if(entries, [&](const HistoryEntry& entry) {
    if (entry.job != now.job) return true;
    const bool same = measured_alike(entry, now);
    others += same ? 0U : 1U;
    return !same;
  });
  if (others > 0) {
    notes.add(
        NoteCode::history_not_alike,
        "records of the job under another convention, peak, command, statistic, number of GPUs "
        "or tokens per step are left out",
        Place{.file = text.db}, static_cast<std::int64_t>(others));
  }
  std::vector<HistorySeries> series = group_history(entries, now.job);
  HistorySection section;
  section.action = HistoryAction::against;
  section.job = now.job;
  const std::optional<double> speed = log_speed(now);
  if (!series.empty() && series.front().baseline && speed &&
      series.front().has_mfu == now.mfu.has_value()) {
    section.against = hold_against(*series.front().baseline, *speed, now.relative_ci);
  }
  if (gated && !section.against) {
    note_without_baseline(now.job, any_of_job, jobs, text.db, notes);
  }
  describe_history(section, std::move(series));
  report.history = std::move(section);
}

Gate judge_history(const HistorySection& history, const RegressionLimit& limit) {
  Gate gate{"max-regression", limit.text.limit, std::nullopt, history.against_line, true};
  if (!history.against) return gate;
  const double slower = -std::expm1(history.against->log_ratio);
  gate.value = slower;
  const bool certain = history.against->log_ci.hi < 0.0;
  gate.passed = limit.passes(slower, certain);
  if (slower > limit.ratio && !certain) {
    gate.value_text += "; beyond the limit, but within the scatter";
  }
  return gate;
}

}  // namespace mfu::app
