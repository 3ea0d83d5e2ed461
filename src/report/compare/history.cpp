// The history of a job in words.
#include "compare/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "mfu/quantity.hpp"
#include "mfu/report.hpp"
#include "report/compare/history_section.hpp"
#include "report/wording.hpp"

namespace mfu {
namespace {

// An MFU, or a step time where there is none.
std::string level_text(double log_speed, bool is_mfu) {
  return is_mfu ? format_percent(std::exp(log_speed), 1) : format_seconds(std::exp(-log_speed));
}

std::string entry_name(const HistoryEntry& entry) {
  if (!entry.label.empty()) return shortened(entry.label);
  if (!entry.time.empty()) return shortened(entry.time);
  return fmt::format("line {}", entry.line);
}

std::string baseline_text(const HistorySeries& series) {
  if (!series.baseline) {
    return fmt::format("no baseline yet: {} of {} records at one level", series.log_speeds.size(),
                       kFewestForBaseline);
  }
  const HistoryBaseline& baseline = *series.baseline;
  return fmt::format("usual {} {}, +-{} from run to run ({} records)",
                     series.has_mfu ? "MFU" : "step",
                     level_text(baseline.log_middle, series.has_mfu),
                     format_percent(std::expm1(1.96 * baseline.log_sigma), 1), baseline.entries);
}

std::string change_text(const HistorySeries& series, const HistoryChange& change) {
  const HistoryEntry& entry = series.entries[series.speed_entry[change.index]];
  const double shift = std::expm1(change.log_after - change.log_before);
  return fmt::format("from {} on: {} -> {} ({:+.1f} % speed)", entry_name(entry),
                     level_text(change.log_before, series.has_mfu),
                     level_text(change.log_after, series.has_mfu), 100 * shift);
}

std::string against_text(const HistorySection& section) {
  if (section.series.empty()) {
    return fmt::format("no records of '{}' that were measured the same way",
                       shortened(section.job));
  }
  const HistorySeries& series = section.series.front();
  if (!section.against) return baseline_text(series);
  const AgainstHistory& against = *section.against;
  const double change = std::expm1(against.log_ratio);
  const bool certain = against.log_ci.lo > 0 || against.log_ci.hi < 0;
  return fmt::format(
      "{:+.2f} % speed (95 %: {:+.2f} to {:+.2f} %) against the usual {} of {} records: {}",
      100 * change, 100 * std::expm1(against.log_ci.lo), 100 * std::expm1(against.log_ci.hi),
      level_text(against.baseline.log_middle, series.has_mfu), against.baseline.entries,
      !certain     ? "as usual"
      : change > 0 ? "faster than usual"
                   : "slower than usual");
}

}  // namespace

std::string_view to_string(HistoryAction action) noexcept {
  switch (action) {
    case HistoryAction::add:
      return "add";
    case HistoryAction::show:
      return "show";
    case HistoryAction::baseline:
      return "baseline";
    case HistoryAction::against:
      return "against";
  }
  return "";
}

void describe_history(HistorySection& section, std::vector<HistorySeries> series) {
  section.series = std::move(series);
  std::size_t records = 0;
  std::set<std::string> jobs;
  for (const HistorySeries& one : section.series) {
    HistorySection::SeriesText text;
    records += one.entries.size();
    const HistoryEntry& first = one.entries.front();
    text.title = shortened(one.job);
    if (!first.command.empty()) text.title += "   " + shortened(first.command);
    if (first.gpus) {
      text.title +=
          fmt::format("   {} {}", format_grouped(*first.gpus), *first.gpus == 1 ? "GPU" : "GPUs");
    }
    jobs.insert(one.job);
    text.baseline = baseline_text(one);
    for (const HistoryChange& change : one.changes)
      text.changes.push_back(change_text(one, change));
    for (const HistoryEntry& entry : one.entries) {
      std::string line = entry.mfu ? "MFU " + format_percent(*entry.mfu, 1) : std::string();
      if (entry.step_seconds) {
        line += (line.empty() ? "" : "   ") + ("step " + format_seconds(*entry.step_seconds));
      }
      if (!entry.verdict.empty()) line += "   " + shortened(entry.verdict);
      text.entries.push_back({entry_name(entry), std::move(line)});
    }
    section.texts.push_back(std::move(text));
  }
  section.title = fmt::format("{} {} of {} {}", records, records == 1 ? "record" : "records",
                              jobs.size(), jobs.size() == 1 ? "job" : "jobs");
  if (section.action == HistoryAction::against) section.against_line = against_text(section);
}

}  // namespace mfu
