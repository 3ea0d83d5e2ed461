#include <string>

#include "base/bytes.hpp"
#include "catch.hpp"
#include "readers/timeline_run.hpp"
#include "traces/replay.hpp"
#include "traces/timeline.hpp"
#include "traces/timeline_split.hpp"

using namespace mfu;
using namespace mfu::traces;

namespace {

// A timeline written by hand. Times in milliseconds.
class Made {
 public:
  void lane(int dp, int pp, int lane_of_worker, const std::string& kind) {
    add(R"({"ph":"M","name":"thread_name","pid":)" + std::to_string(dp) + R"(,"tid":)" +
        std::to_string(10 * pp + lane_of_worker) + R"(,"args":{"name":"PP rank )" +
        std::to_string(pp) + R"(, TP rank 0, )" + kind + R"("}})");
  }
  void op(int dp, int pp, int lane_of_worker, const std::string& type, double start_ms,
          double dur_ms, int step = 0) {
    add(R"({"ph":"X","cat":")" + type + R"(","name":")" + type + R"(","pid":)" +
        std::to_string(dp) + R"(,"tid":)" + std::to_string(10 * pp + lane_of_worker) + R"(,"ts":)" +
        std::to_string(1000 * start_ms) + R"(,"dur":)" + std::to_string(1000 * dur_ms) +
        R"(,"args":{"step":)" + std::to_string(step) + R"(,"model_chunk":0}})");
  }
  void add(const std::string& event) { events_ += (events_.empty() ? "" : ",\n") + event; }
  [[nodiscard]] std::string text() const { return "[" + events_ + "]"; }
  [[nodiscard]] Timeline read(Notes& notes) const {
    const std::string all = text();
    ByteSource source = ByteSource::from_memory(all, "made.json");
    return read_timeline(source, notes);
  }

 private:
  std::string events_;
};

// Two stages, one microbatch: forward 10 and 30 ms, transfers of 1 ms, backward 60 and 20 ms.
//   stage 0: F 0-10, send 10-11,                    receive 72-73, B 73-93
//   stage 1:         receive 10-11, F 11-41, B 41(+1 of launch)-..., send
Made two_stages() {
  Made made;
  for (const int pp : {0, 1}) {
    made.lane(0, pp, 0, "compute");
    made.lane(0, pp, 1, "pp-comm");
  }
  made.op(0, 0, 0, "forward-compute", 0, 10);
  made.op(0, 0, 1, "forward-send", 10, 1);
  made.op(0, 1, 1, "forward-recv", 10, 1);
  made.op(0, 1, 0, "forward-compute", 11, 30);
  made.op(0, 1, 0, "backward-compute", 42, 60);  // 1 ms of nothing before
  made.op(0, 1, 1, "backward-send", 102, 1);
  made.op(0, 0, 1, "backward-recv", 102, 1);
  made.op(0, 0, 0, "backward-compute", 103, 20);
  return made;
}

}  // namespace

TEST_CASE("a timeline is told by its lanes or its operations, and is an array") {
  CHECK(sniff_timeline(two_stages().text()));
  CHECK(sniff_timeline(R"([{"cat":"forward-compute","args":{"model_chunk":0}}])"));
  CHECK_FALSE(sniff_timeline(R"({"traceEvents":[{"name":"PP rank 0, TP rank 0, compute"}]})"));
  CHECK_FALSE(sniff_timeline(R"([{"ph":"X","cat":"kernel","name":"gemm"}])"));
  CHECK_FALSE(sniff_timeline(""));
}

TEST_CASE("each worker's time adds up to the step") {
  Notes notes;
  const Timeline timeline = two_stages().read(notes);
  REQUIRE(timeline.workers.size() == 2);
  const auto split = split_timeline(timeline);
  const WorkerStep& first = split[0][0];
  CHECK(first.compute_s == Approx(0.030));
  CHECK(first.comm_s == Approx(0.002));
  // From 11 to 102 ms its peer worked; it was ready at 102, when its peer was.
  CHECK(first.wait_s == Approx(0.091));
  CHECK(first.stall_s == Approx(0.0).margin(1e-12));
  const WorkerStep& second = split[0][1];
  CHECK(second.compute_s == Approx(0.090));
  // 10 ms before the receive, 20 ms at the end; 1 ms before its backward is its own.
  CHECK(second.wait_s == Approx(0.030));
  CHECK(second.stall_s == Approx(0.001));
  for (const WorkerStep& worker : split[0]) {
    CHECK(worker.step_s == Approx(0.123));
    CHECK(worker.compute_s + worker.comm_s + worker.wait_s + worker.stall_s ==
          Approx(worker.step_s));
  }
  CHECK(notes.all().empty());
}

TEST_CASE("communication under compute is not exposed") {
  Made made;
  made.lane(0, 0, 0, "compute");
  made.lane(0, 0, 3, "dp-comm");
  made.op(0, 0, 3, "grads-reduce-scatter", 0, 10);
  made.op(0, 0, 0, "backward-compute", 4, 10);   // hides 4 to 10
  made.op(0, 0, 3, "params-all-gather", 12, 5);  // exposed from 14 to 17
  Notes notes;
  const WorkerStep worker = split_timeline(made.read(notes))[0][0];
  CHECK(worker.compute_s == Approx(0.010));
  CHECK(worker.comm_s == Approx(0.007));
  CHECK(worker.step_s == Approx(0.017));
}

