// What an input is: small made heads of every format, and what the formats must not be taken for.
#include "readers/input_format.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "catch.hpp"
#include "readers/registry.hpp"
#include "unit/base/temp_file.hpp"

namespace {

using namespace mfu;

struct MadeHead {
  InputFormat format;
  std::string_view log;  // of a log
  std::string head;
};

bool is_packed(InputFormat format) {
  switch (format) {
    case InputFormat::zstd:
    case InputFormat::zip:
    case InputFormat::bzip2:
    case InputFormat::xz:
    case InputFormat::parquet:
    case InputFormat::utf16:
    case InputFormat::nsight:
      return true;
    default:
      return false;
  }
}

std::vector<MadeHead> made_heads() {
  using namespace std::string_literals;
  return {
      {InputFormat::zstd, "", "\x28\xB5\x2F\xFD\x04\x00...."s},
      {InputFormat::zip, "", "PK\x03\x04\x14\x00"s},
      {InputFormat::bzip2, "", "BZh91AY&SY"},
      {InputFormat::xz, "",
       "\xFD"
       "7zXZ\x00"s},
      {InputFormat::parquet, "", "PAR1\x15\x04"s},
      {InputFormat::utf16, "", "\xFF\xFE{\x00\"\x00"s},
      {InputFormat::utf16, "", "\xFE\xFF\x00{\x00\""s},
      {InputFormat::empty, "", ""},
      {InputFormat::empty, "", " \n\t\r\n"},
      {InputFormat::history, "",
       R"({"schema":"mfu.history/1","job":"j","fingerprint":"f","command":"log"})"
       "\n"},
      {InputFormat::history, "",
       R"({"schema": "mfu.history/2"})"
       "\n"},
      {InputFormat::report, "",
       "{\n  \"schema\": \"mfu.report/1\",\n  \"tool\": {\"name\": \"mfu\"}}\n"},
      {InputFormat::report, "",
       R"({"command":"log","schema":"mfu.report/1","headline":{"mfu":0.4}})"},
      {InputFormat::chips, "", R"({"schema":"mfu.chips/1","chips":[]})"},
      {InputFormat::run_json, "",
       R"({"schema":"mfu.run/1","steps":[1],"ranks":[{"rank":0,"compute":[1]}]})"},
      {InputFormat::run_json, "", R"({"ranks":[],"schema" : "mfu.run/2"})"},
      {InputFormat::run_json_lines, "",
       R"({"schema":"mfu.run/1","time_unit":"s"})"
       "\n"
       R"({"rank":0,"step":1,"compute":1})"
       "\n"},
      {InputFormat::nsight, "", "SQLite format 3\0\x10\x00"s},
      {InputFormat::xla, "",
       R"({"displayTimeUnit":"ns","traceEvents":[{"ph":"M","pid":3,"name":"process_name",)"
       R"("args":{"name":"/device:TPU:0"}}]})"},
      {InputFormat::foreign_trace, "",
       R"([{"name":"process_name","pid":7,"ph":"M","args":{"name":"Ascend Hardware"}}])"},
      {InputFormat::foreign_trace, "",
       R"([{"ph":"X","cat":"render","name":"Frame","ts":1,"dur":2,"pid":1,"tid":1}])"},
      {InputFormat::foreign_trace, "", R"({"rocprofiler-sdk-tool":[{"metadata":{"pid":3}}]})"},
      {InputFormat::foreign_trace, "", "\x0A\x06\x08\x01\x12\x02\x01\x02\x0A\x02\x08\x01"s},
      {InputFormat::foreign_trace, "", "\x0A\x0D\x08\x01\x12\x09/host:CPU"s},
      {InputFormat::foreign_trace, "", std::string(257, '\0') + "ustar"},
      {InputFormat::kineto, "",
       R"({"schemaVersion":1,"deviceProperties":[],"traceEvents":[{"ph":"X"}]})"},
      {InputFormat::kineto, "", R"([{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":2}])"},
      {InputFormat::timeline, "",
       R"([{"name":"forward-compute","cat":"forward-compute","ts":1,"args":{"model_chunk":0}}])"},
      {InputFormat::timeline, "",
       R"([{"ph":"M","args":{"name":"PP rank 0, TP rank 0, compute"}}])"},
      {InputFormat::nsys_stats, "",
       "\"Time(%)\",\"Total Time\",\"Instances\",\"Average\"\n50.0,1,2,3\n"},
      {InputFormat::dcgm_dmon, "", "#Entity   SMACT  SMCLK\nID\nGPU 0     0.9    1980\n"},
      {InputFormat::smi_dmon, "",
       "# gpu    pwr  gtemp   sm\n# Idx      W      C    %\n    0    300     60   99\n"},
      {InputFormat::dcgm_text, "",
       "# HELP DCGM_FI_DEV_SM_CLOCK SM clock\nDCGM_FI_DEV_SM_CLOCK{gpu=\"0\"} 1980\n"},
      {InputFormat::smi_csv, "",
       "timestamp, index, clocks.sm [MHz]\n2026/01/01 00:00:00.000, 0, 1980 MHz\n"},
      {InputFormat::kernel_log, "",
       "[  123.456789] NVRM: Xid (PCI:0000:1b:00): 79, pid=1, GPU has fallen off the bus.\n"},
      {InputFormat::training_log, "megatron-lm",
       " [2026-01-02 03:04:05] iteration        7/     100 | consumed samples:          448 | "
       "elapsed time per iteration (ms): 2500.5 | throughput per GPU (TFLOP/s/GPU): 400.2 | "
       "learning rate: 1.0E-04 | global batch size:    64 | lm loss: 2.0E+00 |\n"},
      {InputFormat::training_log, "torchtitan",
       "[rank0]:[titan] 2026-02-24 19:46:17,508 - root - INFO - step:  4  loss:  7.6  memory: "
       "66.91GiB(37.51%)  tps: 10,050  tflops: 314.71  mfu: 13.99%\n"},
      {InputFormat::training_log, "torchtitan",  // the banner, before the first step
       "[rank0]:[titan] 2025-08-22 07:52:57,467 - root - INFO - Peak FLOPS used for computing MFU: "
       "9.890e+14\n"},
      {InputFormat::training_log, "nanogpt", "iter 10: loss 3.2202, time 893.76ms, mfu 16.68%\n"},
      {InputFormat::training_log, "maxtext",
       "completed step: 2, seconds: 5.658, TFLOP/s/device: 135.158, Tokens/s/device: 8687.815, "
       "loss: 1\n"},
      {InputFormat::training_log, "hf-trainer",
       "  3%|#    | 12/345 [00:07<06:50,  1.25s/it]\r  4%|#    | 13/345 [00:08<06:50,  "
       "1.30s/it]\n"},
      {InputFormat::training_log, "trainer-state",
       "{\n  \"epoch\": 1.0,\n  \"global_step\": 100,\n  \"log_history\": [\n    {\n"
       "      \"step\": 100,\n      \"total_flos\": 1e18,\n      \"train_runtime\": 250.0,\n"
       "      \"train_samples_per_second\": 12.8,\n      \"train_steps_per_second\": 0.4\n    }\n  "
       "]\n}\n"},
      {InputFormat::training_log, "json-lines",
       "{\"step\": 10, \"step_time_ms\": 250.5, \"mfu\": 0.4}\n{\"step\": 11, \"step_time_ms\": "
       "251.5}\n"},
      {InputFormat::training_log, "json-lines",  // a schema that is not ours
       "{\"schema\": \"team/1\", \"step\": 10, \"step_time_ms\": 250.5}\n"},
      {InputFormat::training_log, "csv",
       "step,loss,step_time_s,tokens_per_second\n1,3.5,2.5,1000\n2,3.4,2.5,1010\n"},
      {InputFormat::rank_log, "megatron-timers",
       "times across ranks (ms):\n  forward-backward:\n     rank  0: 801.10\n     rank 11: "
       "960.55\n"},
      {InputFormat::rank_log, "nvrx", "GPU individual perf scores: {0: 1.0, 1: 0.99}\n"},
      {InputFormat::rank_log, "megatron-straggler",
       "[2024-03-14 23:07:56] | MnRtt/Rnk: 3453.08ms/8 | MxRtt/Rnk: 3468.20ms/0 | MnPwr/Rnk: "
       "601796W/8 | MnEtpt/Rnk: 296.02TF/0 | MxEtpt/Rnk: 297.32TF/8\n"},
      {InputFormat::rank_log, "greyhound",
       "INFO:root:[2025-05-04 14:20:55.10] Esimated iteration time: {'rank0': 1126199.5, 'rank1': "
       "1128187.5}\n"},
      {InputFormat::rank_log, "ascend-step-trace",
       "Step,Type,Index,Computing,Communication(Not Overlapped),Free\n"
       "3,rank,7,1500000.0,250000.0,1000.0\n"},
      {InputFormat::model_config, "",
       R"({"model_type":"llama","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,)"
       R"("intermediate_size":128,"vocab_size":256})"},
      {InputFormat::json, "", R"({"steps":[1],"ranks":[{"rank":0,"compute":[1]}]})"},
      {InputFormat::json, "", "{}"},
      {InputFormat::text, "", "good morning\n"},
      {InputFormat::text, "", "[1, 2, 3]"},
      {InputFormat::text, "", "iter 10: loss 3.2\niter 20: loss 3.1\n"},
  };
}

