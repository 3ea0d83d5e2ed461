#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "catch.hpp"
#include "unit/readers/reading.hpp"

using namespace mfu;

namespace {

const std::string kExample =
    R"({"schema":"mfu.run/1","model":"llama-3.1-8b","workload":{"seq_len":8192,"global_batch":512},
 "hardware":{"chip":"h100-sxm","precision":"bf16","count":2},"convention":"palm","time_unit":"ms","steps":[100,101],
 "ranks":[{"rank":0,"node":"n0","gpu":0,"compute":[810,812],"comm":[190,188],"stall":[20,21]},
          {"rank":1,"node":"n0","gpu":1,"compute":[905,903],"comm":[95,98],"stall":[20,20]}]})";

}  // namespace

TEST_CASE("the example of the format") {
  Notes notes;
  const ReadResult result = read_texts({kExample}, notes);
  const RunTimings& run = result.run;
  CHECK(result.inputs.at(0).format == "mfu.run/1 json");
  CHECK(result.inputs.at(0).bytes == kExample.size());
  CHECK(run.model == "llama-3.1-8b");
  CHECK(run.workload.tokens_per_step == 8192.0 * 512.0);
  CHECK(run.hardware.chip == "h100-sxm");
  CHECK(run.hardware.count == 2);
  CHECK(run.convention == "palm");
  CHECK(run.steps == std::vector<std::int64_t>{100, 101});
  CHECK(run.ranks[1].node == "n0");
  CHECK(run.ranks[1].gpu == 1);
  CHECK(run.compute.at(1, 1) == 0.903);
  CHECK(run.comm.at(0, 0) == 0.19);
  CHECK(run.waits_in == WaitsIn::comm);
  CHECK_FALSE(run.waits_in_given);
  CHECK(notes.all().empty());
}

TEST_CASE("a document that is cut off anywhere is an error") {
  for (std::size_t length = 0; length < kExample.size(); ++length) {
    INFO(kExample.substr(0, length));
    REQUIRE_THAT(outcome(kExample.substr(0, length)), starts_with("format: a"));
  }
  CHECK(outcome(kExample) == "ok");
}

TEST_CASE("the window's size changes nothing, not even the place of an error") {
  std::vector<std::string> texts{kExample, kExample + "x", kExample.substr(0, 300)};
  for (const char* bad : {"NaN", "-1", "\"x\"", "1e999", "{}", "x"}) {
    std::string text = kExample;
    text.replace(text.find("903"), 3, bad);
    texts.push_back(text);
  }
  for (const std::string& text : texts) {
    const std::string expected = outcome(text);
    for (std::size_t window = 1; window < 70; ++window) REQUIRE(outcome(text, window) == expected);
  }
}

TEST_CASE("keys may come in any order, and the unit may come last") {
  std::vector<std::string> parts{
      R"("schema":"mfu.run/1")", R"("time_unit":"ms")", R"("steps":[1,2])",
      R"("waits_in":"separate")",
      R"("ranks":[{"stall":[0.3,7],"compute":[810.123,1e3],"wait":[0,0.1],)"
      R"("comm":[33.3,null],"rank":5}])"};
  std::sort(parts.begin(), parts.end());
  int count = 0;
  do {
    std::string text = "{";
    for (const std::string& part : parts) text += (text.size() > 1 ? "," : "") + part;
    const RunTimings run = read_text(text + "}");
    REQUIRE(run.compute.at(0, 0) == 0.810123);
    REQUIRE(run.compute.at(1, 0) == 1.0);
    REQUIRE(run.stall.at(0, 0) == 0.0003);
    REQUIRE(run.wait.at(1, 0) == 0.0001);
    REQUIRE(run.comm.at(0, 0) == 0.0333);
    REQUIRE(std::isnan(run.comm.at(1, 0)));
    ++count;
  } while (std::next_permutation(parts.begin(), parts.end()));
  CHECK(count == 120);
}

