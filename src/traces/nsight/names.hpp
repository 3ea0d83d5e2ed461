// What every scan of an Nsight Systems export needs: the texts behind ids, and a tally of the rows
// that could not be used.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/note_code.hpp"
#include "mfu/error.hpp"
#include "traces/nsight/sqlite_file.hpp"

namespace mfu::traces {

// Texts by their id; the row that holds one is looked up each time, so that nothing grows.
class NsightNames {
 public:
  explicit NsightNames(SqliteFile& file) {
    const std::string table = "StringIds";
    if (file.has_table(table) && file.has_column(table, "id") && file.has_column(table, "value")) {
      rows_.emplace(file.select_by(table, "id", {"value"}));
    }
  }
  // Valid until the next call.
  std::optional<std::string_view> find(std::int64_t id) {
    if (!rows_) return std::nullopt;
    rows_->look_up(id);
    if (!rows_->next() || !rows_->is_text(0)) return std::nullopt;
    return rows_->text(0);
  }

 private:
  std::optional<SqliteFile::Rows> rows_;
};

// What is kept about a text by its id: traces repeat a few hundred of them a million times.
template <typename Value>
class KnownIds {
 public:
  template <typename Make>
  const Value& get(std::int64_t id, Make&& make) {
    if (known_.size() >= kMost) known_.clear();
    auto at = known_.find(id);
    if (at == known_.end()) at = known_.emplace(id, make()).first;
    return at->second;
  }

 private:
  static constexpr std::size_t kMost = 65536;
  std::unordered_map<std::int64_t, Value> known_;
};

// Counts by table and code without building a text for each of a million.
class RowFaults {
 public:
  explicit RowFaults(std::string file) : file_(std::move(file)) {}

  void set_table(const char* table) noexcept { table_ = table; }
  void add(NoteCode code, const char* text) { add(code, kind_of(code).severity, text); }
  void add(NoteCode code, Severity severity, const char* text) {
    for (Fault& known : faults_) {
      if (known.code == code && std::string_view(known.table) == table_) {
        ++known.count;
        return;
      }
    }
    faults_.push_back({table_, code, severity, text, 1});
  }
  [[nodiscard]] Place place(const std::string& table) const {
    Place where;
    where.file = file_;
    if (!table.empty()) where.what = "table " + table;
    return where;
  }
  void report(Notes& notes) const {
    for (const Fault& known : faults_) {
      notes.add(known.code, known.severity, known.text, place(known.table), known.count);
    }
  }

 private:
  struct Fault {
    const char* table = "";
    NoteCode code{};
    Severity severity = Severity::loss;
    const char* text = "";
    std::int64_t count = 0;
  };
  std::string file_;
  const char* table_ = "";
  std::vector<Fault> faults_;
};

}  // namespace mfu::traces
