// CSV or TSV with a header line: columns are told, or have a name that says what they hold.
#include "base/note_code.hpp"
#include "logs/registry.hpp"
#include "logs/tables/columns.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

class Csv : public LogFormat {
 public:
  explicit Csv(const LogReadOptions& options)
      : LogFormat(options), told_(options.columns), names_(told_) {
    every_line = true;
  }

  void line(const LogLine& line) override {
    if (columns_.empty()) {
      // The first line is the header, or this is not such a file.
      every_line = take_header(line);
      return;
    }
    LoggedStep step = step_at(line, 0);
    std::optional<double> number;
    int values = 0;
    std::size_t index = 0;
    for_cells(line.text, [&](std::string_view cell) {
      if (index >= columns_.size()) return;
      const std::optional<Column>& column = columns_[index++];
      if (!column) return;
      const Quantity& quantity = kQuantities[column->quantity];
      if (quantity.kind == QuantityKind::timestamp) {
        if (const auto time = timestamp_at(cell)) {
          step.timestamp_s = time->seconds;
          return;
        }
      }
      const auto plain = LogText(cell).number(column->shift);
      if (!plain || !put_value(*column, *plain, step, number)) return;
      if (quantity.field != nullptr && quantity.kind != QuantityKind::timestamp) ++values;
    });
    if (values == 0) return;
    if (!number) {
      note(NoteCode::steps_not_numbered, "rows without a step number: counted from 1", line);
    }
    step.iteration = number ? static_cast<std::int64_t>(*number) : next_;
    next_ = step.iteration + 1;
    steps.add(step, 0);
  }

  void finish(std::vector<LogSegment>&) override { names_.require_told(); }

 private:
  template <class Take>
  void for_cells(std::string_view text, Take take) const {
    for (std::size_t from = 0; from <= text.size();) {
      // A separator in quotes is part of the cell; a quote in quotes is written twice.
      std::size_t search = from;
      while (search < text.size() && text[search] == ' ') ++search;
      if (search < text.size() && text[search] == '"') {
        for (++search; search < text.size(); ++search) {
          if (text[search] != '"') continue;
          if (search + 1 == text.size() || text[search + 1] != '"') break;
          ++search;
        }
      }
      std::size_t end = search < text.size() ? text.find(separator_, search) : text.size();
      if (end == std::string_view::npos) end = text.size();
      std::string_view cell = trimmed(text.substr(from, end - from));
      if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') {
        cell = cell.substr(1, cell.size() - 2);
      }
      take(cell);
      from = end + 1;
    }
  }

  bool take_header(const LogLine& line) {
    const std::string_view text = line.text;
    separator_ = text.find('\t') != std::string_view::npos  ? '\t'
                 : text.find(';') != std::string_view::npos ? ';'
                                                            : ',';
    bool any = false;
    for_cells(text, [&](std::string_view cell) {
      if (columns_.size() >= 4096) return;
      columns_.push_back(names_.find(cell));
      if (!columns_.back()) return;
      const Quantity& quantity = kQuantities[columns_.back()->quantity];
      any = any || (quantity.field != nullptr && quantity.kind != QuantityKind::timestamp);
      if (columns_.back()->unit_assumed) {
        const bool time = quantity.kind == QuantityKind::time;
        const bool ratio = quantity.kind == QuantityKind::ratio;
        note(NoteCode::unit_assumed,
             "'" + std::string(cell) + "' names no unit: read as " +
                 (time    ? "seconds"
                  : ratio ? "a fraction of 1"
                          : "FLOP/s"),
             line);
      }
    });
    // A sentence is not a header.
    if (columns_.size() < 2 || text.find(": ") != std::string_view::npos) names_.forget();
    const bool table = any && (columns_.size() >= 2 || !told_.empty());
    if (!table) columns_.clear();
    return table;
  }

  std::map<std::string, std::string> told_;
  ColumnNames names_;
  std::vector<std::optional<Column>> columns_;
  char separator_ = ',';
  std::int64_t next_ = 1;
};

}  // namespace

LogFormatRow csv_format() {
  return {"csv",           "CSV or TSV with named columns", LogTier::generic, {}, {"step,"},
          make_format<Csv>};
}

}  // namespace mfu
