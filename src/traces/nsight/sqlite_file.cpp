#include "traces/nsight/sqlite_file.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/bytes.hpp"
#include "traces/text.hpp"

namespace mfu::traces {

namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr std::size_t kHeader = 100;
constexpr int kLongestValue = 16 * 1024 * 1024;
// Instructions of SQLite's machine between two looks at the budget.
constexpr int kStride = 1000;
// A row takes at least 6 bytes of the file, and its columns about 3 instructions each: a file that
// needs more than this is one whose pages refer to each other again and again.
constexpr std::int64_t kInstructionsPerByte = 200;
constexpr std::int64_t kInstructionsAnyway = 2'000'000;

constexpr const char* kExportAgain =
    "export it again: nsys export --type sqlite --force-overwrite true REPORT.nsys-rep";

bool same_word(std::string_view text, std::string_view word) noexcept {
  return text.size() == word.size() &&
         sqlite3_strnicmp(text.data(), word.data(), static_cast<int>(word.size())) == 0;
}

// The message quotes names of the file.

std::string identifier(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string uri_of(const std::string& path) {
  constexpr std::string_view kHex = "0123456789abcdef";
  // With an empty authority, so that a path that begins with two slashes does not name a host.
  std::string out = path.starts_with('/') ? "file://" : "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '.' || c == '_' || c == '-';
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    }
  }
  return out + "?mode=ro&immutable=1";
}

}  // namespace

bool sniff_sqlite(std::string_view head) { return head.starts_with(kMagic); }

struct SqliteFile::State {
  std::string name;
  sqlite3* database = nullptr;
  std::int64_t looks_left = 0;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { sqlite3_close_v2(database); }

  [[nodiscard]] Place place(const std::string& table) const {
    Place where;
    where.file = name;
    if (!table.empty()) where.what = "table " + table;
    return where;
  }

  [[noreturn]] void fail(int code, const std::string& table) const {
    switch (code & 0xff) {
      case SQLITE_INTERRUPT:
        throw Error(ErrorKind::format, "pages of the database refer to each other without an end",
                    place(table), kExportAgain);
      case SQLITE_TOOBIG:
        throw Error(ErrorKind::format, "a value or a statement of the database is too long",
                    place(table), kExportAgain);
      case SQLITE_AUTH:
        throw Error(ErrorKind::format, "the table is not plain data: its schema computes values",
                    place(table), kExportAgain);
      case SQLITE_NOTADB:
        throw Error(ErrorKind::format, "not an SQLite database, or an encrypted one", place(table),
                    kExportAgain);
      case SQLITE_CORRUPT:
        throw Error(ErrorKind::format,
                    "the database is cut off or damaged: " + printable(sqlite3_errmsg(database)),
                    place(table), kExportAgain);
      case SQLITE_CANTOPEN:
      case SQLITE_IOERR:
      case SQLITE_PERM:
        throw Error(ErrorKind::io,
                    "cannot read the database: " + printable(sqlite3_errmsg(database)),
                    place(table));
      default:
        throw Error(ErrorKind::format,
                    "SQLite cannot read it: " + printable(sqlite3_errmsg(database)), place(table),
                    kExportAgain);
    }
  }

  void check(int code, const std::string& table = {}) const {
    if (code != SQLITE_OK) fail(code, table);
  }

  static int progress(void* context) {
    auto& state = *static_cast<State*>(context);
    return --state.looks_left < 0 ? 1 : 0;
  }

  static int authorize(void* /*context*/, int action, const char* first, const char* /*second*/,
                       const char* /*database*/, const char* inner) {
    // `inner` names the view or the trigger that asks.
    const bool reads =
        action == SQLITE_SELECT || action == SQLITE_READ ||
        (action == SQLITE_PRAGMA && first != nullptr && std::string_view(first) == "table_xinfo");
    return reads && inner == nullptr ? SQLITE_OK : SQLITE_DENY;
  }

  // SQLite takes what is missing of the last page for zeros.
  void check_size(std::string_view head, std::uintmax_t size) const {
    const auto number = [&](std::size_t at, std::size_t count) {
      std::uint64_t value = 0;
      for (std::size_t i = 0; i < count && at + i < head.size(); ++i) {
        value = value << 8U | static_cast<unsigned char>(head[at + i]);
      }
      return value;
    };
    const std::uint64_t written = number(16, 2);
    const std::uint64_t page = written == 1 ? 65536 : written;
    // The count of pages holds where the last writer knew of it.
    const std::uint64_t pages = number(24, 4) == number(92, 4) ? number(28, 4) : 0;
    if (head.size() >= kHeader && page > 0 && size % page == 0 && size / page >= pages) return;
    throw Error(ErrorKind::format,
                "the database is cut off: " + std::to_string(size) + " bytes of " +
                    std::to_string(std::max(pages, std::uint64_t{1}) * page),
                place({}), kExportAgain);
  }

