// Values that the frameworks' own functions gave for real shapes, where the shared folder is there.
#include <fmt/format.h>

#include <string>

#include "catch.hpp"
#include "unit/flops/rows.hpp"

using namespace flops_rows;

namespace {

struct Setting {
  std::string convention;
  Json switches = Json::object();
};

Setting setting_of(const Json& row) {
  const std::string tool = row["tool"];
  const std::string function = row.value("own_function", "");
  if (tool == "cookbook") return {"cookbook", {}};
  if (tool == "cookbook+ckpt") return {"cookbook", {{"recompute", "full"}}};
  if (tool == "levanter (x3)") return {"levanter", {}};
  if (tool.starts_with("nemo ")) return {"nemo", {}};
  // "causal, no window" of a shape that has one
  if (function == "exact causal") return {tool, {{"window", "ignore"}}};
  return {tool, {}};
}

// "Total FLOPs for the Model: 58.24 EFLOPs (5.82 x 10^19 FLOPs)", for 1e9 tokens; two decimals, of
// which trailing zeros are not printed.
void check_printed(double flops, const std::string& text) {
  const std::size_t colon = text.find(": ");
  REQUIRE(colon != std::string::npos);
  std::size_t read = 0;
  const double number = std::stod(text.substr(colon + 2), &read);
  const char prefix = text[colon + 2 + read + 1];
  const double unit = prefix == 'Z' ? 1e21 : prefix == 'E' ? 1e18 : 1e15;
  CHECK(std::abs(flops * 1e9 / unit - number) <= 0.005 + 1e-9);
}

}  // namespace

TEST_CASE("the frameworks' own values come out", "[flops]") {
  const auto rows = read_json(std::string(MFU_SHARED_DIR) + "/reference/framework_flops.json");
  if (!rows) MFU_SKIP("no framework_flops.json");
  std::size_t held = 0;
  for (const Json& row : *rows) {
    Json model = row["model"];
    const std::string tool = row["tool"];
    const std::string function = row.value("own_function", "");
    if (tool == "nemo qwen3") model["family"] = "qwen3_moe";
    if (function == "exact causal mtp1") model["mtp_layers"] = 1;
    if (function == "hybrid mtp2") model["mtp_layers"] = 2;
    const Setting setting = setting_of(row);
    const mfu::FlopCount count =
        mfu::count_flops(shape_of(model), {.seq_len = model["seq_len"].get<double>()},
                         mfu::find_convention(setting.convention), switches_of(setting.switches));
    INFO(tool << " " << model["name"] << " @" << model["seq_len"] << " " << function << " gives "
              << fmt::format("{:.17g}", count.model_flops.value_or(0.0)));
    if (row.contains("printed_for_1e9_tokens")) {
      const double flops = *count.hardware_flops;
      check_printed(flops, row["printed_for_1e9_tokens"]);
      CHECK(off_by(flops, row["own_value"].get<double>()) < 1e-12);
      ++held;
    } else {
      const double off = off_by(*count.model_flops, row["flops_per_token"].get<double>());
      CHECK(off <= 1e-5);
      CHECK(off <= 1e-12);  // the norms of latents included
      held += off <= 1e-5 ? 1 : 0;
    }
  }
  std::cout << "framework values: " << held << " of " << rows->size() << std::endl;
  CHECK(held == rows->size());
}
