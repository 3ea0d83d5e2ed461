// Small traces whose numbers are worked out by hand.
#include "traces/kineto/kineto.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/note_code.hpp"
#include "catch.hpp"
#include "traces/classify.hpp"
#include "traces/kineto/event.hpp"
#include "traces/kineto/meta.hpp"
#include "traces/sorted_log.hpp"
#include "traces/split.hpp"

using namespace mfu;
using namespace mfu::traces;

namespace {

std::string kernel(const std::string& name, const std::string& ts, const std::string& dur,
                   int correlation, const std::string& more = "", int device = 0, int stream = 7) {
  return R"({"ph":"X","cat":"kernel","name":")" + name + R"(","pid":)" + std::to_string(device) +
         R"(,"tid":7,"ts":)" + ts + R"(,"dur":)" + dur + R"(,"args":{"External id":)" +
         std::to_string(correlation) + R"(,"stream":)" + std::to_string(stream) +
         R"(,"correlation":)" + std::to_string(correlation) + more + "}}";
}
std::string launch(const std::string& ts, int correlation) {
  return R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":)" + ts +
         R"(,"dur":1,"args":{"correlation":)" + std::to_string(correlation) + "}}";
}
std::string step(int n, const std::string& ts, const std::string& dur) {
  return R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#)" + std::to_string(n) +
         R"(","pid":9,"tid":9,"ts":)" + ts + R"(,"dur":)" + dur + "}";
}

std::string object(const std::vector<std::string>& events, const std::string& meta = "") {
  std::string text = "{" + meta + "\"traceEvents\":[";
  for (std::size_t i = 0; i < events.size(); ++i) text += (i > 0 ? ",\n" : "") + events[i];
  return text + "]}";
}

RankTrace read(const std::string& text, Notes& notes, const std::string& name = "trace.json") {
  ByteSource source = ByteSource::from_memory(text, name);
  RankTrace trace = read_kineto(source, notes);
  for (const StepSplit& s : trace.steps) {
    CHECK(s.split.compute_ns + s.split.exposed_comm_ns + s.split.exposed_memory_ns +
              s.split.idle_ns ==
          s.split.window_ns);
  }
  return trace;
}
RankTrace read(const std::string& text) {
  Notes notes;
  RankTrace trace = read(text, notes);
  CHECK(notes.all().empty());
  return trace;
}

}  // namespace

