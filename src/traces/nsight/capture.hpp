// What the tables of an Nsight Systems export hold, as far as attribution needs it: one scan of
// each table, in the order of the file; about 7 bytes a GPU activity and 5 a launch are kept.
//
// Both eras of the schema: up to 2022 all tables are there, most of them empty; from 2023 on only
// those that have rows. Names stand in StringIds, or as text in the row.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mfu/error.hpp"
#include "traces/nsight/nvtx_steps.hpp"
#include "traces/nsight/sqlite_file.hpp"
#include "traces/rank_trace.hpp"
#include "traces/sorted_log.hpp"

namespace mfu::traces {

struct NsightProcess {
  struct Device {
    std::int64_t id = 0;
    std::int64_t kernels = 0;  // whole graphs, too
    std::int64_t activities = 0;
  };
  struct Collective {
    CollectiveSpan span;  // kind: index into NsightCapture::kinds
    std::uint64_t correlation = kNoCorrelation;
    std::uint8_t device = 0;
    // Of the call that launched it; the thread 0: not known.
    std::int64_t launch_ns = 0;
    std::int64_t launch_thread = 0;
  };
  // A range around a collective: NCCL's own ("ncclAllReduce"), or PyTorch's ("nccl:all_reduce").
  struct Call {
    std::int64_t thread = 0;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::uint32_t kind = 0;
    std::int64_t bytes = -1;
  };

  std::vector<Device> devices;  // GpuActivity::device is an index
  SortedLog<GpuActivity> activities;
  SortedLog<Launch> launches;
  std::vector<Collective> collectives;
  std::vector<Call> calls;
  NvtxSteps steps;
  std::optional<std::int64_t> rank;
  bool ranks_differ = false;
  std::int64_t lost = 0;  // activities whose row cannot be used
};

struct NsightCapture {
  std::map<std::int64_t, NsightProcess> processes;  // by globalPid; 0: the export does not say
  std::vector<std::string> kinds;
  struct Gpu {
    std::int64_t id = -1;
    std::int64_t cuda = -1;
    std::string name;
  };
  std::vector<Gpu> gpus;
  std::string node;                              // empty: not in the export
  std::optional<std::int64_t> session_epoch_ns;  // the capture's zero, in nanoseconds since 1970
};

// Throws Error{format}: not an export, or a damaged one; Error{insufficient}: no GPU activity.
[[nodiscard]] NsightCapture read_capture(SqliteFile& file, Notes& notes);

// 3 of "MPI Rank 3" or "rank 3".
[[nodiscard]] std::optional<std::int64_t> rank_of_label(std::string_view text);

}  // namespace mfu::traces
