#include "traces/timeline/timeline.hpp"

#include <string>

#include "base/bytes.hpp"
#include "catch.hpp"
#include "readers/run/timeline_run.hpp"
#include "timings/trace.hpp"
#include "traces/timeline/groups.hpp"
#include "traces/timeline/split.hpp"
#include "unit/traces/timeline_text.hpp"

using namespace mfu;
using namespace mfu::traces;

namespace timeline_files {

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

std::vector<std::vector<WorkerStep>> split_of(const Timeline& timeline, Notes& notes) {
  return split_timeline(timeline, pair_operations(timeline, notes));
}

ReadResult run_of(const std::string& text, Notes& notes) {
  ByteSource source = ByteSource::from_memory(text, "made.json");
  return read_timeline_run(source, notes);
}

constexpr int kCompute = TimelineText::kCompute;
constexpr int kPipeline = TimelineText::kPipeline;
constexpr int kData = TimelineText::kData;

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
  const auto split = split_of(timeline, notes);
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
  const WorkerStep worker = split_of(made.read(notes), notes)[0][0];
  CHECK(worker.compute_s == Approx(0.010));
  CHECK(worker.comm_s == Approx(0.007));
  CHECK(worker.step_s == Approx(0.017));
}

TEST_CASE("a replay of one microbatch") {
  Notes notes;
  const ReadResult read = run_of(two_stages().text(), notes);
  REQUIRE(read.run.replay);
  const PipelineReplay& replay = *read.run.replay;
  CHECK(replay.recorded_step_s == Approx(0.123));
  CHECK(replay.replayed_step_s == Approx(0.122));  // less the 1 ms of nothing
  // Forwards at 20, backwards at 40, four of them in a row, and two transfers.
  CHECK(replay.ideal_step_s == Approx(0.122));
  CHECK(replay.balanced_stages_step_s == Approx(0.122));
  CHECK(replay.no_waits_step_s == Approx(0.092));
  CHECK(replay.by_stage.size() == 2);
  // Stage 1 with its own 30 and 60 beside an ideal stage 0 of 20 and 40.
  CHECK(replay.by_stage[1].slowdown == Approx(152.0 / 122.0));
  CHECK(replay.by_stage[0].slowdown == Approx(92.0 / 122.0));
  CHECK(read.run.workload.microbatches == 1);
}

TEST_CASE("it does not matter when a recorder lets a communication begin") {
  TimelineText early(1);  // when its worker is ready
  TimelineText late(1);   // when all are there: waits are gaps
  for (const int pp : {0, 1}) {
    early.lanes(0, pp);
    late.lanes(0, pp);
  }
  early.long_stage(0);
  late.even_stages(0);
  Notes notes;
  const auto of_early = split_of(early.read(notes), notes);
  // Stage 0 waits 3 s for the first gradient and 3 s for the second.
  CHECK(of_early[0][0].compute_s == Approx(4.0));
  CHECK(of_early[0][0].comm_s == Approx(0.3));
  CHECK(of_early[0][0].wait_s == Approx(6.0));
  // Stage 1 waits 1 s for its first input, and 1 s for the end.
  CHECK(of_early[0][1].comm_s == Approx(0.3));
  CHECK(of_early[0][1].wait_s == Approx(2.0));
  CHECK(of_early[0][1].stall_s == Approx(0.0).margin(1e-9));
  const auto of_late = split_of(late.read(notes), notes);
  CHECK(of_late[0][0].wait_s == Approx(2.0));  // 2.1 to 3.1 and 4.2 to 5.2
  CHECK(of_late[0][0].comm_s == Approx(0.3));
  CHECK(of_late[0][1].wait_s == Approx(2.0));
  CHECK(notes.all().empty());
}

