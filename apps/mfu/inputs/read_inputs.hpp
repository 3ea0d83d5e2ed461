// Reading a run on the command line: threads, and a line of progress where it takes long.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "mfu/read.hpp"
#include "options.hpp"

namespace mfu::app {

void add_threads_option(CLI::App& command, std::string& text);
// 0: as many as the machine has cores.
[[nodiscard]] unsigned parse_threads(const std::string& text, Problems& problems);

// Standard input, a pipe of the shell ("<(zcat ...)"), a named one.
[[nodiscard]] bool is_read_once(const std::string& path);

// read_run() with the line. `opened`: one of the files, opened already.
[[nodiscard]] ReadResult read_inputs(const std::vector<std::string>& files, unsigned threads,
                                     Notes& notes, std::optional<ByteSource> opened = std::nullopt);

}  // namespace mfu::app
