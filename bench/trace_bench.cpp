// How fast a profiler trace is read, attribution included, and with how much memory: a trace like
// Kineto's of about 415 bytes an event, beside the same bytes counted as wc -l does and passed
// through nlohmann's SAX parser with handlers that do nothing, all in one run, because machines
// differ. gzip input is compared with the plain file plus inflating alone.
//
//   mfu_trace_bench [MEGABYTES [REPEATS]]      default: 200 3
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure.hpp"
#include "statistics/robust.hpp"
#include "traces/kineto/kineto.hpp"

namespace {

using namespace mfu::bench;

constexpr std::string_view kKernels[] = {
    "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
    "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, "
    "at::detail::Array<char*, 3>)",
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, "
    "float>(int, "
    "float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, "
    "c10::BFloat16*)::{lambda(int)#1}",
    "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<128, 128, 64, 4, "
    "false, false, cutlass::bfloat16_t>, false, true, false, false, true, false>"
    "(pytorch_flash::Flash_fwd_params)"};

// Operators, calls of the runtime, kernels, flows, Python frames and collectives in the proportions
// of a training job with stacks; steps of 2000 kernels.
class Generator {
 public:
  explicit Generator(std::uint64_t bytes) : bytes_(bytes) {}

  void write(const std::function<void(const std::string&)>& put) {
    std::string text =
        R"({
  "schemaVersion": 1,
  "deviceProperties": [
    {
      "id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85045346304, "numSms": 132
    }
  ],
  "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 8},
  "traceEvents": [
)";
    std::uint64_t written = 0;
    for (std::int64_t step = 1; written + text.size() < bytes_; ++step) {
      const double begin = now_;
      std::string events;
      for (int i = 0; i < 2000; ++i) {
        operation(events, i);
        if (events.size() > 1'000'000) {
          text += events;
          events.clear();
          written += text.size();
          put(text);
          text.clear();
          if (written >= bytes_) break;
        }
      }
      text += events;
      fmt::format_to(std::back_inserter(text),
                     "  {{\n    \"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": "
                     "\"ProfilerStep#{}\", \"pid\": 4711, \"tid\": 4711,\n    \"ts\": {:.3f}, "
                     "\"dur\": {:.3f},\n    \"args\": {{\n      \"External id\": {},\"Record "
                     "function id\": 0, \"Ev Idx\": {}\n    }}\n  }},\n",
                     step, begin, now_ - begin, id_, id_);
    }
    text +=
        "  {\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n    \"pid\": "
        "\"\", \"tid\": \"\", \"ts\": 1.0\n  }\n  ],\n  \"traceName\": \"bench.json\",\n  "
        "\"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": 1735632360000000000\n}\n";
    put(text);
  }

