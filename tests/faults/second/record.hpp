// What a recorder writes of a simulated job.
#pragma once

#include <string>
#include <vector>

#include "fault.hpp"
#include "simulate.hpp"

namespace second {

// Where waiting for peers ends up.
enum class Waits { in_comm, in_stall, apart, pipe_in_stall };

struct Recorder {
  Waits waits = Waits::in_comm;
  std::string declared;  // waits_in; empty: not written
  bool by_group = false, passes = false, walls = false, overlap = false;
  bool telemetry = false;
  bool comm_lost = false;  // communication kernels were not seen
  int lost_rank = -1;
  std::string unit = "s";
  std::string chip;         // empty: not written
  double peak_share = 0.0;  // of the chip's peak while kernels run; 0: no work is written
  double error = 0.001;     // of the time of kernels
};

Recorder draw_recorder(const Setting& setting, const Fault& fault, Random& random);
std::string describe(const Recorder& recorder);

struct Columns {
  Table<double> compute, forward, backward, comm, stall, wait, overlapped;  // [step, rank]
  std::vector<Table<double>> groups;                                        // [axis]
};
Columns record(const Setting& setting, const Recorder& recorder, const Timeline& timeline);

// The document. `fault` tells telemetry what the devices' clocks are. `work_s`: kernels' time of a
// rank and step when all is well, which the stated work follows from.
std::string write(const Setting& setting, const Recorder& recorder, const Columns& columns,
                  const Fault& fault, double work_s);

}  // namespace second
