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
  CHECK(match.same_peak_ids.size() == 3);
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
       {"NVIDIA A1000", "NVIDIA T400", "NVIDIA A10", "NVIDIA RTX A1000", "NVIDIA GH200 480GB",
        "NVIDIA GH200", "NVIDIA A10G", "NVIDIA H20", "NVIDIA H800", "A100X", "RTX A100", "80GB",
        "SXM4", "", "   ", "NVIDIA", "NVIDIA H100 80GB HBM3 Laptop", "NVIDIA A100-SXM-64GB"}) {
    INFO(name);
    CHECK_THAT(refusal(name), contains("unknown chip"));
  }
}

TEST_CASE("an unknown chip lists near names, and a strange one all") {
  CHECK_THAT(refusal("h100-smx"), contains("near names: h100-sxm5-80gb"));
  CHECK_THAT(refusal("h10-pcie"), contains("h100-pcie"));
  CHECK_THAT(refusal("abacus"), contains("known chips: a100-sxm4-80gb"));
  CHECK(refusal(std::string(10'000'000, 'x')).size() < 1000);
}

TEST_CASE("a slice of a GPU has not the GPU's peak") {
  CHECK_THAT(refusal("NVIDIA A100-SXM4-40GB MIG 1g.5gb"), contains("MIG"));
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
