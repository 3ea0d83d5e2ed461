// Reads one trace of the PyTorch profiler (Kineto), or of a tool that writes the same, in one pass.
//
// Times: microseconds as decimals to whole nanoseconds; baseTimeNanoseconds added, wherever it
// stands. Steps: each GPU activity belongs to the ProfilerStep window of the host in which its
// launch lies (by correlation); the windows that come of it lie on the GPU's own clock:
//
//   a step ends when the last compute kernel that it launched ends (the last step: its last
//   activity), and the next one begins there; the first begins with its host window, or when the
//   work launched before it ends.
//
// So steps touch without a gap or an overlap, a step holds the wait for its own input, and a copy
// on the side that outlasts its step moves no boundary. Annotations that the trace itself lays over
// the GPU are not used: on ROCm they are 16 us long at odd places. Steps that launched nothing get
// no window and are counted in a note.
//
// Memory: the scanner's window, about 7 bytes a GPU activity, 5 a launch while reading and 12 at
// the end (where there are steps), and the collectives. A 2 GB trace with 1.2 million launches: 40
// MB.
#pragma once

#include <string_view>

#include "base/bytes.hpp"
#include "mfu/error.hpp"
#include "traces/rank_trace.hpp"

namespace mfu::traces {

// Whether a file that starts with `head` (decompressed; a few KiB are enough) is for read_kineto().
// Pipeline timelines, whose thread_name says "PP rank p, TP rank t, compute", are Chrome traces as
// well and are not: the lane names tell, and in an array without them the categories.
[[nodiscard]] bool sniff_kineto(std::string_view head);

// Throws Error{format} for what is not a trace, Error{insufficient} for a trace without GPU
// activity and without steps, and what the source throws. Everything else is a note.
[[nodiscard]] RankTrace read_kineto(ByteSource& source, Notes& notes);
// `window`: bytes that are looked at at a time; for tests.
[[nodiscard]] RankTrace read_kineto(ByteSource& source, Notes& notes, std::size_t window);

}  // namespace mfu::traces