TEST_CASE("steps lie on the GPU's clock by the launches, without a gap") {
  // Step 1 launches up to 150 on the host; its kernels run into the host's step 2.
  const std::vector<std::string> events{step(1, "100", "50"),
                                        step(2, "151", "49"),
                                        launch("110", 1),
                                        launch("140", 2),
                                        launch("160", 3),
                                        kernel("gemm", "120", "20", 1),
                                        kernel("gemm", "155", "25", 2),
                                        kernel("gemm", "190", "30", 3)};
  std::vector<std::string> backwards(events.rbegin(), events.rend());
  for (const auto& order : {events, backwards}) {
    const RankTrace trace = read(object(order));
    CHECK(trace.step_source == StepSource::gpu_annotation);
    REQUIRE(trace.steps.size() == 2);
    CHECK(trace.steps[0].id == 1);
    CHECK(trace.steps[0].begin_ns == 100'000);
    CHECK(trace.steps[0].end_ns == 180'000);
    CHECK(trace.steps[0].split.compute_ns == 45'000);
    CHECK(trace.steps[1].begin_ns == 180'000);
    CHECK(trace.steps[1].end_ns == 220'000);
    CHECK(trace.steps[1].split.idle_ns == 10'000);
    CHECK(trace.gpu_span.split.window_ns == 100'000);
    CHECK(trace.gpu_span.split.idle_ns == 25'000);
    REQUIRE(trace.host_steps.size() == 2);
    CHECK(trace.host_steps[0].split.compute_ns == 20'000);
    CHECK(trace.host_steps[1].split.compute_ns == 35'000);
  }
}

TEST_CASE("communication under compute is overlapped; several streams are one union") {
  const RankTrace trace = read(object(
      {kernel("gemm", "0", "100", 1), kernel("ncclDevKernel_AllReduce_Sum", "50", "100", 2),
       kernel("ncclDevKernel_AllGather_RING", "140", "30", 3, "", 0, 20),
       R"({"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":0,"tid":7,"ts":160,"dur":20})",
       R"({"ph":"X","cat":"gpu_memcpy","name":"Memcpy PtoP","pid":0,"tid":7,"ts":190,"dur":10})"}));
  CHECK(trace.step_source == StepSource::captured_span);
  REQUIRE(trace.steps.size() == 1);
  const Split& split = trace.steps[0].split;
  CHECK(split.window_ns == 200'000);
  CHECK(split.compute_ns == 100'000);
  CHECK(split.overlapped_comm_ns == 50'000);
  CHECK(split.exposed_comm_ns == 80'000);
  CHECK(split.exposed_memory_ns == 10'000);
  CHECK(split.idle_ns == 10'000);
  REQUIRE(trace.collectives.size() == 2);
  CHECK(trace.kinds[trace.collectives[1].kind] == "allgather");
  CHECK(trace.collectives[1].stream == 20);
}

TEST_CASE("one graph launch, many kernels; launches before the first step end before it begins") {
  Notes notes;
  const RankTrace trace = read(
      object({step(7, "100", "50"), launch("90", 1), launch("120", 2), kernel("a", "95", "15", 1),
              kernel("b", "125", "5", 2), kernel("c", "140", "5", 2), kernel("d", "160", "5", 2)}),
      notes);
  REQUIRE(trace.steps.size() == 1);
  CHECK(trace.steps[0].begin_ns == 110'000);
  CHECK(trace.steps[0].end_ns == 165'000);
  CHECK(trace.steps[0].split.compute_ns == 15'000);
}

TEST_CASE("without launches the host's windows are the steps, and it is said") {
  Notes notes;
  const RankTrace trace = read(object({step(7, "100", "50"), kernel("a", "120", "10", 1)}), notes);
  CHECK(trace.step_source == StepSource::host_annotation);
  CHECK(trace.steps[0].split.idle_ns == 40'000);
  CHECK(notes.has("launches-unlinked"));
}

TEST_CASE("arguments of a collective come from the kernel, else from the host's call") {
  const RankTrace trace = read(object(
      {R"({"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":9,"tid":9,"ts":1,"dur":1,)"
       R"("args":{"External id":2,"Collective name":"_reduce_scatter_base","In msg nelems":10,)"
       R"("dtype":"BFloat16","Group size":4,"Process Group Name":"7","Seq":3,)"
       R"("Comms Id":10159970886766084423}})",
       kernel("ncclDevKernel_AllReduce_Sum", "10", "5", 1,
              R"(,"Collective name":"allreduce","In msg nelems":3,"dtype":"Float","Group size":2,)"
              R"("Process Group Name":"0","Process Group Ranks":"[0, 1]","Seq":12)"),
       kernel("ncclDevKernel_Generic_4(x)", "20", "5", 2),
       kernel("ncclDevKernel_Generic_4(x)", "30", "5", 3)}));
  REQUIRE(trace.collectives.size() == 3);
  const auto& [own, call, none] =
      std::tie(trace.collectives[0], trace.collectives[1], trace.collectives[2]);
  CHECK(trace.kinds[own.kind] == "allreduce");
  CHECK(trace.groups[own.group] == "0 [0, 1]");
  CHECK((own.bytes == 12 && own.group_size == 2 && own.sequence == 12));
  CHECK(trace.kinds[call.kind] == "reducescatter");
  CHECK(trace.groups[call.group] == "7");
  CHECK((call.bytes == 20 && call.group_size == 4 && call.sequence == 3));
  CHECK(trace.kinds[none.kind] == "unknown");
  CHECK((none.bytes == -1 && none.group_size == -1 && none.sequence == -1));
}

TEST_CASE("times that cannot be are counted, and make no number") {
  Notes notes;
  const std::string missing = R"({"ph":"X","cat":"kernel","name":"m","pid":0,"tid":7,"ts":5})";
  const RankTrace trace = read(
      object({kernel("a", "\"100.5\"", "10", 1), kernel("b", "200", "-1", 2), missing,
              kernel("c", "300", "18446744073709551615", 3), kernel("d", "N/A", "4", 4),
              kernel("e", "400", "4294967295000", 5), kernel("f", "120", "5", 6, R"(,"x":inf)")}),
      notes);
  CHECK(trace.gpu_span.begin_ns == 100'500);
  CHECK(trace.gpu_span.end_ns == 125'000);
  const auto count = [&](const char* code) {
    for (const Note& note : notes.all()) {
      if (note.code == code) return note.count;
    }
    return std::int64_t{0};
  };
  CHECK(count("time-as-text") == 1);
  CHECK(count("negative-duration") == 1);
  CHECK(count("event-without-time") == 2);
  CHECK(count("overflowing-duration") == 2);
  CHECK(count("odd-token") == 1);
}

TEST_CASE("the base time is added wherever it stands, and only to relative times") {
  const std::string text = R"({"traceEvents":[)" + kernel("a", "4458676416788.066", "1.002", 1) +
                           R"(],"baseTimeNanoseconds":1711964646000000000})";
  const RankTrace relative = read(text);
  CHECK(relative.gpu_span.begin_ns == 1711964646000000000 + 4458676416788066);
  CHECK(relative.gpu_span.split.window_ns == 1002);
  CHECK(relative.epoch_offset_ns == 0);

  const RankTrace absolute = read(object({kernel("a", "1712195495502094.561", "1", 1)}));
  CHECK(absolute.gpu_span.begin_ns == 1712195495502094561);
  CHECK(absolute.epoch_offset_ns == 0);
  CHECK_FALSE(read(object({kernel("a", "100", "1", 1)})).epoch_offset_ns);

  Notes notes;
  const RankTrace both = read(
      object({kernel("a", "1712195495502094.561", "1", 1)}, "\"baseTimeNanoseconds\":17e,"), notes);
  CHECK(both.gpu_span.begin_ns == 1712195495502094561);
  CHECK(notes.has("metadata-unread"));
}

TEST_CASE("microseconds become whole nanoseconds exactly") {
  CHECK(nanoseconds_of("1712195495505582.988") == 1712195495505582988);
  CHECK(nanoseconds_of("0.0004") == 0);
  CHECK(nanoseconds_of("0.0005") == 1);
  CHECK(nanoseconds_of("-2.5") == -2500);
  CHECK(nanoseconds_of("1.694128201436433e+15") == 1694128201436433000);
  CHECK(nanoseconds_of("12e-2") == 120);
  CHECK(nanoseconds_of("000000000000000000000001") == 1000);
  for (const char* text : {"", "-", ".", "1.2.3", "1e", "NaN", "0x10", "99999999999999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(nanoseconds_of(text));
  }
}

TEST_CASE("several devices of one process are kept apart") {
  Notes notes;
  const RankTrace trace = read(object({kernel("a", "0", "10", 1), kernel("a", "20", "10", 2),
                                       kernel("a", "5", "100", 3, R"(,"device":1)", 1)}),
                               notes);
  CHECK(trace.device == 0);
  CHECK(trace.gpu_span.split.window_ns == 30'000);
  CHECK(notes.has("several-devices"));
}

TEST_CASE("a trace without a GPU has windows, and its collectives on the host") {
  Notes notes;
  const RankTrace trace = read(
      object({step(5, "10", "100"), R"({"ph":"X","cat":"user_annotation","name":"gloo:all_reduce",)"
                                    R"("pid":1,"tid":2,"ts":20,"dur":40})"},
             R"("distributedInfo":{"rank":"34","world_size":300,"pg_config":{"a":7}},)"),
      notes);
  CHECK_FALSE(trace.has_gpu);
  CHECK(notes.has("no-gpu-activity"));
  CHECK(trace.rank == 34);
  CHECK(trace.world_size == 300);
  REQUIRE(trace.collectives.size() == 1);
  CHECK(trace.steps[0].split.exposed_comm_ns == 40'000);
}

TEST_CASE("what holds nothing to measure is refused") {
  const auto outcome = [](const std::string& text) {
    Notes notes;
    try {
      (void)read(text, notes);
      return std::string("ok");
    } catch (const Error& error) {
      return std::string(to_string(error.kind())) + ": " + error.what();
    }
  };
  CHECK_THAT(outcome("{}"), contains("insufficient: trace.json: the trace holds no events"));
  CHECK_THAT(outcome("[1,2,3]"), contains("none of the trace's events can be read"));
  CHECK_THAT(outcome(R"([{"ph":"M","name":"x"}])"),
             contains("no GPU activity and no ProfilerStep"));
}

TEST_CASE("ranks are taken from the name of the file, not of its folder") {
  CHECK(rank_from_name("/runs/rank9/host_1234.rank-3.pt.trace.json.gz") == 3);
  CHECK(rank_from_name("trace_rank_12_step_4.json") == 12);
  CHECK(rank_from_name("worker7_step_12.1694.pt.trace.json") == 7);
  CHECK(rank_from_name("server-TP-3.trace.json.gz") == 3);
  CHECK_FALSE(rank_from_name("server-TP-3-DP-1.trace.json.gz"));
  CHECK_FALSE(rank_from_name("resnet50_num_workers4.json.gz"));
  CHECK_FALSE(rank_from_name("frank3.json"));
  CHECK_FALSE(rank_from_name("rank1_of_rank2.json"));
  CHECK_FALSE(rank_from_name("/rank9/trace.json"));
}

TEST_CASE("communication kernels are known by any of their names") {
  for (const char* name :
       {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "ncclDevKernel_Generic(x)",
        "ncclSymkDevKernel_AllGather_ST", "void multimem_all_reduce_kernel<c10::BFloat16, 16>(x)",
        "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(x)", "two_shot_all_reduce_kernel",
        "allreduce_fusion_kernel_oneshot_lamport", "nvshmemi_transfer_put",
        "void deep_ep::intranode::dispatch<8, 768>(x)", "userbuffers_fp16_sum_inplace_gpu_rr_ag",
        "mscclpp::allreduce", "oneccl_allgather_kernel", "hcom_allReduce__123_0"}) {
    CAPTURE(name);
    CHECK(classify_kernel(name) == Activity::communication);
  }
  for (const char* name :
       {"ampere_bf16_s16816gemm", "void at::native::reduce_kernel<512, 1, X>(y)",
        "void splitKreduce_kernel<float>(x)", "warp_all_reduce_softmax", "gather_scatter_op"}) {
    CAPTURE(name);
    CHECK(classify_kernel(name) == Activity::compute);
  }
  CHECK(classify_copy("Memcpy PtoP (Device -> Device)") == Activity::communication);
  CHECK(classify_copy("Memcpy DtoD (Device -> Device)") == Activity::memory);
  CHECK(collective_kind("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)") == "sendrecv");
  CHECK(collective_kind("ncclDevKernel_Reduce_Sum_f32") == "reduce");
  CHECK(collective_kind("_allgather_base") == "allgather");
  CHECK(collective_kind("all_to_allv") == "alltoall");
  CHECK(collective_kind("ncclDevKernel_Generic(x)") == "unknown");
}

TEST_CASE("a log gives back every record in order, whatever order it came in") {
  SortedLog<GpuActivity> log;
  constexpr std::int64_t kCount = 100'000;  // several batches
  for (std::int64_t i = 0; i < kCount; ++i) {
    const std::int64_t at = (i * 7919) % kCount;  // a permutation
    log.add({at * 10 - 5000, at % 300, static_cast<std::uint64_t>(at) << 40,
             static_cast<std::uint8_t>(at % 63), static_cast<Activity>(at % 3)});
  }
  std::int64_t next = 0;
  bool same = true;
  log.each([&](const GpuActivity& record) {
    same = same && record.start_ns == next * 10 - 5000 && record.length_ns == next % 300 &&
           record.correlation == static_cast<std::uint64_t>(next) << 40 &&
           record.device == next % 63 && record.activity == static_cast<Activity>(next % 3);
    ++next;
  });
  CHECK(same);
  CHECK(next == kCount);
}

TEST_CASE("profiler traces are told from other Chrome traces") {
  CHECK(sniff_kineto(R"( {"schemaVersion":1,"deviceProperties":[)"));
  CHECK(sniff_kineto(R"({"traceEvents": [{"ph":"X")"));
  CHECK(sniff_kineto(R"([{"ph":"X","cat":"kernel","name":"k","ts":1)"));
  CHECK_FALSE(
      sniff_kineto(R"([{"name":"backward-compute","cat":"backward-compute","ts":1,"ph":"X"})"));
  CHECK_FALSE(sniff_kineto(R"({"traceEvents":[{"ph":"M","name":"thread_name","args":{"name":)"
                           R"("PP rank 0, TP rank 0, compute"}})"));
  CHECK_FALSE(sniff_kineto(R"({"schema":"mfu.run/1"})"));
  CHECK_FALSE(sniff_kineto(""));
}

TEST_CASE("an activity may begin and end in events of its own") {
  const std::string half =
      R"(,"cat":"kernel","name":"gemm","pid":0,"tid":7,"args":{"stream":7,"correlation":1}})";
  const auto mark = [](const std::string& phase, const std::string& ts, const std::string& rest) {
    return R"({"ph":")" + phase + R"(","ts":)" + ts + rest;
  };
  const std::string end = R"(,"pid":0,"tid":7})";
  const std::string inner = R"(,"cat":"cpu_op","name":"aten::mm","pid":0,"tid":7})";
  // What lies inside closes first, and an end need not say of what.
  const RankTrace trace =
      read(object({launch("5", 1), mark("B", "100", half), mark("B", "110", inner),
                   mark("E", "120", end), mark("E", "150", end), kernel("k", "160", "10", 2)}));
  CHECK(trace.activities == 2);
  CHECK(trace.gpu_span.split.compute_ns == 60'000);

  Notes notes;
  const RankTrace open = read(object({kernel("k", "1", "10", 2), mark("B", "100", half)}), notes);
  CHECK(open.gpu_span.split.compute_ns == 10'000);
  REQUIRE(notes.all().size() >= 1);
  CHECK(std::any_of(notes.all().begin(), notes.all().end(), [](const Note& note) {
    return note.code == NoteCode::begin_end_event && note.count == 1;
  }));
}
