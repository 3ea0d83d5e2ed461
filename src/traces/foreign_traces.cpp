#include "traces/foreign_traces.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "traces/text.hpp"

namespace mfu::traces {

namespace {

constexpr std::size_t kTarMark = 257;
constexpr char kPacketTag = '\n';  // field 1, of a length: in Perfetto's traces and in XSpace

bool opens_with(std::string_view head, std::string_view brackets) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && brackets.find(head[first]) != std::string_view::npos;
}

bool is_tar(std::string_view head) {
  return head.size() > kTarMark && head.substr(kTarMark).starts_with("ustar");
}

// The length that a protobuf field states at `at`, which moves behind it.
bool take_length(std::string_view head, std::size_t& at, std::uint64_t& length) {
  length = 0;
  for (unsigned shift = 0; shift < 35 && at < head.size(); shift += 7) {
    const auto byte = static_cast<unsigned char>(head[at++]);
    length |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if ((byte & 0x80U) == 0) return true;
  }
  return false;
}

// Fields of number 1 one behind the other, as far as the head goes, and bytes that no text has.
bool is_packets(std::string_view head) {
  if (!head.starts_with(kPacketTag)) return false;
  const std::string_view start = head.substr(0, 64);
  const bool binary = std::any_of(start.begin(), start.end(), [](char c) {
    return (c >= 0 && c < '\t') || (c > '\r' && c < ' ');
  });
  if (!binary) return false;
  std::size_t at = 0;
  for (int packets = 0; packets < 8 && at < head.size(); ++packets) {
    if (head[at++] != kPacketTag) return false;
    std::uint64_t length = 0;
    if (!take_length(head, at, length) || length == 0) return false;
    if (length > head.size() - at) return packets > 0 || length > 64;
    at += static_cast<std::size_t>(length);
  }
  return true;
}

bool is_xplane(std::string_view head) {
  return is_packets(head) && (contains(head, "/host:CPU") || contains(head, "/device:") ||
                              contains(head, "/host:metadata"));
}

bool is_rocprof(std::string_view head) {
  return opens_with(head, "{") && contains(head.substr(0, 4096), "\"rocprofiler-sdk-tool\"");
}

bool is_chrome(std::string_view head) {
  // The lanes of a pipeline's timeline have a reader of their own.
  return (opens_with(head, "[") || contains(head, "\"traceEvents\"")) && opens_with(head, "[{") &&
         contains(head, "\"ph\"") &&
         (contains(head, "\"ts\"") || contains(head, "\"process_name\"")) &&
         !contains(head, "PP rank ");
}

bool is_ascend(std::string_view head) {
  return is_chrome(head) && (contains(head, "\"Ascend Hardware\"") || contains(head, "\"CANN\""));
}

struct ForeignTrace {
  bool (*is)(std::string_view head);
  const char* message;
  const char* hint;
};
constexpr std::array<ForeignTrace, 6> kForeignTraces{{
    {is_tar, "is a tar archive", "unpack it (tar -xf FILE) and name the folder: mfu diagnose DIR"},
    {is_xplane, "is an XSpace of XLA's profiler (.xplane.pb), which is not read",
     "give the HOST.trace.json.gz that stands beside it"},
    {is_packets, "is a Perfetto trace (protobuf), which is not read",
     "convert it: traceconv json FILE trace.json; JAX writes HOST.trace.json.gz beside it"},
    {is_rocprof, "is rocprofv3's JSON, which names neither ranks nor steps: it is not read",
     "profile with torch.profiler and export_chrome_trace(): it records the same kernels"},
    {is_ascend, "is Ascend's trace_view.json, which is not read",
     "give step_trace_time.csv of the same folder (or cluster_step_trace_time.csv of all ranks): "
     "mfu diagnose reads it"},
    {is_chrome, "is a Chrome trace without GPU activity, of no profiler that is known",
     "PyTorch: profile with ProfilerActivity.CUDA and export_chrome_trace(); JAX: give "
     "HOST.trace.json.gz"},
}};

}  // namespace

bool sniff_foreign_trace(std::string_view head) {
  return std::any_of(kForeignTraces.begin(), kForeignTraces.end(),
                     [head](const ForeignTrace& one) { return one.is(head); });
}

Error foreign_trace_error(std::string_view head, const std::string& name) {
  for (const ForeignTrace& one : kForeignTraces) {
    if (one.is(head)) {
      return Error(ErrorKind::unsupported, one.message, Place{.file = name}, one.hint);
    }
  }
  return Error(ErrorKind::format, "is not a profiler trace", Place{.file = name});
}

}  // namespace mfu::traces
