// Databases that were damaged, or made to do harm: an error with a place, or the rows that are
// good.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "catch.hpp"
#include "traces/nsight/nsight.hpp"
#include "unit/traces/nsight_export.hpp"

namespace mfu::traces {
namespace {

using Era = NsightExport::Era;

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Error refused(const std::string& path) {
  Notes notes;
  try {
    (void)read_nsight(path, notes);
  } catch (const Error& error) {
    CHECK(error.place().file == path);
    return error;
  }
  FAIL("not refused");
  return Error(ErrorKind::io, "");
}

void fill(NsightExport& file, int kernels = 200) {
  file.run("BEGIN");
  file.begin(Era::y2022);
  for (int i = 0; i < kernels; ++i) file.kernel(100 * i, 100 * i + 50, "gemm", i + 1);
  file.run("COMMIT");
}

TEST_CASE("a pipe, a folder, gzip and other files are refused with the way out") {
  TempDir folder;
  CHECK(refused("-").kind() == ErrorKind::unsupported);
  CHECK(refused(folder.path("none.sqlite")).kind() == ErrorKind::io);
  CHECK(refused(folder.path("")).kind() == ErrorKind::io);
  NsightExport file;
  fill(file, 3);
  const Error packed = refused(folder.write("a.sqlite.gz", gzipped(bytes_of(file.path()))));
  CHECK(packed.kind() == ErrorKind::unsupported);
  CHECK(packed.hint().find("gunzip") != std::string::npos);
  CHECK(refused(folder.write("a.sqlite", "{}")).kind() == ErrorKind::format);
  CHECK(refused(folder.write("b.sqlite", "")).kind() == ErrorKind::format);
}

TEST_CASE("odd file names do not reach the options of the database") {
  NsightExport file("a?mode=rwc&x#b %41.sqlite");
  fill(file, 2);
  Notes notes;
  CHECK(read_nsight(file.path(), notes).size() == 1);
}

TEST_CASE("cut off at any place: an error, never half of the kernels") {
  NsightExport file;
  fill(file);
  const std::string whole = bytes_of(file.path());
  for (std::size_t size = 16; size < whole.size(); size += size < 600 ? 61 : 1777) {
    CAPTURE(size);
    Notes notes;
    try {
      (void)read_nsight_bytes(std::string_view(whole).substr(0, size), "cut.sqlite", notes);
      FAIL("not refused");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::format);
      CHECK(error.place().file == "cut.sqlite");
      CHECK_FALSE(error.hint().empty());
    }
  }
}

TEST_CASE("random bytes behind the magic, and damage anywhere: an error or a sum that holds") {
  NsightExport file;
  fill(file);
  const std::string whole = bytes_of(file.path());
  std::uint64_t state = 88172645463325252U;
  const auto random = [&state] {
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    return state;
  };
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    if (round < 20) {
      for (std::size_t i = 16; i < bytes.size(); ++i) bytes[i] = static_cast<char>(random());
    } else {
      for (int i = 0; i < 1 + round % 20; ++i) {
        bytes[16 + random() % (round % 2 == 0 ? 4080 : bytes.size() - 16)] =
            static_cast<char>(random());
      }
    }
    Notes notes;
    try {
      for (const RankTrace& trace : read_nsight_bytes(bytes, "odd.sqlite", notes)) {
        const Split& split = trace.gpu_span.split;
        CHECK(split.compute_ns + split.exposed_comm_ns + split.exposed_memory_ns + split.idle_ns ==
              split.window_ns);
      }
    } catch (const Error& error) {
      CHECK(error.place().file == "odd.sqlite");
    }
  }
}

