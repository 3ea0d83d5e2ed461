#include "inputs/read_inputs.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "outputs/terminal.hpp"
#include "readers/input_files.hpp"
#include "readers/input_format.hpp"
#include "readers/reader.hpp"
#include "readers/registry.hpp"

namespace mfu::app {

void add_threads_option(CLI::App& command, std::string& text) {
  command.add_option("--threads", text, "Threads that read traces (default: all cores)")
      ->type_name("N");
}

unsigned parse_threads(const std::string& text, Problems& problems) {
  constexpr unsigned kMost = 1024;
  if (text.empty()) return 0;
  unsigned threads = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
  if (error != std::errc{} || end != text.data() + text.size() || threads < 1 || threads > kMost) {
    Place place;
    place.what = "--threads";
    problems.add(Error(ErrorKind::usage,
                       "'" + text.substr(0, 80) + "' is not a number of threads from 1 to 1024",
                       place, "write 4, or leave it out"));
    return 0;
  }
  return threads;
}

bool is_read_once(const std::string& path) {
  std::error_code failed;
  const std::filesystem::file_status status = std::filesystem::status(path, failed);
  return path == "-" ||
         (!failed && (std::filesystem::is_fifo(status) || std::filesystem::is_socket(status) ||
                      std::filesystem::is_character_file(status)));
}

ReadResult read_inputs(const std::vector<std::string>& files, unsigned threads, Notes& notes,
                       std::optional<ByteSource> opened) {
  ProgressLine line("reading");
  ReadOptions options;
  options.threads = threads;
  options.progress = [&line](const ReadProgress& progress) {
    line.set(progress.files_read, progress.files);
  };
  return read_run(files, notes, options, std::move(opened));
}

namespace {

bool is_file_of_log(const std::string& path) {
  const std::optional<DetectedFormat> found = format_of_file(path);
  return found && may_be_log(found->format);
}

// The logs of the folders and patterns among `paths`, where they hold nothing that is read before
// logs: traces, timing documents. Else empty.
std::vector<std::string> logs_of_folders(const std::vector<std::string>& paths, Notes& notes) {
  std::vector<std::string> logs;
  std::vector<LeftOut> others;
  const InputFiles found = find_input_files(paths);
  for (const InputFile& file : found.files) {
    const std::optional<DetectedFormat> format = format_of_file(file.path);
    if (!format) return {};
    if (format->row->read_trace != nullptr || format->row->read_run != nullptr ||
        format->format == InputFormat::timeline) {
      return {};
    }
    if (format->format == InputFormat::training_log || format->format == InputFormat::rank_log) {
      logs.push_back(file.path);
    } else if (!file.in_folder) {
      return {};
    } else {
      others.push_back({file.path, format->called()});
    }
  }
  if (logs.empty()) return {};
  note_left_out(others, "logs", notes);
  return logs;
}

}  // namespace

std::optional<DetectedFormat> format_of_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  return detect_format(ByteSource::open(path).peek(kHeadBytes));
}

LoggedRanks read_run_or_log(const std::vector<std::string>& paths, unsigned threads, Notes& notes) {
  // A pipe is read once: its first bytes say what it is.
  std::optional<ByteSource> opened;
  const auto pipe = std::find_if(paths.begin(), paths.end(), is_read_once);
  if (pipe != paths.end() && std::count(paths.begin(), paths.end(), *pipe) == 1) {
    const ProgressLine line("reading");
    opened = ByteSource::open(*pipe);
    const std::string head(opened->peek(kHeadBytes));
    if (may_be_log(detect_format(head).format)) {
      if (auto logged = read_logged_ranks(paths, std::move(opened), notes))
        return std::move(*logged);
      refuse_no_run(head, *pipe);
    }
  } else if (pipe == paths.end() && !paths.empty() &&
             std::all_of(paths.begin(), paths.end(), is_file_of_log)) {
    if (auto logged = read_logged_ranks(paths, std::nullopt, notes)) return std::move(*logged);
  }
  std::error_code ignored;
  const bool all_files =
      std::all_of(paths.begin(), paths.end(), [&ignored](const std::string& path) {
        return is_read_once(path) || std::filesystem::is_regular_file(path, ignored);
      });
  if (!all_files && pipe == paths.end() && !paths.empty()) {
    const std::vector<std::string> logs = logs_of_folders(paths, notes);
    if (!logs.empty()) {
      if (auto logged = read_logged_ranks(logs, std::nullopt, notes)) return std::move(*logged);
    }
  }
  ReadResult read = read_inputs(paths, threads, notes, std::move(opened));
  return {std::move(read.run), std::move(read.inputs)};
}

}  // namespace mfu::app
