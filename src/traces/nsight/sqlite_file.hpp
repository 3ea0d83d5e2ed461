// Tables of an SQLite database that may have been made to do harm: opened read-only and immutable,
// from a regular file or from memory; only ordinary tables are read, with plain SELECTs of columns,
// row by row. Views, virtual tables, triggers, expressions in the schema and pages that refer to
// each other without an end are refused, with the table's name as the place.
//
// SQLite's own library never shows beyond this file; what it says becomes an mfu::Error.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/temporary.hpp"
#include "mfu/error.hpp"

namespace mfu::traces {

// Whether a file that starts with `head` is an SQLite database.
[[nodiscard]] bool sniff_sqlite(std::string_view head);

class SqliteFile {
 public:
  // Throws Error{io} (no such file), Error{unsupported} (standard input, a pipe, gzip),
  // Error{format} (not a database, or one that is cut off).
  [[nodiscard]] static SqliteFile open(const std::string& path);
  // `bytes` must outlive the object.
  [[nodiscard]] static SqliteFile from_memory(std::string_view bytes, std::string name);
  template <TemporaryString Text>
  static SqliteFile from_memory(Text&& bytes, std::string name) = delete;

  SqliteFile(SqliteFile&&) noexcept;
  SqliteFile& operator=(SqliteFile&&) noexcept;
  ~SqliteFile();

  [[nodiscard]] const std::string& name() const noexcept;

  // An ordinary table. Throws Error{format} where something else poses as one.
  [[nodiscard]] bool has_table(const std::string& table);
  // Of a table that is there.
  [[nodiscard]] bool has_column(const std::string& table, const std::string& column);

  // The rows of one query. All values may be of any type in any column: SQLite does not hold a
  // column to its declared one.
  class Rows {
   public:
    Rows(Rows&&) noexcept;
    Rows& operator=(Rows&&) noexcept;
    ~Rows();

    // The next row; false at the end. Throws Error{format} for what cannot be read.
    [[nodiscard]] bool next();
    // Starts again, with another value for the one that is looked up.
    void look_up(std::int64_t id);

    [[nodiscard]] bool is_integer(int column) const;
    [[nodiscard]] bool is_text(int column) const;
    [[nodiscard]] bool is_null(int column) const;
    [[nodiscard]] std::int64_t integer(int column) const;
    // Valid until the next row.
    [[nodiscard]] std::string_view text(int column) const;

   private:
    friend class SqliteFile;
    struct State;
    explicit Rows(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
  };

  // In the order of the file. Columns that the table lacks come as null. The file must outlive the
  // rows: those of a temporary one are refused.
  [[nodiscard]] Rows select(const std::string& table, std::initializer_list<const char*> columns) &;
  // The one row whose `key` is what Rows::look_up() gets.
  [[nodiscard]] Rows select_by(const std::string& table, const char* key,
                               std::initializer_list<const char*> columns) &;

 private:
  struct State;
  explicit SqliteFile(std::unique_ptr<State> state);
  [[nodiscard]] Rows prepare(const std::string& table, std::initializer_list<const char*> columns,
                             const std::string& where);
  std::unique_ptr<State> state_;
};

}  // namespace mfu::traces
