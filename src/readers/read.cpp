#include "mfu/read.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "base/note_code.hpp"
#include "readers/input_files.hpp"
#include "readers/reader.hpp"
#include "readers/run/timeline_run.hpp"
#include "readers/traces/trace_set.hpp"
#include "timings/trace.hpp"
#include "traces/nsight/nsight.hpp"
#include "traces/timeline/timeline.hpp"

namespace mfu {

namespace {

// First match wins: the more specific format comes first.
constexpr std::array<Reader, 2> kReaders{{
    {"mfu.run/1 jsonl", sniff_run_jsonl, read_run_jsonl},
    {"mfu.run/1 json", sniff_run_json, read_run_json},
}};

struct Signature {
  std::string_view bytes;
  std::string_view message;
  std::string_view hint;
};

// What is often passed by mistake.
constexpr std::array<Signature, 6> kForeign{{
    {"\x28\xB5\x2F\xFD", "zstd data", "decompress it first: zstd -dc FILE | mfu diagnose -"},
    {"PK\x03\x04", "a zip archive", "unpack it first"},
    {"BZh", "bzip2 data", "decompress it first: bzip2 -dc FILE | mfu diagnose -"},
    {"PAR1", "a Parquet file", "a mfu.run/1 document is JSON, JSON Lines or gzip of them"},
    {"\xFF\xFE", "UTF-16 text", "save it as UTF-8"},
    {"\xFE\xFF", "UTF-16 text", "save it as UTF-8"},
}};

const Reader& detect(ByteSource& source) {
  const std::string_view head = source.peek(kHeadBytes);
  if (find_trace_reader(head, trace_readers()) != nullptr) {
    throw Error(
        ErrorKind::format, "is a profiler trace, but others of the files are not",
        Place{.file = source.name()},
        "give traces or timing documents, not both; mfu reduce turns traces into a document");
  }
  for (const Reader& reader : kReaders) {
    if (reader.sniff(head)) return reader;
  }
  Place where;
  where.file = source.name();
  const bool blank = head.find_first_not_of(" \t\r\n") == std::string_view::npos;
  if (blank) {
    if (source.cut_off()) {
      throw Error(ErrorKind::format, "the gzip data is cut off", std::move(where),
                  "the file is not complete: check it with gzip -t");
    }
    throw Error(ErrorKind::format, "the file is empty", std::move(where),
                "a mfu.run/1 document is expected");
  }
  for (const Signature& foreign : kForeign) {
    if (head.starts_with(foreign.bytes)) {
      throw Error(ErrorKind::format, "is " + std::string(foreign.message), std::move(where),
                  std::string(foreign.hint));
    }
  }
  if (traces::sniff_nsys_stats(head)) traces::refuse_nsys_stats(source.name());
  // The cursor finds the place and the words for what is wrong.
  JsonCursor cursor(source);
  std::string found = cursor.describe_next();
  where = cursor.place();
  throw Error(ErrorKind::format, "not a timing document: it starts with " + std::move(found),
              std::move(where), "a mfu.run/1 document is a JSON object or JSON Lines");
}

}  // namespace

ReadResult read_sources(std::size_t count, const std::function<ByteSource(std::size_t)>& open,
                        Notes& notes, std::size_t window) {
  RunBuilder builder;
  UnknownKeys unknown;
  RunHeader first;
  ReadResult result;
  for (std::size_t i = 0; i < count; ++i) {
    ByteSource source = open(i);
    const Reader& reader = detect(source);
    RunHeader header(source.name());
    ReadJob job{source, builder, header, unknown, notes, window};
    reader.read(job);
    result.inputs.push_back({source.name(),
                             std::string(reader.name) + (source.gzip() ? " (gzip)" : ""),
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

bool is_no_run(std::string_view head) {
  if (head.find_first_not_of(" \t\r\n") == std::string_view::npos) return false;
  return find_trace_reader(head, trace_readers()) == nullptr && !traces::sniff_timeline(head) &&
         std::none_of(kReaders.begin(), kReaders.end(),
                      [head](const Reader& reader) { return reader.sniff(head); });
}

bool may_be_json_lines(std::string_view head) {
  const std::size_t start = head.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && head[start] == '{' &&
         find_trace_reader(head, trace_readers()) == nullptr && !traces::sniff_timeline(head) &&
         head.find("\"schema\"") == std::string_view::npos;
}

void refuse_no_run(std::string_view head, const std::string& name) {
  ByteSource source = ByteSource::from_memory(head, name);
  (void)detect(source);
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
    // What a folder holds can only be traces; else the first file says what this is.
    if (!inputs.folders.empty() ||
        find_trace_reader(first->peek(kHeadBytes), trace_readers()) != nullptr) {
      return read_trace_set({inputs.files, open, trace_readers()}, notes, options);
    }
    if (traces::sniff_timeline(first->peek(kHeadBytes))) {
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
