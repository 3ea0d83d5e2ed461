// Reading a run from files. Formats are detected by content, never by name.
#pragma once

#include <cstdint>
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
};

// Reads one run from one or more files; "-" is standard input (once). Several files are one run
// when their headers agree; else Error{format} names the key. Memory: the columns, plus what one
// column needs while it is turned; independent of the size of the text. Throws Error{io} when a
// file cannot be read, Error{format} with file:line:column on broken input, Error{unsupported} on a
// newer schema, Error{insufficient} when there is no rank.
[[nodiscard]] ReadResult read_run(const std::vector<std::string>& paths, Notes& notes);

}  // namespace mfu
