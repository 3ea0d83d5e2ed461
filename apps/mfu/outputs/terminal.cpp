#include "outputs/terminal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "mfu/error.hpp"
#include "render/columns.hpp"

namespace mfu::app {
namespace {

extern "C" void on_interrupt(int /*signal*/) { _exit(130); }

volatile std::sig_atomic_t interrupts = 0;

// Only what is safe in a handler. A blocked read continues and finds the end.
extern "C" void on_interrupt_of_pipe(int /*signal*/) {
  interrupts = interrupts + 1;
  if (interrupts > 2) _exit(130);
  if (interrupts < 2) return;
  const int before = errno;
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing == -1) _exit(130);
  ::dup2(nothing, 0);
  ::close(nothing);
  errno = before;
}

bool standard_input_is_a_pipe() {
  struct stat info {};
  return ::fstat(0, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
}

bool locale_is_utf8() {
  // The first of these that is set decides, as in setlocale.
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value = environment(name);
    if (value.empty()) continue;
    for (char& c : value) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

// The number of bytes that went out, or the errno as a negative number.
long write_some(int descriptor, std::string_view bytes) {
  const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
  return count >= 0 ? static_cast<long>(count) : -static_cast<long>(errno);
}

int open_or_throw(const std::string& path, int flags, const std::string& named) {
  const int descriptor = ::open(path.c_str(), flags | O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor != -1) return descriptor;
  Place place;
  place.file = named;
  throw Error(ErrorKind::io, std::string("cannot be written: ") + std::strerror(errno),
              std::move(place));
}

}  // namespace

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

LivePipe::LivePipe() {
  interrupts = 0;
  if (standard_input_is_a_pipe()) std::signal(SIGINT, on_interrupt_of_pipe);
}

LivePipe::~LivePipe() { std::signal(SIGINT, on_interrupt); }

bool LivePipe::interrupted() const noexcept { return interrupts > 0; }

void prepare_process() {
  std::signal(SIGINT, on_interrupt);  // first: until here an interrupt is the system's, not 130
  std::signal(SIGPIPE, SIG_IGN);      // writes report EPIPE instead
  // A standard stream that is closed would be reused by the next file that is opened, and results
  // would go into it. Opened the wrong way round, it keeps failing as a closed one does.
  for (const int descriptor : {0, 1, 2}) {
    if (::fcntl(descriptor, F_GETFD) == -1 && errno == EBADF) {
      const int opened = ::open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY);
      if (opened != -1 && opened != descriptor) ::close(opened);
    }
  }
}

RenderStyle standard_output_style() {
  RenderStyle style;
  if (::isatty(1) != 1) return style;
  winsize size{};
  if (::ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    style.width = std::min(80, static_cast<int>(size.ws_col));
  }
  style.color = environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  style.utf8 = locale_is_utf8();
  return style;
}

Output Output::file(const std::string& path) {
  std::error_code ignored;
  const auto before = std::filesystem::symlink_status(path, ignored).type();
  Output output(path, open_or_throw(path, 0, path));
  output.made_ = before == std::filesystem::file_type::not_found;
  return output;
}

Output Output::appending(const std::string& path) {
  Output output(path, open_or_throw(path, O_APPEND, path));
  output.append_ = true;
  return output;
}

Output Output::replacing(const std::string& path) {
  std::error_code problem;
  // A link stays: what it points to is replaced.
  std::filesystem::path target = std::filesystem::weakly_canonical(path, problem);
  if (problem) target = path;
  const bool exists = std::filesystem::exists(target, problem);
  if (exists && !std::filesystem::is_regular_file(target, problem)) return file(path);
  require_folder_for(target.string());
  Output output(target.string(), -1);
  output.replace_ = true;
  return output;
}

void Output::open_temporary() {
  const std::string temporary = fmt::format("{}.{}.tmp", path_, ::getpid());
  descriptor_ = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ == -1) {
    Place place;
    place.file = path_;
    throw Error(ErrorKind::io, std::string("cannot be written: ") + std::strerror(errno),
                std::move(place));
  }
  temporary_ = temporary;
}

