// A job's history as a report holds it: numbers and finished sentences.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/history.hpp"

namespace mfu {

enum class HistoryAction { add, show, baseline, against };
[[nodiscard]] std::string_view to_string(HistoryAction action) noexcept;

// `history`, and --against history.
struct HistorySection {
  HistoryAction action = HistoryAction::show;
  std::string title;
  std::vector<HistorySeries> series;
  struct EntryText {
    std::string name, text;
  };
  struct SeriesText {
    std::string title;  // the job, and what its records are of
    std::string baseline;
    std::vector<std::string> changes;
    std::vector<EntryText> entries;  // one for each of the series' entries
  };
  std::vector<SeriesText> texts;          // one for each of series
  std::string job;                        // against: what it was looked for under
  std::optional<AgainstHistory> against;  // nothing: no baseline
  std::string against_line;
};
// Fills series and words.
void describe_history(HistorySection& section, std::vector<HistorySeries> series);

}  // namespace mfu
