// Where bytes go: standard output, files, standard error. Every write is checked.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "mfu/render.hpp"

namespace mfu::app {

// The reader of a pipe went away. Quiet: it has seen what it wanted.
struct ClosedPipe {};

// The user broke off before there was anything to answer. Quiet, too.
struct Interrupted {};

// While it lives, an interrupt (Ctrl-C) does not end the process where standard input is a pipe:
// whoever writes into the pipe gets the same signal, and what it still says is read to its end. A
// second interrupt is the end of the input, a third one that of the process. On a terminal or a
// file the first one is, as everywhere else. One at a time.
class LivePipe {
 public:
  LivePipe();
  LivePipe(const LivePipe&) = delete;
  LivePipe& operator=(const LivePipe&) = delete;
  ~LivePipe();
  // Since it lives.
  [[nodiscard]] bool interrupted() const noexcept;
};

// Signals, and standard streams that the caller left closed. Once, before anything is opened.
void prepare_process();

// What standard output can show: colour and UTF-8 only on a terminal, so that what is piped or
// saved does not depend on who looks at it.
[[nodiscard]] RenderStyle standard_output_style();

// A place to write one result to. Opening does not truncate: a file that was there stays as it is
// until the new result is ready.
class Output {
 public:
  static Output standard() { return Output("", 1); }
  // Throws Error{io}. A file that was not there and that nothing is written to is none.
  static Output file(const std::string& path);
  // The same, but what is there under the name is replaced as a whole, and only once all bytes are
  // written: nobody ever sees half of it, and nothing is left beside it when the work is broken off
  // before. Pipes and devices are written to as they are.
  static Output replacing(const std::string& path);
  // Adds to what is there. Throws Error{io}.
  static Output appending(const std::string& path);
  static Output standard_error() { return Output("", 2); }
  // Throws what replacing() would for a folder that is not there or not ours: known before a long
  // work, without leaving anything behind if that is broken off.
  static void require_folder_for(const std::string& path);
  Output(Output&& other) noexcept;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  Output& operator=(Output&& other) noexcept;
  ~Output();

  // Standard output; standard error is not.
  [[nodiscard]] bool is_standard() const noexcept { return path_.empty() && descriptor_ == 1; }
  // All bytes; a file once. Throws Error{io}, or ClosedPipe.
  void write(std::string_view bytes);

 private:
  Output(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  void finish();
  void open_temporary();
  std::string path_;       // empty: standard output or error
  std::string temporary_;  // what is written to, where it takes its name at the end
  bool replace_ = false;
  bool append_ = false;
  bool made_ = false;  // there was no such file before
  int descriptor_;
};

// A line on standard error while something takes long: shown after half a second, erased at the
// end, and only where standard error is a terminal.
class ProgressLine {
 public:
  // `what`: "reading traces".
  explicit ProgressLine(std::string what);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();
  // From any thread.
  void set(std::size_t done, std::size_t of);

 private:
  void run();
  std::string what_;
  std::mutex guard_;
  std::condition_variable wake_;
  std::size_t done_ = 0;
  std::size_t of_ = 0;
  bool stop_ = false;
  std::size_t shown_ = 0;  // columns on the screen
  std::thread thread_;
};

// The value of an environment variable; empty where it is not set.
[[nodiscard]] std::string environment(const char* name);

// One line on standard error. A failed write is lost: there is nowhere to report it.
void say(std::string_view line);

}  // namespace mfu::app
