// Where the recorder put the time that ranks waited for their peers, by the columns themselves.
#pragma once

#include "diagnose/fit/job.hpp"
#include "mfu/timings.hpp"

namespace mfu::diagnosis {

struct FoundWaits {
  WaitsIn where = WaitsIn::comm;  // comm or stall
  double doubt = 0.0;             // 0 to 1: the columns do not say, or contradict each other
};

// Of a job of one stage whose waits have no column of their own. In a step all ranks take equally
// long, so one of the columns falls where another rises; `waits_in` is asked only where the columns
// do not tell:
//   a rank that computes less waits more: the bucket that falls with compute at a slope near -1
//   holds the waits; own stalls and transfer do not know how long a rank computes
//   with equal compute, comm that falls where stall rises is waiting for those that stalled: ranks
//   of one group share the seconds of a transfer, so what differs between them is no transfer
[[nodiscard]] FoundWaits find_waits(const Job& job);

// Takes from each unit (column) its own usual, then from each step (row) what all units have: what
// is left is what a unit did beside the others in that step. One unit alone keeps the latter.
enum class Common { mean, median };
void beside_usual(Column& cells, Common common = Common::median);

// A stage of a pipeline that computes less than usual in a step waits more in it, and the bucket
// that holds the waits (`stall`, else comm) shows that, whatever else it holds.
[[nodiscard]] bool absorbs_waits(const Job& job, bool stall);

}  // namespace mfu::diagnosis
