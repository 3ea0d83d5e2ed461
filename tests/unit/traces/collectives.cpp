#include "traces/collectives/collectives.hpp"

#include <map>
#include <vector>

#include "catch.hpp"
#include "unit/traces/made_traces.hpp"

using namespace mfu;
using namespace mfu::traces;

namespace {

Pairing pair_all(const std::vector<RankTrace>& traces) {
  return pair_collectives(traces, step_ids(traces));
}

// One rank comes 3 ms after the others.
MadeJob late_rank(std::size_t late) {
  MadeJob job;
  job.late = [late](std::size_t rank, std::size_t index) {
    return rank == late ? 3'000'000 : static_cast<std::int64_t>((rank + index) % 3) * 10'000;
  };
  return job;
}

std::map<std::size_t, int> tally(const Pairing& pairing) {
  std::map<std::size_t, int> counts;
  for (const PairedCollective& pair : pairing.collectives) {
    for (const std::size_t r : pair.last) ++counts[r];
  }
  return counts;
}

}  // namespace

TEST_CASE("collectives without numbers pair by order, and the late rank is named") {
  const Pairing pairing = pair_all(make_traces(late_rank(2)));
  CHECK(pairing.status == TracePairing::paired);
  CHECK_FALSE(pairing.by_sequence);
  CHECK(pairing.reason.empty());
  REQUIRE(pairing.collectives.size() == 12);
  CHECK(tally(pairing) == std::map<std::size_t, int>{{2, 12}});
  for (const PairedCollective& pair : pairing.collectives) {
    CHECK(pair.members.size() == 4);
    // The late rank's own duration is the transfer, up to what the ends differ by.
    CHECK(pair.transfer_ns >= 100'000);
    CHECK(pair.transfer_ns <= 103'000);
    CHECK(pair.late_ns >= 2'980'000);
    CHECK(pair.late_ns <= 3'000'000);
    CHECK(pair.end_spread_ns == 3'000);
  }
  CHECK(pairing.paired_ns == pairing.spans_ns);
  CHECK_FALSE(pairing.clock_offset_ns);
}

TEST_CASE("ranks that come together have no last one") {
  MadeJob job;
  job.late = [](std::size_t rank, std::size_t) { return static_cast<std::int64_t>(rank) * 500; };
  const Pairing pairing = pair_all(make_traces(job));
  CHECK(pairing.status == TracePairing::paired);
  CHECK(tally(pairing).empty());
}

TEST_CASE("two ranks that come late together are both named") {
  MadeJob job;
  job.late = [](std::size_t rank, std::size_t) {
    return rank == 1 || rank == 3 ? 2'000'000 + static_cast<std::int64_t>(rank) * 200 : 0;
  };
  CHECK(tally(pair_all(make_traces(job))) == std::map<std::size_t, int>{{1, 12}, {3, 12}});
}

TEST_CASE("a constant clock offset is found from the ends and removed") {
  MadeJob job = late_rank(1);
  job.skew = [](std::size_t rank, std::int64_t) {
    return rank >= 2 ? std::int64_t{40'000'000} : std::int64_t{0};
  };
  for (const bool numbered : {false, true}) {
    job.numbered = numbered;
    const Pairing pairing = pair_all(make_traces(job));
    CHECK(pairing.status == TracePairing::paired);
    REQUIRE(pairing.clock_offset_ns);
    CHECK(*pairing.clock_offset_ns == Approx(40e6).epsilon(1e-3));
    CHECK(tally(pairing) == std::map<std::size_t, int>{{1, 12}});
  }
}

TEST_CASE("clocks of their own need the offset, and enough collectives to check it") {
  std::vector<RankTrace> traces = make_traces(late_rank(1));
  for (RankTrace& trace : traces) trace.epoch_offset_ns.reset();
  CHECK(pair_all(traces).status == TracePairing::paired);
  MadeJob few = late_rank(1);
  few.steps = 1;
  few.collectives = 2;
  traces = make_traces(few);
  for (RankTrace& trace : traces) trace.epoch_offset_ns.reset();
  const Pairing pairing = pair_all(traces);
  CHECK(pairing.status == TracePairing::refused);
  CHECK_THAT(pairing.reason, contains("too few to find the offset"));
}

TEST_CASE("a clock that drifts is refused; numbers still give durations") {
  MadeJob job = late_rank(1);
  job.steps = 10;
  job.skew = [](std::size_t rank, std::int64_t time) { return rank == 3 ? time / 100 : 0; };
  Pairing pairing = pair_all(make_traces(job));
  CHECK(pairing.status == TracePairing::refused);
  CHECK(pairing.collectives.empty());
  CHECK_THAT(pairing.reason, contains("drift"));
  job.numbered = true;
  pairing = pair_all(make_traces(job));
  CHECK(pairing.status == TracePairing::durations);
  CHECK(pairing.collectives.size() == 40);
  CHECK(tally(pairing).empty());
  CHECK_FALSE(pairing.end_spread_ns);
}

TEST_CASE("ends all over the place are no pairs") {
  MadeJob job = late_rank(1);
  job.steps = 6;
  std::uint64_t state = 1;
  std::map<std::pair<std::size_t, std::int64_t>, std::int64_t> jumble;
  job.skew = [&](std::size_t rank, std::int64_t time) {
    const auto [it, fresh] = jumble.try_emplace({rank, time / 1'000'000}, 0);
    if (fresh) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      it->second = static_cast<std::int64_t>(state >> 37);  // up to 134 ms
    }
    return it->second;
  };
  std::vector<RankTrace> traces = make_traces(job);
  for (RankTrace& trace : traces) {
    for (CollectiveSpan& span : trace.collectives) {
      span.end_ns = std::max(span.end_ns, span.start_ns + 50'000);
    }
  }
  const Pairing pairing = pair_all(traces);
  CHECK(pairing.status == TracePairing::refused);
  CHECK_THAT(pairing.reason, contains("before the last has arrived"));
}

TEST_CASE("counts that differ do not pair in that step") {
  std::vector<RankTrace> traces = make_traces(late_rank(1));
  traces[2].collectives.pop_back();
  const Pairing pairing = pair_all(traces);
  CHECK(pairing.status == TracePairing::paired);
  CHECK(pairing.collectives.size() == 8);
  CHECK_THAT(pairing.reason, contains("in step 12 rank 0 has 4 collectives and rank 2 has 3"));
  CHECK(pairing.paired_ns < pairing.spans_ns);
}

TEST_CASE("kinds in another order do not pair") {
  std::vector<RankTrace> traces = make_traces(late_rank(1));
  for (CollectiveSpan& span : traces[1].collectives) span.kind = 1;
  const Pairing pairing = pair_all(traces);
  CHECK(pairing.status == TracePairing::refused);
  CHECK_THAT(pairing.reason, contains("is allreduce on rank 0 and allgather on rank 1"));
}

TEST_CASE("a missing rank leaves the others paired") {
  std::vector<RankTrace> traces = make_traces(late_rank(3));
  traces.erase(traces.begin());
  const Pairing pairing = pair_all(traces);
  CHECK(pairing.status == TracePairing::paired);
  CHECK(tally(pairing) == std::map<std::size_t, int>{{2, 12}});  // rank 3 is the third trace
}

TEST_CASE("numbers pair where counts differ, and sizes must agree") {
  MadeJob job = late_rank(1);
  job.numbered = true;
  std::vector<RankTrace> traces = make_traces(job);
  traces[2].collectives.erase(traces[2].collectives.begin());
  Pairing pairing = pair_all(traces);
  CHECK(pairing.status == TracePairing::paired);
  CHECK(pairing.by_sequence);
  CHECK(pairing.collectives.size() == 12);
  traces[0].collectives[3].bytes = 8;
  pairing = pair_all(traces);
  CHECK(pairing.collectives.size() == 11);
  CHECK_THAT(pairing.reason, contains("sizes differ"));
}

TEST_CASE("several groups are paired apart") {
  // Ranks 0 and 1, and ranks 2 and 3: the second pair works half a second later.
  MadeJob job = late_rank(1);
  job.ranks = 2;
  std::vector<RankTrace> traces = make_traces(job);
  job.late = [](std::size_t rank, std::size_t) { return rank == 0 ? 2'000'000 : 0; };
  for (RankTrace trace : make_traces(job)) {
    trace.rank = *trace.rank + 2;
    for (CollectiveSpan& span : trace.collectives) {
      span.start_ns += 500'000'000;
      span.end_ns += 500'000'000;
    }
    traces.push_back(trace);
  }
  for (std::size_t r = 0; r < 4; ++r) {
    traces[r].groups = {r < 2 ? "tp0" : "tp1", "x"};
  }
  Pairing pairing = pair_all(traces);
  CHECK(pairing.status == TracePairing::paired);
  CHECK(pairing.collectives.size() == 24);
  CHECK(tally(pairing) == std::map<std::size_t, int>{{1, 12}, {2, 12}});
  // One name for both: their size gives them away.
  for (RankTrace& trace : traces) {
    trace.groups = {"tp", "x"};
    for (CollectiveSpan& span : trace.collectives) span.group_size = 2;
  }
  pairing = pair_all(traces);
  CHECK(pairing.status == TracePairing::refused);
  CHECK_THAT(pairing.reason, contains("several process groups are called 'tp'"));
}

TEST_CASE("sends and receives are not paired, one rank is nothing to pair") {
  std::vector<RankTrace> traces = make_traces(late_rank(1));
  for (RankTrace& trace : traces) {
    for (CollectiveSpan& span : trace.collectives) span.kind = 2;
  }
  CHECK(pair_all(traces).status == TracePairing::refused);
  CHECK_THAT(pair_all(traces).reason, contains("who the peer was"));
  traces = make_traces(late_rank(1));
  traces.resize(1);
  CHECK(pair_all(traces).status == TracePairing::none);
  CHECK(pair_all(traces).of == 12);
}