TEST_CASE("a view or a virtual table is no table") {
  {
    NsightExport file;
    file.run("CREATE TABLE t (start, end, deviceId)");
    file.run("INSERT INTO t VALUES (1, 2, 0)");
    file.run("CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT * FROM t, t, t, t, t, t, t");
    const Error error = refused(file.path());
    CHECK(error.kind() == ErrorKind::format);
    CHECK(error.place().what == "table CUPTI_ACTIVITY_KIND_KERNEL");
  }
  {
    // The entry says table, its text says view.
    NsightExport file;
    fill(file, 2);
    file.run("PRAGMA writable_schema=ON");
    file.run(
        "UPDATE sqlite_master SET sql='CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 AS "
        "start, 2 AS end, 0 AS deviceId' WHERE name='CUPTI_ACTIVITY_KIND_KERNEL'");
    CHECK(refused(file.path()).kind() == ErrorKind::format);
  }
  {
    NsightExport file;
    fill(file, 2);
    file.run("PRAGMA writable_schema=ON");
    file.run(
        "UPDATE sqlite_master SET rootpage=0, sql='CREATE VIRTUAL TABLE StringIds USING "
        "fts5(id, value)' WHERE name='StringIds'");
    CHECK(refused(file.path()).kind() == ErrorKind::format);
  }
}

TEST_CASE("a column that is computed is refused") {
  NsightExport file;
  file.run(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, deviceId INTEGER, demangledName, "
      "shortName, end INTEGER AS (start + length(hex(zeroblob(1000)))))");
  file.run("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 0, 'a', 'b')");
  const Error error = refused(file.path());
  CHECK(error.kind() == ErrorKind::format);
  CHECK(error.place().what == "table CUPTI_ACTIVITY_KIND_KERNEL");
}

TEST_CASE("triggers and indices do no harm, and nothing is written") {
  NsightExport file;
  fill(file, 4);
  file.run("CREATE TRIGGER t AFTER INSERT ON StringIds BEGIN DELETE FROM StringIds; END");
  file.run("CREATE INDEX i ON CUPTI_ACTIVITY_KIND_KERNEL (start)");
  const std::string path = file.path();
  const std::string before = bytes_of(path);
  Notes notes;
  const auto traces = read_nsight(path, notes);
  REQUIRE(traces.size() == 1);
  CHECK(traces[0].gpu_span.split.compute_ns == 200);
  CHECK(bytes_of(path) == before);
  CHECK(notes.all().empty());
}

TEST_CASE("a name beyond all measure is an error, a long one is not") {
  for (const int megabytes : {8, 40}) {
    NsightExport file;
    fill(file, 2);
    file.run("UPDATE StringIds SET value = hex(zeroblob(" + std::to_string(megabytes * 500'000) +
             "))");
    const std::string path = file.path();
    if (megabytes == 8) {
      Notes notes;
      CHECK(read_nsight(path, notes).size() == 1);
    } else {
      const Error error = refused(path);
      CHECK(error.kind() == ErrorKind::format);
      CHECK(error.place().what == "table StringIds");
    }
  }
}

TEST_CASE("ids without an order to find them by do not take for ever") {
  // Each of 20,000 kernels would search 20,000 texts.
  NsightExport file;
  file.run("CREATE TABLE StringIds (id, value)");
  file.run(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, demangledName, shortName)");
  file.run("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, correlationId)");
  const std::string numbers =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) ";
  file.run(numbers + "INSERT INTO StringIds SELECT -i, 'x' FROM n");
  file.run(numbers + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i, i + 1, 0, i, i FROM n");
  const Error error = refused(file.path());
  CHECK(error.kind() == ErrorKind::format);
}

TEST_CASE("other databases, and exports without a GPU") {
  {
    NsightExport file;
    file.run("CREATE TABLE notes (id INTEGER PRIMARY KEY)");
    CHECK(refused(file.path()).kind() == ErrorKind::format);
  }
  for (const Era era : {Era::y2022, Era::y2024}) {
    NsightExport file;
    file.begin(era);
    const Error error = refused(file.path());
    CHECK(error.kind() == ErrorKind::insufficient);
    CHECK(error.hint().find("--trace=cuda") != std::string::npos);
  }
  {
    NsightExport file;
    file.run("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (begin, end, deviceId)");
    const Error error = refused(file.path());
    CHECK(error.kind() == ErrorKind::format);
    CHECK(error.message().find("start") != std::string::npos);
  }
}

TEST_CASE("an export that is being written is said to be so") {
  NsightExport file;
  fill(file, 2);
  const std::string path = file.path();
  std::ofstream(path + "-journal") << "something";
  Notes notes;
  CHECK(read_nsight(path, notes).size() == 1);
  CHECK(notes.has("unfinished-export"));
}

}  // namespace
}  // namespace mfu::traces
