// What the benchmarks share: a file that is removed at the end, and a stage that is measured in a
// process of its own.
#pragma once

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

namespace mfu::bench {

// The name of a file that is removed at the end.
class TempFile {
 public:
  explicit TempFile(const std::string& name)
      : path_((std::filesystem::temp_directory_path() /
               fmt::format("mfu-bench-{}-{}", static_cast<long>(::getpid()), name))
                  .string()) {}
  ~TempFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline double processor_seconds() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Measured {
  double seconds = 0.0;
  std::uint64_t figure = 0;  // what the stage wants to tell: bytes of the columns
  double peak_bytes = 0.0;
};

// Runs the stage in a process of its own, so that its peak of memory is its own.
inline Measured in_child(const std::function<std::uint64_t()>& stage) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::runtime_error("pipe failed");
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    Measured measured;
    int status = 0;
    try {
      const double start = processor_seconds();
      measured.figure = stage();
      measured.seconds = processor_seconds() - start;
    } catch (const std::exception& problem) {
      fmt::print(stderr, "bench: {}\n", problem.what());
      status = 1;
    }
    if (::write(ends[1], &measured, sizeof measured) != sizeof measured) status = 1;
    std::fflush(nullptr);
    ::_exit(status);
  }
  ::close(ends[1]);
  Measured measured;
  const bool whole = ::read(ends[0], &measured, sizeof measured) == sizeof measured;
  ::close(ends[0]);
  int status = 0;
  struct rusage usage {};
  if (::wait4(child, &status, 0, &usage) != child || status != 0 || !whole) {
    throw std::runtime_error("a stage failed");
  }
  measured.peak_bytes = static_cast<double>(usage.ru_maxrss) * 1024.0;
  return measured;
}

inline Measured best_of(int repeats, const std::function<std::uint64_t()>& stage) {
  Measured best = in_child(stage);
  for (int i = 1; i < repeats; ++i) {
    const Measured again = in_child(stage);
    best.seconds = std::min(best.seconds, again.seconds);
    best.peak_bytes = std::max(best.peak_bytes, again.peak_bytes);
  }
  return best;
}

}  // namespace mfu::bench
