// What a GPU activity is, by its name: the libraries name their communication kernels in many ways,
// and a filter for "nccl" alone misses most of them (custom all-reduce, symmetric memory, NVSHMEM).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mfu::traces {

enum class Activity : std::uint8_t { compute, communication, memory };

// A kernel: communication where the name is one of NCCL, RCCL, oneCCL, HCCL, MSCCL++, NVSHMEM,
// symmetric memory (multimem), vLLM's and TensorRT-LLM's all-reduces,
// DeepEP, Transformer Engine's userbuffers or names a collective itself; else compute.
[[nodiscard]] Activity classify_kernel(std::string_view name);

// A copy or a set: communication between GPUs (PtoP, peer), else memory.
[[nodiscard]] Activity classify_copy(std::string_view name);

// "allreduce", "allgather", "reducescatter", "broadcast", "reduce", "alltoall", "sendrecv", "send",
// "recv", "gather", "scatter", "barrier", "dispatch", "combine", or "unknown": from a kernel's
// name, from the name that a framework gives the collective ("_allgather_base", "gloo:all_reduce").
[[nodiscard]] std::string_view collective_kind(std::string_view name);

// classify_kernel() with a memory: traces repeat a few hundred long names a million times.
class KernelClassifier {
 public:
  KernelClassifier() : known_(kSlots) {}
  [[nodiscard]] Activity classify(std::string_view name);

 private:
  static constexpr std::size_t kSlots = 1024;
  static constexpr std::size_t kLongest = 4096;  // longer names are not remembered
  struct Known {
    std::string name;
    Activity activity = Activity::compute;
  };
  std::vector<Known> known_;
};

}  // namespace mfu::traces
