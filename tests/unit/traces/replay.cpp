// Counterfactuals of small pipeline schedules that can be worked out by hand.
#include "traces/timeline/replay.hpp"

#include <numeric>
#include <optional>
#include <vector>

#include "catch.hpp"
#include "traces/timeline/groups.hpp"
#include "traces/timeline/replay_graph.hpp"
#include "unit/traces/timeline_text.hpp"

using namespace mfu;
using namespace mfu::traces;

namespace {

std::optional<PipelineReplay> try_replay(const TimelineText& trace, Notes& notes) {
  const Timeline timeline = trace.read(notes);
  const OpGroups groups = pair_operations(timeline, notes);
  std::vector<std::int64_t> ranks(timeline.workers.size());
  std::iota(ranks.begin(), ranks.end(), 100);
  return replay_timeline(timeline, groups, ranks, notes);
}

PipelineReplay replay_of(const TimelineText& trace) {
  Notes notes;
  const std::optional<PipelineReplay> replay = try_replay(trace, notes);
  REQUIRE(replay.has_value());
  CHECK(notes.all().empty());
  return *replay;
}

double slowdown_of(const std::vector<PipelineReplay::Part>& parts, const std::string& name) {
  for (const PipelineReplay::Part& part : parts) {
    if (part.name == name) return part.slowdown;
  }
  FAIL("no part " << name);
  return 0.0;
}

constexpr int kCompute = TimelineText::kCompute;
constexpr int kData = TimelineText::kData;
constexpr int kMisc = TimelineText::kMisc;

}  // namespace

TEST_CASE("a long stage: every counterfactual by hand") {
  TimelineText trace(1);
  trace.lanes(0, 0);
  trace.lanes(0, 1);
  trace.long_stage(0);
  const PipelineReplay replay = replay_of(trace);
  CHECK(replay.steps == 1);
  CHECK(replay.recorded_step_s == Approx(10.3));
  CHECK(replay.replayed_step_s == Approx(10.3));
  CHECK(replay.launch_slowdown() == Approx(1.0));
  // All forwards and backwards 1.5 s: stage 0 to 3.1; stage 1 from 1.6 to 4.6; both turn at 4.7;
  // stage 1 ends at 7.7, the last gradient arrives at 7.8, the last backward ends at 9.3.
  CHECK(replay.ideal_step_s == Approx(9.3));
  CHECK(replay.slowdown() == Approx(10.3 / 9.3));
  CHECK(replay.balanced_stages_step_s == Approx(9.3));
  // Stage 1 alone: 4 x 2 s and three transfers, of which two go side by side.
  CHECK(replay.no_waits_step_s == Approx(8.3));
  // Stage 0 at 1.5 s, stage 1 at 2 s: 1.6, 5.6, 5.7, 9.7, 9.8, 11.3.
  CHECK(slowdown_of(replay.by_stage, "1") == Approx(11.3 / 9.3));
  // Stage 0 at 1 s, stage 1 at 1.5 s: 1.1, 4.1, 4.2, 7.2, 7.3, 8.3.
  CHECK(slowdown_of(replay.by_stage, "0") == Approx(8.3 / 9.3));
  CHECK(slowdown_of(replay.by_dp, "0") == Approx(replay.slowdown()));
  // Transfers take their median already; forwards alone at 1 and 2 s: 1.1, 3.1, then 1.5 to 4.6,
  // 4.7, 6.7, 8.2, 8.3, 9.8.
  CHECK(slowdown_of(replay.by_op_type, "forward-pp-comm") == Approx(1.0));
  CHECK(slowdown_of(replay.by_op_type, "forward-compute") == Approx(9.8 / 9.3));
  CHECK(replay.by_op_type.size() == 4);
  CHECK_FALSE(replay.worst_rank.has_value());  // one worker a stage: no peers
}

TEST_CASE("a slow rank at its peers' median gives its pipeline the peers' time") {
  TimelineText trace(2);
  for (const int dp : {0, 1}) {
    for (const int pp : {0, 1}) trace.lanes(dp, pp);
  }
  trace.long_stage(0);
  trace.even_stages(1);
  const PipelineReplay replay = replay_of(trace);
  CHECK(replay.replayed_step_s == Approx(10.3));
  CHECK(replay.worst_rank == 102);  // stage 1 of the first pipeline
  CHECK(replay.worst_rank_at_peers_step_s == Approx(6.3));
  CHECK(slowdown_of(replay.by_dp, "0") > slowdown_of(replay.by_dp, "1"));
}

TEST_CASE("a median of peers leaves the rank itself out") {
  TimelineText trace(4);
  for (const int dp : {0, 1, 2, 3}) {
    trace.lanes(dp, 0);
    const double end = dp == 1 ? 5.0 : 2.0 + 0.1 * dp;  // 2.0, 5.0, 2.2, 2.3
    trace.op("forward-compute", dp, 0, kCompute, 0.0, end, 0);
    trace.op("grads-reduce-scatter", dp, 0, kData, end, 5.5, 0);
  }
  const PipelineReplay replay = replay_of(trace);
  CHECK(replay.replayed_step_s == Approx(5.5));
  CHECK(replay.worst_rank == 101);
  // The others' median is 2.2 s, the longest of them then 2.3 s; the reduction takes 0.5 s.
  CHECK(replay.worst_rank_at_peers_step_s == Approx(2.8));
}

