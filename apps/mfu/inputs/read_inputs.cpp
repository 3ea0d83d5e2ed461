#include "inputs/read_inputs.hpp"

#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "outputs/terminal.hpp"
#include "readers/reader.hpp"

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

}  // namespace mfu::app
