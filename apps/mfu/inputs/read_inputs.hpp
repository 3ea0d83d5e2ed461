// Reading a run on the command line: threads, and a line of progress where it takes long.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "mfu/read.hpp"
#include "options.hpp"
#include "readers/input_format.hpp"
#include "readers/run/logged_ranks.hpp"

namespace mfu::app {

void add_threads_option(CLI::App& command, std::string& text);
// 0: as many as the machine has cores.
[[nodiscard]] unsigned parse_threads(const std::string& text, Problems& problems);

// Standard input, a pipe of the shell ("<(zcat ...)"), a named one.
[[nodiscard]] bool is_read_once(const std::string& path);

// read_run() with the line. `opened`: one of the files, opened already.
[[nodiscard]] ReadResult read_inputs(const std::vector<std::string>& files, unsigned threads,
                                     Notes& notes, std::optional<ByteSource> opened = std::nullopt);

// Of a regular file; nothing: it is none, or is not there.
[[nodiscard]] std::optional<DetectedFormat> format_of_file(const std::string& path);

// A run, or what logs say rank by rank: files that are all neither timing documents nor traces are
// read as logs.
[[nodiscard]] LoggedRanks read_run_or_log(const std::vector<std::string>& paths, unsigned threads,
                                          Notes& notes);

}  // namespace mfu::app
