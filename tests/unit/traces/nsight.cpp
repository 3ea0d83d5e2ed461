// Exports of Nsight Systems: splits by hand, both eras of the schema, ranks and steps.
#include "traces/nsight/nsight.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "traces/nsight/nvtx_steps.hpp"
#include "unit/traces/nsight_export.hpp"

namespace mfu::traces {
namespace {

using Era = NsightExport::Era;

constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)";

void check_sum(const StepSplit& step) {
  const Split& split = step.split;
  CHECK(split.window_ns == step.end_ns - step.begin_ns);
  CHECK(split.compute_ns + split.exposed_comm_ns + split.exposed_memory_ns + split.idle_ns ==
        split.window_ns);
}

std::vector<RankTrace> read(NsightExport& file, Notes& notes) {
  std::vector<RankTrace> traces = read_nsight(file.path(), notes);
  for (const RankTrace& trace : traces) {
    check_sum(trace.gpu_span);
    for (const StepSplit& step : trace.steps) check_sum(step);
    for (const StepSplit& step : trace.host_steps) check_sum(step);
  }
  return traces;
}

RankTrace read_one(NsightExport& file, Notes& notes) {
  std::vector<RankTrace> traces = read(file, notes);
  REQUIRE(traces.size() == 1);
  return traces.front();
}

std::int64_t count(const Notes& notes, const std::string& code) {
  for (const Note& note : notes.all()) {
    if (note.code == code) return note.count;
  }
  return 0;
}

TEST_CASE("an export without ranges is split over the captured span") {
  for (const Era era : {Era::y2022, Era::y2024}) {
    NsightExport file;
    file.begin(era);
    // compute 100-200; all-reduce 150-300, on another stream; copy 280-350; idle to 400; set to
    // 420; peer-to-peer copy to 450.
    file.kernel(100, 200, "ampere_sgemm_128x64_tn");
    file.kernel(150, 300, kAllReduce, 0, 7, 0, 20);
    file.copy(280, 350, 1);
    file.set(400, 420);
    file.copy(420, 450, 10);
    Notes notes;
    const RankTrace trace = read_one(file, notes);
    CHECK(trace.format == "nsight sqlite");
    CHECK(trace.step_source == StepSource::captured_span);
    CHECK(trace.host_steps.empty());
    CHECK(trace.device == 0);
    REQUIRE(trace.steps.size() == 1);
    CHECK(trace.steps[0].begin_ns == 100);
    CHECK(trace.steps[0].end_ns == 450);
    const Split& split = trace.steps[0].split;
    CHECK(split.compute_ns == 100);
    CHECK(split.overlapped_comm_ns == 50);
    CHECK(split.exposed_comm_ns == 100 + 30);
    CHECK(split.exposed_memory_ns == 50 + 20);
    CHECK(split.idle_ns == 50);
    CHECK(trace.gpu_span.split.idle_ns == 50);
    REQUIRE(trace.collectives.size() == 1);
    CHECK(trace.kinds.at(trace.collectives[0].kind) == "allreduce");
    CHECK(trace.collectives[0].stream == 20);
    CHECK(trace.collectives[0].step == 0);
    CHECK(trace.groups.size() == 1);
    CHECK_FALSE(trace.rank);
    CHECK_FALSE(trace.epoch_offset_ns);
    CHECK(notes.all().empty());
  }
}

TEST_CASE("an activity belongs to the range that launched it, not to the one in which it runs") {
  for (const Era era : {Era::y2022, Era::y2024}) {
    NsightExport file;
    file.begin(era);
    for (int step = 0; step < 3; ++step) {
      const std::int64_t at = 1000 * step;
      file.range(at, at + 900, "iteration" + std::to_string(step + 5));
      file.launch(at + 100, 10 * step + 1);
      file.launch(at + 200, 10 * step + 2);
      file.launch(at + 300, 99, 7, "cudaEventRecord_v3020");
      // The GPU is 850 behind.
      file.kernel(at + 950, at + 1450, "gemm", 10 * step + 1);
      file.kernel(at + 1450, at + 1550, kAllReduce, 10 * step + 2);
    }
    Notes notes;
    const RankTrace trace = read_one(file, notes);
    CHECK(trace.step_source == StepSource::nvtx);
    REQUIRE(trace.steps.size() == 3);
    CHECK(trace.steps[0].id == 5);
    // A step ends with its last collective, unless the next one computes before.
    CHECK(trace.steps[0].begin_ns == 0);
    CHECK(trace.steps[0].end_ns == 1550);
    CHECK(trace.steps[1].begin_ns == 1550);
    CHECK(trace.steps[1].end_ns == 2550);
    CHECK(trace.steps[1].split.compute_ns == 500);
    CHECK(trace.steps[1].split.exposed_comm_ns == 100);
    CHECK(trace.steps[1].split.idle_ns == 400);
    CHECK(trace.steps[2].end_ns == 3550);
    CHECK(trace.host_steps.size() == 3);
    CHECK(trace.host_steps[0].split.idle_ns == 900);
    REQUIRE(trace.collectives.size() == 3);
    CHECK(trace.collectives[0].step == 0);  // runs in the second window
    CHECK(trace.collectives[2].step == 2);
    CHECK(notes.all().empty());
  }
}

TEST_CASE("ranges whose launches are not in the export are the windows themselves, and said so") {
  NsightExport file;
  file.begin(Era::y2024);
  for (int step = 0; step < 2; ++step) {
    file.range(1000 * step, 1000 * step + 1000, "step " + std::to_string(step));
    file.kernel(1000 * step + 100, 1000 * step + 400, "gemm", step + 1);
  }
  Notes notes;
  const RankTrace trace = read_one(file, notes);
  CHECK(trace.step_source == StepSource::nvtx);
  REQUIRE(trace.steps.size() == 2);
  CHECK(trace.steps[0].split.compute_ns == 300);
  CHECK(trace.steps[0].split.window_ns == 1000);
  CHECK(notes.has("launches-unlinked"));
}

TEST_CASE("names of steps") {
  const auto family = [](std::string_view text) {
    const auto name = parse_step_name(text);
    return name ? name->family : std::string("-");
  };
  const auto number = [](std::string_view text) {
    const auto name = parse_step_name(text);
    return name && name->number ? *name->number : -1;
  };
  CHECK(family("iteration12") == "iterationN");
  CHECK(number("iteration12") == 12);
  CHECK(number("ProfilerStep#7") == 7);
  CHECK(number("step 12") == 12);
  CHECK(number("iter: 12/1000") == 12);
  CHECK(number("Iteration 3 of 9") == 3);
  CHECK(number("train_batch[44]") == 44);
  CHECK(number("train_v2_step_5") == 5);
  CHECK(family("[pl][profile]run_training_batch") == "[pl][profile]run_training_batch");
  CHECK(number("[pl][profile]run_training_batch") == -1);
  CHECK(family("[Strategy]DDPStrategy.training_step") != "-");
  for (const char* other :
       {"", "12", "layer 3", "microbatch 3", "optimizer_step", "optimizer step 4", "eval step 2",
        "epoch 1", "aten::add, seq = 123", "forward", "step 1: forward", "iteration 1.5",
        "step 99999999999999999999", "footsteps"}) {
    CAPTURE(other);
    CHECK(family(other) == "-");
  }
}

TEST_CASE("of several families the outermost with rising numbers is taken, and said so") {
  NsightExport file;
  file.begin(Era::y2022);
  for (int step = 0; step < 3; ++step) {
    const std::int64_t at = 1000 * step;
    file.range(at, at + 1000, "step " + std::to_string(step));
    for (int part = 0; part < 2; ++part) {
      file.range(at + 100 + 400 * part, at + 400 + 400 * part,
                 "iter " + std::to_string(2 * step + part));
      file.range(at + 100 + 400 * part, at + 400 + 400 * part, "batch " + std::to_string(part));
    }
    file.launch(at + 150, step + 1);
    file.kernel(at + 200, at + 300, "gemm", step + 1);
  }
  Notes notes;
  const RankTrace trace = read_one(file, notes);
  REQUIRE(trace.steps.size() == 3);
  CHECK(trace.steps[2].id == 2);
  CHECK(notes.has("several-step-ranges"));
  CHECK(notes.has("nvtx-ranges-unusable"));  // "batch" starts again
}

TEST_CASE("all ranks of a node in one file") {
  NsightExport file;
  file.begin(Era::y2024);
  for (int rank = 0; rank < 2; ++rank) {
    const std::int64_t process = 20 - rank;  // the order of processes is not that of ranks
    file.range(1, -1, "MPI Rank " + std::to_string(rank), process, 1, 34);
    for (int step = 0; step < 3; ++step) {
      const std::int64_t at = 1000 * step;
      file.range(at, at + 900, "iteration" + std::to_string(step), process);
      // The same correlations in both processes.
      file.launch(at + 10 + 500 * rank, step + 1, process);
      file.kernel(at + 600 + 100 * rank, at + 800 + 100 * rank, "gemm", step + 1, process, rank);
    }
  }
  file.session_start("1700000000123456789", "'2023-11-14T22:13:20'");
  file.run("CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, cuDevice INTEGER)");
  file.run("INSERT INTO TARGET_INFO_GPU VALUES (1, 0, 'NVIDIA H100', 0), (1, 1, 'NVIDIA A100', 1)");
  Notes notes;
  const std::vector<RankTrace> traces = read(file, notes);
  REQUIRE(traces.size() == 2);
  CHECK(traces[0].rank == 1);
  CHECK(traces[0].device == 1);
  CHECK(traces[0].device_name == "NVIDIA A100");
  CHECK(traces[1].rank == 0);
  CHECK(traces[1].device_name == "NVIDIA H100");
  for (const RankTrace& trace : traces) {
    CHECK(trace.epoch_offset_ns == 1700000000123456789);
    CHECK_FALSE(trace.rank_from_name);
    CHECK(trace.steps.size() == 3);
    CHECK(trace.steps.back().split.compute_ns == 200);
  }
  CHECK(notes.all().empty());
}

TEST_CASE("one process with several devices gives a trace a device, and no rank") {
  NsightExport file("rank3.sqlite");
  file.begin(Era::y2024);
  file.range(1, -1, "MPI Rank 3", 7, 1, 34);
  for (int device = 0; device < 2; ++device) {
    file.kernel(100, 200 + 50 * device, "fusion", 0, 7, device);
  }
  Notes notes;
  const std::vector<RankTrace> traces = read(file, notes);
  REQUIRE(traces.size() == 2);
  CHECK(traces[0].gpu_span.split.compute_ns == 100);
  CHECK(traces[1].gpu_span.split.compute_ns == 150);
  CHECK_FALSE(traces[0].rank);
  CHECK(notes.has("several-devices-in-process"));
  CHECK(count(notes, "rank-unknown") == 2);
}

TEST_CASE("ranks from names of threads and of files") {
  const auto rank_of = [](const std::string& name, const std::string& thread, Notes& notes) {
    NsightExport file(name);
    file.begin(Era::y2022);
    file.kernel(1, 2, "gemm");
    if (!thread.empty()) {
      file.run("INSERT INTO ThreadNames VALUES (" + std::to_string(file.string(thread)) + ", 0, " +
               std::to_string(NsightExport::tid(7)) + ")");
    }
    return read_one(file, notes).rank;
  };
  Notes plain;
  CHECK(rank_of("report.sqlite", "MPI Rank 5", plain) == 5);
  CHECK(rank_of("report.sqlite", "rank 6", plain) == 6);
  CHECK(rank_of("rank2.sqlite", "MPI Rank 5", plain) == 5);
  CHECK(rank_of("run_rank_12.sqlite", "", plain) == 12);
  CHECK_FALSE(rank_of("report3.sqlite", "", plain));
  CHECK_FALSE(rank_of("step_3.sqlite", "ranker 3", plain));
  CHECK_FALSE(rank_of("llama-2024-05-17.sqlite", "", plain));
  CHECK(plain.all().empty());
  Notes assumed;
  CHECK(rank_of("profile.3.nsys-rep.sqlite", "", assumed) == 3);
  CHECK(rank_of("profile_4.sqlite", "", assumed) == 4);
  CHECK(count(assumed, "rank-from-number") == 2);
}

TEST_CASE("two processes with the same label have no rank") {
  NsightExport file;
  file.begin(Era::y2022);
  for (int process : {7, 8}) {
    file.kernel(1, 2, "gemm", 0, process);
    file.range(1, -1, "MPI Rank 0", process, 1, 34);
  }
  Notes notes;
  for (const RankTrace& trace : read(file, notes)) CHECK_FALSE(trace.rank);
  CHECK(notes.has("rank-twice"));
}

TEST_CASE("the range around a launch tells which collective a kernel is") {
  NsightExport file;
  file.begin(Era::y2024);
  file.range(100, 200, "nccl:all_to_all");
  file.range(110, 150, "ncclSend");
  file.launch(120, 1);
  file.kernel(300, 400, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", 1);
  file.range(500, 600, "ncclAllGather", 7, 1, 59, "'{\"Message size [bytes]\":4096}'");
  file.launch(550, 2);
  file.kernel(700, 800, "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", 2);
  file.launch(900, 3);
  file.kernel(900, 950, kAllReduce, 3);
  // On another thread: not around the launch.
  file.range(1000, 1100, "ncclBroadcast", 7, 2);
  file.launch(1050, 4);
  file.kernel(1100, 1200, "ncclDevKernel_Generic(ncclDevComm*)", 4);
  Notes notes;
  const RankTrace trace = read_one(file, notes);
  REQUIRE(trace.collectives.size() == 4);
  const auto kind = [&](std::size_t i) { return trace.kinds.at(trace.collectives[i].kind); };
  CHECK(kind(0) == "alltoall");
  CHECK(trace.collectives[0].bytes == -1);
  CHECK(kind(1) == "allgather");
  CHECK(trace.collectives[1].bytes == 4096);
  CHECK(kind(2) == "allreduce");
  CHECK(kind(3) == "unknown");
}

TEST_CASE("a graph recorded as a whole counts as compute, with a note") {
  NsightExport file;
  file.begin(Era::y2024);
  file.graph(100, 300);
  file.graph(400, 500);
  Notes notes;
  const RankTrace trace = read_one(file, notes);
  CHECK(trace.gpu_span.split.compute_ns == 300);
  CHECK(trace.gpu_span.split.idle_ns == 100);
  CHECK(count(notes, "whole-graphs") == 2);
}

TEST_CASE("the start of the session as a number, as text, by the second, not at all") {
  const auto offset = [](const std::string& epoch, const std::string& time, Notes& notes) {
    NsightExport file;
    file.begin(Era::y2024);
    file.kernel(1, 2, "gemm");
    if (!epoch.empty()) file.session_start(epoch, time);
    return read_one(file, notes).epoch_offset_ns;
  };
  Notes notes;
  CHECK(offset("1687813257637297504", "NULL", notes) == 1687813257637297504);
  CHECK(offset("CAST('1687813257637297504' AS BLOB) || ''", "NULL", notes) == 1687813257637297504);
  CHECK_FALSE(offset("", "", notes));
  CHECK(notes.all().empty());
  CHECK_FALSE(offset("NULL", "'2023-06-26T21:00:57'", notes));
  CHECK_FALSE(offset("17", "NULL", notes));
  CHECK(count(notes, "session-start-unknown") == 2);
}

TEST_CASE("rows that cannot be used are counted") {
  NsightExport file;
  file.begin(Era::y2022);
  file.kernel(100, 200, "gemm");
  const std::string rest = ", 0, 1, 7, NULL, " + std::to_string(NsightExport::pid(7)) + ", 1, 1)";
  const std::string insert = "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ";
  file.run(insert + "('soon', 300" + rest);
  file.run(insert + "(300, x'00'" + rest);
  file.run(insert + "(300, 3.5" + rest);
  file.run(insert + "(500, 300" + rest);
  file.run(insert + "(1, 9223372036854775807" + rest);
  file.run(insert + "(300, 400, 'zero', 1, 7, NULL, 7, 1, 1)");
  file.run(insert + "(300, 400, 0, 1, 7, NULL, " + std::to_string(NsightExport::pid(7)) +
           ", 4711, 4711)");
  Notes notes;
  const RankTrace trace = read_one(file, notes);
  CHECK(trace.gpu_span.split.compute_ns == 200);
  CHECK(count(notes, "wrong-column-type") == 4);
  CHECK(count(notes, "negative-duration") == 1);
  CHECK(count(notes, "overflowing-duration") == 1);
  CHECK(count(notes, "kernel-without-name") == 1);
}

TEST_CASE("names as text in the row") {
  NsightExport file;
  file.begin(Era::y2022);
  file.kernel(100, 200, "gemm");
  file.run("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (200, 260, 0, 1, 7, NULL, " +
           std::to_string(NsightExport::pid(7)) + ", 'ncclDevKernel_ReduceScatter', 'x')");
  Notes notes;
  const RankTrace trace = read_one(file, notes);
  CHECK(trace.gpu_span.split.exposed_comm_ns == 60);
  CHECK(notes.all().empty());
}

TEST_CASE("nsys stats is recognised and refused") {
  const std::string csv =
      "Processing [report.sqlite] with [cuda_gpu_kern_sum.py]...\n\nTime (%),Total Time "
      "(ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n50.1,1,1,1,1,1,1,0,k\n";
  CHECK(sniff_nsys_stats(csv));
  CHECK(sniff_nsys_stats("\"Time(%)\",\"Total Time\",\"Instances\",\"Average\"\r\n"));
  CHECK_FALSE(sniff_nsys_stats("Step,Type,Index,Computing\n"));
  CHECK_FALSE(sniff_nsys_stats("Start (ns),Duration (ns),CorrId\n"));
  CHECK_FALSE(sniff_nsys_stats(""));
  try {
    refuse_nsys_stats("kernels.csv");
    FAIL("not refused");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::unsupported);
    CHECK(error.hint().find("nsys export --type sqlite") != std::string::npos);
  }
}

// The facts are those of the corpus's index, computed by another program.
TEST_CASE("the real export of 2022") {
  const std::string path =
      std::string(MFU_SHARED_DIR) + "/corpus/telemetry/nsys_2022_saxpy_mpi_cuda.sqlite";
  if (!std::filesystem::exists(path)) {
    WARN("skipped: no " << path);
    return;
  }
  Notes notes;
  const std::vector<RankTrace> traces = read_nsight(path, notes);
  REQUIRE(traces.size() == 1);
  const RankTrace& trace = traces.front();
  CHECK(trace.rank == 0);
  CHECK_FALSE(trace.rank_from_name);
  CHECK(trace.device_name == "NVIDIA A100-SXM4-40GB");
  CHECK(trace.epoch_offset_ns == 1687813257637297504);
  CHECK(trace.step_source == StepSource::captured_span);
  // kernels 5, sum 88573480; copies 15, sum 284699600. They never overlap.
  CHECK(trace.gpu_span.begin_ns == 887857742);
  CHECK(trace.gpu_span.end_ns == 1985185585);
  CHECK(trace.gpu_span.split.compute_ns == 88573480);
  CHECK(trace.gpu_span.split.exposed_memory_ns == 284699600);
  CHECK(trace.gpu_span.split.exposed_comm_ns == 0);
  check_sum(trace.gpu_span);
  CHECK(notes.all().empty());
}

}  // namespace
}  // namespace mfu::traces
