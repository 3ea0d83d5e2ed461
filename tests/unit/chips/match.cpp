#include <set>
#include <string>

#include "catch.hpp"
#include "mfu/chip.hpp"

using namespace mfu;

namespace {

std::string refusal(std::string_view name) {
  try {
    (void)find_chip(name);
  } catch (const Error& error) {
    REQUIRE(error.kind() == ErrorKind::unsupported);
    return error.message() + " | " + error.hint();
  }
  return "";
}

}  // namespace

TEST_CASE("the names that drivers print mean their rows") {
  const std::pair<const char*, const char*> names[] = {{"NVIDIA A100-SXM4-40GB", "a100-sxm4-40gb"},
                                                       {"A100-SXM4-40GB", "a100-sxm4-40gb"},
                                                       {"NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb"},
                                                       {"NVIDIA A100-PCIE-40GB", "a100-pcie-40gb"},
                                                       {"NVIDIA A100 80GB PCIe", "a100-pcie-80gb"},
                                                       {"NVIDIA H100 80GB HBM3", "h100-sxm5-80gb"},
                                                       {"NVIDIA H100 PCIe", "h100-pcie"},
                                                       {"NVIDIA H100 NVL", "h100-nvl"},
                                                       {"NVIDIA H200", "h200-sxm"},
                                                       {"NVIDIA H200 NVL", "h200-nvl"},
                                                       {"NVIDIA-H100-80GB-HBM3", "h100-sxm5-80gb"},
                                                       {"nvidia h200-sxm-141gb", "h200-sxm"}};
  for (const auto& [name, id] : names) {
    INFO(name);
    CHECK(find_chip(name).id == id);
  }
}

TEST_CASE("people's short names") {
  CHECK(find_chip("h100-sxm").id == "h100-sxm5-80gb");
  CHECK(find_chip("H100_SXM5").id == "h100-sxm5-80gb");
  CHECK(find_chip("h100 sxm 80 GB").id == "h100-sxm5-80gb");
  CHECK(find_chip("NVIDIA A100 Tensor Core GPU 80 GB").id == "a100-sxm4-80gb");
  CHECK(find_chip("a3mega").id == "h100-sxm5-80gb");
}

TEST_CASE("what a short name leaves open is accepted where the peaks agree, and said") {
  const ChipMatch match = match_chip("a100");
  CHECK(match.chip->id == "a100-sxm4-80gb");
  CHECK(match.same_peak_ids.size() >= 3);
  for (const std::string_view id : match.same_peak_ids) CHECK(id.starts_with("a100"));
  CHECK(match_chip("a100-sxm4-80gb").same_peak_ids.empty());
}

TEST_CASE("what a short name leaves open is refused where the peaks differ") {
  for (const char* name : {"H100", "NVIDIA H100", "H100 80GB"}) {
    INFO(name);
    const std::string text = refusal(name);
    CHECK_THAT(text, contains("different peaks"));
    CHECK_THAT(text, contains("h100-sxm5-80gb"));
    CHECK_THAT(text, contains("h100-pcie"));
  }
}

TEST_CASE("names that contain a known name are other chips") {
  for (const char* name :
       {"NVIDIA A1000", "NVIDIA T400", "NVIDIA RTX A1000", "NVIDIA A10M", "NVIDIA RTX A400",
        "NVIDIA GeForce RTX 4090 D", "NVIDIA GeForce RTX 4090 Laptop GPU", "Quadro RTX 6000",
        "NVIDIA GeForce RTX 5090 D v2", "A100X", "RTX A100", "80GB", "SXM4", "sm_90", "8.6",
        "NVIDIA H100 80GB HBM3 Laptop"}) {
    INFO(name);
    CHECK_THAT(refusal(name), contains("unknown chip"));
  }
}

TEST_CASE("names of other chips that contain a name mean their own rows") {
  CHECK(find_chip("NVIDIA A10").id == "a10");
  CHECK(find_chip("NVIDIA A10G").id == "a10g");
  CHECK(find_chip("NVIDIA GH200 480GB").id == "gh200");
  CHECK(find_chip("NVIDIA H20").id == "h20");
  CHECK(find_chip("NVIDIA H800").id == "h800-sxm");
  CHECK(find_chip("NVIDIA GB200").id == "gb200");
  CHECK(find_chip("NVIDIA L40S").id == "l40s");
  CHECK(find_chip("NVIDIA L4").id == "l4");
}

TEST_CASE("names that say nothing are refused with the way out") {
  for (const char* name : {"", "   ", "NVIDIA", "AMD Radeon Graphics", "NVIDIA Graphics Device"}) {
    INFO(name);
    CHECK_THAT(refusal(name), contains("gfx942 304 CU 192 GB"));
  }
}

TEST_CASE("an unknown chip lists near names, and a strange one all") {
  CHECK_THAT(refusal("h100-smx"), contains("near names: h100-sxm5-80gb"));
  CHECK_THAT(refusal("h10-pcie"), contains("h100-pcie"));
  CHECK_THAT(refusal("abacus"), contains("mfu list chips"));
  CHECK(refusal(std::string(10'000'000, 'x')).size() < 1000);
}

