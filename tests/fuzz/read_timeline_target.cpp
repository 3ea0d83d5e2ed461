// Whatever the bytes are: a timeline whose workers' times sum to the step and whose replay is
// finite, or an mfu::Error; and the size of the window changes neither. Build with
// -fsanitize=fuzzer for libFuzzer; replay.cpp runs it as an ordinary test.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "mfu/error.hpp"
#include "traces/timeline/groups.hpp"
#include "traces/timeline/replay.hpp"
#include "traces/timeline/split.hpp"
#include "traces/timeline/timeline.hpp"

namespace {

using mfu::traces::Timeline;
using mfu::traces::WorkerStep;

std::string outcome(std::string_view bytes, std::size_t window) {
  mfu::Notes notes;
  std::string text;
  try {
    mfu::ByteSource source = mfu::ByteSource::from_memory(bytes, "timeline.json");
    mfu::JsonCursor::Limits limits;
    limits.window = window;
    const Timeline timeline = mfu::traces::read_timeline(source, notes, limits);
    const mfu::traces::OpGroups groups = mfu::traces::pair_operations(timeline, notes);
    for (const auto& step : mfu::traces::split_timeline(timeline, groups)) {
      for (const WorkerStep& worker : step) {
        const double sum = worker.compute_s + worker.comm_s + worker.wait_s + worker.stall_s;
        if (worker.compute_s < 0 || worker.comm_s < 0 || worker.wait_s < 0 || worker.stall_s < 0) {
          std::abort();
        }
        if (std::fabs(sum - worker.step_s) > 1e-9 * (1 + std::fabs(worker.step_s)) + 1e-6) {
          std::abort();
        }
        text += std::to_string(worker.wait_s) + " ";
      }
    }
    std::vector<std::int64_t> ranks(timeline.workers.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    const auto replay = mfu::traces::replay_timeline(timeline, groups, ranks, notes);
    if (!replay) {
      text += "no replay";
    } else {
      for (const double seconds : {replay->recorded_step_s, replay->replayed_step_s,
                                   replay->ideal_step_s, replay->balanced_stages_step_s,
                                   replay->no_waits_step_s, replay->worst_rank_at_peers_step_s}) {
        if (!std::isfinite(seconds) || seconds < 0) std::abort();
      }
      if (replay->no_waits_step_s > replay->replayed_step_s * (1 + 1e-12)) std::abort();
      text += std::to_string(replay->replayed_step_s);
    }
  } catch (const mfu::Error& error) {
    text = error.what();
  }
  for (const mfu::Note& note : notes.all())
    text += "\n" + note.code.str() + std::to_string(note.count);
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)mfu::traces::sniff_timeline(bytes);
  if (outcome(bytes, 256 * 1024) != outcome(bytes, 1)) std::abort();
  return 0;
}
