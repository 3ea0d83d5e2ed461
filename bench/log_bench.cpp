// How fast a training log is read, and with how much memory: a log as Megatron prints it, most of
// it lines that concern no step, and one of nothing but steps. Beside a plain scan of the same
// bytes, because machines differ.
//
//   mfu_log_bench [MEGABYTES]
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "logs/training_log.hpp"
#include "mfu/error.hpp"

namespace {

using Line = std::function<std::string(std::int64_t)>;

std::string megatron_step(std::int64_t i) {
  const std::int64_t seconds = i * 8;
  return fmt::format(
      " [2025-12-{:02}T{:02}:{:02}:{:02}] iteration {:8}/ 9000000 | consumed samples: {:12} | "
      "elapsed time per iteration (ms): {:.1f} | throughput per GPU (TFLOP/s/GPU): {:.1f} | "
      "learning rate: 1.5E-04 | global batch size: 1024 | lm loss: 2.212537E+00 | loss scale: 1.0 "
      "| "
      "grad norm: 1.225 | number of skipped iterations: 0 | number of nan iterations: 0 |\n",
      1 + seconds / 86400 % 28, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60, i, i * 1024,
      8000.0 + static_cast<double>(i * 7919 % 400), 410.0 + static_cast<double>(i * 31 % 9));
}

// A step, and what 8 ranks say between two steps.
std::string megatron_noisy(std::int64_t i) {
  std::string text = megatron_step(i);
  for (int rank = 0; rank < 8; ++rank) {
    text += fmt::format(
        "node{:04}:99{}:99{} [{}] NCCL INFO Channel {:02}/0 : {}[{}] -> {}[{}] via "
        "P2P/CUMEM/read\n",
        i % 128, rank, rank, rank, i % 24, rank, rank, (rank + 1) % 8, (rank + 1) % 8);
    text += fmt::format(
        "[rank{}]: /opt/site-packages/torch/nn/modules/module.py:{}: UserWarning: "
        "a thing was deprecated and will be removed in a later release\n",
        rank, i % 2000);
  }
  return text;
}

std::string torchtitan_ranks(std::int64_t i) {
  std::string text;
  for (int rank = 0; rank < 8; ++rank) {
    text += fmt::format(
        "[rank{}]:[titan] 2026-02-24 19:{:02}:{:02},{:03} - root - INFO - \x1b[31mstep: {:2}  "
        "\x1b[32mloss:  7.62585  \x1b[33mgrad_norm: 26.6250  \x1b[36mmemory: 66.91GiB(37.51%)  "
        "\x1b[34mtps: 10,{:03}  \x1b[36mtflops: 314.71  \x1b[35mmfu: 13.99%\x1b[39m\n",
        rank, i / 60 % 60, i % 60, rank, i, i * 7 % 1000);
  }
  return text;
}

void write_log(const std::string& path, std::uintmax_t bytes, const Line& line) {
  std::ofstream out(path, std::ios::binary);
  std::uintmax_t written = 0;
  for (std::int64_t i = 1; written < bytes; ++i) {
    const std::string text = line(i);
    out << text;
    written += text.size();
  }
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// In a process of its own, for its peak memory.
void measure(const std::string& name, const std::string& path) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child != 0) {
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0) std::exit(1);
    return;
  }
  const auto size = static_cast<double>(std::filesystem::file_size(path));
  auto start = std::chrono::steady_clock::now();
  std::int64_t lines = 0;
  {
    mfu::ByteSource source = mfu::ByteSource::open(path);
    std::vector<char> piece(256 * 1024);
    while (const std::size_t got = source.read(piece.data(), piece.size())) {
      const char* at = piece.data();
      const char* const end = at + got;
      while ((at = static_cast<const char*>(
                  std::memchr(at, '\n', static_cast<std::size_t>(end - at)))) != nullptr) {
        ++lines;
        ++at;
      }
    }
  }
  const double scan = seconds_since(start);
  start = std::chrono::steady_clock::now();
  mfu::Notes notes;
  const mfu::TrainingLog log = mfu::read_log(path, {}, notes);
  const double read = seconds_since(start);
  std::size_t steps = 0;
  for (const mfu::LogSegment& segment : log.segments) steps += segment.steps.size();
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "{:<18} {:7.1f} MB {:>9} lines  {:<12} {:>8} steps  {:6.2f} s  {:6.0f} MB/s  "
      "(line scan {:5.2f} s)  peak {:5.0f} MB\n",
      name, size / 1e6, lines, log.format, steps, read, size / 1e6 / read, scan,
      static_cast<double>(usage.ru_maxrss) / 1024.0);
  std::fflush(stdout);
  ::_exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const double megabytes = argc > 1 ? std::strtod(argv[1], nullptr) : 100.0;
  if (!(megabytes > 0.0)) {
    std::fputs("usage: mfu_log_bench [MEGABYTES]\n", stderr);
    return 2;
  }
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("mfu-log-bench-{}", ::getpid()))
          .string();
  struct Kind {
    const char* name;
    Line line;
  };
  const std::array<Kind, 3> kinds{{{"megatron, noisy", megatron_noisy},
                                   {"megatron, steps", megatron_step},
                                   {"titan, 8 ranks", torchtitan_ranks}}};
  for (const Kind& kind : kinds) {
    for (const double share : {0.25, 1.0}) {
      write_log(path, static_cast<std::uintmax_t>(megabytes * share * 1e6), kind.line);
      measure(kind.name, path);
      std::filesystem::remove(path);
    }
  }
}
