#include "mfu/read.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "base/foreign.hpp"
#include "base/note_code.hpp"
#include "readers/input_files.hpp"
#include "readers/reader.hpp"
#include "readers/registry.hpp"
#include "readers/run/timeline_run.hpp"
#include "readers/traces/trace_set.hpp"
#include "timings/trace.hpp"
#include "traces/foreign_traces.hpp"
#include "traces/nsight/nsight.hpp"

namespace mfu {

namespace {

[[noreturn]] void refuse_text(ByteSource& source) {
  // The cursor finds the place and the words for what is wrong.
  JsonCursor cursor(source);
  std::string found = cursor.describe_next();
  throw Error(ErrorKind::format, "not a timing document: it starts with " + std::move(found),
              cursor.place(), "a mfu.run/1 document is a JSON object or JSON Lines");
}

[[noreturn]] void refuse_other(ByteSource& source, const DetectedFormat& found) {
  const Place where{.file = source.name()};
  switch (found.format) {
    case InputFormat::kineto:
    case InputFormat::xla:
    case InputFormat::nsight:
      throw Error(
          ErrorKind::format, "is a profiler trace, but others of the files are not", where,
          "give traces or timing documents, not both; mfu reduce turns traces into a document");
    case InputFormat::empty:
      if (source.cut_off()) {
        throw Error(ErrorKind::format, "the gzip data is cut off", where,
                    "the file is not complete: check it with gzip -t");
      }
      throw Error(ErrorKind::format, "the file is empty", where,
                  "a mfu.run/1 document is expected");
    case InputFormat::zstd:
    case InputFormat::zip:
    case InputFormat::bzip2:
    case InputFormat::xz:
    case InputFormat::parquet:
    case InputFormat::utf16:
      throw foreign_error(*foreign_bytes(source.peek(kHeadBytes)), "diagnose",
                          "a mfu.run/1 document is JSON, JSON Lines or gzip of them", where);
    case InputFormat::foreign_trace:
      throw traces::foreign_trace_error(source.peek(kHeadBytes), source.name());
    case InputFormat::nsys_stats:
      traces::refuse_nsys_stats(source.name());
    case InputFormat::text:
      refuse_text(source);
    default:
      throw other_format(found, "a timing document or a trace", where);
  }
}

struct RunFormat {
  std::string_view name;
  void (*read)(ReadJob& job);
};

RunFormat run_format_of(ByteSource& source) {
  const std::string_view head = source.peek(kHeadBytes);
  const DetectedFormat found = detect_format(head);
  if (found.row->read_run != nullptr) return {found.row->name, found.row->read_run};
  // One whose schema comes late, or is missing: the reader says so.
  if (found.format == InputFormat::json) {
    const FormatRow& row =
        format_row(sniff_run_jsonl(head) ? InputFormat::run_json_lines : InputFormat::run_json);
    return {row.name, row.read_run};
  }
  refuse_other(source, found);
}

// Where a folder holds no trace and timing documents: keeps them, and what was named, and names
// what it leaves out. False: nothing is changed.
bool choose_documents(std::vector<InputFile>& files, Notes& notes) {
  std::vector<InputFile> documents;
  std::vector<LeftOut> others;
  for (const InputFile& file : files) {
    if (!file.in_folder) {
      documents.push_back(file);
      continue;
    }
    const DetectedFormat found = detect_format(ByteSource::open(file.path).peek(kHeadBytes));
    if (found.row->read_trace != nullptr) return false;
    if (found.row->read_run != nullptr) {
      documents.push_back(file);
    } else {
      others.push_back({file.path, found.called()});
    }
  }
  const bool any = std::any_of(documents.begin(), documents.end(),
                               [](const InputFile& file) { return file.in_folder; });
  if (!any) return false;
  note_left_out(others, "timing documents", notes);
  files = std::move(documents);
  return true;
}

}  // namespace

ReadResult read_sources(std::size_t count, const std::function<ByteSource(std::size_t)>& open,
                        Notes& notes, std::size_t window) {
  RunBuilder builder;
  UnknownKeys unknown;
  RunHeader first;
  ReadResult result;
  result.of_documents = true;
  for (std::size_t i = 0; i < count; ++i) {
    ByteSource source = open(i);
    const RunFormat format = run_format_of(source);
    RunHeader header(source.name());
    ReadJob job{source, builder, header, unknown, notes, window};
    format.read(job);
    result.inputs.push_back({source.name(),
                             std::string(format.name) + (source.gzip() ? " (gzip)" : ""),
                             source.raw_bytes()});
    if (i == 0) {
      first = std::move(header);
    } else {
      first.require_same(header);
    }
  }
  first.apply(builder.run, unknown, notes);
  unknown.report(notes);
  Boxed<TraceEvidence> trace = std::exchange(builder.run.trace, std::nullopt);
  result.run = builder.build(notes);
  if (count == 1) {
    result.run.trace = std::move(trace);
  } else if (trace) {
    notes.add(NoteCode::trace_evidence_apart,
              "collectives are paired when traces are read: what several reduced files say about "
              "them is not merged");
  }
  return result;
}

void refuse_no_run(std::string_view head, const std::string& name) {
  ByteSource source = ByteSource::from_memory(head, name);
  (void)run_format_of(source);
  throw Error(ErrorKind::format, "not a timing document", Place{.file = name});
}

ReadResult read_run(const std::vector<std::string>& paths, Notes& notes,
                    const ReadOptions& options) {
  return read_run(paths, notes, options, std::nullopt);
}

ReadResult read_run(const std::vector<std::string>& paths, Notes& notes, const ReadOptions& options,
                    std::optional<ByteSource> opened) {
  if (paths.empty())
    throw Error(ErrorKind::usage, "no input file", {}, "name a file, or - for standard input");
  if (std::count(paths.begin(), paths.end(), "-") > 1) {
    throw Error(ErrorKind::usage, "standard input is named twice", {}, "- can be read only once");
  }
  try {
    InputFiles inputs = find_input_files(paths);
    // A pipe cannot be opened again: what was opened is handed on as it is.
    std::mutex taking;
    const auto take = [&taking](std::optional<ByteSource>& source, const std::string& path) {
      const std::lock_guard lock(taking);
      return source && source->name() == path ? std::exchange(source, std::nullopt) : std::nullopt;
    };
    std::optional<ByteSource> first = take(opened, inputs.files.front().path);
    if (!first) first = ByteSource::open(inputs.files.front().path);
    const auto open = [&](const std::string& path) {
      std::optional<ByteSource> source = take(first, path);
      if (!source) source = take(opened, path);
      return source ? std::move(*source) : ByteSource::open(path);
    };
    const DetectedFormat found = detect_format(first->peek(kHeadBytes));
    // The first file says what this is; of a folder its traces, else its timing documents.
    const bool chosen = !inputs.folders.empty() && choose_documents(inputs.files, notes);
    if (!chosen && (!inputs.folders.empty() || found.row->read_trace != nullptr)) {
      return read_trace_set({inputs.files, open, find_trace_row}, notes, options);
    }
    if (!chosen && found.format == InputFormat::timeline) {
      if (inputs.files.size() > 1) {
        throw Error(ErrorKind::usage, "a pipeline timeline holds a whole job",
                    Place{.file = inputs.files.front().path}, "give one timeline at a time");
      }
      ByteSource source = open(inputs.files.front().path);
      return read_timeline_run(source, notes);
    }
    return read_sources(
        inputs.files.size(), [&](std::size_t i) { return open(inputs.files[i].path); }, notes);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::io, "not enough memory for the columns of this run", {},
                "read fewer steps or fewer ranks at a time");
  }
}

}  // namespace mfu
