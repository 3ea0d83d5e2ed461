#include "traces/nsight/target.hpp"

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "base/note_code.hpp"
#include "traces/text.hpp"

namespace mfu::traces {

namespace {

void read_gpus(SqliteFile& file, NsightCapture& out) {
  const char* const table = "TARGET_INFO_GPU";
  if (!file.has_table(table)) return;
  SqliteFile::Rows rows = file.select(table, {"id", "cuDevice", "name"});
  while (rows.next() && out.gpus.size() < 1024) {
    NsightCapture::Gpu gpu;
    if (rows.is_integer(0)) gpu.id = rows.integer(0);
    if (rows.is_integer(1)) gpu.cuda = rows.integer(1);
    if (rows.is_text(2)) gpu.name = printable(rows.text(2));
    out.gpus.push_back(std::move(gpu));
  }
}

void read_node(SqliteFile& file, NsightCapture& out) {
  const char* const table = "TARGET_INFO_SYSTEM_ENV";
  if (!file.has_table(table)) return;
  SqliteFile::Rows rows = file.select(table, {"name", "value"});
  while (rows.next()) {
    if (rows.text(0) != "Hostname" || !rows.is_text(1)) continue;
    const std::string node = printable(rows.text(1));
    // Several machines in one report: which process ran where is not told by this.
    if (!out.node.empty() && out.node != node) {
      out.node.clear();
      return;
    }
    out.node = node;
  }
}

void read_session_start(SqliteFile& file, RowFaults& faults, NsightCapture& out) {
  const char* const table = "TARGET_INFO_SESSION_START_TIME";
  faults.set_table(table);
  if (!file.has_table(table)) return;
  SqliteFile::Rows rows = file.select(table, {"utcEpochNs", "utcTime"});
  if (!rows.next()) return;
  std::optional<std::int64_t> epoch;
  if (rows.is_integer(0)) epoch = rows.integer(0);
  if (rows.is_text(0)) epoch = integer_of_text(rows.text(0));
  // 2010 to 2060.
  if (epoch && *epoch > 1'262'304'000'000'000'000 && *epoch < 2'840'140'800'000'000'000) {
    out.session_epoch_ns = epoch;
  } else if (epoch || rows.is_text(1) || rows.is_text(0)) {
    faults.add(
        NoteCode::session_start_unknown,
        "the time of day at which the capture began is not known to the nanosecond: its clock "
        "cannot be compared with other captures");
  }
  if (rows.next()) {
    faults.add(NoteCode::several_sessions, "more than one start of the capture; the first counts");
  }
}

}  // namespace

void read_target(SqliteFile& file, RowFaults& faults, NsightCapture& out) {
  read_gpus(file, out);
  read_node(file, out);
  read_session_start(file, faults, out);
}

}  // namespace mfu::traces