void check_detected(const MadeHead& made, std::string_view head) {
  const DetectedFormat found = detect_format(head);
  CAPTURE(made.head, found.row->name);
  CHECK(found.format == made.format);
  CHECK(found.row->format == made.format);
  CHECK(found.log == made.log);
}

std::string filled(std::string head, std::size_t size) {
  // More of the same lines.
  const std::string lines = head;
  while (head.size() < size && !lines.empty()) head += lines;
  return head;
}

}  // namespace

TEST_CASE("every format is told by its first bytes", "[format]") {
  for (const MadeHead& made : made_heads()) check_detected(made, made.head);
}

TEST_CASE("every format has a head in this table", "[format]") {
  for (const FormatRow& row : format_rows()) {
    bool any = false;
    for (const MadeHead& made : made_heads()) any = any || made.format == row.format;
    CAPTURE(row.name);
    CHECK(any);
    CHECK(&format_row(row.format) == &row);
    CHECK_FALSE(row.called.empty());
  }
}

TEST_CASE("a byte order mark and blank lines before it change nothing", "[format]") {
  for (const MadeHead& made : made_heads()) {
    // Bytes that no text has.
    const bool binary = made.head.find_first_of(std::string("\0\x08", 2)) != std::string::npos;
    if (is_packed(made.format) || binary) continue;
    check_detected(made, "\xEF\xBB\xBF" + made.head);
    // A CSV has its names in its first line.
    if (made.log != "csv" && made.log != "ascend-step-trace") {
      check_detected(made, "\n \r\n\n" + made.head);
      check_detected(made, "\xEF\xBB\xBF\n\n" + made.head);
    }
  }
}