  void settle(std::int64_t file_bytes) {
    looks_left = (kInstructionsAnyway + kInstructionsPerByte * file_bytes) / kStride;
    int now = 0;
    for (const auto& [option, value] : {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                                        {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
                                        {SQLITE_DBCONFIG_DQS_DML, 0},
                                        {SQLITE_DBCONFIG_DQS_DDL, 0}}) {
      check(sqlite3_db_config(database, option, value, &now));
    }
    for (const auto& [limit, value] : {std::pair{SQLITE_LIMIT_LENGTH, kLongestValue},
                                       {SQLITE_LIMIT_SQL_LENGTH, 256 * 1024},
                                       {SQLITE_LIMIT_COLUMN, 200},
                                       {SQLITE_LIMIT_EXPR_DEPTH, 20},
                                       {SQLITE_LIMIT_COMPOUND_SELECT, 2},
                                       {SQLITE_LIMIT_VDBE_OP, 25'000},
                                       {SQLITE_LIMIT_FUNCTION_ARG, 8},
                                       {SQLITE_LIMIT_ATTACHED, 0},
                                       {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50},
                                       {SQLITE_LIMIT_VARIABLE_NUMBER, 4},
                                       {SQLITE_LIMIT_TRIGGER_DEPTH, 0},
                                       {SQLITE_LIMIT_WORKER_THREADS, 0}}) {
      (void)sqlite3_limit(database, limit, value);
    }
    sqlite3_progress_handler(database, kStride, progress, this);
    // Reading through a mapping would end in a signal where the file is cut off meanwhile.
    for (const char* pragma : {"PRAGMA mmap_size=0", "PRAGMA cell_size_check=1",
                               "PRAGMA cache_size=-4096", "PRAGMA query_only=1"}) {
      check(sqlite3_exec(database, pragma, nullptr, nullptr, nullptr));
    }
    check(sqlite3_set_authorizer(database, authorize, this));
  }
};

struct SqliteFile::Rows::State {
  SqliteFile::State* file = nullptr;
  std::string table;
  sqlite3_stmt* statement = nullptr;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { sqlite3_finalize(statement); }
};

SqliteFile::SqliteFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
SqliteFile::SqliteFile(SqliteFile&&) noexcept = default;
SqliteFile& SqliteFile::operator=(SqliteFile&&) noexcept = default;
SqliteFile::~SqliteFile() = default;

const std::string& SqliteFile::name() const noexcept { return state_->name; }

SqliteFile SqliteFile::open(const std::string& path) {
  auto state = std::make_unique<State>();
  state->name = path;
  std::error_code problem;
  const std::filesystem::file_status status = std::filesystem::status(path, problem);
  if (path == "-" ||
      (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
       !std::filesystem::is_directory(status))) {
    throw Error(ErrorKind::unsupported, "an SQLite export cannot be read from a pipe",
                state->place({}), "write it to a file, and name the file");
  }
  // Opens it once for the messages about files that are not there.
  ByteSource source = ByteSource::open(path);
  const std::string head(source.peek(kHeader));
  if (source.gzip() && sniff_sqlite(head)) {
    throw Error(ErrorKind::unsupported, "an SQLite export cannot be read while it is compressed",
                state->place({}), "unpack it first: gunzip -k FILE");
  }
  if (!sniff_sqlite(head)) {
    throw Error(ErrorKind::format, "not an SQLite database", state->place({}), kExportAgain);
  }
  const std::uintmax_t size = std::filesystem::file_size(path, problem);
  if (problem) throw Error(ErrorKind::io, "cannot tell how long the file is", state->place({}));
  state->check_size(head, size);
  const int code =
      sqlite3_open_v2(uri_of(path).c_str(), &state->database,
                      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  state->check(code);
  state->settle(static_cast<std::int64_t>(std::min<std::uintmax_t>(size, 1LL << 45)));
  return SqliteFile(std::move(state));
}

SqliteFile SqliteFile::from_memory(std::string_view bytes, std::string name) {
  auto state = std::make_unique<State>();
  state->name = std::move(name);
  if (!sniff_sqlite(bytes)) {
    throw Error(ErrorKind::format, "not an SQLite database", state->place({}), kExportAgain);
  }
  state->check_size(bytes.substr(0, kHeader), bytes.size());
  state->check(sqlite3_open_v2(":memory:", &state->database,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr));
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  // Read-only: SQLite does not touch the bytes.
  auto* const data =
      const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));
  state->check(
      sqlite3_deserialize(state->database, "main", data, size, size, SQLITE_DESERIALIZE_READONLY));
  state->settle(size);
  return SqliteFile(std::move(state));
}

bool SqliteFile::has_table(const std::string& table) {
  // All entries of that name, also such that only look like it.
  bool found = false;
  Rows rows = prepare("sqlite_master", {"type", "name", "rootpage", "sql"}, {});
  while (rows.next()) {
    if (!same_word(rows.text(1), table)) continue;
    if (rows.text(0) == "index") continue;
    constexpr std::string_view kCreate = "CREATE TABLE ";
    const std::string_view sql = rows.text(3);
    const bool plain = rows.text(0) == "table" && rows.is_integer(2) && rows.integer(2) > 0 &&
                       sql.size() > kCreate.size() &&
                       same_word(sql.substr(0, kCreate.size()), kCreate);
    if (!plain || found) {
      throw Error(ErrorKind::format, "not an ordinary table", state_->place(table), kExportAgain);
    }
    found = true;
  }
  if (!found) return false;
  // What SQLite itself made of the entry; it knows no columns of a view.
  if (sqlite3_table_column_metadata(state_->database, "main", table.c_str(), nullptr, nullptr,
                                    nullptr, nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw Error(ErrorKind::format, "not an ordinary table", state_->place(table), kExportAgain);
  }
  // A column that is computed would run what the schema says.
  auto columns = std::make_unique<Rows::State>();
  columns->file = state_.get();
  columns->table = table;
  const std::string text = "PRAGMA main.table_xinfo(" + identifier(table) + ")";
  state_->check(
      sqlite3_prepare_v2(state_->database, text.c_str(), -1, &columns->statement, nullptr), table);
  Rows each(std::move(columns));
  constexpr int kHidden = 6;
  while (each.next()) {
    if (each.integer(kHidden) != 0) state_->fail(SQLITE_AUTH, table);
  }
  return true;
}

bool SqliteFile::has_column(const std::string& table, const std::string& column) {
  return sqlite3_table_column_metadata(state_->database, "main", table.c_str(), column.c_str(),
                                       nullptr, nullptr, nullptr, nullptr, nullptr) == SQLITE_OK;
}

SqliteFile::Rows SqliteFile::prepare(const std::string& table,
                                     std::initializer_list<const char*> columns,
                                     const std::string& where) {
  std::string text = "SELECT ";
  const char* separator = "";
  for (const char* column : columns) {
    text += separator;
    separator = ", ";
    text += table == "sqlite_master" || has_column(table, column) ? identifier(column) : "NULL";
  }
  text += " FROM main." + identifier(table) + where;
  auto rows = std::make_unique<Rows::State>();
  rows->file = state_.get();
  rows->table = table;
  state_->check(sqlite3_prepare_v2(state_->database, text.c_str(), static_cast<int>(text.size()),
                                   &rows->statement, nullptr),
                table);
  return Rows(std::move(rows));
}

SqliteFile::Rows SqliteFile::select(const std::string& table,
                                    std::initializer_list<const char*> columns) & {
  return prepare(table, columns, {});
}

SqliteFile::Rows SqliteFile::select_by(const std::string& table, const char* key,
                                       std::initializer_list<const char*> columns) & {
  return prepare(table, columns, " WHERE " + identifier(key) + " = ?1 LIMIT 1");
}

SqliteFile::Rows::Rows(std::unique_ptr<State> state) : state_(std::move(state)) {}
SqliteFile::Rows::Rows(Rows&&) noexcept = default;
SqliteFile::Rows& SqliteFile::Rows::operator=(Rows&&) noexcept = default;
SqliteFile::Rows::~Rows() = default;

bool SqliteFile::Rows::next() {
  const int code = sqlite3_step(state_->statement);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) state_->file->fail(code, state_->table);
  return false;
}

void SqliteFile::Rows::look_up(std::int64_t id) {
  (void)sqlite3_reset(state_->statement);
  state_->file->check(sqlite3_bind_int64(state_->statement, 1, id), state_->table);
}

bool SqliteFile::Rows::is_integer(int column) const {
  return sqlite3_column_type(state_->statement, column) == SQLITE_INTEGER;
}

bool SqliteFile::Rows::is_text(int column) const {
  return sqlite3_column_type(state_->statement, column) == SQLITE_TEXT;
}

bool SqliteFile::Rows::is_null(int column) const {
  return sqlite3_column_type(state_->statement, column) == SQLITE_NULL;
}

std::int64_t SqliteFile::Rows::integer(int column) const {
  return sqlite3_column_int64(state_->statement, column);
}

std::string_view SqliteFile::Rows::text(int column) const {
  const unsigned char* const text = sqlite3_column_text(state_->statement, column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<std::size_t>(sqlite3_column_bytes(state_->statement, column))};
}

}  // namespace mfu::traces
