// The collectives of one trace while it is read: communication kernels with the arguments that they
// carry themselves, or that the host's record_param_comms carries for them (ROCm, and NCCL before
// PyTorch 2.3, whose kernels have none).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "traces/kineto/event.hpp"
#include "traces/rank_trace.hpp"

namespace mfu::traces {

class CollectiveLog {
 public:
  // A communication kernel on `device` (the reader's index).
  void add_kernel(const KinetoEvent& event, std::uint8_t device);
  void add_call(const KinetoEvent& event);
  // A collective of the host; used only where there is no GPU.
  void add_host(const KinetoEvent& event);

  // Hands over in order of start. keep(device): whether that device is looked at.
  // step(correlation, start): the index of the step.
  void finish(bool gpu, const std::function<bool(std::uint8_t)>& keep,
              const std::function<std::uint32_t(std::uint64_t, std::int64_t)>& step,
              RankTrace& out);

 private:
  struct Arguments {
    std::string kind;
    std::string group;
    std::int64_t sequence = -1;
    std::int64_t bytes = -1;
    std::int32_t group_size = -1;
  };
  struct Pending {
    CollectiveSpan span;
    std::uint64_t correlation = 0;
    std::uint64_t external_id = 0;
    std::uint32_t arguments = 0;  // index
    std::uint8_t device = 0;
    bool complete = false;  // the kernel carried its own
  };
  static Arguments arguments_of(const KinetoEvent& event);
  std::uint32_t store(Arguments arguments);

  // Jobs repeat the same few hundred collectives: each set of arguments is kept once, apart from
  // its sequence number, which stays with the span.
  std::vector<Arguments> stored_;
  std::unordered_map<std::string, std::uint32_t> index_;
  std::vector<Pending> kernels_;
  std::vector<Pending> host_;
  struct Call {
    std::uint32_t arguments = 0;
    std::int64_t sequence = -1;
  };
  std::unordered_map<std::uint64_t, Call> calls_;  // by External id
};

}  // namespace mfu::traces
