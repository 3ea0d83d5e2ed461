// How fast a large run is read and diagnosed, and with how much memory: mfu.run/1 of 12,288 ranks
// as JSON, JSON Lines and gzip. Speeds are given beside a plain scan of the same bytes in the same
// run, because machines differ; memory as a multiple of the columns that the run holds.
//
//   mfu_bench [RANKS [STEPS [REPEATS]]]
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure.hpp"
#include "diagnose/detail.hpp"
#include "mfu/diagnose.hpp"
#include "mfu/read.hpp"
#include "statistics/robust.hpp"

namespace {

using namespace mfu::bench;

struct Shape {
  std::size_t ranks = 12288;
  std::size_t steps = 100;
  int repeats = 3;
};

using Put = std::function<void(std::string_view)>;

std::string header(const Shape& shape) {
  return fmt::format(
      R"("schema":"mfu.run/1","model":"llama-3.1-8b","workload":{{"seq_len":8192,"global_batch":{}}},)"
      R"("hardware":{{"chip":"h100-sxm","precision":"bf16","count":{}}},"convention":"palm",)"
      R"("time_unit":"ms")",
      shape.ranks, shape.ranks);
}

// One rank in a thousand is slow, and everybody waits for it.
struct Sample {
  double compute;
  double comm;
  double stall;
};

Sample sample(std::size_t rank, mfu::Random& random) {
  const double compute = (rank % 1000 == 7 ? 900.0 : 810.0) + 4.0 * random.uniform();
  return {compute, 1100.0 - compute - 20.0 * random.uniform(), 20.0 * random.uniform()};
}

void put_json(const Shape& shape, const Put& put) {
  std::string text = "{" + header(shape) + R"(,"steps":[)";
  for (std::size_t s = 0; s < shape.steps; ++s)
    text += fmt::format("{}{}", s > 0 ? "," : "", s + 1);
  text += R"(],"ranks":[)";
  mfu::Random random(1);
  std::array<std::string, 3> series;
  for (std::size_t r = 0; r < shape.ranks; ++r) {
    for (std::string& values : series) values.clear();
    for (std::size_t s = 0; s < shape.steps; ++s) {
      const Sample one = sample(r, random);
      const std::array<double, 3> values{one.compute, one.comm, one.stall};
      for (std::size_t i = 0; i < series.size(); ++i) {
        if (s > 0) series[i] += ',';
        fmt::format_to(std::back_inserter(series[i]), "{:.3f}", values[i]);
      }
    }
    text += fmt::format(
        R"({}{{"rank":{},"node":"n{}","gpu":{},"compute":[{}],"comm":[{}],"stall":[{}]}})",
        r > 0 ? "," : "", r, r / 8, r % 8, series[0], series[1], series[2]);
    put(text);
    text.clear();
  }
  put("]}\n");
}

void put_json_lines(const Shape& shape, const Put& put) {
  put("{" + header(shape) + "}\n");
  for (std::size_t r = 0; r < shape.ranks; ++r) {
    put(fmt::format(R"({{"rank":{},"node":"n{}","gpu":{}}})"
                    "\n",
                    r, r / 8, r % 8));
  }
  mfu::Random random(1);
  std::string text;
  for (std::size_t s = 0; s < shape.steps; ++s) {
    for (std::size_t r = 0; r < shape.ranks; ++r) {
      const Sample one = sample(r, random);
      fmt::format_to(std::back_inserter(text),
                     R"({{"rank":{},"step":{},"compute":{:.3f},"comm":{:.3f},"stall":{:.3f}}})"
                     "\n",
                     r, s + 1, one.compute, one.comm, one.stall);
    }
    put(text);
    text.clear();
  }
}

void write_file(const std::string& path, bool gzip, const std::function<void(const Put&)>& fill) {
  const auto check = [&path](bool ok) {
    if (!ok) throw std::runtime_error("cannot write " + path);
  };
  if (gzip) {
    gzFile file = gzopen(path.c_str(), "wb6");
    check(file != nullptr);
    fill([&](std::string_view text) {
      check(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) > 0);
    });
    check(gzclose(file) == Z_OK);
  } else {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    check(file != nullptr);
    fill([&](std::string_view text) {
      check(std::fwrite(text.data(), 1, text.size(), file) == text.size());
    });
    check(std::fclose(file) == 0);
  }
}

