#include <cmath>
#include <string>

#include "catch.hpp"
#include "readers/run/writer.hpp"
#include "timings/trace.hpp"
#include "traces/collectives/across.hpp"
#include "unit/readers/reading.hpp"
#include "unit/traces/made_traces.hpp"

using namespace mfu;

namespace {

void require_same_column(const Column& a, const Column& b) {
  REQUIRE(a.steps() == b.steps());
  REQUIRE(a.ranks() == b.ranks());
  for (std::size_t s = 0; s < a.steps(); ++s) {
    for (std::size_t r = 0; r < a.ranks(); ++r) {
      // To the last bit; a missing sample is a missing sample.
      REQUIRE((a.at(s, r) == b.at(s, r) || (std::isnan(a.at(s, r)) && std::isnan(b.at(s, r)))));
    }
  }
}

}  // namespace

TEST_CASE("a run is written and read back to the last bit") {
  const std::string text =
      R"({"schema":"mfu.run/1","job":{"name":"toy"},"model":{"name":"m","hidden":8},"workload":{"seq_len":4096,
"global_batch":12,"microbatches":4,"pipeline_schedule":"interleaved","virtual_stages":2,"recompute":"full","flops_per_step":1.5e18},
"hardware":{"chip":"h100-sxm","precision":"bf16","count":8,"peak_tflops":900.5},"convention":"palm","clock":1830,
"parallelism":{"tp":2,"pp":2,"order":"pp-tp-cp-ep-dp"},"time_unit":"us","waits_in":"separate","steps":[3,4,9],
"ranks":[{"rank":0,"node":"a\"b","gpu":1,"switch":"s","compute":[0.1,2,null],"comm":[3.3333333333,4,5],
"stall":[6,7,8],"wait":[1,2,3],"step":[10,13,14],"overlapped_comm":[1,1,1],"comm_by_group":{"dp":[1,2,3],"tp":[2.3333333333,2,2]},
"telemetry":{"sm_clock_mhz":[1,2,3],"power_w":700.25,"throttle_reasons":["hot"],"xid":[79],"ecc_uncorrected":2}},
{"rank":1,"compute":[1,2,3],"comm":[4,5,6],"stall":[7,8,9],"wait":[1e-9,0,0]}]})";
  Notes notes;
  const RunTimings a = read_text(text, notes);
  const std::string written = write_run(a, notes);
  Notes again;
  const RunTimings b = read_text(written, again);
  CHECK(write_run(b, again) == written);
  CHECK(a.steps == b.steps);
  for (const auto column : {&RunTimings::compute, &RunTimings::comm, &RunTimings::stall,
                            &RunTimings::wait, &RunTimings::step, &RunTimings::overlapped_comm}) {
    require_same_column(a.*column, b.*column);
  }
  require_same_column(a.comm_by_group.at("tp"), b.comm_by_group.at("tp"));
  CHECK(b.job.at("name") == "toy");
  CHECK(b.model == "m");
  CHECK(b.clock.mhz == 1830);
  CHECK(b.workload.virtual_stages == 2);
  CHECK(b.workload.recompute == Recompute::full);
  CHECK(b.hardware.peak_tflops == 900.5);
  CHECK(b.parallelism.order == a.parallelism.order);
  CHECK(b.waits_in == WaitsIn::separate);
  CHECK(b.ranks[0].coords == a.ranks[0].coords);
  CHECK(b.ranks[0].telemetry.power_w == std::vector<double>{700.25});
  CHECK(b.ranks[0].telemetry.ecc_uncorrected == 2);
}

TEST_CASE("the trace evidence and its notes go along") {
  MadeJob job;
  job.late = [](std::size_t rank, std::size_t) { return rank == 1 ? 3'000'000 : 0; };
  job.numbered = true;
  Notes notes;
  auto traces = make_traces(job);
  for (auto& trace : traces) trace.world_size = 8;
  const RunTimings a = traces::join_ranks(traces, notes);
  REQUIRE(notes.has("ranks-missing"));
  const std::string written = write_run(a, notes);
  Notes again;
  const RunTimings b = read_text(written, again);
  CHECK(again.has("ranks-missing"));
  CHECK(again.all().size() == notes.all().size());
  REQUIRE(b.trace);
  CHECK(b.trace->late.at(0).rank == 1);
  CHECK(b.trace->list.size() == 12);
  CHECK(b.trace->ranks.at(3).gpu_span.idle_s == a.trace->ranks.at(3).gpu_span.idle_s);
  CHECK(write_run(b, again) == written);
}

TEST_CASE("a broken trace key is refused at its place") {
  CHECK_THAT(outcome(document(R"(,"trace":{"ranks":7})", kRank0)), contains("(trace): cannot be"));
  CHECK_THAT(outcome(document(R"(,"trace":{"pairing":"maybe"})", kRank0)),
             contains("pairing is 'maybe'"));
  CHECK_THAT(outcome(document(R"(,"trace":[])", kRank0)), contains("expected an object"));
  CHECK(outcome(document(R"(,"trace":{})", kRank0)) == "ok");
  // Several reduced files: each knows its own ranks alone.
  Notes notes;
  const auto run = read_texts({document(R"(,"trace":{})", kRank0),
                               document(R"(,"trace":{"reason":"x"})", kRank1)},
                              notes)
                       .run;
  CHECK_FALSE(run.trace);
  CHECK(notes.has("trace-evidence-apart"));
}
