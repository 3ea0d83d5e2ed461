// A set of profiler traces, one or more per file, read in parallel into one run.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "mfu/error.hpp"
#include "mfu/read.hpp"
#include "readers/input_files.hpp"

namespace mfu {

struct FormatRow;

// Of the formats that there are.
[[nodiscard]] const FormatRow* find_trace_row(std::string_view head);

struct TraceSet {
  std::vector<InputFile> files;
  std::function<ByteSource(const std::string& path)> open;
  // The row of a trace; nullptr: it is none.
  const FormatRow* (*find)(std::string_view head);
};

// Reads all files on options.threads threads and joins the ranks. The answer, and which of several
// errors is told, depend on neither the number of threads nor the order of the files. Memory: what
// one reader needs, for each thread, and the reduced ranks. A file of a folder that is not a trace
// is left out with a note; one that was named is refused: traces and run documents are not mixed.
[[nodiscard]] ReadResult read_trace_set(const TraceSet& set, Notes& notes,
                                        const ReadOptions& options);

}  // namespace mfu
