// Where bytes go: standard output, files, standard error. Every write is checked.
#pragma once

#include <string>
#include <string_view>

#include "mfu/render.hpp"

namespace mfu::app {

// The reader of a pipe went away. Quiet: it has seen what it wanted.
struct ClosedPipe {};

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
  // Throws Error{io}.
  static Output file(const std::string& path);
  // Puts the new result in place of the old one in one move: who reads the file meanwhile sees the
  // one or the other, whole. What is no plain file is written to as it is. Throws Error{io}.
  static Output replacing(const std::string& path);
  // Adds to what is there. Throws Error{io}.
  static Output appending(const std::string& path);
  static Output standard_error() { return Output("", 2); }
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
  std::string path_;       // empty: standard output or error
  std::string temporary_;  // moved to path_ when it is written; empty: none
  bool append_ = false;
  int descriptor_;
};

// The value of an environment variable; empty where it is not set.
[[nodiscard]] std::string environment(const char* name);

// One line on standard error. What cannot be said there is lost: there is nowhere to say so.
void say(std::string_view line);

}  // namespace mfu::app