TEST_CASE("a slice of a GPU has its share of the GPU's peak") {
  const ChipMatch slice = match_chip("NVIDIA A100-SXM4-40GB MIG 1g.5gb");
  CHECK(slice.chip->units == 14);
  CHECK(slice.chip->id == "a100-sxm4-40gb-mig-1g.5gb");
  CHECK(peak_at(*slice.chip, Precision::bf16, {}).flops == Approx(312e12 * 14 / 108));
  CHECK(peak_at(*slice.chip, Precision::bf16, {ClockRule::max, 0}).flops ==
        Approx(14 * 2048 * 1410e6));
  CHECK_THAT(slice.remark, contains("14 of the GPU's 108 SMs"));
  CHECK(match_chip("NVIDIA H100 80GB HBM3 MIG 3g.40gb").chip->units == 60);
  CHECK(match_chip("NVIDIA H100 80GB HBM3 MIG 1g.20gb").chip->units == 26);
  CHECK(match_chip("H200 MIG 1g.18gb").chip->units == 16);
  CHECK(match_chip("h100-sxm MIG 1g.10gb+me").chip->units == 16);
  // The same slice is the same row.
  CHECK(match_chip("NVIDIA A100-SXM4-40GB MIG 1g.5gb").chip == slice.chip);
}

TEST_CASE("a slice without its GPU, or with units that are not known, is refused") {
  CHECK_THAT(refusal("MIG 3g.40gb Device 0"), contains("not named"));
  CHECK_THAT(refusal("NVIDIA H100 80GB HBM3 MIG"), contains("which is not said"));
  CHECK_THAT(refusal("NVIDIA B200 MIG 4g.90gb"), contains("--units"));
  CHECK_THAT(refusal("NVIDIA H100 80GB HBM3 MIG 1c.3g.40gb"), contains("--units"));
  CHECK_THAT(refusal("NVIDIA A100-SXM4-40GB MIG 9g.5gb"), contains("--units"));
}

TEST_CASE("slices of TPU pods count cores in some generations") {
  const ChipMatch v4 = match_chip("v4-8");
  CHECK(v4.chip->id == "tpu-v4");
  CHECK(v4.devices_in_name == 4);
  CHECK(match_chip("TPU v5p-16").devices_in_name == 8);
  CHECK(match_chip("v5litepod-8").devices_in_name == 8);
  CHECK(match_chip("v3-8").devices_in_name == 8);
  CHECK_THAT(refusal("v4-7"), contains("unknown chip"));
}

TEST_CASE("AMD devices without a name are known by what stands beside it") {
  CHECK(match_chip("gfx942:sramecc+:xnack- 304 CU 192 GB").chip->id == "mi300x");
  CHECK(match_chip("AMD Radeon Graphics gfx942 304 CU 256 GB").chip->id == "mi325x");
  CHECK(match_chip("gfx942 228 CU").chip->id == "mi300a");
  CHECK(match_chip("gfx950 256 CU 2400MHz").chip->id == "mi355x");
  CHECK_THAT(refusal("gfx950 256 CU"), contains("mi350x, mi355x"));
  CHECK_THAT(refusal("gfx942 80 CU"), contains("of this architecture"));
  DeviceFacts facts;
  facts.name = "AMD Radeon Graphics";
  facts.gfx = "gfx90a";
  facts.units = 110;
  CHECK(match_device(facts).chip->id == "mi250x");
}

TEST_CASE("a PCI device id decides, whatever the name says") {
  DeviceFacts facts;
  facts.pci_device = 0x233010DE;
  facts.name = "NVIDIA Graphics Device";
  CHECK(match_device(facts).chip->id == "h100-sxm5-80gb");
  facts.name = "NVIDIA H100 PCIe";
  CHECK_THAT(match_device(facts).remark, contains("h100-pcie"));
  facts.pci_device = 0x2339;
  facts.name = "NVIDIA H100";
  CHECK_THROWS_AS(match_device(facts), Error);
  facts.pci_device = 0xFFFF;
  facts.name = "NVIDIA H200";
  CHECK(match_device(facts).chip->id == "h200-sxm");
}

TEST_CASE("a device that is not what its name says is noticed") {
  DeviceFacts facts;
  facts.memory_bytes = 81559.0 * 1024 * 1024;
  facts.max_mhz = 1980;
  facts.power_limit_w = 700;
  const Chip& h100 = find_chip("h100-sxm");
  CHECK(conflicts(h100, facts).empty());
  facts.memory_bytes = 143771.0 * 1024 * 1024;
  facts.max_mhz = 1755;
  facts.power_limit_w = 350;
  facts.units = 114;
  CHECK(conflicts(h100, facts).size() == 4);
}

TEST_CASE("units can be given for a part that is not in the table") {
  const Chip& part = with_units(find_chip("b200"), 72, "72-units");
  CHECK(peak_at(part, Precision::bf16, {}).flops == Approx(2250e12 * 72 / 148));
  CHECK(part.id == "b200-72-units");
}

TEST_CASE("every row answers to its own names, and to no other row's") {
  std::set<std::string> ids;
  for (const Chip& chip : chips()) {
    CHECK(ids.insert(std::string(chip.id)).second);
    CHECK(find_chip(chip.id).id == chip.id);
    CHECK(find_chip(chip.name).id == chip.id);
    for (const std::string_view alias : chip.aliases) {
      INFO(std::string(alias));
      CHECK(find_chip(alias).id == chip.id);
    }
  }
}

TEST_CASE("the place that is handed over is the error's place") {
  Place place;
  place.what = "hardware.chip";
  try {
    (void)find_chip("nothing", place);
    FAIL();
  } catch (const Error& error) {
    CHECK(error.place().what == "hardware.chip");
  }
}
