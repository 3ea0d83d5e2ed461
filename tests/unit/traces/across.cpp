#include "traces/collectives/across.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/note_code.hpp"
#include "catch.hpp"
#include "timings/trace.hpp"
#include "unit/traces/made_traces.hpp"

using namespace mfu;
using namespace mfu::traces;

namespace {

RunTimings join(std::vector<RankTrace> traces) {
  Notes notes;
  return join_ranks(std::move(traces), notes);
}

MadeJob late_rank_one() {
  MadeJob job;
  job.late = [](std::size_t rank, std::size_t) { return rank == 1 ? 3'000'000 : 0; };
  return job;
}

}  // namespace

TEST_CASE("the four parts of a rank's step sum to its window") {
  const std::vector<RankTrace> traces = make_traces(late_rank_one());
  const RunTimings run = join(traces);
  CHECK(run.waits_in == WaitsIn::separate);
  CHECK(run.steps == std::vector<std::int64_t>{10, 11, 12});
  REQUIRE(run.trace);
  CHECK(run.trace->waits_separate);
  CHECK(run.hardware.count == 4);
  for (std::size_t s = 0; s < 3; ++s) {
    for (std::size_t r = 0; r < 4; ++r) {
      const double window = static_cast<double>(traces[r].steps[s].split.window_ns) / 1e9;
      const double sum =
          run.compute.at(s, r) + run.comm.at(s, r) + run.wait.at(s, r) + run.stall.at(s, r);
      CHECK(sum == Approx(window).epsilon(1e-14));
      // The late rank waits for nobody, the others 3 ms in each of four collectives.
      CHECK(run.wait.at(s, r) == Approx(r == 1 ? 0.0 : 0.012).margin(2e-5));
      CHECK(run.comm.at(s, r) == Approx(0.0004).margin(2e-5));
      CHECK(run.stall.at(s, r) > 0.001e-3);
    }
  }
  REQUIRE(run.trace->late.size() == 1);
  CHECK(run.trace->late[0].rank == 1);
  CHECK(run.trace->late[0].collectives == 12);
  CHECK(run.trace->late[0].first_late_s == Approx(0.003));
  CHECK(run.trace->list.size() == 12);
  CHECK(run.trace->list[5].last_ranks == std::vector<std::int64_t>{1});
  CHECK(run.trace->ranks[0].wait_s.value() == Approx(0.036).margin(1e-4));
}

TEST_CASE("waiting never exceeds the exposed communication") {
  std::vector<RankTrace> traces = make_traces(late_rank_one());
  for (StepSplit& step : traces[0].steps) {
    const std::int64_t hidden = step.split.exposed_comm_ns - 1'000'000;
    step.split.exposed_comm_ns -= hidden;
    step.split.compute_ns += hidden;
    step.split.overlapped_comm_ns += hidden;
  }
  const RunTimings run = join(traces);
  CHECK(run.wait.at(0, 0) == 0.001);
  CHECK(run.comm.at(0, 0) == 0.0);
  CHECK(run.overlapped_comm.at(0, 0) > 0.01);
}

TEST_CASE("what does not pair leaves the waits in the communication") {
  std::vector<RankTrace> traces = make_traces(late_rank_one());
  for (CollectiveSpan& span : traces[1].collectives) span.kind = 1;
  const RunTimings run = join(traces);
  CHECK(run.waits_in == WaitsIn::comm);
  CHECK(run.wait.empty());
  CHECK_FALSE(run.trace->waits_separate);
  CHECK(run.trace->pairing == TracePairing::refused);
  CHECK_FALSE(run.trace->reason.empty());
  CHECK(run.trace->late.empty());
}

TEST_CASE("a step that does not pair is too much to leave out") {
  std::vector<RankTrace> traces = make_traces(late_rank_one());
  traces[2].collectives.pop_back();
  const RunTimings run = join(traces);
  CHECK(run.trace->pairing == TracePairing::paired);
  CHECK(run.trace->late[0].collectives == 8);
  CHECK(run.waits_in == WaitsIn::comm);
}

