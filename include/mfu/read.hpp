// Reading a run from files. Formats are detected by content, never by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "mfu/error.hpp"
#include "mfu/timings.hpp"

namespace mfu {

struct InputInfo {
  std::string path;         // as the user named it
  std::string format;       // "mfu.run/1 json", "mfu.run/1 jsonl"; with " (gzip)" where it was
  std::uint64_t bytes = 0;  // as read, before decompression
};

struct ReadResult {
  RunTimings run;
  std::vector<InputInfo> inputs;
  bool of_documents = false;  // timing documents; else traces, or a timeline
};

struct ReadProgress {
  std::size_t files_read = 0;
  std::size_t files = 0;
};

struct ReadOptions {
  unsigned threads = 0;  // that read traces in parallel; 0: as many as the machine has cores
  // Told when reading traces begins and after each file; by one thread at a time, not always the
  // caller's. Must not throw.
  std::function<void(const ReadProgress&)> progress;
};

// Reads one run from one or more files; "-" is standard input (once).
//
// Timing documents: several files are one run when their headers agree; else Error{format} names
// the key. Memory: the columns, plus what one column needs while it is turned; independent of the
// size of the text.
// Profiler traces: files, folders and patterns (*, ?, [a-z]); one rank per trace, all of one run.
// They are not mixed with timing documents. Memory: the reduced ranks and a window for each thread.
//
// Throws Error{io} when a file cannot be read or a folder or pattern gives none, Error{format} with
// file:line:column on broken input, Error{unsupported} on a newer schema, Error{insufficient} when
// there is no rank, Error{usage} when two traces are of one rank.
[[nodiscard]] ReadResult read_run(const std::vector<std::string>& paths, Notes& notes,
                                  const ReadOptions& options = {});

}  // namespace mfu