TEST_CASE("what is wrong is said with a place and a way out") {
  struct Case {
    std::string text;
    std::string expected;
  };
  const std::vector<Case> cases{
      {"", "format: a: the file is empty"},
      {" \r\n\t", "format: a: the file is empty"},
      {"hello", "format: a:1:1: not a timing document: it starts with hello"},
      {"[1,2]", "it starts with an array"},
      {"PK\x03\x04", "is a zip archive"},
      {"\x28\xB5\x2F\xFD", "zstd -dc"},
      {"\xFF\xFE{", "UTF-16"},
      {std::string(10'000'000, '['), "it starts with an array"},
      {R"({"schema":"mfu.run/1","x":)" + std::string(10'000'000, '['), "nested more than 128 deep"},
      {R"({"steps":[1],"ranks":[]})", "insufficient: a:1:22 (ranks): ranks is empty"},
      {R"({"schema":"mfu.run/1"})", "insufficient: a (ranks): ranks is missing"},
      {R"({"steps":[1],"ranks":[{"rank":0,"compute":[1],"comm":[1],"stall":[1]}]})",
       "format: a (schema): schema is missing"},
      {R"({"schema":"mfu.run/2"})", "unsupported: a:1:11 (schema): schema 'mfu.run/2' is newer"},
      {R"({"schema":"mfu.run/12"})", "unsupported"},
      {R"({"schema":"acme.run/1"})", "format: a:1:11 (schema): unknown schema 'acme.run/1'"},
      {R"({"schema":"mfu.report/1"})",
       "format: a: is a saved report of mfu, not a timing document or a trace (mfu compare reads "
       "it"},
      {R"({"schema":1})", "format: a:1:11 (schema): expected a string, found a number"},
      {document("", kRank0) + "x", "a:1:101: text after the end of the document"},
      {document("", kRank0 + "," + kRank0), "rank 0 is recorded twice for step 1, also at a:1:"},
      {document("", R"({"rank":0,"compute":[1,-2],"comm":[3,4],"stall":[5,6]})"),
       "a:1:69 (rank 0, compute, index 1): a negative time (write null"},
      {document("", R"({"rank":0,"compute":[1,NaN],"comm":[3,4],"stall":[5,6]})"),
       "(rank 0, compute, index 1): NaN is not a time (write null"},
      {document("", R"({"rank":0,"compute":[1,"2"],"comm":[3,4],"stall":[5,6]})"),
       "(rank 0, compute, index 1): expected a number or null, found a string"},
      {document("", R"({"rank":0,"compute":[1,1e999],"comm":[3,4],"stall":[5,6]})"),
       "(rank 0, compute, index 1): a number that is too large"},
      {document("", R"({"rank":0,"compute":[1,2e12],"comm":[3,4],"stall":[5,6]})"),
       "a time of over 30 years (is time_unit right?"},
      {document("", R"({"rank":0,"compute":[1],"comm":[3,4],"stall":[5,6]})"),
       "(rank 0, compute): compute has 1 values for 2 steps"},
      {document("", R"({"rank":0,"compute":[],"comm":[3,4],"stall":[5,6]})"),
       "compute has 0 values for 2 steps"},
      {document("", R"({"rank":0,"computee":[1,2],"comm":[3,4],"stall":[5,6]})"),
       "(rank 0, computee): unknown series 'computee' (did you mean 'compute'?)"},
      {document("", R"({"rank":0,"compute":[1,2],"stall":[5,6]})"), "(rank 0): comm is missing"},
      {document("", R"({"rank":0,"compute":1,"comm":[3,4],"stall":[5,6]})"),
       "(rank 0, compute): expected an array, found a number (one value per step)"},
      {document("", R"({"compute":[1,2],"comm":[3,4],"stall":[5,6]})"),
       "(ranks[0]): rank is missing"},
      {document("", R"({"rank":-1})"), "(ranks[0], rank): expected a whole number from 0"},
      {document("", R"({"rank":1.5})"), "expected a whole number"},
      {document("", R"({"rank":0,"rank":1})"), "the key is given twice"},
      {document("", "7"), "(ranks[0]): expected an object, found a number"},
      {document("", R"({"rank":0,"gpu":"0"})"), "(rank 0, gpu): expected a whole number"},
      {document("", R"({"rank":0,"coords":[1]})"), "(rank 0, coords): expected an object"},
      {document("", R"({"rank":0,"coords":{"tp":-1}})"), "(rank 0, coords.tp)"},
      {document(R"(,"waits_in":"separate")", kRank0), "wait is missing"},
      {document("", R"({"rank":0,"compute":[1,2],"comm":[3,4],"stall":[5,6],"wait":[1,1]})"),
       "wait is present, but waits_in is \"comm\" (the default)"},
      {document(R"(,"waits_in":"com")", kRank0), "unknown value 'com' (did you mean 'comm'?)"},
      {document(R"(,"time_unit":"minutes")", kRank0),
       "(time_unit): unknown value 'minutes' (one of: s, ms, us, ns)"},
      {document(",\"hardware\":{\"chip\":\"x\",\n  \"count\":\"8\"}", kRank0),
       "a:2:11 (hardware.count): expected a whole number from 1 on, found a string (without "
       "quotes)"},
      {document(R"(,"hardware":{"count":0})", kRank0), "(hardware.count)"},
      {document(R"(,"hardware":[])", kRank0), "(hardware): expected an object, found an array"},
      {document(R"(,"hardware":{"count":1,"count":2})", kRank0), "the key 'count' is given twice"},
      {document(R"(,"workload":{"seq_len":1e999})", kRank0), "a number is too large"},
      {document(R"(,"workload":{"pipeline_schedule":"1f1p"})", kRank0), "did you mean '1f1b'?"},
      {document(R"(,"parallelism":{"tp":2,"order":"dp-pp"})", kRank0), "no place in the order"},
      {document(R"(,"parallelism":{"order":"tp-xx"})", kRank0), "unknown axis 'xx'"},
      {document(R"(,"clock":"fast")", kRank0), "(clock): unknown value 'fast' (one of:"},
      {document(R"(,"clock":-5)", kRank0), "(clock): expected a number above 0"},
      {document(R"(,"model":5)", kRank0), "(model): expected a model's name or an object"},
      {document(R"(,"schema":"mfu.run/1")", kRank0), "the key 'schema' is given twice"},
      {R"({"schema":"mfu.run/1","steps":[2,1],"ranks":[]})",
       "(steps, index 1): step 1 comes after step 2"},
      {R"({"schema":"mfu.run/1","steps":[1,1],"ranks":[]})",
       "(steps, index 1): step 1 appears twice"},
      {R"({"schema":"mfu.run/1","steps":[1.5],"ranks":[]})", "expected a whole number"},
      {R"({"schema":"mfu.run/1","steps":7,"ranks":[]})", "(steps): expected an array of step ids"},
      {R"({"schema":"mfu.run/1","steps":[],"ranks":[{"rank":0,"compute":[],"comm":[],"stall":[]}]})",
       "insufficient: a (steps): there is no step"},
      {R"({"schema":"mfu.run/1","ranks":{}})", "(ranks): expected an array, found an object"},
      {R"({"schema":"mfu.run/1","job":{"a":)" + std::string(5'000'000, ' ') + "1}}",
       "in the header"},
      {document(",\"job\":{\"n\":\"\xFF\"}", kRank0), "not valid UTF-8"},
  };
  for (const Case& one : cases) {
    INFO(one.text.substr(0, 300));
    CHECK_THAT(outcome(one.text), contains(one.expected));
  }
}

