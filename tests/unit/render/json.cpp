#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "catch.hpp"
#include "diagnose/detail.hpp"
#include "mfu/render.hpp"
#include "unit/report/example.hpp"

using namespace mfu;
using Json = nlohmann::ordered_json;

namespace {

std::string json_of(const Report& report) { return find_renderer("json").render(report, {}); }

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

}  // namespace

TEST_CASE("the object has every key of mfu.report/1, in a stable order") {
  const Json object = Json::parse(json_of(example::report_on(example::stalled_by_input())));
  const std::vector<std::string> top = keys_of(object);
  const std::vector<std::string> expected{"schema", "tool",      "command", "inputs",   "notes",
                                          "gates",  "exit_code", "setup",   "headline", "factors",
                                          "parts",  "verdict",   "findings"};
  REQUIRE(top.size() >= expected.size());
  CHECK(std::vector<std::string>(
            top.begin(), top.begin() + static_cast<std::ptrdiff_t>(expected.size())) == expected);
  for (const char* key : {"model", "params", "active_params", "chip", "gpus", "precision",
                          "peak_flops_per_gpu", "clock", "clock_mhz", "convention", "fingerprint",
                          "seq_len", "tokens_per_step", "flops_per_step", "reference"}) {
    INFO(key);
    CHECK(object["setup"].contains(key));
  }
  for (const char* key :
       {"mfu", "parallel_efficiency", "step_seconds", "p95_seconds", "tokens_per_second"}) {
    CHECK(object["headline"].contains(key));
  }
  for (const char* key : {"family", "families", "locality", "culprits", "persistence", "onset_step",
                          "period_steps", "cause", "confidence", "recoverable", "refuted_by"}) {
    CHECK(object["verdict"].contains(key));
  }
  for (const char* key : {"code", "family", "seconds", "evidence", "actions", "owner"}) {
    CHECK(object["findings"][0].contains(key));
  }
}

TEST_CASE("parts sum, factors multiply, numbers come back bit for bit") {
  for (const Diagnosis& diagnosis : {example::stalled_by_input(), example::without_mfu()}) {
    const std::string text = json_of(example::report_on(diagnosis));
    CHECK(text.back() == '\n');
    const Json object = Json::parse(text);
    double sum = 0.0;
    for (std::size_t i = 0; i < diagnosis.parts.size(); ++i) {
      CHECK(object["parts"][i]["seconds"].get<double>() == diagnosis.parts[i].seconds);
      sum += object["parts"][i]["seconds"].get<double>();
    }
    CHECK(sum == Approx(object["headline"]["step_seconds"].get<double>()).epsilon(1e-14));
    double product = 1.0;
    for (const Json& factor : object["factors"]) product *= factor["value"].get<double>();
    const char* efficiency = diagnosis.headline.mfu ? "mfu" : "parallel_efficiency";
    CHECK(product == Approx(object["headline"][efficiency].get<double>()).epsilon(1e-14));
    CHECK(object["factors"].back()["parts"].size() == 2);
  }
}

TEST_CASE("unknown is null, with a reason beside it") {
  Diagnosis diagnosis = example::without_mfu();
  diagnosis.verdict.recoverable.reset();
  diagnosis.verdict.cause = Cause::none;
  diagnosis.verdict.persistence = Persistence::none;
  const Json object = Json::parse(json_of(example::report_on(diagnosis)));
  CHECK(object["headline"]["mfu"].is_null());
  CHECK_THAT(object["headline"]["mfu_missing"].get<std::string>(), contains("flops_per_step"));
  CHECK(object["headline"]["status"] == "no-model");
  CHECK(object["verdict"]["cause"].is_null());
  CHECK(object["verdict"]["persistence"].is_null());
  CHECK(object["verdict"]["recoverable"].is_null());
  CHECK(object["verdict"]["recoverable_missing"].is_string());
  const Json& setup = object["setup"];
  for (const auto& [key, value] : setup.items()) {
    if (!value.is_null()) continue;
    INFO(key);
    CHECK(setup["missing"].contains(key));
  }
}

TEST_CASE("NaN is never printed") {
  Diagnosis diagnosis = example::stalled_by_input();
  diagnosis.headline.step_seconds = std::nan("");
  diagnosis.factors[0].value = HUGE_VAL;
  diagnosis.parts[0].seconds = -HUGE_VAL;
  const Json object = Json::parse(json_of(example::report_on(diagnosis)));
  CHECK(object["headline"]["step_seconds"].is_null());
  CHECK(object["factors"][0]["value"].is_null());
}

TEST_CASE("names that are not UTF-8 do not break the object") {
  Diagnosis diagnosis = example::stalled_by_input();
  diagnosis.detail->setup.model = "caf\xe9 \x1b";
  diagnosis.verdict.culprits.nodes = {"\xff"};
  CHECK_NOTHROW(Json::parse(json_of(example::report_on(diagnosis))));
}

TEST_CASE("notes and gates") {
  Report report = example::report_on(example::stalled_by_input());
  report.notes = {{NoteId("truncated-tail"), Severity::loss, 2, "cut off", {}}};
  report.gates = {{"min-mfu", "40%", 0.314, "31.4 %", false},
                  {"fail-on", "stall", std::nullopt, "stall", false}};
  report.exit_code = 1;
  const Json object = Json::parse(json_of(report));
  CHECK(object["notes"][0]["severity"] == "loss");
  CHECK(object["notes"][0]["count"] == 2);
  CHECK(object["gates"][0]["value"] == 0.314);
  CHECK(object["gates"][1]["value"] == "stall");
  CHECK(object["gates"][1]["passed"] == false);
  CHECK(object["exit_code"] == 1);
}

TEST_CASE("an error is an object too") {
  Place place;
  place.file = "run.json";
  place.line = 3;
  place.column = 17;
  place.what = "rank 3, compute, index 7";
  const Error error(ErrorKind::format, "negative time", place, "times are seconds");
  const Json object = Json::parse(render_error_json(error, "diagnose", "0.1.0", 2));
  CHECK(object["schema"] == "mfu.report/1");
  CHECK(object["error"]["kind"] == "format");
  CHECK(object["error"]["message"] == "negative time");
  CHECK(object["error"]["place"] == "run.json:3:17 (rank 3, compute, index 7)");
  CHECK(object["error"]["hint"] == "times are seconds");
  CHECK(object["exit_code"] == 2);
}
