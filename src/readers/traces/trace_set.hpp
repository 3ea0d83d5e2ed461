// A set of profiler traces, one or more per file, read in parallel into one run.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "mfu/error.hpp"
#include "mfu/read.hpp"
#include "readers/input_files.hpp"
#include "traces/rank_trace.hpp"

namespace mfu {

// To add a trace format: one line in the array in trace_set.cpp.
struct TraceReader {
  std::string_view name;
  // `head`: the first bytes, decompressed, 256 KiB at most.
  bool (*sniff)(std::string_view head);
  // Ranks of one file. Called on several threads at a time, with notes of its own each.
  std::vector<traces::RankTrace> (*read)(ByteSource& source, Notes& notes);
};
[[nodiscard]] std::span<const TraceReader> trace_readers() noexcept;

// The format of a trace; nullptr: none.
[[nodiscard]] const TraceReader* find_trace_reader(std::string_view head,
                                                   std::span<const TraceReader> readers);

struct TraceSet {
  std::vector<InputFile> files;
  std::function<ByteSource(const std::string& path)> open;
  std::span<const TraceReader> readers;
};

// Reads all files on options.threads threads and joins the ranks. The answer, and which of several
// errors is told, depend on neither the number of threads nor the order of the files. Memory: what
// one reader needs, for each thread, and the reduced ranks. A file of a folder that is not a trace
// is left out with a note; one that was named is refused: traces and run documents are not mixed.
[[nodiscard]] ReadResult read_trace_set(const TraceSet& set, Notes& notes,
                                        const ReadOptions& options);

}  // namespace mfu