TEST_CASE("a byte order mark and Windows line ends are no problem") {
  std::string text = kExample;
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2)
    text.insert(at, "\r");
  CHECK(read_text("\xEF\xBB\xBF" + text).compute.at(0, 1) == 0.905);
}

TEST_CASE("unknown keys are ignored with one note that names them") {
  Notes notes;
  (void)read_text(document(R"(,"flavour":{"deep":[[[1]]]},"hardware":{"vendor":"x"})",
                           R"({"rank":0,"colour":"red","compute":[1,2],"comm":[3,4],"stall":[5,6],
                               "coords":{"zz":1},"telemetry":{"fan":[1,2]}})"),
                  notes);
  REQUIRE(notes.all().size() == 1);
  CHECK(notes.all()[0].code == "unknown-keys");
  CHECK(notes.all()[0].count == 5);
  CHECK_THAT(
      notes.all()[0].text,
      contains(
          "flavour, hardware.vendor, ranks[].colour, ranks[].coords.zz, ranks[].telemetry.fan"));
}

TEST_CASE("null in the header counts as absent") {
  const RunTimings run = read_text(document(
      R"(,"model":null,"hardware":{"count":null},"time_unit":null,"clock":null,"waits_in":null)",
      kRank0));
  CHECK(run.model.empty());
  CHECK_FALSE(run.hardware.count.has_value());
  CHECK(run.compute.at(0, 0) == 1.0);
}