// Processor time, user and system: a shared machine makes the clock on the wall mean little.
// What the machine can do at best: count the newlines of the (decompressed) bytes.
std::uint64_t scan(const std::string& path, bool gzip) {
  std::vector<char> buffer(256 * 1024);
  std::uint64_t newlines = 0;
  const auto count = [&](std::size_t size) {
    const char* at = buffer.data();
    const char* const end = at + size;
    while (at < end) {
      const void* found = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
      if (found == nullptr) break;
      at = static_cast<const char*>(found) + 1;
      ++newlines;
    }
  };
  if (gzip) {
    gzFile file = gzopen(path.c_str(), "rb");
    for (;;) {
      const int size = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()));
      if (size <= 0) break;
      count(static_cast<std::size_t>(size));
    }
    gzclose(file);
  } else {
    std::FILE* file = std::fopen(path.c_str(), "rb");
    std::setvbuf(file, nullptr, _IONBF, 0);
    for (;;) {
      const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), file);
      if (size == 0) break;
      count(size);
    }
    std::fclose(file);
  }
  return newlines;
}

void measure(const std::string& name, bool gzip, const Shape& shape, double baseline_bytes,
             void (*fill)(const Shape&, const Put&)) {
  const TempFile file(gzip ? "run.gz" : "run");
  const double text_bytes =
      static_cast<double>(in_child([&] {
                            std::uint64_t written = 0;
                            write_file(file.path(), gzip, [&](const Put& put) {
                              fill(shape, [&](std::string_view text) {
                                written += text.size();
                                put(text);
                              });
                            });
                            return written;
                          }).figure);
  const std::string path = file.path();
  const double megabytes = text_bytes / 1e6;

  const Measured scanned = best_of(shape.repeats, [&] { return scan(path, gzip); });
  const Measured read = best_of(shape.repeats, [&] {
    mfu::Notes notes;
    return static_cast<std::uint64_t>(mfu::read_run({path}, notes).run.column_bytes());
  });
  const Measured diagnosed = best_of(shape.repeats, [&] {
    mfu::Notes notes;
    const mfu::ReadResult result = mfu::read_run({path}, notes);
    const mfu::Diagnosis diagnosis = mfu::diagnose(result.run, {}, notes);
    if (diagnosis.detail->steps_used.empty()) throw std::runtime_error("no steps were used");
    return static_cast<std::uint64_t>(result.run.column_bytes());
  });

  const auto columns = static_cast<double>(read.figure);
  const auto row = [&](std::string_view stage, const Measured& measured, bool memory) {
    fmt::print("  {:<16} {:8.1f} MB {:8.3f} s {:8.0f} MB/s {:6.1f} x the scan", stage, megabytes,
               measured.seconds, megabytes / measured.seconds, measured.seconds / scanned.seconds);
    const double peak = measured.peak_bytes - baseline_bytes;
    if (memory) {
      fmt::print("   peak {:7.1f} MB = {:4.2f} x columns ({:.1f} MB)", peak / 1e6, peak / columns,
                 columns / 1e6);
    }
    fmt::print("\n");
  };
  fmt::print("{}{}\n", name, gzip ? " (gzip; MB of the text)" : "");
  row("scan", scanned, false);
  row("read", read, true);
  row("read, diagnose", diagnosed, true);
}

template <typename Number>
bool parse(std::string_view text, Number& value) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc{} && result.ptr == text.data() + text.size() && value > 0;
}

}  // namespace

int main(int argc, char** argv) {
  Shape shape;
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  if ((arguments.size() > 0 && !parse(arguments[0], shape.ranks)) ||
      (arguments.size() > 1 && !parse(arguments[1], shape.steps)) ||
      (arguments.size() > 2 && !parse(arguments[2], shape.repeats)) || arguments.size() > 3) {
    fmt::print(stderr, "usage: mfu_bench [RANKS [STEPS [REPEATS]]]\n");
    return 2;
  }
  try {
    fmt::print("{} ranks x {} steps, best of {}\n", shape.ranks, shape.steps, shape.repeats);
    const double baseline = in_child([] { return std::uint64_t{0}; }).peak_bytes;
    measure("JSON", false, shape, baseline, put_json);
    measure("JSON", true, shape, baseline, put_json);
    measure("JSON Lines", false, shape, baseline, put_json_lines);
    measure("JSON Lines", true, shape, baseline, put_json_lines);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "mfu_bench: {}\n", problem.what());
    return 1;
  }
  return 0;
}
