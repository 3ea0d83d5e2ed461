// From what the user names to files: folders and patterns are opened up here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mfu/error.hpp"

namespace mfu {

struct InputFile {
  std::string path;
  bool in_folder = false;  // found in a folder that was named: it need not be ours
};

struct InputFiles {
  std::vector<InputFile> files;      // those of a folder or pattern in the order of their names
  std::vector<std::string> folders;  // that were named
};

// A path that exists, or "-", stays as it is. A folder gives the files in it and one level below
// whose names are those of traces: *.json, *.json.gz, *.sqlite. What does not exist and holds *, ?
// or [ is a pattern. No file twice. Throws Error{io}: a pattern without a match, a folder that
// cannot be read, a folder without such a file (naming what was looked for).
[[nodiscard]] InputFiles find_input_files(const std::vector<std::string>& paths);

// `*` any characters, `?` one, `[a-c]` or `[!a-c]` one of a set. A leading dot must be written.
[[nodiscard]] bool matches_pattern(std::string_view name, std::string_view pattern);

// A file of a folder that is not read together with the others; `called`: what it is.
struct LeftOut {
  std::string path;
  std::string_view called;
};
// One note that names them. `read`: what is read instead, "timing documents".
void note_left_out(const std::vector<LeftOut>& files, std::string_view read, Notes& notes);

}  // namespace mfu
