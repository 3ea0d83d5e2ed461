// Writes small databases as `nsys export --type sqlite` would, for tests.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "unit/base/temp_file.hpp"

class NsightExport {
 public:
  enum class Era { y2022, y2024 };

  explicit NsightExport(const std::string& name = "report.sqlite") : path_(folder_.path(name)) {
    if (sqlite3_open(path_.c_str(), &database_) != SQLITE_OK) throw std::runtime_error("open");
    run("PRAGMA synchronous=OFF");
  }
  ~NsightExport() { sqlite3_close(database_); }
  NsightExport(const NsightExport&) = delete;
  NsightExport& operator=(const NsightExport&) = delete;

  void run(const std::string& sql) {
    char* message = nullptr;
    if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, &message) != SQLITE_OK) {
      const std::string text = message == nullptr ? "sqlite" : message;
      sqlite3_free(message);
      throw std::runtime_error(text + ": " + sql);
    }
  }

  // The tables of the era that hold nothing yet; what is not made is made by the rows below.
  void begin(Era era) {
    era_ = era;
    run("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)");
    if (era == Era::y2022) {
      run("CREATE TABLE EXPORT_META_DATA (name TEXT NOT NULL, value TEXT)");
      run("INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_SCHEMA_VERSION_MAJOR', '2')");
      for (const char* table : {"KERNEL", "MEMCPY", "MEMSET", "RUNTIME"}) make(table);
      nvtx();
      run("CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid "
          "INTEGER)");
      run("CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, "
          "localTime TEXT)");
    } else {
      run("CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT)");
      run("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.18.0')");
    }
  }

  static std::int64_t pid(std::int64_t process) {
    return (std::int64_t{1} << 48) | (process << 24);
  }
  static std::int64_t tid(std::int64_t process, std::int64_t thread = 1) {
    return pid(process) | thread;
  }

  std::int64_t string(const std::string& text) {
    const std::int64_t id = ++strings_;
    run("INSERT INTO StringIds VALUES (" + std::to_string(id) + ", '" + text + "')");
    return id;
  }

  void kernel(std::int64_t start, std::int64_t end, const std::string& name,
              std::int64_t correlation = 0, std::int64_t process = 7, std::int64_t device = 0,
              std::int64_t stream = 7) {
    make("KERNEL");
    const std::string id = std::to_string(string(name));
    row("KERNEL", start, end, device, stream, correlation, process, id + ", " + id);
  }
  void copy(std::int64_t start, std::int64_t end, int kind, std::int64_t correlation = 0,
            std::int64_t process = 7, std::int64_t device = 0) {
    make("MEMCPY");
    row("MEMCPY", start, end, device, 7, correlation, process,
        "4096, " + std::to_string(kind) + ", NULL, NULL");
  }
  void set(std::int64_t start, std::int64_t end, std::int64_t process = 7) {
    make("MEMSET");
    row("MEMSET", start, end, 0, 7, 0, process, "0, 64");
  }
  void graph(std::int64_t start, std::int64_t end, std::int64_t correlation = 0) {
    make("GRAPH_TRACE");
    row("GRAPH_TRACE", start, end, 0, 7, correlation, 7, "1");
  }
  void launch(std::int64_t start, std::int64_t correlation, std::int64_t process = 7,
              const std::string& name = "cudaLaunchKernel_v7000", std::int64_t thread = 1) {
    make("RUNTIME");
    run("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" + std::to_string(start) + ", " +
        std::to_string(start + 1) + ", 0, " + std::to_string(tid(process, thread)) + ", " +
        std::to_string(correlation) + ", " + std::to_string(string(name)) + ", 0)");
  }
  void range(std::int64_t start, std::int64_t end, const std::string& text,
             std::int64_t process = 7, std::int64_t thread = 1, int type = 59,
             const std::string& json = "NULL") {
    nvtx();
    const bool by_id = era_ == Era::y2024;
    run("INSERT INTO NVTX_EVENTS VALUES (" + std::to_string(start) + ", " +
        (end < 0 ? "NULL" : std::to_string(end)) + ", " + std::to_string(type) + ", " +
        (by_id ? "NULL" : "'" + text + "'") + ", " + std::to_string(tid(process, thread)) + ", " +
        (by_id ? std::to_string(string(text)) : "NULL") + ", 0, " + json + ")");
  }
  void session_start(const std::string& epoch, const std::string& time) {
    run("CREATE TABLE IF NOT EXISTS TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime "
        "TEXT, localTime TEXT)");
    run("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (" + epoch + ", " + time + ", NULL)");
  }

  // The file is complete and may be read.
  const std::string& path() {
    sqlite3_close(database_);
    database_ = nullptr;
    return path_;
  }

 private:
  void make(const std::string& kind) {
    const std::string newer = era_ == Era::y2024 ? ", greenContextId INTEGER, graphId INTEGER" : "";
    const std::string table = "CREATE TABLE IF NOT EXISTS CUPTI_ACTIVITY_KIND_" + kind + " (";
    if (kind == "RUNTIME") {
      run(table +
          "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, "
          "globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue "
          "INTEGER NOT NULL)");
      return;
    }
    std::string own = "graphExecId INTEGER";
    if (kind == "KERNEL") own = "demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL";
    if (kind == "MEMSET") own = "value INTEGER NOT NULL, bytes INTEGER NOT NULL";
    if (kind == "MEMCPY") {
      own =
          "bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, srcDeviceId INTEGER, dstDeviceId "
          "INTEGER";
    }
    run(table +
        "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
        "contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, "
        "globalPid INTEGER, " +
        own + newer + ")");
  }
  void nvtx() {
    run("CREATE TABLE IF NOT EXISTS NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType "
        "INTEGER NOT NULL, text TEXT, globalTid INTEGER, textId INTEGER, domainId INTEGER, "
        "jsonText "
        "TEXT)");
  }
  void row(const std::string& kind, std::int64_t start, std::int64_t end, std::int64_t device,
           std::int64_t stream, std::int64_t correlation, std::int64_t process,
           const std::string& own) {
    run("INSERT INTO CUPTI_ACTIVITY_KIND_" + kind + " VALUES (" + std::to_string(start) + ", " +
        std::to_string(end) + ", " + std::to_string(device) + ", 1, " + std::to_string(stream) +
        ", " + (correlation == 0 ? "NULL" : std::to_string(correlation)) + ", " +
        std::to_string(pid(process)) + ", " + own + (era_ == Era::y2024 ? ", NULL, NULL" : "") +
        ")");
  }

  TempDir folder_;
  std::string path_;
  sqlite3* database_ = nullptr;
  Era era_ = Era::y2022;
  std::int64_t strings_ = 0;
};