TEST_CASE("a collective's late arriver does not wait, its peers do") {
  TimelineText trace(2);
  for (const int dp : {0, 1}) trace.lanes(dp, 0);
  trace.op("forward-compute", 0, 0, kCompute, 0.0, 3.0, 0);
  trace.op("grads-reduce-scatter", 0, 0, kData, 3.0, 3.5, 0);
  trace.op("forward-compute", 1, 0, kCompute, 0.0, 2.0, 0);
  trace.op("grads-reduce-scatter", 1, 0, kData, 2.0, 3.5, 0);
  Notes notes;
  const auto split = split_of(trace.read(notes), notes);
  CHECK(split[0][0].wait_s == Approx(0.0).margin(1e-9));
  CHECK(split[0][1].wait_s == Approx(1.0));
  CHECK(split[0][0].comm_s == Approx(0.5));
  CHECK(split[0][1].comm_s == Approx(0.5));
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
  CHECK(timeline.ops.size() == 8);
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

TEST_CASE("a step of which a part was not recorded is left out, with its place") {
  TimelineText trace(1);
  for (const int pp : {0, 1}) trace.lanes(0, pp);
  trace.long_stage(0);
  trace.op("forward-compute", 0, 0, kCompute, 20.0, 21.0, 0, 8);
  Notes notes;
  const Timeline timeline = trace.read(notes);
  REQUIRE(timeline.steps.size() == 1);
  CHECK(timeline.steps[0].id == 7);
  const Note* note = note_of(notes, "timeline-incomplete-step");
  REQUIRE(note != nullptr);
  CHECK(note->first.what == "step 8, dp 0, stage 1");
}

TEST_CASE("a worker whose compute lane has no name leaves no step") {
  TimelineText trace(1);
  trace.lanes(0, 0);
  trace.lane(0, 1, kPipeline);
  trace.long_stage(0);
  Notes notes;
  CHECK_THROWS_WITH(trace.read(notes), contains("step 7, dp 0, stage 1") &&
                                           contains("the same number of forwards and backwards"));
  CHECK(note_of(notes, "lane-without-name") != nullptr);
}

TEST_CASE("a negative duration costs its operation and what hangs on it") {
  TimelineText trace(1);
  for (const int pp : {0, 1}) trace.lanes(0, pp);
  trace.op("forward-compute", 0, 0, kCompute, 0.0, 1.0, 0);
  trace.op("forward-send", 0, 0, kPipeline, 1.0, 1.1, 0);
  trace.op("forward-recv", 0, 1, kPipeline, 1.0, 0.9, 0);
  trace.op("forward-compute", 0, 1, kCompute, 1.1, 2.0, 0);
  Notes notes;
  const ReadResult read = run_of(trace.text(), notes);
  CHECK(note_of(notes, "event-time")->count == 1);
  const Note* single = note_of(notes, "timeline-single-end");
  REQUIRE(single != nullptr);
  CHECK(single->first.what == "step 7, dp 0, stage 0, forward-send");
}

TEST_CASE("sequence numbers pair what is out of order; ones that repeat are not used") {
  for (const bool repeated : {false, true}) {
    TimelineText trace(2);
    for (const int dp : {0, 1}) {
      trace.lanes(dp, 0);
      trace.op("forward-compute", dp, 0, kCompute, 0.0, 1.0, 0);
      trace.op("grads-reduce-scatter", dp, 0, kData, 1.0, 1.2, repeated ? 3 : 0);
      // The first worker has lost its second reduction.
      if (dp == 1 && !repeated) trace.op("grads-reduce-scatter", dp, 0, kData, 1.2, 1.4, 1);
      trace.op("grads-reduce-scatter", dp, 0, kData, 1.4, 1.7, repeated ? 3 : 2);
    }
    Notes notes;
    const Timeline timeline = trace.read(notes);
    const OpGroups groups = pair_operations(timeline, notes);
    CHECK(groups.clocks_agree);
    CHECK(groups.group(groups.of_op[2]).size() == 2);
    CHECK(groups.transfer_us[2] == Approx(0.3e6));
    CHECK((note_of(notes, "timeline-sequence-repeats") != nullptr) == repeated);
    CHECK((note_of(notes, "timeline-single-end") != nullptr) == !repeated);
  }
}

TEST_CASE("a receive that ends before its send begins is no transfer: the clocks differ") {
  // Stage 1 is a second behind: what it receives at 1.0 it has at 0.1.
  TimelineText trace(1);
  for (const int pp : {0, 1}) trace.lanes(0, pp);
  trace.set_clock(0, 1, -1.0);
  trace.long_stage(0);
  Notes notes;
  const ReadResult read = run_of(trace.text(), notes);
  const Note* note = note_of(notes, "timeline-impossible-order");
  REQUIRE(note != nullptr);
  CHECK(note->first.file == "made.json");
  CHECK(note->first.what == "step 7, dp 0, stage 1, forward-recv");
  CHECK(note->text.find("900.0 ms before its send begins") != std::string::npos);
  // Nothing is compared between the stages: no waiting, no replay; compute is each one's own.
  CHECK_FALSE(read.run.replay.has_value());
  CHECK(read.run.wait.empty());
  CHECK(read.run.waits_in == WaitsIn::stall);
  CHECK(read.run.compute.at(0, 1) == Approx(8.0));
  CHECK(read.run.comm.at(0, 0) == Approx(0.1 + 3.1 + 3.1));
  CHECK(read.run.step.at(0, 1) == Approx(8.3));
}

TEST_CASE("a send that is buffered may end before its receive begins") {
  TimelineText trace(1);
  for (const int pp : {0, 1}) trace.lanes(0, pp);
  trace.op("forward-compute", 0, 0, kCompute, 0.0, 1.0, 0);
  trace.op("forward-send", 0, 0, kPipeline, 1.0, 1.1, 0);
  trace.op("forward-recv", 0, 1, kPipeline, 3.0, 3.1, 0);
  trace.op("forward-compute", 0, 1, kCompute, 3.1, 4.0, 0);
  Notes notes;
  CHECK(pair_operations(trace.read(notes), notes).clocks_agree);
  CHECK(notes.all().empty());
}

TEST_CASE("collectives that one worker always leaves later show a clock that is ahead") {
  for (const double ahead : {0.0, 0.05}) {
    TimelineText trace(2);
    trace.set_clock(1, 0, ahead);
    for (const int dp : {0, 1}) {
      trace.lanes(dp, 0);
      for (int k = 0; k < 5; ++k) {
        const double t = k + 0.001 * ((k * 7 + dp * 3) % 5);
        trace.op("forward-compute", dp, 0, kCompute, t, t + 0.3, k);
        // Long enough to hide the offset from a look at one of them.
        trace.op("grads-reduce-scatter", dp, 0, kData, t + 0.3, k + 0.8 + 1e-5 * (k % 3), k);
      }
    }
    Notes notes;
    const ReadResult read = run_of(trace.text(), notes);
    const Note* note = note_of(notes, "timeline-clock-offset");
    CHECK((note != nullptr) == (ahead > 0.0));
    CHECK(read.run.replay.has_value() == (ahead == 0.0));
    CHECK(read.run.wait.empty() == (ahead > 0.0));
    if (note != nullptr) {
      CHECK(note->text.find("50.00 ms") != std::string::npos);
      CHECK(note->first.what.starts_with("step 7, dp "));
    }
  }
}

TEST_CASE("the ends of a single collective differ by no more than its transfer") {
  for (const double end : {3.4, 3.9}) {
    TimelineText trace(2);
    for (const int dp : {0, 1}) trace.lanes(dp, 0);
    trace.op("forward-compute", 0, 0, kCompute, 0.0, 3.0, 0);
    trace.op("grads-reduce-scatter", 0, 0, kData, 3.0, 3.3, 0);
    trace.op("forward-compute", 1, 0, kCompute, 0.0, 2.0, 0);
    trace.op("grads-reduce-scatter", 1, 0, kData, 2.0, end, 0);
    Notes notes;
    CHECK(pair_operations(trace.read(notes), notes).clocks_agree == (end < 3.6));
    CHECK((note_of(notes, "timeline-impossible-order") != nullptr) == (end > 3.6));
  }
}

TEST_CASE("one impossible pair among many is noted and believed no more than that") {
  TimelineText trace(2);
  for (const int dp : {0, 1}) {
    trace.lanes(dp, 0);
    for (int k = 0; k < 150; ++k) {
      trace.op("forward-compute", dp, 0, kCompute, k, k + 0.5, k);
      const bool odd = k == 70 && dp == 1;
      trace.op("grads-reduce-scatter", dp, 0, kData, k + 0.5, k + (odd ? 0.5 : 0.8), k);
    }
  }
  Notes notes;
  const ReadResult clean = run_of(trace.text(), notes);
  CHECK(notes.all().empty());  // it ends when the others begin: no contradiction
  trace.op("grads-reduce-scatter", 0, 0, kData, 200.0, 200.3, 150);
  trace.op("grads-reduce-scatter", 1, 0, kData, 199.0, 199.3, 150);
  const ReadResult read = run_of(trace.text(), notes);
  const Note* note = note_of(notes, "timeline-impossible-order");
  REQUIRE(note != nullptr);
  CHECK(note->severity == Severity::info);
  CHECK(read.run.replay.has_value());
}

TEST_CASE("times since the epoch are times") {
  Made made;
  made.lane(0, 0, 0, "compute");
  made.op(0, 0, 0, "forward-compute", 1.7e12, 10);
  Notes notes;
  CHECK(made.read(notes).ops.size() == 1);
  CHECK(notes.all().empty());
}

}  // namespace timeline_files
