#include "readers/input_files.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "base/note_code.hpp"
#include "mfu/error.hpp"

namespace mfu {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 10> kEndings{".json",     ".json.gz", ".sqlite", ".jsonl",
                                                    ".jsonl.gz", ".log",     ".log.gz", ".out",
                                                    ".txt",      ".csv"};

constexpr int kDeepest = 3;  // folders below the one that was named

bool is_read_by_name(std::string name) {
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return !name.starts_with('.') &&
         std::any_of(kEndings.begin(), kEndings.end(),
                     [&name](std::string_view ending) { return name.ends_with(ending); });
}

bool sounds_like_a_trace(std::string_view name) {
  return name.find("trace") != std::string_view::npos ||
         name.find("rank") != std::string_view::npos || name.ends_with(".sqlite");
}

bool is_pattern(std::string_view text) {
  return text.find_first_of("*?[") != std::string_view::npos;
}

[[noreturn]] void fail(const std::string& path, std::string message, std::string hint = {}) {
  throw Error(ErrorKind::io, std::move(message), Place{.file = path}, std::move(hint));
}

// Names in a folder, sorted: the answer must not depend on the file system's order.
std::vector<std::string> names_in(const fs::path& folder) {
  std::error_code problem;
  std::vector<std::string> names;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end;
       at.increment(problem)) {
    // A pipe would wait for its other end; only regular files are traces.
    std::error_code ignored;
    if (!fs::is_regular_file(at->path(), ignored) && !fs::is_directory(at->path(), ignored))
      continue;
    names.push_back(at->path().filename().string());
  }
  if (problem) fail(folder.string(), "the folder cannot be read: " + problem.message());
  std::sort(names.begin(), names.end());
  return names;
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

class Finder {
 public:
  InputFiles found;

  void add_path(const std::string& path) {
    std::error_code ignored;
    if (path == "-") {
      found.files.push_back({path, false});
    } else if (is_folder(path)) {
      add_folder(path);
    } else if (is_pattern(path) && !fs::exists(path, ignored)) {
      add_pattern(path);
    } else {
      // A name given twice is the user's to explain: readers say what is doubled.
      seen_.insert(identity(path));
      found.files.push_back({path, false});
    }
  }

 private:
  static std::string identity(const fs::path& path) {
    std::error_code problem;
    const fs::path plain = fs::weakly_canonical(path, problem);
    return problem ? path.string() : plain.string();
  }

  void add_file(const fs::path& path, bool in_folder) {
    if (seen_.insert(identity(path)).second) found.files.push_back({path.string(), in_folder});
  }

  void add_folder(const std::string& folder) {
    found.folders.push_back(folder);
    const std::size_t before = seen_.size();
    bool any = false;
    bool named = false;  // like a trace
    const auto add_from = [&](const fs::path& place) {
      for (const std::string& name : names_in(place)) {
        if (!is_read_by_name(name) || is_folder(place / name)) continue;
        any = true;
        named = named || sounds_like_a_trace(name);
        add_file(place / name, true);
      }
    };
    // Where nothing is named like a trace so far, further down, beside logs and configurations:
    // out/profile_trace/iteration_100/rank0_trace.json.
    std::vector<fs::path> level{fs::path(folder)};
    for (int depth = 0; depth <= kDeepest && !level.empty() && (depth < 2 || !named); ++depth) {
      std::vector<fs::path> below;
      for (const fs::path& place : level) {
        add_from(place);
        for (const std::string& name : names_in(place)) {
          if (!name.starts_with('.') && is_folder(place / name)) below.push_back(place / name);
        }
      }
      level = std::move(below);
    }
    if (!any && before == seen_.size()) {
      fail(folder, "the folder holds no trace",
           "looked for *.json, *.json.gz, *.sqlite, *.jsonl and logs, here and " +
               std::to_string(kDeepest) + " folders down");
    }
  }

  // One part of the path after the other: only folders that match are looked into.
  void add_pattern(const std::string& pattern) {
    std::vector<fs::path> reached{fs::path(pattern).root_path()};
    for (const fs::path& part : fs::path(pattern).relative_path()) {
      std::vector<fs::path> next;
      for (const fs::path& place : reached) {
        if (!is_pattern(part.string())) {
          std::error_code ignored;
          if (fs::exists(place / part, ignored)) next.push_back(place / part);
          continue;
        }
        const fs::path folder = place.empty() ? fs::path(".") : place;
        if (!is_folder(folder)) continue;
        for (const std::string& name : names_in(folder)) {
          if (matches_pattern(name, part.string())) next.push_back(place / name);
        }
      }
      reached = std::move(next);
    }
    if (reached.empty()) fail(pattern, "no file matches", "is the folder right?");
    for (const fs::path& path : reached) {
      if (is_folder(path)) {
        add_folder(path.string());
      } else {
        add_file(path, false);
      }
    }
  }

  std::set<std::string> seen_;
};

// Whether `c` is in the set that starts after '['; `at` moves behind it. A set that does not end is
// no set.
bool in_set(std::string_view pattern, std::size_t& at, char c, bool& in) {
  std::size_t i = at + 1;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  in = false;
  for (bool first = true; i < pattern.size() && (first || pattern[i] != ']'); first = false) {
    char low = pattern[i];
    char high = low;
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
      high = pattern[i + 2];
      i += 2;
    }
    in = in || (low <= c && c <= high);
    ++i;
  }
  if (i >= pattern.size()) return false;
  at = i + 1;
  in = in != negated;
  return true;
}

}  // namespace

bool matches_pattern(std::string_view name, std::string_view pattern) {
  if (name.starts_with('.') && !pattern.starts_with('.')) return false;
  std::size_t n = 0;
  std::size_t p = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_name = 0;
  while (n < name.size()) {
    std::size_t next = p;
    bool in = false;
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_name = n;
      continue;
    }
    bool fits = false;
    if (p < pattern.size() && pattern[p] == '?') {
      fits = true;
      next = p + 1;
    } else if (p < pattern.size() && pattern[p] == '[' && in_set(pattern, next, name[n], in)) {
      fits = in;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      fits = true;
      next = p + 1;
    }
    if (fits) {
      ++n;
      p = next;
    } else if (star != std::string_view::npos) {
      // The last star takes one more.
      p = star + 1;
      n = ++star_name;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

InputFiles find_input_files(const std::vector<std::string>& paths) {
  Finder finder;
  for (const std::string& path : paths) finder.add_path(path);
  return std::move(finder.found);
}

void note_left_out(const std::vector<LeftOut>& files, std::string_view read, Notes& notes) {
  constexpr std::size_t kMostNamed = 8;
  if (files.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < std::min(files.size(), kMostNamed); ++i) {
    names += (i > 0 ? ", " : "") + fs::path(files[i].path).filename().string() + " (" +
             std::string(files[i].called) + ")";
  }
  if (files.size() > kMostNamed) {
    names += " and " + std::to_string(files.size() - kMostNamed) + " more";
  }
  notes.add(NoteCode::other_kind_left_out,
            "left out beside the folder's " + std::string(read) + ": " + names,
            Place{.file = files.front().path}, static_cast<std::int64_t>(files.size()));
}

}  // namespace mfu
