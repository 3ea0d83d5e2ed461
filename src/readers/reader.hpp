// What a reader of a timing document is given, and how read_run() goes about it. The formats are in
// registry.hpp.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "mfu/error.hpp"
#include "mfu/read.hpp"
#include "readers/run/header.hpp"
#include "timings/builder.hpp"

namespace mfu {

struct ReadJob {
  ByteSource& bytes;
  RunBuilder& builder;
  RunHeader& header;     // of this file
  UnknownKeys& unknown;  // of all files
  Notes& notes;
  std::size_t window;  // bytes of the JSON window
};

[[nodiscard]] bool sniff_run_json(std::string_view head);
void read_run_json(ReadJob& job);
[[nodiscard]] bool sniff_run_jsonl(std::string_view head);
void read_run_jsonl(ReadJob& job);

// What read_run() does. Sources are opened one at a time, when their turn comes: a job has
// thousands of ranks, a process fewer descriptors. A small window is for tests.
[[nodiscard]] ReadResult read_sources(std::size_t count,
                                      const std::function<ByteSource(std::size_t)>& open,
                                      Notes& notes, std::size_t window = 256 * 1024);

// The same as the public one, with one of the paths opened already: who looked at the first bytes
// of a pipe cannot open it again.
[[nodiscard]] ReadResult read_run(const std::vector<std::string>& paths, Notes& notes,
                                  const ReadOptions& options, std::optional<ByteSource> opened);

// Throws the Error that read_run() throws for it.
[[noreturn]] void refuse_no_run(std::string_view head, const std::string& name);

}  // namespace mfu
