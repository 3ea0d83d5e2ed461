// Facts about FLOPs kept with the tests: what frameworks' functions and unit tests give, and what
// published runs report, each under the convention that it used.
#include <fmt/format.h>

#include <set>
#include <string>

#include "catch.hpp"
#include "unit/flops/rows.hpp"

using namespace flops_rows;

namespace {

mfu::FlopCount count_row(const Json& facts, const Json& row, const char* convention,
                         const char* switches) {
  const Json& model = facts["shapes"].at(row["shape"].get<std::string>());
  mfu::Work work;
  work.seq_len = row.value("seq_len", 0.0);
  if (row.contains("lengths")) work.lengths = row["lengths"].get<std::vector<double>>();
  return mfu::count_flops(shape_of(model), work,
                          mfu::find_convention(row[convention].get<std::string>()),
                          switches_of(row.value(switches, Json::object())));
}

double tokens_of(const Json& row) {
  if (row.contains("tokens")) return row["tokens"].get<double>();
  if (!row.contains("lengths")) return row["seq_len"].get<double>();
  double tokens = 0.0;
  for (const Json& length : row["lengths"]) tokens += length.get<double>();
  return tokens;
}

// What a run printed, from its rate and peak.
void check_reported(const Json& row, double model_flops, double hardware_flops) {
  const Json& reported = row["reported"];
  const double rate = row["tokens_per_s_per_gpu"].get<double>() / 1e12;
  if (reported.contains("tflops")) {
    const double got = rate * model_flops;
    const auto printed = reported["tflops"].get<double>();
    const bool truncated = reported.value("tflops_truncated", false);
    CHECK((reproduces(got, reported["tflops"]) ||
           (truncated && got >= printed && got < printed + 1.0)));
  }
  if (reported.contains("mfu_pct")) {
    const auto peak = row["peak_tflops"].get<double>();
    CHECK(reproduces(100.0 * rate * model_flops / peak, reported["mfu_pct"]));
  }
  if (reported.contains("hfu_pct")) {
    const auto peak = row["peak_tflops"].get<double>();
    CHECK(reproduces(100.0 * rate * hardware_flops / peak, reported["hfu_pct"]));
  }
}

}  // namespace

TEST_CASE("facts about FLOPs hold", "[flops]") {
  const auto facts = read_json(std::string(MFU_TEST_DATA_DIR) + "/flops_facts.json");
  REQUIRE(facts);
  std::set<std::string> families;
  std::set<std::string> pinned;
  std::size_t runs = 0;
  for (const Json& row : (*facts)["rows"]) {
    INFO(row.dump());
    families.insert(row["family"].get<std::string>());
    if (row.contains("reported")) ++runs;
    double hardware = 0.0;
    if (row.contains("hardware_convention")) {
      hardware = *count_row(*facts, row, "hardware_convention", "hardware_switches").hardware_flops;
      pinned.insert(row["hardware_convention"].get<std::string>());
    }
    if (row["convention"].is_null()) {  // TFLOP/s over peak
      const double share =
          100.0 * row["reported"]["tflops"].get<double>() / row["peak_tflops"].get<double>();
      for (const char* key : {"mfu_pct", "hfu_pct"}) {
        if (row["reported"].contains(key)) CHECK(reproduces(share, row["reported"][key]));
      }
    } else {
      pinned.insert(row["convention"].get<std::string>());
      const mfu::FlopCount count = count_row(*facts, row, "convention", "switches");
      const double flops = count.model_flops.value_or(count.hardware_flops.value_or(0.0));
      if (hardware == 0.0) hardware = count.hardware_flops.value_or(0.0);
      if (row.contains("flops_per_token")) {
        CHECK(off_by(flops, row["flops_per_token"].get<double>()) <= 1e-5);
      }
      if (row.contains("flops")) {
        CHECK(std::llround(flops * tokens_of(row)) == row["flops"].get<std::int64_t>());
      }
      if (row.contains("tflops_printed")) {
        const double taken = row.contains("hardware") ? hardware : flops;
        const Json& printed = row["tflops_printed"];
        const std::string text = printed.dump();
        const double unit = std::pow(10.0, -static_cast<double>(text.size() - text.find('.') - 1));
        CHECK(std::abs(taken * tokens_of(row) / 1e12 - printed.get<double>()) <= 0.5001 * unit);
      }
      if (row.contains("reported")) check_reported(row, flops, hardware);
    }
    if (row.contains("hardware_flops_per_token")) {
      CHECK(off_by(hardware, row["hardware_flops_per_token"].get<double>()) <= 1e-4);
    }
  }
  CHECK(runs >= 80);
  CHECK(families.size() >= 19);
  // The rest of the table is pinned in flops_conventions.cpp.
  for (const char* id :
       {"palm", "6n", "exact-full", "exact-causal", "narayanan-2021", "korthikanti-2022",
        "bigscience-2021", "megatron-lm", "megatron-bridge", "nemo", "maxtext", "maxtext-2025-06",
        "torchtitan-2024-02", "verl", "nanotron", "levanter", "cookbook", "llm-foundry"}) {
    CHECK(pinned.count(id) == 1);
  }
}

TEST_CASE("other projects' unit tests hold", "[flops]") {
  const auto rows = read_json(std::string(MFU_SHARED_DIR) + "/reference/unit_test_flops.json");
  if (!rows) MFU_SKIP("no unit_test_flops.json");
  // Each is in the facts above with what its own test leaves to defaults; here nothing may be lost.
  const auto facts = read_json(std::string(MFU_TEST_DATA_DIR) + "/flops_facts.json");
  REQUIRE(facts);
  std::multiset<double> kept;
  for (const Json& row : (*facts)["rows"]) {
    for (const char* key : {"flops", "tflops_printed"}) {
      if (row.contains(key)) kept.insert(row[key].get<double>());
    }
  }
  std::size_t held = 0;
  for (const Json& row : *rows) {
    INFO(row.dump());
    if (row.contains("expected_flops")) {
      CHECK(kept.count(std::round(row["expected_flops"].get<double>())) >= 1);
    } else if (row.contains("expected_tflops_per_token")) {
      CHECK(kept.count(row["expected_tflops_per_token"].get<double>()) >= 1);
    } else {
      for (const Json& value : row["expected_tflops"]) CHECK(kept.count(value.get<double>()) >= 1);
    }
    ++held;
  }
  CHECK(held == 24);
}
