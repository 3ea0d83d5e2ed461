#include "readers/traces/trace_set.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <iterator>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/note_code.hpp"
#include "readers/registry.hpp"
#include "traces/collectives/across.hpp"
#include "traces/foreign_traces.hpp"
#include "traces/kineto/meta.hpp"

namespace mfu {

namespace {

struct FileResult {
  std::optional<InputInfo> input;  // absent: not a trace, left out
  std::string_view kind;           // the kind of what is left out, if mfu reads it
  std::vector<traces::RankTrace> ranks;
  Notes notes;
  std::exception_ptr error;
  std::optional<Error> empty;  // that error, where it says that the trace holds nothing
};

// Read when named alone, not together with traces.
std::string_view other_kind(std::string_view head) {
  const DetectedFormat found = detect_format(head);
  switch (found.format) {
    case InputFormat::timeline:
    case InputFormat::foreign_trace:
    case InputFormat::run_json:
    case InputFormat::run_json_lines:
      return found.called();
    default:
      return {};
  }
}

void read_file(const TraceSet& set, const InputFile& file, FileResult& result) {
  ByteSource source = set.open(file.path);
  const FormatRow* row = set.find(source.peek(kHeadBytes));
  if (row == nullptr) {
    if (file.in_folder) {
      result.kind = other_kind(source.peek(kHeadBytes));
      return;
    }
    const std::string_view head = source.peek(kHeadBytes);
    if (detect_format(head).format == InputFormat::foreign_trace) {
      throw traces::foreign_trace_error(head, file.path);
    }
    throw Error(
        ErrorKind::format,
        "is not a profiler trace; with traces or a folder, every file must be one",
        Place{.file = file.path},
        "give traces or timing documents, not both; mfu reduce turns traces into a document");
  }
  result.ranks = row->read_trace(source, result.notes);
  for (traces::RankTrace& rank : result.ranks) {
    if (rank.file.empty()) rank.file = source.name();
  }
  result.input = InputInfo{source.name(), std::string(row->name) + (source.gzip() ? " (gzip)" : ""),
                           source.raw_bytes()};
}

// The files in the order of their names are taken one after the other by as many threads as there
// are. After an error no further file is begun: all before it were, so the first one is known.
std::vector<FileResult> read_files(const TraceSet& set, std::span<const std::size_t> order,
                                   const ReadOptions& options) {
  std::vector<FileResult> results(set.files.size());
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex telling;
  ReadProgress progress{0, set.files.size()};
  const auto work = [&] {
    while (!stop) {
      const std::size_t i = next++;
      if (i >= order.size()) return;
      FileResult& result = results[order[i]];
      try {
        read_file(set, set.files[order[i]], result);
      } catch (const Error& error) {
        // A trace with nothing in it is a rank that is missing, where there are others.
        if (error.kind() == ErrorKind::insufficient) result.empty = error;
        result.error = std::current_exception();
        stop = stop || !result.empty;
      } catch (...) {
        result.error = std::current_exception();
        stop = true;
      }
      const std::lock_guard lock(telling);
      ++progress.files_read;
      if (options.progress && !stop) options.progress(progress);
    }
  };
  if (options.progress) options.progress(progress);
  std::size_t threads =
      options.threads != 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  threads = std::min(threads, set.files.size());
  std::vector<std::thread> pool;
  for (std::size_t t = 1; t < threads; ++t) {
    try {
      pool.emplace_back(work);
    } catch (const std::system_error&) {
      break;  // no more threads available: fewer do the same work
    }
  }
  work();
  for (std::thread& thread : pool) thread.join();
  return results;
}

void refuse_none(const TraceSet& set, const std::vector<FileResult>& results) {
  const bool any = std::any_of(results.begin(), results.end(),
                               [](const FileResult& result) { return result.input.has_value(); });
  if (any) return;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].kind.empty()) continue;
    throw Error(ErrorKind::format,
                "the folder holds " + std::string(results[i].kind) + " but no profiler trace",
                Place{.file = set.files[i].path},
                "name the file: mfu diagnose " + set.files[i].path);
  }
  throw Error(ErrorKind::format,
              "none of the " + std::to_string(set.files.size()) +
                  " files in the folder is a profiler trace",
              Place{.file = set.files.front().path},
              "looked into *.json, *.json.gz and *.sqlite, here and below; give timing "
              "documents by name");
}

}  // namespace

const FormatRow* find_trace_row(std::string_view head) {
  const DetectedFormat found = detect_format(head);
  return found.row->read_trace != nullptr ? found.row : nullptr;
}

ReadResult read_trace_set(const TraceSet& set, Notes& notes, const ReadOptions& options) {
  std::vector<std::size_t> order(set.files.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&set](std::size_t a, std::size_t b) {
    return set.files[a].path < set.files[b].path;
  });
  std::vector<FileResult> results = read_files(set, order, options);
  const bool any = std::any_of(results.begin(), results.end(),
                               [](const FileResult& result) { return result.input.has_value(); });
  std::int64_t empty = 0;
  for (const std::size_t i : order) {
    FileResult& result = results[i];
    if (!result.error) continue;
    if (!any || !result.empty) std::rethrow_exception(result.error);
    const std::optional<std::int64_t> rank = traces::rank_from_name(set.files[i].path);
    result.notes = {};
    notes.add(NoteCode::trace_without_activity,
              result.empty->message() + ": " + (rank ? "rank " + std::to_string(*rank) : "it") +
                  " is set aside",
              Place{.file = set.files[i].path});
    ++empty;
  }
  refuse_none(set, results);

  std::vector<traces::RankTrace> ranks;
  std::int64_t left_out = 0;
  Place first;
  for (const std::size_t i : order) {
    FileResult& result = results[i];
    if (result.empty) continue;  // told
    if (!result.input) {
      if (!result.kind.empty()) {
        notes.add(
            NoteCode::other_kind_left_out,
            "is " + std::string(result.kind) + ", which is not read together with traces: left out",
            Place{.file = set.files[i].path});
      } else if (left_out++ == 0) {
        first.file = set.files[i].path;
      }
      continue;
    }
    for (const Note& note : result.notes.all()) notes.add(note);
    std::move(result.ranks.begin(), result.ranks.end(), std::back_inserter(ranks));
  }
  if (left_out > 0) {
    notes.add(NoteCode::not_a_trace,
              std::to_string(left_out) + " files of the folder are not profiler traces: left out",
              std::move(first), left_out);
  }
  ReadResult read;
  for (FileResult& result : results) {
    if (result.input) read.inputs.push_back(std::move(*result.input));
  }
  read.run = traces::join_ranks(std::move(ranks), notes, empty);
  return read;
}

}  // namespace mfu
