#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "catch.hpp"
#include "mfu/chip.hpp"

using namespace mfu;

namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

// How far units x rate x clock is from the figure, as a share of it.
double off(const Chip& chip, const PrecisionRate& rate) {
  return std::fabs(chip.units * rate.flop_per_clock_per_unit * rate.datasheet_mhz * 1e6 /
                       rate.datasheet_flops -
                   1);
}

struct Counted {
  int rates = 0;
  std::set<std::string_view> rows;
};

Counted check_arithmetic(ClockBasis basis) {
  Counted counted;
  for (const Chip& chip : chips()) {
    for (const PrecisionRate& rate : chip.rates) {
      if (rate.basis != basis) continue;
      INFO(chip.id << " " << to_string(rate.precision));
      CHECK(off(chip, rate) < 0.005);
      ++counted.rates;
      counted.rows.insert(chip.id);
    }
  }
  return counted;
}

// Figure of one precision over the figure of another; nothing where the chip lacks one.
std::optional<double> ratio(const Chip& chip, Precision above, Precision below) {
  const PrecisionRate* a = rate_of(chip, above);
  const PrecisionRate* b = rate_of(chip, below);
  if (a == nullptr || b == nullptr) return {};
  return a->datasheet_flops / b->datasheet_flops;
}

PrecisionRate rate(std::string_view id, Precision precision) {
  const PrecisionRate* found = rate_of(find_chip(id), precision);
  REQUIRE(found != nullptr);
  return *found;
}

const std::filesystem::path kReference =
    std::filesystem::path(MFU_SHARED_DIR) / "reference/chips.json";

nlohmann::json reference() {
  std::ifstream file(kReference);
  return nlohmann::json::parse(file);
}

// The reference counts fp64 on matrix units under either name.
Precision precision_of(const std::string& name) {
  return name == "fp64" ? Precision::fp64_tc : parse_precision(name);
}

