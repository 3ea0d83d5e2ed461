// The instrument of a measurement as a struct and as the text that reports and histories keep.
#include "measure/fingerprint.hpp"

#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mfu//measure.hpp"

namespace {

using namespace mfu;

Fingerprint made(std::mt19937_64& random) {
  const auto one_of = [&](const auto& list) { return list[random() % list.size()]; };
  const std::vector<std::string> conventions{"", "palm", "exact-full", "6n", "as-logged:maxtext"};
  const std::vector<std::string> settings{
      "", "attention=full", "attention=full window=ignore recompute=none trainable=all"};
  const std::vector<std::string> precisions{"", "bf16", "bf16=0.7,fp8=0.3", "fp8 hybrid"};
  const std::vector<ClockRule> rules{ClockRule::datasheet, ClockRule::max, ClockRule::base,
                                     ClockRule::mhz, ClockRule::measured};
  PeakClock clock;
  std::optional<double> peak;
  switch (random() % 4) {
    case 0:
      clock.kind = PeakClock::Kind::none;
      break;
    case 1:
      clock.kind = PeakClock::Kind::given_peak;
      peak =
          std::ldexp(static_cast<double>(1 + random() % 1000000), static_cast<int>(random() % 40));
      break;
    default:
      clock.kind = PeakClock::Kind::rule;
      clock.rule = one_of(rules);
      if (random() % 4 != 0) clock.mhz = static_cast<double>(random() % 3000000) / 999.0 + 1.0;
      peak = 1e12 * static_cast<double>(random() % 5000000) / 4999.0;
  }
  return fingerprint_of(one_of(conventions), one_of(settings), peak, one_of(precisions), clock);
}

}  // namespace

TEST_CASE("a fingerprint is its text, and the text is the fingerprint", "[fingerprint]") {
  std::mt19937_64 random(7);
  Fingerprint last;
  for (int i = 0; i < 5000; ++i) {
    const Fingerprint fingerprint = made(random);
    const std::string text = to_text(fingerprint);
    INFO(text);
    CHECK(fingerprint.as_read.empty());
    const Fingerprint again = parse_fingerprint(text);
    CHECK(again == fingerprint);
    CHECK(to_text(again) == text);
    CHECK((fingerprint == last) == (text == to_text(last)));
    last = fingerprint;
  }
}

TEST_CASE("each part of a fingerprint is a field", "[fingerprint]") {
  const Fingerprint fingerprint = parse_fingerprint(
      "convention=exact-full attention=causal window=honour peak=312T "
      "precision=bf16=0.7,fp8=0.3 clock=mhz@1410MHz");
  CHECK(fingerprint.convention == "exact-full");
  CHECK(fingerprint.settings == "attention=causal window=honour");
  CHECK(counted_by(fingerprint) == "exact-full attention=causal window=honour");
  REQUIRE(fingerprint.peak_tflops);
  CHECK(*fingerprint.peak_tflops == 312.0);
  CHECK(fingerprint.precision == "bf16=0.7,fp8=0.3");
  CHECK(fingerprint.clock.kind == PeakClock::Kind::rule);
  CHECK(fingerprint.clock.rule == ClockRule::mhz);
  REQUIRE(fingerprint.clock.mhz);
  CHECK(*fingerprint.clock.mhz == 1410.0);
  CHECK(fingerprint.as_read.empty());
  CHECK_FALSE(is_unnamed(fingerprint));
}

TEST_CASE("what is not known is written as that", "[fingerprint]") {
  PeakClock none;
  none.kind = PeakClock::Kind::none;
  const Fingerprint nothing = fingerprint_of("", "", std::nullopt, "", none);
  CHECK(to_text(nothing) == "convention=unnamed peak=unknown precision=unnamed clock=none");
  CHECK(is_unnamed(nothing));
  CHECK_FALSE(nothing.peak_tflops);
  CHECK(nothing.precision.empty());
  CHECK(to_text(Fingerprint{}).empty());
  CHECK(parse_fingerprint("") == Fingerprint{});
}

TEST_CASE("numbers are those of the text: what was saved equals what was measured",
          "[fingerprint]") {
  PeakUsed peak;
  peak.flops = 989.43e12 * (1 + 1e-13);
  peak.clock_mhz = 1830.0000004;
  const Fingerprint measured = fingerprint_of("palm", "", peak);
  CHECK(to_text(measured) ==
        "convention=palm peak=989.43T precision=unnamed clock=datasheet@1830MHz");
  CHECK(measured == parse_fingerprint(to_text(measured)));
  peak.flops = 989.44e12;
  CHECK_FALSE(measured == fingerprint_of("palm", "", peak));
}

TEST_CASE("a text of another form is kept as it is, and equals itself alone", "[fingerprint]") {
  const std::string whole = "convention=palm peak=989.4T precision=bf16 clock=datasheet@1830MHz";
  const std::vector<std::string> others{
      "nothing of the kind",
      "convention=palm",
      "convention=palm peak=989.4T precision=bf16",
      "convention=palm peak=989.40T precision=bf16 clock=datasheet@1830MHz",
      "convention=palm peak=989.4 precision=bf16 clock=datasheet@1830MHz",
      "convention=palm peak=nanT precision=bf16 clock=datasheet@1830MHz",
      "convention=palm peak=infT precision=bf16 clock=datasheet@1830MHz",
      "convention=palm peak=989.4T precision= clock=datasheet@1830MHz",
      "convention=palm peak=989.4T precision=bf16 clock=datasheet@1830.0MHz",
      "convention=palm peak=989.4T precision=bf16 clock=datasheet@MHz",
      "convention=palm peak=989.4T precision=bf16 clock=",
      "convention= peak=989.4T precision=bf16 clock=datasheet@1830MHz",
      "peak=989.4T convention=palm precision=bf16 clock=datasheet@1830MHz",
      " " + whole,
      whole + " ",
      whole + " more=1",
      "convention=palm peak=1T peak=989.4T precision=bf16 clock=none",
  };
  std::vector<Fingerprint> all{parse_fingerprint(whole)};
  for (const std::string& text : others) {
    INFO(text);
    const Fingerprint fingerprint = parse_fingerprint(text);
    CHECK(to_text(fingerprint) == text);
    CHECK(fingerprint == parse_fingerprint(text));
    for (const Fingerprint& other : all) CHECK_FALSE(fingerprint == other);
    all.push_back(fingerprint);
  }
  // A clock that is not known here is one that another can differ from.
  const Fingerprint odd =
      parse_fingerprint("convention=palm peak=989.4T precision=bf16 clock=boost@1980MHz");
  CHECK(odd.convention == "palm");
  CHECK(odd.precision == "bf16");
  CHECK(odd.clock.kind == PeakClock::Kind::other);
  CHECK(to_text(odd.clock) == "boost@1980MHz");
  CHECK(parse_fingerprint("nothing of the kind").convention.empty());
}

TEST_CASE("every cut of a fingerprint reads, and writes back as it was", "[fingerprint]") {
  const std::string whole =
      "convention=palm attention=full peak=989.4T precision=bf16 clock=datasheet@1830MHz";
  for (std::size_t n = 0; n <= whole.size(); ++n) {
    CHECK(to_text(parse_fingerprint(whole.substr(0, n))) == whole.substr(0, n));
    CHECK(to_text(parse_fingerprint(whole.substr(n))) == whole.substr(n));
    std::string other = whole;
    if (n < other.size()) other[n] = '#';
    CHECK(to_text(parse_fingerprint(other)) == other);
    if (n < other.size()) CHECK_FALSE(parse_fingerprint(other) == parse_fingerprint(whole));
  }
}
