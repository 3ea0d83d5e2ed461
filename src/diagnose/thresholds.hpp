// Every threshold of the diagnosis that decides what is a place and what it can mean, with the test
// that calibrates it.
#pragma once

#include <cstddef>

namespace mfu::diagnosis::limits {

// Where the waits are (fit/waits.cpp, fit/attribution.cpp). Calibrated by "four recorders, three
// declarations" and "a step that its slowest rank does not make" (tests/property/recorders.cpp).
inline constexpr double kComplement = 0.7;  // correlation and slope of two columns: -1 in theory
inline constexpr double kStagesComplement = 0.25;  // of a pipeline's stages, beside other idle time
inline constexpr std::size_t kMostCells = 100'000;
inline constexpr double kUsualCells = 4.0;   // robust sigmas
inline constexpr double kLeastMove = 0.005;  // of the step, root mean square between ranks
inline constexpr double kWaitsDoubt = 0.3;   // where the columns do not tell
inline constexpr double kWorkMoves = 0.03;   // of the step, the slowest rank's work (10-90 %)
inline constexpr double kStepStays = 0.01;   // of the step, either side of the usual one: under
                                             // half of what the work moves
inline constexpr double kLeastIdle = 0.03;   // of the step, beyond the slowest rank's work
inline constexpr double kStaysInMost = 0.7;  // of the steps

// Two speeds (places/split.cpp). Calibrated by "any share of slow ranks" and "graded shards are no
// place" (tests/property/slow_places.cpp).
inline constexpr double kGapOfReach = 0.3;  // gap under the slow side, of its mean and 90 % excess
inline constexpr double kLeastGap = 0.5;    // of the least distance of the sides
inline constexpr double kFewFast = 0.25;    // of the units: their gap is all of that distance
inline constexpr double kReachQuantile = 0.9;  // so that one far unit does not hide the others
inline constexpr double kTail = 0.02;          // of the fast units, on each end
inline constexpr double kFastSpread = 0.5;     // of the fast units, times the distance of the sides
inline constexpr double kSigmasApart = 5.0;    // of what chance makes of the fast units' means
inline constexpr double kLeastExcess = 0.015;  // of the step: smaller excesses are not looked at
inline constexpr double kWeakestOfPlace = 0.4;  // a node is slow where each of its ranks is

// Courses (explain/course.cpp): bursts leave out this many steps, and nearly nothing is there then.
inline constexpr double kLeastQuietSteps = 0.2;
inline constexpr double kMostInQuiet = 0.3;  // of what is there in the others

// Places found one after the other (explain/slow_places.cpp).
inline constexpr std::size_t kSameOnset = 2;     // steps between two onsets of one cause
inline constexpr double kSameBursts = 0.5;       // of the steps of the rarer one, for one cause
inline constexpr double kAlikeExcess = 0.25;     // of the larger excess, for one place
inline constexpr std::size_t kMostWatched = 64;  // members whose courses are compared

// Slow transfer (explain/slow_link.cpp). Calibrated by "one slow group" (tests/faults).
inline constexpr double kSlowGroup = 1.3;        // times its equals
inline constexpr double kLeastLinkShare = 0.02;  // of the step

// What a slow place can mean where the devices say nothing (explain/readings.cpp): DESIGN 5,
// paragraph 5.
inline constexpr std::size_t kSurelyPhysical = 2;    // single ranks
inline constexpr double kPhysicalShare = 1.0 / 8.0;  // of the ranks: the most that are devices'
inline constexpr double kFewerThanHalf = 0.5;        // of the nodes, of the ranks that stall
inline constexpr double kNearBoundary = 0.85;  // most confidence one unit before the next reading

// All GPUs (explain/single_gpu.cpp): of the clock that the peak means, from which a clock that
// something holds down is a loss by itself. Under load chips run some percent below it.
inline constexpr double kHeldDown = 0.9;

// Confidence (verdict.cpp). Calibrated by `mfu_second_score` on the even seeds.
inline constexpr double kMostConfidence = 0.99;
inline constexpr double kSavingWrong = 0.1;   // of a saving, how wrong the replay of its fix is
inline constexpr double kReplayWrong = 0.01;  // of the step, the same: 95 % of intervals then hold
inline constexpr double kOneRing = 0.6;       // that slow transfer of the only group is one link's

}  // namespace mfu::diagnosis::limits
