#include "inputs/log_reading.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/nearest.hpp"

namespace mfu::app {
namespace {

std::optional<std::size_t> whole(const std::string& text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

// "step_time=dt:ms,tokens=tok": what the reader's columns are called.
void parse_columns(const std::vector<std::string>& lists, LogReadOptions& options,
                   Problems& problems) {
  const std::vector<std::string_view> known = log_columns();
  for (const std::string& list : lists) {
    std::size_t begin = 0;
    while (begin <= list.size()) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      const std::string pair = list.substr(begin, end - begin);
      begin = end + 1;
      const std::size_t equals = pair.find('=');
      if (equals == std::string::npos || equals == 0 || equals + 1 == pair.size()) {
        problems.add(Error(ErrorKind::usage, "'" + pair.substr(0, 80) + "' names no column",
                           at("--columns"), "write step_time=seconds,tokens=tok"));
        continue;
      }
      const std::string name = pair.substr(0, equals);
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        problems.add(Error(ErrorKind::usage, "unknown quantity '" + name.substr(0, 80) + "'",
                           at("--columns"), name_hint(name, known)));
        continue;
      }
      if (!options.columns.try_emplace(name, pair.substr(equals + 1)).second) {
        problems.add(Error(ErrorKind::usage, "two columns are named for " + name, at("--columns"),
                           "name one"));
      }
    }
  }
}

}  // namespace

void add_log_reading_options(CLI::App& command, LogReadingText& text) {
  command.add_option("--columns", text.columns, "In CSV or JSON Lines: step_time=dt:ms")
      ->allow_extra_args(false)
      ->type_name("WHAT=NAME,..");
  command.add_option("--format", text.format, "Log format, if it is not detected")
      ->type_name("NAME");
  command.add_option("--segment", text.segment, "Part of a resumed run: 2, last, all (default)")
      ->type_name("N");
}

LogReadOptions parse_log_reading(const LogReadingText& text, Problems& problems) {
  LogReadOptions options;
  parse_columns(text.columns, options, problems);
  options.format = text.format;
  if (!text.format.empty()) {
    std::vector<std::string_view> names;
    for (const LogFormatInfo& format : log_formats()) names.push_back(format.name);
    if (std::find(names.begin(), names.end(), text.format) == names.end()) {
      problems.add(Error(ErrorKind::usage, "unknown format '" + text.format.substr(0, 80) + "'",
                         at("--format"), name_hint(text.format, names)));
    }
  }
  return options;
}

LogSummaryOptions parse_log_summary(const LogReadingText& text, Problems& problems) {
  LogSummaryOptions options;
  if (!text.skip.empty()) {
    options.skip = whole(text.skip);
    if (!options.skip) {
      problems.add(Error(ErrorKind::usage,
                         "'" + text.skip.substr(0, 80) + "' is not a number of steps", at("--skip"),
                         "write 10"));
    }
  }
  if (text.segment == "last") {
    options.last_segment = true;
  } else if (!text.segment.empty() && text.segment != "all") {
    options.segment = whole(text.segment);
    if (!options.segment) {
      problems.add(Error(ErrorKind::usage, "'" + text.segment.substr(0, 80) + "' is not a segment",
                         at("--segment"), "write 2, last or all"));
    }
  }
  return options;
}

}  // namespace mfu::app
