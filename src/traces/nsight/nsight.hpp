// Reads exports of Nsight Systems (nsys export --type sqlite), of both eras of its schema.
//
// One file may hold one rank or all ranks of a node. A process is a rank; a process that runs
// kernels on several devices (one process for all GPUs, as JAX does) gives one RankTrace a device,
// without a rank. The rank is not stored: it is taken from an NVTX label or a thread's name ("MPI
// Rank 3"), else, where the file holds one rank only, from the file's name.
//
// Steps are NVTX ranges (see nvtx_steps.hpp). They lie on the host, and the GPU lags behind: each
// activity belongs to the step whose range holds the call that launched it, and the windows that
// come of it lie on the GPU's own clock, by the rule of kineto.hpp. Where launches cannot be linked
// the ranges themselves are the windows, and a note says so. Without ranges: the captured span.
//
// Memory does not depend on the text in the file: about 7 bytes a GPU activity, with steps 17 a
// launch, and the collectives.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mfu/error.hpp"
#include "traces/rank_trace.hpp"

namespace mfu::traces {

// Whether a file that starts with `head` is an SQLite database; read_nsight() refuses those that
// are not exports.
[[nodiscard]] bool sniff_nsight(std::string_view head);

// Whether a file that starts with `head` is what `nsys stats` prints: sums by kernel, from which
// neither overlap nor idle time can be told. refuse_nsys_stats() says so.
[[nodiscard]] bool sniff_nsys_stats(std::string_view head);
[[noreturn]] void refuse_nsys_stats(const std::string& name);

// In the order of process and device. Throws Error{io, unsupported (a pipe, gzip), format,
// insufficient (no GPU activity)}. Everything else is a note.
[[nodiscard]] std::vector<RankTrace> read_nsight(const std::string& path, Notes& notes);
// The same of a file in memory. `bytes` must outlive the call.
[[nodiscard]] std::vector<RankTrace> read_nsight_bytes(std::string_view bytes,
                                                       const std::string& name, Notes& notes);

}  // namespace mfu::traces
