// Ascend's step_trace_time.csv and cluster_step_trace_time.csv: a row for a step and a rank, in
// microseconds. With a column Type, rows of stages are left out and Index is the rank; without one,
// Device_id is. Written from the tool's documentation; no file of it has been seen.
#include <array>

#include "base/note_code.hpp"
#include "logs/registry.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

struct Part {
  std::string_view column;
  const char* series;
};
constexpr std::array<Part, 8> kParts{{
    {"Computing", "computing"},
    {"Communication(Not Overlapped)", "communication-not-overlapped"},
    {"Overlapped", "overlapped"},
    {"Communication", "communication"},
    {"Free", "free"},
    {"Stage", "stage"},
    {"Bubble", "bubble"},
    {"Preparing", "preparing"},
}};

class Ascend : public LogFormat {
 public:
  using LogFormat::LogFormat;

  void line(const LogLine& line) override {
    if (line.text.find("Computing") != std::string_view::npos &&
        line.text.find("Communication(Not Overlapped)") != std::string_view::npos) {
      names_ = cells(line.text);
      every_line = true;
      return;
    }
    if (names_.empty()) return;
    const std::vector<std::string> row = cells(line.text);
    const auto cell = [&](std::string_view name) -> std::string_view {
      for (std::size_t i = 0; i < names_.size() && i < row.size(); ++i) {
        if (names_[i] == name) return row[i];
      }
      return {};
    };
    const std::string_view type = cell("Type");
    if (!type.empty() && type != "rank") return;
    auto rank = LogText(cell("Index")).integer();
    if (!rank) rank = LogText(cell("Device_id")).integer();
    if (!rank || *rank < 0) return;
    const auto step = LogText(cell("Step")).integer();
    if (!step) {
      note(NoteCode::steps_not_numbered, "rows without a step number", line);
    }
    for (const Part& part : kParts) {
      if (const auto value = LogText(cell(part.column)).number(-6)) {
        rank_value(part.series, step.value_or(-1), *rank, *value, RankUnit::seconds);
      }
    }
  }

 private:
  // A cell in quotes may have commas: the ranks of a stage.
  static std::vector<std::string> cells(std::string_view text) {
    std::vector<std::string> all(1);
    bool quoted = false;
    for (const char c : text) {
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        if (all.size() >= 64) return all;
        all.emplace_back();
      } else {
        all.back() += c;
      }
    }
    for (std::string& one : all) one = trimmed(one);
    return all;
  }

  std::vector<std::string> names_;
};

}  // namespace

LogFormatRow ascend_format() {
  return {"ascend-step-trace",
          "Ascend's step_trace_time.csv",
          LogTier::per_rank,
          {"Communication(Not Overlapped)"},
          {"Computing", "Communication(Not Overlapped)"},
          make_format<Ascend>};
}

}  // namespace mfu