TEST_CASE("gaps that no dependency explains are launch gaps, and are not replayed") {
  TimelineText trace(1);
  trace.lanes(0, 0);
  trace.op("forward-compute", 0, 0, kCompute, 0.0, 1.0, 0);
  trace.op("backward-compute", 0, 0, kCompute, 1.5, 2.5, 0);
  const PipelineReplay replay = replay_of(trace);
  CHECK(replay.recorded_step_s == Approx(2.5));
  CHECK(replay.replayed_step_s == Approx(2.0));
  CHECK(replay.launch_slowdown() == Approx(1.25));
  CHECK(replay.balanced_stages_step_s == Approx(2.0));  // of one stage
  CHECK(replay.no_waits_step_s == Approx(2.0));
  CHECK_FALSE(replay.worst_rank.has_value());
}

TEST_CASE("a gradient reduction behind the backward pass does not hold it up") {
  TimelineText trace(2);
  for (const int dp : {0, 1}) {
    trace.lanes(dp, 0);
    trace.op("forward-compute", dp, 0, kCompute, 0.0, 1.0, 0);
    trace.op("backward-compute", dp, 0, kCompute, 1.0, 2.0, 0);
    trace.op("grads-reduce-scatter", dp, 0, kData, 2.0, 2.4, 0);
    trace.op("forward-compute", dp, 0, kCompute, 2.0, 3.0, 1);
    trace.op("backward-compute", dp, 0, kCompute, 3.0, 4.0, 1);
    trace.op("grads-reduce-scatter", dp, 0, kData, 4.0, 4.4, 1);
    trace.op("optimizer", dp, 0, kCompute, 4.4, 4.5, 0);
  }
  const PipelineReplay replay = replay_of(trace);
  CHECK(replay.replayed_step_s == Approx(4.5));
  CHECK(replay.slowdown() == Approx(1.0));
}

TEST_CASE("durations that are twice as short halve the step") {
  TimelineText trace(1);
  trace.lanes(0, 0);
  trace.lanes(0, 1);
  trace.long_stage(0);
  Notes notes;
  const Timeline timeline = trace.read(notes);
  const auto graph = ReplayGraph::build(timeline, pair_operations(timeline, notes));
  REQUIRE(graph.has_value());
  std::vector<double> half = graph->durations_us();
  for (double& value : half) value /= 2;
  CHECK(graph->step_lengths_us(half).front() == Approx(5.15e6));
}

TEST_CASE("several steps are replayed apart, and averaged") {
  TimelineText trace(1);
  trace.lanes(0, 0);
  for (const int step : {1, 2}) {
    trace.op("forward-compute", 0, 0, kCompute, 10.0 * step, 10.0 * step + step, 0, step);
    trace.op("backward-compute", 0, 0, kCompute, 10.0 * step + step, 10.0 * step + 2.0 * step, 0,
             step);
  }
  const PipelineReplay replay = replay_of(trace);
  CHECK(replay.steps == 2);
  CHECK(replay.replayed_step_s == Approx(3.0));  // 2 and 4
  CHECK(replay.ideal_step_s == Approx(3.0));
}

TEST_CASE("an order that contradicts itself is not replayed, and said") {
  TimelineText trace(2);
  for (const int dp : {0, 1}) {
    trace.lanes(dp, 0);
    trace.op("forward-compute", dp, 0, kCompute, 0.0, 1.0, 0);
    // Both at the same time; one rank begins with the first, the other with the second.
    trace.op("grads-reduce-scatter", dp, 0, kData, 2.0, 3.0, dp);
    trace.op("grads-reduce-scatter", dp, 0, kData, 2.1, 3.0, 1 - dp);
  }
  Notes notes;
  CHECK_FALSE(try_replay(trace, notes).has_value());
  REQUIRE(notes.all().size() == 1);
  CHECK(notes.all()[0].code == "timeline-no-replay");
  CHECK(notes.all()[0].first.file == "made.json");
}

TEST_CASE("operations that take no time are replayed; nothing but such is not") {
  TimelineText trace(1);
  trace.lanes(0, 0);
  trace.op("gc", 0, 0, kCompute, 1.0, 1.0, 0);
  Notes notes;
  CHECK_FALSE(try_replay(trace, notes).has_value());
  CHECK(notes.has("timeline-no-replay"));
  trace.op("forward-compute", 0, 0, kCompute, 0.0, 1.0, 0);
  const PipelineReplay replay = replay_of(trace);
  CHECK(replay.replayed_step_s == Approx(1.0));
  CHECK(slowdown_of(replay.by_op_type, "gc") == Approx(1.0));
}

TEST_CASE("operations of unknown names count for themselves, and are named") {
  TimelineText trace(2);
  for (const int dp : {0, 1}) {
    trace.lanes(dp, 0);
    trace.op("forward-compute", dp, 0, kCompute, 0.0, 1.0, 0);
    trace.op("rotary-cache", dp, 0, kCompute, 1.0, 1.5, 0);
    trace.op("weights-broadcast", dp, 0, kData, 1.5, 1.7, 0);
    trace.op("step", dp, 0, kMisc, 0.0, 1.7, 0);  // beside the rest: not replayed
  }
  Notes notes;
  const auto replay = try_replay(trace, notes);
  REQUIRE(replay.has_value());
  CHECK(replay->replayed_step_s == Approx(1.7));
  CHECK(slowdown_of(replay->by_op_type, "rotary-cache") == Approx(1.0));
  const Note* unknown = note_of(notes, "timeline-unknown-operation");
  REQUIRE(unknown != nullptr);
  CHECK(unknown->count == 4);
  CHECK(unknown->first.what == "step 7, dp 0, stage 0");
  REQUIRE(note_of(notes, "timeline-misc-lane") != nullptr);
  CHECK(note_of(notes, "timeline-misc-lane")->count == 2);
}