TEST_CASE("the order of the traces makes no difference") {
  const std::vector<RankTrace> traces = make_traces(late_rank_one());
  std::vector<RankTrace> reversed(traces.rbegin(), traces.rend());
  const RunTimings a = join(traces);
  const RunTimings b = join(reversed);
  for (std::size_t s = 0; s < 3; ++s) {
    for (std::size_t r = 0; r < 4; ++r) CHECK(a.wait.at(s, r) == b.wait.at(s, r));
  }
  CHECK(a.trace->late[0].late_s == b.trace->late[0].late_s);
}

TEST_CASE("two traces of one rank are refused by name") {
  std::vector<RankTrace> traces = make_traces(late_rank_one());
  traces[3].rank = 0;
  CHECK_THROWS_WITH(join(traces), contains("two traces of rank 0: rank0.json and rank3.json"));
}

TEST_CASE("a rank that is not known is assumed for a single file alone") {
  std::vector<RankTrace> traces = make_traces(late_rank_one());
  traces[3].rank.reset();
  CHECK_THROWS_WITH(join(traces), contains("rank3.json: the trace does not say"));
  Notes notes;
  const RunTimings run = join_ranks({traces[3]}, notes);
  CHECK(run.ranks[0].rank == 0);
  CHECK(notes.has("rank-assumed"));
  CHECK(run.hardware.count == 4);
  CHECK(notes.has("ranks-missing"));
  CHECK(run.trace->pairing == TracePairing::none);
}

TEST_CASE("steps are matched by number, else by order") {
  std::vector<RankTrace> traces = make_traces(late_rank_one());
  for (StepSplit& step : traces[2].steps) step.id += 1;  // 11, 12, 13
  Notes notes;
  RunTimings run = join_ranks(traces, notes);
  CHECK(run.steps == std::vector<std::int64_t>{11, 12});
  CHECK(notes.has("steps-not-on-all-ranks"));
  for (StepSplit& step : traces[2].steps) step.id += 100;
  Notes other;
  run = join_ranks(traces, other);
  CHECK(run.steps == std::vector<std::int64_t>{0, 1, 2});
  CHECK(other.has("steps-by-order"));
  CHECK(run.trace->pairing == TracePairing::paired);
  traces[2].steps.pop_back();
  CHECK_THROWS_WITH(join(traces), contains("share no step numbers"));
}

TEST_CASE("a trace that holds nothing loses its rank, said so") {
  std::vector<RankTrace> traces = make_traces(late_rank_one());
  traces[3].steps.clear();
  Notes notes;
  const RunTimings run = join_ranks(traces, notes);
  CHECK(run.ranks.size() == 3);
  CHECK(notes.has("trace-without-activity"));
}

TEST_CASE("traces without steps are one span, said so") {
  std::vector<RankTrace> traces = make_traces(late_rank_one());
  traces[1].step_source = StepSource::captured_span;
  traces[1].steps = {traces[1].gpu_span};
  traces[1].steps[0].id = 0;
  for (CollectiveSpan& span : traces[1].collectives) span.step = 0;
  Notes notes;
  const RunTimings run = join_ranks(traces, notes);
  CHECK(run.steps == std::vector<std::int64_t>{0});
  CHECK(notes.has("no-steps-in-trace"));
  CHECK(run.trace->collectives == 12);
}

TEST_CASE("processes and devices of one file are a rank each, in their order") {
  std::vector<RankTrace> traces = make_traces({});
  for (RankTrace& trace : traces) {
    trace.file = "node.sqlite";
    trace.rank.reset();
    trace.world_size.reset();
  }
  traces[1].rank = 0;  // labelled: keeps its number
  Notes notes;
  const RunTimings run = join_ranks(traces, notes);
  REQUIRE(run.trace);
  REQUIRE(run.trace->ranks.size() == 4);
  CHECK(run.trace->ranks[3].rank == 3);
  const auto assumed = std::find_if(notes.all().begin(), notes.all().end(), [](const Note& note) {
    return note.code == NoteCode::rank_assumed;
  });
  REQUIRE(assumed != notes.all().end());
  CHECK(assumed->count == 3);
  CHECK(assumed->text.find("4 processes or devices") != std::string::npos);
}