void Output::require_folder_for(const std::string& path) {
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) folder = ".";
  std::error_code ignored;
  int problem = 0;
  if (std::filesystem::is_directory(path, ignored)) {
    problem = EISDIR;
  } else if (::access(folder.c_str(), W_OK) != 0) {
    problem = errno;
  }
  if (problem == 0) return;
  Place place;
  place.file = path;
  throw Error(ErrorKind::io, std::string("cannot be written: ") + std::strerror(problem),
              std::move(place));
}

Output::Output(Output&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      replace_(other.replace_),
      append_(other.append_),
      made_(std::exchange(other.made_, false)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

Output& Output::operator=(Output&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  std::swap(replace_, other.replace_);
  std::swap(append_, other.append_);
  std::swap(made_, other.made_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Output::~Output() {
  // Not written to the end. An empty file would be taken for an answer.
  struct stat status {};
  if (made_ && descriptor_ > 2 && ::fstat(descriptor_, &status) == 0 && status.st_size == 0) {
    ::unlink(path_.c_str());
  }
  if (descriptor_ > 2) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void Output::finish() {
  const bool closed = ::close(std::exchange(descriptor_, -1)) == 0;
  if (closed && temporary_.empty()) return;
  if (closed && ::rename(temporary_.c_str(), path_.c_str()) == 0) {
    temporary_.clear();
    return;
  }
  Place place;
  place.file = path_;
  throw Error(ErrorKind::io, std::string("cannot be written: ") + std::strerror(errno),
              std::move(place));
}

void Output::write(std::string_view bytes) {
  const auto fail = [this](int error) {
    Place place;
    place.file = !path_.empty() ? path_ : is_standard() ? "standard output" : "standard error";
    throw Error(ErrorKind::io, std::string("cannot be written: ") + std::strerror(error),
                std::move(place));
  };
  const bool file = !path_.empty();
  if (replace_) open_temporary();
  // Pipes and devices cannot be truncated, and need not be.
  if (file && !append_ && ::ftruncate(descriptor_, 0) == -1 && errno != EINVAL) fail(errno);
  while (!bytes.empty()) {
    const long count = write_some(descriptor_, bytes);
    if (count == -EINTR) continue;
    if (count == -EPIPE) throw ClosedPipe{};
    if (count < 0) fail(static_cast<int>(-count));
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  // Some file systems report a full disk only here.
  if (!is_standard()) finish();
}

ProgressLine::ProgressLine(std::string what) : what_(std::move(what)) {
  if (::isatty(2) != 1) return;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    return;  // no thread available: the work continues without the line
  }
}

ProgressLine::~ProgressLine() {
  {
    const std::lock_guard lock(guard_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ProgressLine::set(std::size_t done, std::size_t of) {
  const std::lock_guard lock(guard_);
  done_ = done;
  of_ = of;
}

void ProgressLine::run() {
  using namespace std::chrono_literals;
  const auto began = std::chrono::steady_clock::now();
  std::unique_lock lock(guard_);
  auto pause = 500ms;
  while (!wake_.wait_for(lock, pause, [this] { return stop_; })) {
    pause = 200ms;
    const auto passed =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - began);
    std::string line = "mfu: " + what_;
    if (of_ > 1) line += fmt::format(", {} of {}", done_, of_);
    if (passed.count() > 0) line += fmt::format(", {} s", passed.count());
    const std::size_t columns = line.size();
    if (columns < shown_) line += std::string(shown_ - columns, ' ');
    shown_ = columns;
    write_some(2, "\r" + line);
  }
  // Without escape sequences: any terminal can do this.
  if (shown_ > 0) write_some(2, "\r" + std::string(shown_, ' ') + "\r");
}

void say(std::string_view line) {
  // The text includes file names and words from files.
  std::string text = render::printable(line);
  text += '\n';
  std::string_view rest = text;
  while (!rest.empty()) {
    const long count = write_some(2, rest);
    if (count == -EINTR) continue;
    if (count <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace mfu::app