TEST_CASE("gzip is looked through", "[format]") {
  for (const MadeHead& made : made_heads()) {
    const std::string packed = gzipped(made.head);
    ByteSource source = ByteSource::from_memory(packed, "packed");
    check_detected(made, source.peek(kHeadBytes));
  }
}

TEST_CASE("a kilobyte tells it, where the lines go on as they begin", "[format]") {
  for (const MadeHead& made : made_heads()) {
    switch (made.format) {
      case InputFormat::run_json:  // a second object would make lines of it
      case InputFormat::model_config:
      case InputFormat::json:
      case InputFormat::report:
      case InputFormat::chips:
        continue;
      default:
        break;
    }
    if (made.log == "trainer-state" || made.format == InputFormat::empty) continue;
    check_detected(made, std::string_view(filled(made.head, 4096)).substr(0, 1024));
  }
}

TEST_CASE("a document is what its schema says, however much follows", "[format]") {
  const std::string long_tail = R"(,"ranks":[)" + std::string(5000, ' ');
  CHECK(detect_format(R"({"schema":"mfu.run/1")" + long_tail).format == InputFormat::run_json);
  CHECK(detect_format(R"({"schema":"mfu.report/1")" + long_tail).format == InputFormat::report);
  CHECK(detect_format(R"({"schema":"mfu.chips/1")" + long_tail).format == InputFormat::chips);
  // A report that names a history, a run that has columns of a log.
  CHECK(detect_format(R"({"schema":"mfu.report/1","x":{"schema":"mfu.history/1"}})").format ==
        InputFormat::report);
  CHECK(detect_format("{\"schema\":\"mfu.run/1\",\"step\":1,\"step_time_ms\":250}\n"
                      "{\"step\":2,\"step_time_ms\":250}\n")
            .format == InputFormat::run_json_lines);
  // The word alone is no schema.
  CHECK(detect_format(R"({"note":"\"schema\" is mfu.run/1"})").format == InputFormat::json);
}

TEST_CASE("what telemetry is said to be is read as telemetry", "[format]") {
  CHECK(telemetry_row("step,loss\n1,2\n").format == InputFormat::smi_csv);
  CHECK(telemetry_row("\xEF\xBB\xBF# gpu pwr\n# Idx W\n0 300\n").format == InputFormat::smi_dmon);
  // Dates alone are of many logs.
  const std::string dated = "[Mon Nov 30 08:10:54 2026] usb 1-1: new device\n";
  CHECK(telemetry_row(dated).format == InputFormat::kernel_log);
  CHECK(detect_format(dated).format == InputFormat::text);
  for (const MadeHead& made : made_heads()) {
    if (format_row(made.format).read_telemetry == nullptr) continue;
    CHECK(telemetry_row(made.head).format == made.format);
  }
}

TEST_CASE("a refusal names the format and what reads it", "[format]") {
  for (const MadeHead& made : made_heads()) {
    const Error error =
        other_format(detect_format(made.head), "a training log", Place{.file = "x"});
    CHECK(error.kind() == ErrorKind::format);
    CHECK(error.message() ==
          "is " + std::string(format_row(made.format).called) + ", not a training log");
    CHECK(error.hint() == format_row(made.format).way);
  }
}