 private:
  void operation(std::string& out, int index) {
    const auto add = std::back_inserter(out);
    ++id_;
    const bool collective = index % 40 == 39;
    now_ += 9.0 + random_.uniform();
    fmt::format_to(
        add,
        "  {{\n    \"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"torch/nn/modules/"
        "module.py({}): _call_impl\", \"pid\": 4711, \"tid\": 4711,\n    \"ts\": {:.3f}, \"dur\": "
        "{:.3f},\n    \"args\": {{\n      \"External id\": {},\"Python id\": {}, \"Python parent "
        "id\": {}, \"Ev Idx\": {}\n    }}\n  }},\n",
        1500 + id_ % 300, now_, 8.5, id_, id_, id_ - 1, id_);
    fmt::format_to(
        add,
        "  {{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::linear\", \"pid\": 4711, "
        "\"tid\": 4711,\n    \"ts\": {:.3f}, \"dur\": {:.3f},\n    \"args\": {{\n      \"External "
        "id\": {},\"Record function id\": 0, \"Concrete Inputs\": [\"\", \"\", \"\"], \"Input "
        "type\": [\"c10::BFloat16\", \"c10::BFloat16\", \"\"], \"Input Strides\": [[16777216, "
        "4096, 1], [4096, 1], []], \"Input Dims\": [[2, 4096, 4096], [14336, 4096], []], \"Ev "
        "Idx\": {}\n    }}\n  }},\n",
        now_ + 0.5, 7.25, id_, id_);
    fmt::format_to(
        add,
        "  {{\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", "
        "\"pid\": 4711, \"tid\": 4711,\n    \"ts\": {:.3f}, \"dur\": {:.3f},\n    \"args\": {{\n   "
        "   \"External id\": {}, \"cbid\": 211, \"correlation\": {}\n    }}\n  }},\n  {{\n    "
        "\"ph\": \"s\", \"id\": {}, \"pid\": 4711, \"tid\": 4711, \"ts\": {:.3f},\n    \"cat\": "
        "\"ac2g\", \"name\": \"ac2g\"\n  }},\n",
        now_ + 2, 5.0, id_, id_, id_, now_ + 2);
    gpu_ = std::max(gpu_ + 0.8, now_ + 12.0);
    const double length = 6.0 + 3.0 * random_.uniform();
    const std::string_view name =
        collective ? "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
                   : kKernels[static_cast<std::size_t>(index) % std::size(kKernels)];
    fmt::format_to(
        add,
        "  {{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"{}\", \"pid\": 0, \"tid\": "
        "{},\n    \"ts\": {:.3f}, \"dur\": {:.3f},\n    \"args\": {{\n      \"External id\": {},\n "
        "     \"queued\": 0, \"device\": 0, \"context\": 1,\n      \"stream\": {}, "
        "\"correlation\": {},\n      \"registers per thread\": 96,\n      \"shared memory\": "
        "49152,\n      \"blocks per SM\": 7.757576,\n      \"warps per SM\": 31.030304,\n      "
        "\"grid\": [1024, 1, 1],\n      \"block\": [128, 1, 1],\n      \"est. achieved occupancy "
        "%\": 31",
        name, collective ? 20 : 7, gpu_, collective ? 3 * length : length, id_, collective ? 20 : 7,
        id_);
    if (collective) {
      fmt::format_to(add,
                     ",\n      \"Collective name\": \"allreduce\", \"In msg nelems\": 13107200, "
                     "\"Out msg nelems\": 13107200, \"Group size\": 8, \"dtype\": \"BFloat16\", "
                     "\"In split size\": \"[]\", \"Out split size\": \"[]\", \"Process Group "
                     "Name\": \"0\", \"Process Group Description\": \"default_pg\", \"Process "
                     "Group Ranks\": \"[0, 1, 2, 3, 4, 5, 6, 7]\", \"Seq\": {}",
                     id_ / 40);
    } else {
      gpu_ += length;
    }
    fmt::format_to(add,
                   "\n    }}\n  }},\n  {{\n    \"ph\": \"f\", \"id\": {}, \"pid\": 0, \"tid\": 7, "
                   "\"ts\": {:.3f},\n    \"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"\n  "
                   "}},\n",
                   id_, gpu_);
  }

  std::uint64_t bytes_;
  mfu::Random random_{1};
  double now_ = 4203669603018.756;
  double gpu_ = now_;
  std::int64_t id_ = 1000;
};

std::uint64_t count_lines(const std::string& path) {
  std::vector<char> buffer(256 * 1024);
  std::uint64_t lines = 0;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) throw std::runtime_error("cannot open " + path);
  std::setvbuf(file, nullptr, _IONBF, 0);
  for (;;) {
    const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), file);
    if (size == 0) break;
    const char* at = buffer.data();
    const char* const end = at + size;
    while (at < end) {
      const void* found = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
      if (found == nullptr) break;
      at = static_cast<const char*>(found) + 1;
      ++lines;
    }
  }
  std::fclose(file);
  return lines;
}

struct Nothing : nlohmann::json_sax<nlohmann::json> {
  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*size*/) override { return true; }
  bool key(string_t& /*value*/) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t /*size*/) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*problem*/) override {
    return false;
  }
};

