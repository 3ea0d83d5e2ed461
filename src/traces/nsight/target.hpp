// What an Nsight Systems export says about the machine and the start of the capture.
#pragma once

#include "traces/nsight/capture.hpp"
#include "traces/nsight/names.hpp"
#include "traces/nsight/sqlite_file.hpp"

namespace mfu::traces {

// Fills `gpus`, `node` and `session_epoch_ns`. Throws Error{format} for a damaged file.
void read_target(SqliteFile& file, RowFaults& faults, NsightCapture& out);

}  // namespace mfu::traces