TEST_CASE("the header's values arrive") {
  const RunTimings run = read_text(document(
      R"(,"job":{"name":"j","gpus":8},"model":{"name":"m","layers":2},"clock":1410,"waits_in":"stall",
          "workload":{"tokens_per_step":100,"microbatches":4,"pipeline_schedule":"interleaved",
                      "virtual_stages":2,"flops_per_step":1e18,"recompute":"selective"},
          "hardware":{"peak_tflops":500})",
      kRank0));
  CHECK(run.job.at("name") == "j");
  CHECK(run.job.at("gpus") == "8");
  CHECK(run.model == "m");
  CHECK_THAT(run.model_json, contains("\"layers\":2"));
  CHECK(run.clock.rule == ClockRule::mhz);
  CHECK(run.clock.mhz == 1410.0);
  CHECK(run.waits_in == WaitsIn::stall);
  CHECK(run.workload.tokens_per_step == 100.0);
  CHECK(run.workload.microbatches == 4);
  CHECK(run.workload.pipeline_schedule == PipelineSchedule::interleaved);
  CHECK(run.workload.virtual_stages == 2);
  CHECK(run.workload.flops_per_step == 1e18);
  CHECK(run.workload.recompute == Recompute::selective);
  CHECK(run.hardware.peak_tflops == 500.0);
}

TEST_CASE("telemetry is a number or a series") {
  const RunTimings run = read_text(
      document("", R"({"rank":0,"compute":[1,2],"comm":[3,4],"stall":[5,6],"switch":"leaf7",
              "telemetry":{"sm_clock_mhz":[1400,null],"temperature_c":-3,"power_w":null,
                           "throttle_reasons":["hw_thermal"],"xid":[79,79],"ecc_uncorrected":2}})"));
  const RankTelemetry& telemetry = run.ranks[0].telemetry;
  CHECK(run.ranks[0].leaf_switch == "leaf7");
  CHECK(telemetry.sm_clock_mhz.at(0) == 1400.0);
  CHECK(std::isnan(telemetry.sm_clock_mhz.at(1)));
  CHECK(telemetry.temperature_c == std::vector<double>{-3.0});
  CHECK(telemetry.power_w.empty());
  CHECK(telemetry.throttle_reasons == std::vector<std::string>{"hw_thermal"});
  CHECK(telemetry.xid == std::vector<std::int64_t>{79});
  CHECK(telemetry.ecc_uncorrected == 2);
  CHECK_THAT(outcome(document("", R"({"rank":0,"compute":[1,2],"comm":[3,4],"stall":[5,6],
                                      "telemetry":{"power_w":[1]}})")),
             contains("power_w has 1 values for 2 steps"));
}

TEST_CASE("steps that are not given are numbered, and that is said") {
  Notes notes;
  const RunTimings run = read_text(R"({"schema":"mfu.run/1","ranks":[)" + kRank0 + "]}", notes);
  CHECK(run.steps == std::vector<std::int64_t>{0, 1});
  CHECK(notes.has("step-ids-assumed"));
}