std::uint64_t pass_sax(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Nothing handler;
  if (!nlohmann::json::sax_parse(file, &handler)) throw std::runtime_error("SAX failed");
  return 0;
}

std::uint64_t inflate_alone(const std::string& path) {
  mfu::ByteSource source = mfu::ByteSource::open(path);
  std::vector<char> buffer(256 * 1024);
  std::uint64_t bytes = 0;
  while (const std::size_t count = source.read(buffer.data(), buffer.size())) bytes += count;
  return bytes;
}

std::uint64_t read_trace(const std::string& path) {
  mfu::Notes notes;
  mfu::ByteSource source = mfu::ByteSource::open(path);
  const mfu::traces::RankTrace trace = mfu::traces::read_kineto(source, notes);
  if (trace.steps.empty() || trace.collectives.empty() || !notes.all().empty()) {
    throw std::runtime_error("the trace was not read as it was written");
  }
  return trace.collectives.size();
}

void measure(double megabytes, int repeats) {
  const TempFile plain("plain.json");
  const TempFile packed("packed.json.gz");
  const auto size = static_cast<std::uint64_t>(megabytes * 1e6);
  (void)in_child([&] {
    std::ofstream file(plain.path(), std::ios::binary);
    gzFile zipped = gzopen(packed.path().c_str(), "wb6");
    Generator(size).write([&](const std::string& text) {
      file << text;
      if (gzwrite(zipped, text.data(), static_cast<unsigned>(text.size())) <= 0) {
        throw std::runtime_error("cannot write " + packed.path());
      }
    });
    file.close();
    if (!file || gzclose(zipped) != Z_OK) throw std::runtime_error("cannot write the traces");
    return std::uint64_t{0};
  });
  const auto bytes = static_cast<double>(std::filesystem::file_size(plain.path()));
  const double baseline = in_child([] { return std::uint64_t{0}; }).peak_bytes;
  const Measured lines = best_of(repeats, [&] { return count_lines(plain.path()); });
  const Measured sax = best_of(repeats, [&] { return pass_sax(plain.path()); });
  const Measured ours = best_of(repeats, [&] { return read_trace(plain.path()); });
  const Measured inflated = best_of(repeats, [&] { return inflate_alone(packed.path()); });
  const Measured unpacked = best_of(repeats, [&] { return read_trace(packed.path()); });
  fmt::print("{:.0f} MB, {} collectives, best of {}\n", bytes / 1e6, ours.figure, repeats);
  const auto row = [&](std::string_view name, const Measured& measured) {
    fmt::print(
        "  {:<18} {:8.3f} s {:8.0f} MB/s {:6.2f} x lines {:6.2f} x faster than SAX   peak "
        "{:6.1f} MB\n",
        name, measured.seconds, bytes / 1e6 / measured.seconds, measured.seconds / lines.seconds,
        sax.seconds / measured.seconds, (measured.peak_bytes - baseline) / 1e6);
  };
  row("lines (wc -l)", lines);
  row("nlohmann SAX", sax);
  row("read, attributed", ours);
  row("inflate alone", inflated);
  row("read from gzip", unpacked);
  fmt::print("  gzip against plain plus inflating: {:.2f}\n",
             unpacked.seconds / (ours.seconds + inflated.seconds));
}

}  // namespace

int main(int argc, char** argv) {
  double megabytes = 200.0;
  int repeats = 3;
  const auto parse = [](std::string_view text, auto& value) {
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    return result.ec == std::errc{} && result.ptr == text.data() + text.size() && value > 0;
  };
  if ((argc > 1 && !parse(argv[1], megabytes)) || (argc > 2 && !parse(argv[2], repeats)) ||
      argc > 3) {
    fmt::print(stderr, "usage: mfu_trace_bench [MEGABYTES [REPEATS]]\n");
    return 2;
  }
  try {
    measure(megabytes, repeats);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "mfu_trace_bench: {}\n", problem.what());
    return 1;
  }
  return 0;
}
