#include "readers/registry.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/foreign.hpp"
#include "logs/registry.hpp"
#include "mfu/model.hpp"
#include "traces/foreign_traces.hpp"
#include "traces/kineto/kineto.hpp"
#include "traces/nsight/nsight.hpp"
#include "traces/timeline/timeline.hpp"
#include "traces/xla/xla.hpp"

namespace mfu {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

template <ForeignKind kind>
bool sniff_foreign(std::string_view head) {
  const ForeignBytes* foreign = foreign_bytes(head);
  return foreign != nullptr && foreign->kind == kind;
}

bool sniff_empty(std::string_view head) {
  return head.find_first_not_of(kBlanks) == std::string_view::npos;
}

bool is_object(std::string_view head) {
  const std::size_t first = head.find_first_not_of(kBlanks);
  return first != std::string_view::npos && head[first] == '{';
}

// The schema that the text states, where that is one of ours: "mfu.run/1".
std::string_view schema_of_ours(std::string_view head) {
  constexpr std::string_view kKey = "\"schema\"";
  for (std::size_t at = head.find(kKey); at != std::string_view::npos;
       at = head.find(kKey, at + 1)) {
    std::size_t from = head.find_first_not_of(kBlanks, at + kKey.size());
    if (from == std::string_view::npos || head[from] != ':') continue;
    from = head.find_first_not_of(kBlanks, from + 1);
    if (from == std::string_view::npos || head[from] != '"') continue;
    const std::string_view value = head.substr(from + 1, head.find('"', from + 1) - from - 1);
    if (value.starts_with("mfu.")) return value;
  }
  return {};
}

// A history may begin with a line that is cut off.
bool sniff_history(std::string_view head) {
  return schema_of_ours(head).starts_with("mfu.history/");
}

// The schema is the first key of what the tool writes; other writers may order otherwise.
bool sniff_report(std::string_view head) {
  constexpr std::size_t kReportHead = 4096;
  return is_object(head) && head.substr(0, kReportHead).find("\"mfu.report/") != head.npos;
}

bool sniff_chips(std::string_view head) {
  return is_object(head) && schema_of_ours(head).starts_with("mfu.chips/");
}

// Another schema of ours, too: the reader says what it is.
bool states_run(std::string_view head) { return is_object(head) && !schema_of_ours(head).empty(); }
bool sniff_stated_run_lines(std::string_view head) {
  return states_run(head) && sniff_run_jsonl(head);
}

// Of dates and hosts alone other logs have their lines, too.
bool sniff_driver_log(std::string_view head) { return head.find("NVRM:") != head.npos; }

bool sniff_model_config(std::string_view head) {
  if (!is_object(head)) return false;
  try {
    Notes unused;
    (void)parse_model(head, "", unused);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::vector<traces::RankTrace> read_kineto_file(ByteSource& source, Notes& notes) {
  return {traces::read_kineto(source, notes)};
}
std::vector<traces::RankTrace> read_nsight_file(ByteSource& source, Notes& notes) {
  return traces::read_nsight(source.name(), notes);
}

// Told by the formats of logs together: see detect_format().
bool sniff_by_lines(std::string_view /*head*/) { return false; }
bool sniff_anything(std::string_view /*head*/) { return true; }

constexpr std::string_view kDiagnose = "mfu diagnose reads it";
constexpr std::string_view kTelemetry =
    "mfu diagnose reads it beside a run: mfu diagnose run.json --telemetry FILE";

constexpr std::array<FormatRow, 28> kFormats{{
    {InputFormat::zstd, "zstd", "zstd data", "", sniff_foreign<ForeignKind::zstd>},
    {InputFormat::zip, "zip", "a zip archive", "", sniff_foreign<ForeignKind::zip>},
    {InputFormat::bzip2, "bzip2", "bzip2 data", "", sniff_foreign<ForeignKind::bzip2>},
    {InputFormat::xz, "xz", "xz data", "", sniff_foreign<ForeignKind::xz>},
    {InputFormat::parquet, "parquet", "a Parquet file", "", sniff_foreign<ForeignKind::parquet>},
    {InputFormat::utf16, "UTF-16", "UTF-16 text", "", sniff_foreign<ForeignKind::utf16>},
    {InputFormat::empty, "empty", "empty", "", sniff_empty},
    {InputFormat::nsight, "nsight sqlite", "an Nsight Systems export", kDiagnose,
     traces::sniff_nsight, nullptr, read_nsight_file},
    {InputFormat::history, "mfu.history/1", "a history of mfu",
     "mfu history show --db FILE reads it, and --against history", sniff_history},
    {InputFormat::report, "mfu.report/1", "a saved report of mfu",
     "mfu compare reads it, and mfu history add", sniff_report},
    {InputFormat::chips, "mfu.chips/1", "a table of chips", "--chips FILE reads it", sniff_chips},
    {InputFormat::xla, "xla", "a profiler trace of JAX", kDiagnose, traces::sniff_xla, nullptr,
     traces::read_xla},
    {InputFormat::kineto, "kineto", "a profiler trace", kDiagnose, traces::sniff_kineto, nullptr,
     read_kineto_file},
    {InputFormat::timeline, "pipeline timeline", "a pipeline timeline", kDiagnose,
     traces::sniff_timeline},
    {InputFormat::foreign_trace, "foreign trace", "a trace of a kind that mfu does not read", "",
     traces::sniff_foreign_trace},
    {InputFormat::run_json_lines, "mfu.run/1 jsonl", "a timing document", kDiagnose,
     sniff_stated_run_lines, read_run_jsonl},
    {InputFormat::run_json, "mfu.run/1 json", "a timing document", kDiagnose, states_run,
     read_run_json},
    {InputFormat::dcgm_dmon, "dcgmi dmon", "telemetry (dcgmi dmon)", kTelemetry, sniff_dcgm_dmon,
     nullptr, nullptr, read_dcgm_dmon},
    {InputFormat::smi_dmon, "nvidia-smi dmon", "telemetry (nvidia-smi dmon)", kTelemetry,
     sniff_smi_dmon, nullptr, nullptr, read_smi_dmon},
    {InputFormat::dcgm_text, "dcgm-exporter", "telemetry (dcgm-exporter)", kTelemetry,
     sniff_dcgm_text, nullptr, nullptr, read_dcgm_text},
    {InputFormat::smi_csv, "nvidia-smi CSV", "telemetry (nvidia-smi CSV)", kTelemetry,
     sniff_smi_csv, nullptr, nullptr, read_smi_csv},
    {InputFormat::training_log, "log", "a training log", "mfu log reads it", sniff_by_lines},
    {InputFormat::rank_log, "log by rank", "a log of values by rank", kDiagnose, sniff_by_lines},
    {InputFormat::nsys_stats, "nsys stats", "what nsys stats prints", "", traces::sniff_nsys_stats},
    {InputFormat::kernel_log, "kernel log", "a kernel log", kTelemetry, sniff_driver_log, nullptr,
     nullptr, read_kernel_log},
    {InputFormat::model_config, "model", "a model config",
     "--model FILE reads it: mfu flops, mfu calc", sniff_model_config},
    {InputFormat::json, "json", "JSON that names no schema",
     "a mfu.run/1 document names it: \"schema\"", is_object},
    {InputFormat::text, "text", "text of no known format", "", sniff_anything},
}};

std::string_view without_mark(std::string_view head) {
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  return head;
}

// The log format that explains these lines best; nothing where none does. A JSON object that has
// figures and no steps is no log.
struct ExplainedLog {
  std::string_view format;
  bool by_rank = false;
};
ExplainedLog explain_as_log(std::string_view head) {
  // A line that the end of the head cuts is no line.
  if (const std::size_t end = head.rfind('\n'); end != std::string_view::npos) {
    head = head.substr(0, end + 1);
  }
  std::vector<LogEvidence> evidence;
  std::string found;
  try {
    Notes unused;
    ByteSource source = ByteSource::from_memory(head, "");
    found = read_log(source, {}, unused, &evidence).format;
  } catch (const Error&) {
    // Two may explain it equally well: it is a log all the same, and what reads it says so.
  }
  const LogEvidence* best = nullptr;
  bool steps = false;
  bool ranks = false;
  for (const LogEvidence& one : evidence) {
    steps = steps || one.score > 0.0;
    ranks = ranks || one.rank_values > 0;
    if (found.empty() && one.score > 0.0 && (best == nullptr || one.score > best->score)) {
      best = &one;
    }
    if (!found.empty() && one.format == found) best = &one;
  }
  if (best == nullptr || (!steps && !ranks && is_object(head))) return {};
  return {best->format, ranks && !steps};
}

}  // namespace

const FormatRow& format_row(InputFormat format) noexcept {
  return *std::find_if(kFormats.begin(), kFormats.end(),
                       [format](const FormatRow& row) { return row.format == format; });
}

std::span<const FormatRow> format_rows() noexcept { return kFormats; }

std::string_view DetectedFormat::called() const noexcept { return row->called; }
std::string_view DetectedFormat::way() const noexcept { return row->way; }

DetectedFormat detect_format(std::string_view head) {
  head = without_mark(head);
  for (const FormatRow& row : kFormats) {
    if (row.format == InputFormat::training_log) {
      const ExplainedLog log = explain_as_log(head);
      if (log.format.empty()) continue;
      const FormatRow& as = log.by_rank ? format_row(InputFormat::rank_log) : row;
      return {as.format, &as, log.format};
    }
    if (row.sniff(head)) return {row.format, &row, {}};
  }
  const FormatRow& last = kFormats.back();
  return {last.format, &last, {}};
}

const FormatRow& telemetry_row(std::string_view head) {
  head = without_mark(head);
  for (const InputFormat format :
       {InputFormat::dcgm_dmon, InputFormat::smi_dmon, InputFormat::dcgm_text}) {
    const FormatRow& row = format_row(format);
    if (row.sniff(head)) return row;
  }
  return format_row(sniff_kernel_log(head) ? InputFormat::kernel_log : InputFormat::smi_csv);
}

bool may_be_log(InputFormat format) noexcept {
  switch (format) {
    case InputFormat::training_log:
    case InputFormat::rank_log:
    case InputFormat::text:
    case InputFormat::dcgm_dmon:
    case InputFormat::smi_dmon:
    case InputFormat::dcgm_text:
    case InputFormat::smi_csv:
    case InputFormat::kernel_log:
      return true;
    default:
      return false;
  }
}

bool is_no_log(InputFormat format) noexcept {
  switch (format) {
    case InputFormat::history:
    case InputFormat::report:
    case InputFormat::chips:
    case InputFormat::run_json_lines:
    case InputFormat::run_json:
    case InputFormat::nsight:
    case InputFormat::kineto:
    case InputFormat::xla:
    case InputFormat::timeline:
    case InputFormat::foreign_trace:
      return true;
    default:
      return false;
  }
}

Error other_format(const DetectedFormat& found, std::string_view wanted, Place place) {
  return Error(ErrorKind::format,
               "is " + std::string(found.called()) + ", not " + std::string(wanted),
               std::move(place), std::string(found.way()));
}

}  // namespace mfu
