// Captures: which traces are of the same job at the same time. Several captures of one job, each in
// a folder of its own (profile_trace/iteration_100, iteration_200 ...), become one trace a rank
// with the steps of all. What is of another job, or of another time of it, is set aside.
#pragma once

#include <vector>

#include "mfu/error.hpp"
#include "traces/rank_trace.hpp"

namespace mfu::traces {

// Joins the captures of each rank, where a rank has several in folders whose names differ by a
// number alone. Else leaves the traces as they are. Step numbers are kept where they ascend over
// all captures; else they are counted on, with a note.
void join_captures(std::vector<RankTrace>& traces, Notes& notes);

// Takes out, with a note each, ranks whose trace
//   has no GPU activity where others have: what they did is not known
//   states another world size than most do
//   was taken at another time, further off than a capture is long, by another device or with
//   collectives that do not end together with the others' once the clocks' offset is removed
// The traces are sorted by rank, and each has one.
void set_aside_strangers(std::vector<RankTrace>& traces, Notes& notes);

}  // namespace mfu::traces
