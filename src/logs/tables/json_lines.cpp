// JSON Lines with columns of any name: one object a line. Columns are told, or have a name that
// says what they hold. Objects inside an object are not looked into, but their keys may be told
// with their path: "train/mfu" is a key as wandb writes it.
#include <algorithm>
#include <map>

#include "base/note_code.hpp"
#include "logs/registry.hpp"
#include "logs/tables/columns.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

class JsonLines : public LogFormat {
 public:
  explicit JsonLines(const LogReadOptions& options)
      : LogFormat(options), told_(options.columns), names_(told_) {
    every_line = true;
  }

  void line(const LogLine& line) override {
    const std::string_view text = trimmed(line.text);
    if (text.size() < 2 || text.front() != '{' || text.back() != '}') return;
    LoggedStep step = step_at(line, 0);
    std::optional<double> number;
    int values = 0;
    scan(text.substr(1, text.size() - 2), [&](std::string_view key, std::string_view value) {
      const auto column = names_.find(key);
      if (!column) return;
      LogText at(value);
      (void)at.take("\"");  // numbers are written as strings, too
      const auto plain = at.number(column->shift);
      if (!plain || !put_value(*column, *plain, step, number)) return;
      if (kQuantities[column->quantity].field == nullptr ||
          kQuantities[column->quantity].kind == QuantityKind::timestamp) {
        return;
      }
      ++values;
      if (column->unit_assumed) assume(*column, key, line);
    });
    if (values == 0) return;
    if (!number) {
      note(NoteCode::steps_not_numbered, "lines without a step number: counted from 1", line);
    }
    step.iteration = number ? static_cast<std::int64_t>(*number) : next_;
    next_ = step.iteration + 1;
    steps.add(step, line.origin);
  }

  void finish(std::vector<LogSegment>&) override { names_.require_told(); }

 private:
  void assume(const Column& column, std::string_view key, const LogLine& line) {
    const bool time = kQuantities[column.quantity].kind == QuantityKind::time;
    const bool ratio = kQuantities[column.quantity].kind == QuantityKind::ratio;
    note(NoteCode::unit_assumed,
         "'" + std::string(key) + "' names no unit: read as " +
             (time    ? "seconds"
              : ratio ? "a fraction of 1"
                      : "FLOP/s"),
         line);
  }

  // Calls `take` with each key and the text of its value, on the top level.
  template <class Take>
  static void scan(std::string_view text, Take take) {
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t open = text.find('"', at);
      if (open == std::string_view::npos) return;
      std::size_t close = open + 1;
      while (close < text.size() && text[close] != '"') close += text[close] == '\\' ? 2U : 1U;
      if (close >= text.size()) return;
      const std::string_view key = text.substr(open + 1, close - open - 1);
      std::size_t value = close + 1;
      while (value < text.size() && (text[value] == ' ' || text[value] == ':')) ++value;
      std::size_t end = value;
      int depth = 0;
      bool quoted = false;
      for (; end < text.size(); ++end) {
        const char c = text[end];
        if (quoted) {
          if (c == '\\') {
            ++end;
          } else if (c == '"') {
            quoted = false;
          }
        } else if (c == '"') {
          quoted = true;
        } else if (c == '{' || c == '[') {
          ++depth;
        } else if (c == '}' || c == ']') {
          --depth;
        } else if (c == ',' && depth <= 0) {
          break;
        }
      }
      end = std::min(end, text.size());
      take(key, text.substr(value, end - value));
      at = end + 1;
    }
  }

  std::map<std::string, std::string> told_;
  ColumnNames names_;
  std::int64_t next_ = 1;
};

}  // namespace

LogFormatRow json_lines_format() {
  return {"json-lines",    "JSON Lines with named columns", LogTier::generic, {},
          {"{\"", "step"}, make_format<JsonLines>};
}

}  // namespace mfu