TEST_CASE("the replay leaves out what is between the operations") {
  Notes notes;
  const Timeline timeline = two_stages().read(notes);
  const StepGraph graph(timeline, timeline.steps[0]);
  CHECK(graph.replay_us(graph.durations_us()) == Approx(122'000));  // 123 less the 1 ms of nothing
  // Twice as fast all over is half the step; the slow stage's backward alone gives 60 - 20.
  std::vector<double> half = graph.durations_us();
  for (double& value : half) value /= 2;
  CHECK(graph.replay_us(half) == Approx(61'000));
}

TEST_CASE("counterfactuals of a pipeline that can be worked out by hand") {
  Notes notes;
  const std::vector<std::int64_t> ranks{0, 1};
  const PipelineReplay replay = replay_timeline(two_stages().read(notes), ranks);
  CHECK(replay.recorded_step_s == Approx(0.123));
  CHECK(replay.replayed_step_s == Approx(0.122));
  // Forwards at 20, backwards at 40, four of them in a row, and two transfers.
  CHECK(replay.ideal_step_s == Approx(0.122));
  CHECK(replay.balanced_stages_step_s == Approx(0.122));
  CHECK(replay.slowdown() == Approx(1.0));
  CHECK(replay.no_waits_step_s == Approx(0.092));
  CHECK(replay.by_stage.size() == 2);
  // Stage 1 with its own 30 and 60 beside an ideal stage 0 of 20 and 40.
  CHECK(replay.by_stage[1].slowdown == Approx(152.0 / 122.0));
  CHECK(replay.by_stage[0].slowdown == Approx(92.0 / 122.0));
}

TEST_CASE("a slow worker is found by what its peers' times would leave") {
  Made made;
  for (const int dp : {0, 1, 2}) {
    made.lane(dp, 0, 0, "compute");
    made.lane(dp, 0, 3, "dp-comm");
    const double compute = dp == 1 ? 50 : 20;
    made.op(dp, 0, 0, "forward-compute", 0, compute);
    made.op(dp, 0, 3, "grads-reduce-scatter", dp == 1 ? 50 : 20 + dp, dp == 1 ? 5 : 35 - dp);
  }
  Notes notes;
  const Timeline timeline = made.read(notes);
  const PipelineReplay replay = replay_timeline(timeline, std::vector<std::int64_t>{0, 1, 2});
  CHECK(replay.replayed_step_s == Approx(0.055));
  CHECK(replay.worst_rank == 1);
  CHECK(replay.worst_rank_at_peers_step_s == Approx(0.025));
  CHECK(replay.by_dp[1].slowdown > 1.5);
}

TEST_CASE("what cannot be used is left out and counted") {
  Made made = two_stages();
  made.add(R"({"ph":"X","cat":"forward-compute","pid":0,"tid":0,"ts":1,"dur":1,"args":{}})");
  made.add(
      R"({"ph":"X","cat":"forward-compute","pid":0,"tid":0,"ts":1,"dur":-1,"args":{"step":0}})");
  made.add(
      R"({"ph":"X","cat":"forward-compute","pid":0,"tid":99,"ts":1,"dur":1,"args":{"step":0}})");
  made.add(
      R"({"ph":"X","cat":"forward-compute","pid":"x","tid":0,"ts":1,"dur":1,"args":{"step":0}})");
  Notes notes;
  const Timeline timeline = made.read(notes);
  CHECK(timeline.steps[0].ops.size() == 8);
  CHECK(notes.all().size() == 4);
}

TEST_CASE("files that are no timeline are refused with a place") {
  for (const char* text : {"[", "[1]", "[{\"ph\":\"X\"", "[]", "[{\"ph\":\"X\",\"cat\":\"a\"}]"}) {
    INFO(text);
    Notes notes;
    ByteSource source = ByteSource::from_memory(text, "bad.json");
    CHECK_THROWS_AS(read_timeline(source, notes), Error);
  }
}

TEST_CASE("a timeline is a run with waits apart, a layout and a replay") {
  Made made;
  for (int step = 0; step < 3; ++step) {
    for (const int pp : {0, 1}) {
      if (step == 0) {
        made.lane(0, pp, 0, "compute");
        made.lane(0, pp, 1, "pp-comm");
      }
      made.op(0, pp, 0, "forward-compute", 1000 * step + 11 * pp, 10, 7 + step);
    }
    made.op(0, 0, 1, "forward-send", 1000 * step + 10, 1, 7 + step);
    made.op(0, 1, 1, "forward-recv", 1000 * step + 10, 1, 7 + step);
  }
  const std::string text = made.text();
  ByteSource source = ByteSource::from_memory(text, "made.json");
  Notes notes;
  const ReadResult read = read_timeline_run(source, notes);
  CHECK(read.run.steps == std::vector<std::int64_t>{7, 8, 9});
  CHECK(read.run.ranks.size() == 2);
  CHECK(read.run.parallelism[Axis::pp] == 2);
  CHECK(read.run.workload.microbatches == 1);
  CHECK(read.run.waits_in == WaitsIn::separate);
  CHECK(read.run.compute.at(2, 1) == Approx(0.010));
  CHECK(read.run.wait.at(0, 1) == Approx(0.010));
  REQUIRE(read.run.replay);
  CHECK(read.run.replay->steps == 3);
}