const Chip* row_of(std::string_view id) {
  for (const Chip& chip : chips()) {
    if (chip.id == id) return &chip;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a documented clock gives the datasheet's figure") {
  const Counted counted = check_arithmetic(ClockBasis::documented);
  INFO(counted.rates << " rates of " << counted.rows.size() << " rows");
  CHECK(counted.rates >= 160);
  CHECK(counted.rows.size() >= 30);
}

TEST_CASE("an implied clock gives the figure it was worked out from, and is counted apart") {
  const Counted counted = check_arithmetic(ClockBasis::implied);
  INFO(counted.rates << " rates of " << counted.rows.size() << " rows");
  CHECK(counted.rates >= 100);
  CHECK(counted.rows.size() >= 20);
}

TEST_CASE("a figure that no clock gives has no rate and no clock") {
  int unknown = 0;
  for (const Chip& chip : chips()) {
    for (const PrecisionRate& rate : chip.rates) {
      INFO(chip.id << " " << to_string(rate.precision));
      CHECK(rate.datasheet_flops > 0);
      if (rate.basis == ClockBasis::unknown) {
        CHECK(rate.flop_per_clock_per_unit == 0);
        CHECK(rate.datasheet_mhz == 0);
        ++unknown;
      } else {
        CHECK(rate.flop_per_clock_per_unit > 0);
        CHECK(chip.not_scaled.empty());
      }
    }
    // Why, where not even one precision scales.
    INFO(chip.id);
    CHECK(chip.not_scaled.empty() ==
          std::any_of(chip.rates.begin(), chip.rates.end(),
                      [](const PrecisionRate& rate) { return rate.basis != ClockBasis::unknown; }));
  }
  CHECK(unknown >= 30);
  for (const char* id : {"h20", "tpu-v6e", "gaudi3", "b100", "trainium1", "trainium2"}) {
    INFO(id);
    CHECK_FALSE(find_chip(id).not_scaled.empty());
  }
}

TEST_CASE("clocks that figures mean") {
  const auto check = [](std::string_view id, Precision precision, double mhz, ClockBasis basis) {
    INFO(id << " " << to_string(precision));
    CHECK(rate(id, precision).datasheet_mhz == mhz);
    CHECK(rate(id, precision).basis == basis);
  };
  using enum ClockBasis;
  check("h100-sxm5-80gb", Precision::bf16, 1830, documented);
  check("h100-sxm5-80gb", Precision::fp32, 1980, documented);
  check("h100-pcie", Precision::bf16, 1620, implied);
  check("h100-pcie", Precision::fp32, 1755, documented);
  check("h100-nvl", Precision::bf16, 1545, implied);
  check("h200-nvl", Precision::fp8, 1545, implied);
  check("a100-sxm4-80gb", Precision::bf16, 1410, documented);
  check("b200", Precision::bf16, 1856, implied);
  check("gb200", Precision::bf16, 2008, implied);
  check("v100-pcie", Precision::fp16, 1367, implied);
  check("l40s", Precision::bf16, 2490, implied);
  check("l40s", Precision::fp8, 2520, documented);
  check("mi300x", Precision::bf16, 2100, documented);
  check("h20", Precision::bf16, 0, unknown);
}

TEST_CASE("precisions of one chip stand in their ratios") {
  // Others than the usual twice or half, each for its reason.
  const std::map<std::string_view, double> fp8{{"gaudi3", 1}, {"trainium1", 1}, {"l40s", 2.025}};
  const std::map<std::string_view, double> tf32{{"trainium1", 1}, {"trainium2", 1}};
  const std::map<std::string_view, double> int8{
      {"b300", 1.0 / 15}, {"rtx-3090", 4}, {"rtx-4090", 4}, {"rtx-5090", 4},
      {"mi250x", 1},      {"mi250", 1},    {"tpu-v4", 1},   {"l40s", 2.025}};
  const std::map<std::string_view, double> fp4{{"b300", 3}, {"gb300", 3}};
  const auto expected = [](const auto& others, std::string_view id, double usual) {
    const auto found = others.find(id);
    return found == others.end() ? usual : found->second;
  };
  for (const Chip& chip : chips()) {
    INFO(chip.id);
    const auto check = [&](Precision above, Precision below, double want) {
      INFO(to_string(above) << " over " << to_string(below));
      if (const auto got = ratio(chip, above, below)) CHECK(*got == Approx(want).epsilon(0.03));
    };
    check(Precision::fp16, Precision::bf16, 1);
    check(Precision::fp8, Precision::bf16, expected(fp8, chip.id, 2));
    check(Precision::tf32, Precision::bf16, expected(tf32, chip.id, 0.5));
    check(Precision::int8, Precision::bf16, expected(int8, chip.id, 2));
    check(Precision::fp4, Precision::fp8, expected(fp4, chip.id, chip.id == "rtx-5090" ? 4 : 2));
    check(Precision::fp16_fp16acc, Precision::fp16, 2);
    check(Precision::fp8_fp16acc, Precision::fp8, 2);
    if (const auto got = ratio(chip, Precision::fp6, Precision::fp8)) CHECK(*got >= 1);
  }
}

TEST_CASE("precisions that a generation lacks") {
  for (const char* id : {"v100-sxm2", "v100-pcie", "v100-sxm2-32gb", "v100s-pcie", "t4"}) {
    INFO(id);
    CHECK(rate_of(find_chip(id), Precision::bf16) == nullptr);
    CHECK(rate_of(find_chip(id), Precision::tf32) == nullptr);
  }
  for (const char* id : {"a100-sxm4-80gb", "a800", "a30", "a10", "a10g", "a40", "rtx-a6000",
                         "rtx-3090", "mi250x", "tpu-v4"}) {
    INFO(id);
    CHECK(rate_of(find_chip(id), Precision::fp8) == nullptr);
  }
  for (const Chip& chip : chips()) {
    INFO(chip.id);
    std::set<Precision> seen;
    for (const PrecisionRate& rate : chip.rates) CHECK(seen.insert(rate.precision).second);
    CHECK_FALSE(seen.empty());
    // Accumulating in FP16 is faster on GeForce only.
    if (seen.count(Precision::fp16_fp16acc) != 0) CHECK(chip.id.starts_with("rtx-"));
  }
}

TEST_CASE("an id is one word that begins with the model, and no name has two rows") {
  std::set<std::string_view> ids;
  std::set<std::uint16_t> pci;
  for (const Chip& chip : chips()) {
    INFO(chip.id);
    CHECK(ids.insert(chip.id).second);
    CHECK(chip.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == chip.id.npos);
    std::string name;
    for (const char c : chip.name) {
      if (c != ' ') name += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    CHECK_THAT(name, starts_with(std::string(chip.id.substr(0, chip.id.find('-')))));
    std::vector<std::string_view> names{chip.id, chip.name};
    names.insert(names.end(), chip.aliases.begin(), chip.aliases.end());
    for (const std::string_view each : names) {
      INFO(each);
      const ChipMatch match = match_chip(each);
      CHECK(match.chip->id == chip.id);
      CHECK(match.same_peak_ids.empty());
    }
    for (const std::uint16_t device : chip.pci_devices) CHECK(pci.insert(device).second);
  }
  CHECK(pci.size() >= 30);
  CHECK(pci.count(0x2339) == 0);  // a custom H100 of which no clock is published
}

TEST_CASE("memory, bandwidth, power and clocks are plausible") {
  for (const Chip& chip : chips()) {
    INFO(chip.id);
    CHECK(chip.units >= 2);
    CHECK(chip.memory_bytes >= 8 * kGiB);
    CHECK(chip.memory_bytes <= 288 * kGiB);
    CHECK(chip.bandwidth_bytes_per_s >= 300e9);
    CHECK(chip.bandwidth_bytes_per_s <= 8000e9);
    CHECK((chip.power_w == 0 || (chip.power_w >= 70 && chip.power_w <= 1400)));
    CHECK((chip.max_mhz == 0 || (chip.max_mhz >= 900 && chip.max_mhz <= 3200)));
    CHECK((chip.base_mhz == 0 || chip.base_mhz < chip.max_mhz || chip.max_mhz == 0));
    CHECK((chip.package.devices == 1) == chip.package.name.empty());
    CHECK_FALSE(chip.source.empty());
    const PrecisionRate* main = rate_of(chip, Precision::bf16);
    if (main == nullptr) main = rate_of(chip, Precision::fp16);
    REQUIRE(main != nullptr);
    const double ridge = main->datasheet_flops / chip.bandwidth_bytes_per_s;
    CHECK(ridge > 30);
    CHECK(ridge < 600);
    for (const PrecisionRate& rate : chip.rates) {
      if (chip.max_mhz > 0) CHECK(rate.datasheet_mhz <= 1.01 * chip.max_mhz);
    }
  }
}

TEST_CASE("captured devices agree with their rows") {
  struct Capture {
    const char* id;
    double mib, mhz, watts;
  };
  for (const Capture& capture : {Capture{"h100-sxm5-80gb", 81559, 1980, 700},
                                 {"h200-sxm", 143771, 1980, 700},
                                 {"a100-sxm4-40gb", 40960, 1410, 400},
                                 {"l40s", 46068, 2520, 350},
                                 {"t4", 15360, 1590, 70},
                                 {"b200", 183359, 1965, 1000},
                                 {"gb200", 189471, 2062, 1200},
                                 {"gb300", 284208, 2070, 1400}}) {
    INFO(capture.id);
    DeviceFacts facts;
    facts.memory_bytes = capture.mib * 1024 * 1024;
    facts.max_mhz = capture.mhz;
    facts.power_limit_w = capture.watts;
    CHECK(conflicts(find_chip(capture.id), facts).empty());
  }
}

TEST_CASE("devices, not what they are sold in") {
  const auto check = [](std::string_view id, int devices, double bf16) {
    INFO(id);
    CHECK(find_chip(id).package.devices == devices);
    CHECK(rate(id, Precision::bf16).datasheet_flops == Approx(bf16));
  };
  check("mi250x", 2, 191.5e12);
  check("mi250", 2, 181.05e12);
  check("tpu-v3", 2, 61.5e12);
  check("tpu-v4", 1, 275e12);
  check("tpu-v7", 2, 1153.5e12);
  check("gb200", 2, 2500e12);
  check("gb300", 2, 2500e12);
  check("gh200", 1, 989.4e12);
  check("h100-nvl", 1, 835.5e12);
  check("trainium1", 1, 190e12);
  check("trainium2", 1, 667e12);
}

TEST_CASE("what people get wrong about a chip is said") {
  for (const char* id :
       {"a10g",     "l4",       "l40s",      "t4",           "h100-sxm5-80gb", "h100-nvl",
        "h200-sxm", "h800-sxm", "h20",       "gh200",        "b200",           "gb200",
        "b300",     "gb300",    "rtx-a6000", "rtx-6000-ada", "rtx-3090",       "rtx-4090",
        "rtx-5090", "mi250x",   "mi250",     "mi300x",       "mi355x",         "tpu-v3",
        "tpu-v4",   "tpu-v5e",  "tpu-v7",    "gaudi3",       "trainium1",      "trainium2"}) {
    INFO(id);
    CHECK_FALSE(find_chip(id).trap.empty());
  }
  CHECK_THAT(std::string(find_chip("gaudi3").trap), contains("1677.7"));
  CHECK_THAT(std::string(find_chip("l4").trap), contains("242"));
}

TEST_CASE("what was reached is less than the peak") {
  CHECK(achievable().size() >= 28);
  for (const Achievable& row : achievable()) {
    INFO(row.chip_id << " " << to_string(row.precision));
    const Chip* chip = row_of(row.chip_id);
    REQUIRE(chip != nullptr);
    const PrecisionRate* rate = rate_of(*chip, row.precision);
    REQUIRE(rate != nullptr);
    CHECK(row.flops > 0.3 * rate->datasheet_flops);
    CHECK(row.flops < rate->datasheet_flops);
    CHECK_FALSE(row.source.empty());
  }
}

TEST_CASE("the best that was reached is the largest, over our own peak") {
  const Achievable* mi355x = best_achievable(find_chip("mi355x"), Precision::bf16);
  REQUIRE(mi355x != nullptr);
  CHECK(mi355x->flops / rate("mi355x", Precision::bf16).datasheet_flops ==
        Approx(0.622).margin(5e-4));
  CHECK(best_achievable(find_chip("h100-sxm5-80gb"), Precision::bf16)->flops == Approx(794.5e12));
  const Achievable* mi300x = best_achievable(find_chip("mi300x"), Precision::bf16);
  REQUIRE(mi300x != nullptr);
  CHECK(mi300x->flops == Approx(708e12));
  CHECK(mi300x->clock_mhz == 1207);
  CHECK(best_achievable(find_chip("h100-pcie"), Precision::bf16) == nullptr);
  CHECK(best_achievable(find_chip("mi355x"), Precision::fp8) == nullptr);
}

TEST_CASE("the reference's chips are rows with its figures") {
  if (!std::filesystem::exists(kReference)) MFU_SKIP("no " + kReference.string());
  std::set<std::string> divided;
  int figures = 0;
  const nlohmann::json all = reference();
  for (const auto& want : all.at("chips")) {
    const std::string id = want.at("id");
    INFO(id);
    const Chip* chip = row_of(id);
    REQUIRE(chip != nullptr);
    const int total = want.at("unit_count");
    const int parts = total == chip->units ? 1 : chip->package.devices;
    CHECK(chip->units * parts == total);
    if (parts > 1) divided.insert(id);
    const auto number = [](const nlohmann::json& value) {
      return value.is_number() ? value.get<double>() : 0.0;
    };
    CHECK(chip->memory_bytes * parts == Approx(number(want.at("memory_gib")) * kGiB));
    CHECK(chip->bandwidth_bytes_per_s * parts == Approx(number(want.at("memory_gb_per_s")) * 1e9));
    CHECK(chip->power_w * parts == Approx(number(want.at("tdp_w"))));
    CHECK(chip->sparse_figures == want.at("datasheet_prints_2to4_sparse").get<bool>());

    const auto& clocks = want.at("clock_mhz");
    const auto clock = [&](std::initializer_list<const char*> names) {
      for (const char* name : names) {
        if (const double mhz = number(clocks.value(name, nlohmann::json())); mhz > 0) return mhz;
      }
      return 0.0;
    };
    CHECK(chip->base_mhz == clock({"base"}));
    CHECK(chip->max_mhz == clock({"max_sm", "peak_engine", "core", "mme"}));

    const auto& dense = want.at("datasheet_dense_tflops");
    CHECK(chip->rates.size() == dense.size());
    for (const auto& [name, value] : dense.items()) {
      INFO(name);
      const PrecisionRate* rate = rate_of(*chip, precision_of(name));
      REQUIRE(rate != nullptr);
      ++figures;
      CHECK(rate->datasheet_flops * parts == Approx(value.get<double>() * 1e12));
      if (rate->basis == ClockBasis::unknown) continue;
      CHECK(rate->flop_per_clock_per_unit ==
            want.at("dense_flops_per_clock_per_unit").at(name).get<double>());
      CHECK(
          rate->datasheet_mhz ==
          Approx(want.at("clock_mhz_implied_by_datasheet").at(name).get<double>()).epsilon(0.005));
      if (rate->basis == ClockBasis::documented) {
        CHECK(std::any_of(clocks.begin(), clocks.end(), [&](const nlohmann::json& given) {
          return number(given) == rate->datasheet_mhz;
        }));
      }
    }
  }
  CHECK(figures >= 250);
  CHECK(divided == std::set<std::string>{"mi250", "mi250x", "tpu-v3", "tpu-v7"});
}

TEST_CASE("what the reference only recalls is not confirmed in the row either") {
  if (!std::filesystem::exists(kReference)) MFU_SKIP("no " + kReference.string());
  int recalled = 0;
  const nlohmann::json all = reference();
  for (const auto& want : all.at("chips")) {
    const Chip* chip = row_of(want.at("id").get<std::string>());
    REQUIRE(chip != nullptr);
    INFO(chip->id);
    // Links, temperatures and compute capabilities are no columns of ours.
    const bool ours = std::any_of(want.at("recalled_fields").begin(),
                                  want.at("recalled_fields").end(), [](const std::string& field) {
                                    return !field.starts_with("nvlink") &&
                                           !field.starts_with("thermal") &&
                                           !field.starts_with("cc ");
                                  });
    if (ours) CHECK_FALSE(chip->unconfirmed.empty());
    recalled += ours;
    const bool derived = !want.at("per_clock_rate_independently_sourced").get<bool>() &&
                         !want.at("dense_flops_per_clock_per_unit").empty();
    CHECK(derived == std::any_of(chip->unconfirmed.begin(), chip->unconfirmed.end(),
                                 [](std::string_view field) {
                                   return field.starts_with("rate per clock (worked out");
                                 }));
  }
  CHECK(recalled >= 25);
}

TEST_CASE("the reference's product names mean rows with its figures") {
  if (!std::filesystem::exists(kReference)) MFU_SKIP("no " + kReference.string());
  std::set<std::string> refused;
  int named = 0;
  const nlohmann::json all = reference();
  for (const auto& want : all.at("chips")) {
    const Chip* row = row_of(want.at("id").get<std::string>());
    REQUIRE(row != nullptr);
    for (const std::string full : want.at("product_names")) {
      const std::string name = full.substr(0, full.find(" ("));
      INFO(name);
      try {
        const ChipMatch match = match_chip(name);
        ++named;
        const Precision main =
            rate_of(*row, Precision::bf16) != nullptr ? Precision::bf16 : Precision::fp16;
        CHECK(peak_at(*match.chip, main, {}).flops == peak_at(*row, main, {}).flops);
      } catch (const Error&) {
        refused.insert(name);
      }
    }
  }
  CHECK(named >= 75);
  // Cut down or clocked otherwise, without figures of their own; and the name of no chip.
  CHECK(refused ==
        std::set<std::string>{"AMD Radeon Graphics", "NVIDIA GeForce RTX 5090 D",
                              "NVIDIA GeForce RTX 5090 D v2",
                              "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition"});
}

TEST_CASE("the reference's measured products are all there") {
  if (!std::filesystem::exists(kReference)) MFU_SKIP("no " + kReference.string());
  const nlohmann::json wanted = reference().at("measured_achievable");
  CHECK(wanted.size() == achievable().size());
  for (const auto& want : wanted) {
    const std::string id = want.at("chip");
    const Precision precision = parse_precision(want.at("precision").get<std::string>());
    INFO(id << " " << to_string(precision));
    const double flops = want.at("achieved_tflops").get<double>() * 1e12;
    const auto rows = achievable();
    CHECK(std::any_of(rows.begin(), rows.end(), [&](const Achievable& row) {
      return row.chip_id == id && row.precision == precision &&
             std::fabs(row.flops / flops - 1) < 1e-9 &&
             row.clock_mhz == want.value("clock_mhz", 0.0);
    }));
  }
}
