// One measurement: what follows from what, what is missing, what disagrees.
#include <algorithm>
#include <vector>

#include "catch.hpp"
#include "measure/detective.hpp"
#include "measure/disagreement.hpp"
#include "measure/peaks.hpp"
#include "mfu/measure.hpp"

namespace {

using mfu::CalcInput;
using mfu::Calculation;
using mfu::MissingInput;

mfu::PeakUsed given_peak(double flops) {
  mfu::PeakUsed peak;
  peak.flops = flops;
  peak.given = true;
  return peak;
}

mfu::PeakUsed h100() {
  mfu::PeakUsed peak;
  peak.chip = &mfu::find_chip("h100-sxm");
  peak.precision = mfu::Precision::bf16;
  const mfu::Peak found = mfu::peak_at(*peak.chip, *peak.precision, peak.clock);
  peak.flops = found.flops;
  peak.clock_mhz = found.clock_mhz;
  return peak;
}

CalcInput llama() {
  CalcInput input;
  input.model = mfu::find_model("llama-3.1-8b");
  input.seq_len = 8192;
  input.batch = 512;
  input.gpus = 64;
  input.step_seconds = 12.9;
  input.peak = h100();
  input.convention = &mfu::find_convention("palm");
  return input;
}

bool misses(const Calculation& calculation, MissingInput what) {
  return std::find(calculation.missing.begin(), calculation.missing.end(), what) !=
         calculation.missing.end();
}

}  // namespace

TEST_CASE("a measurement gives throughput, FLOP/s and MFU") {
  const Calculation c = mfu::calculate(llama());
  REQUIRE(c.results.size() == 1);
  const double per_token = 6.0 * 8030261248.0 + 12.0 * 32 * 4096 * 8192;
  CHECK(*c.results[0].flops_per_token == per_token);
  CHECK(*c.tokens_per_step == 512.0 * 8192);
  CHECK(*c.tokens_per_second == Approx(512.0 * 8192 / 12.9));
  CHECK(*c.mfu() == Approx(per_token * 512 * 8192 / 12.9 / 64 / 989.4e12));
  CHECK(*c.achieved_flops == Approx(*c.mfu() * 989.4e12));
  CHECK(c.status == mfu::CalcStatus::ok);
}

TEST_CASE("achieved over peak needs nothing else") {
  CalcInput input;
  input.achieved_flops = 140e12;
  input.peak = given_peak(312e12);
  const Calculation c = mfu::calculate(input);
  CHECK(*c.mfu() == Approx(140.0 / 312));
  CHECK(c.results.empty());
}

TEST_CASE("an achieved figure gives the tokens that it needs") {
  CalcInput input = llama();
  input.step_seconds.reset();
  input.batch.reset();
  input.achieved_flops = 310e12;
  const Calculation c = mfu::calculate(input);
  CHECK(*c.tokens_per_second_per_gpu == Approx(310e12 / *c.results[0].flops_per_token));
  CHECK(*c.mfu() == Approx(310 / 989.4));
}

TEST_CASE("everything that is missing is named, and nothing else") {
  CalcInput input;
  CHECK(mfu::calculate(input).missing ==
        std::vector<MissingInput>{MissingInput::model, MissingInput::measurement,
                                  MissingInput::gpus, MissingInput::peak});
  input = llama();
  input.batch.reset();
  CHECK(mfu::calculate(input).missing == std::vector<MissingInput>{MissingInput::tokens});
  input = llama();
  input.seq_len.reset();
  CHECK(mfu::calculate(input).missing == std::vector<MissingInput>{MissingInput::seq_len});
  input = llama();
  input.gpus.reset();
  CHECK(misses(mfu::calculate(input), MissingInput::gpus));
  input.step_seconds.reset();
  input.tokens_per_second_per_gpu = 5080;
  CHECK(mfu::calculate(input).missing.empty());
  input.peak.reset();
  CHECK(mfu::calculate(input).status == mfu::CalcStatus::no_peak);
}

TEST_CASE("statements agree within one per cent; else the factor is named") {
  CalcInput input = llama();
  const double stated = 512.0 * 8192 / 12.9;
  input.tokens_per_second = stated * 1.009;
  CHECK_FALSE(mfu::calculate(input).disagreements);
  input.tokens_per_second = stated * 1.02;
  Calculation c = mfu::calculate(input);
  REQUIRE(c.disagreements.value_or({}).size() == 1);
  CHECK((*c.disagreements)[0].factor == 0);
  CHECK(c.results.empty());
  input.tokens_per_second = stated / 64;
  c = mfu::calculate(input);
  REQUIRE(c.disagreements.value_or({}).size() == 1);
  CHECK((*c.disagreements)[0].factor == 64);
  CHECK((*c.disagreements)[0].guess == mfu::FactorGuess::gpus);
  CHECK_FALSE((*c.disagreements)[0].left_is_larger);
  input.accumulation = 4;
  input.tokens_per_second = stated * 4;
  CHECK(mfu::calculate(input).disagreements->at(0).guess == mfu::FactorGuess::accumulation);
  input.tokens_per_second = stated * 3;
  CHECK(mfu::calculate(input).disagreements->at(0).guess == mfu::FactorGuess::copies);
}

TEST_CASE("whole factors") {
  CHECK(mfu::whole_factor(2.0) == 2);
  CHECK(mfu::whole_factor(7.95) == 8);
  CHECK(mfu::whole_factor(7.9) == 0);
  CHECK(mfu::whole_factor(1.2) == 0);
  CHECK(mfu::whole_factor(0.5) == 0);
}

TEST_CASE("other conventions take the facts of the run, not how attention is counted") {
  CalcInput input = llama();
  input.switches.attention = mfu::AttentionCount::none;
  input.switches.recompute = mfu::RecomputeCount::full;
  const std::vector<const mfu::Convention*> others{&mfu::find_convention("exact-full"),
                                                   &mfu::find_convention("6n")};
  const Calculation c = mfu::calculate(input, others);
  REQUIRE(c.results.size() == 3);
  CHECK(*c.results[0].flops_per_token == *c.results[2].flops_per_token);
  CHECK(*c.results[1].flops_per_token > *c.results[2].flops_per_token);
  for (const mfu::ConventionResult& result : c.results) {
    CHECK(*result.hfu / *result.mfu > 1.2);
  }
}

TEST_CASE("sparse figures are recognised in the precision that is meant") {
  const auto sparse = mfu::sparse_figure(1979e12, mfu::Precision::bf16);
  REQUIRE(sparse);
  CHECK(sparse->dense_flops == 989.4e12);
  CHECK_FALSE(mfu::sparse_figure(1979e12, mfu::Precision::fp8));  // dense there
  CHECK(mfu::sparse_figure(624e12, mfu::Precision::bf16)->dense_flops == 312e12);
  CHECK_FALSE(mfu::sparse_figure(989.4e12, mfu::Precision::bf16));
}

TEST_CASE("peaks around the one that was used") {
  const Calculation c = mfu::calculate(llama());
  int used = 0;
  for (const mfu::PeakRow& row : mfu::peaks_around(c)) {
    used += row.used ? 1 : 0;
    CHECK(*row.mfu * row.flops == Approx(*c.achieved_flops));
    if (!row.dense) CHECK(row.flops == Approx(2 * 989.4e12));
  }
  CHECK(used == 1);
}

TEST_CASE("over 100 per cent: explanations give possible values, plausible ones first") {
  CalcInput input = llama();
  input.step_seconds = 1.9;
  const Calculation c = mfu::calculate(input);
  CHECK(c.status == mfu::CalcStatus::impossible);
  const std::vector<mfu::Excuse> excuses = mfu::excuses_for(c);
  REQUIRE_FALSE(excuses.empty());
  CHECK(excuses.front().would_be < 0.75);
  for (const mfu::Excuse& excuse : excuses) {
    CHECK(excuse.would_be > 0);
    CHECK(excuse.would_be <= 1);
  }
  CHECK(mfu::excuses_for(mfu::calculate(llama())).empty());
}

TEST_CASE("the detective: the exact figure, the fewest changes, and ties") {
  const Calculation c = mfu::calculate(llama());
  const auto reported = [&](double value, double half) {
    return mfu::detect(c, {true, value, half}, 0.0, 50);
  };
  mfu::Detection found = reported(*c.mfu(), 1e-6);
  REQUIRE_FALSE(found.matches.empty());
  CHECK(found.matches[0].departures == 0);
  CHECK(found.matches[0].relative_error == 0.0);
  CHECK(found.ties > 1);  // conventions that count the same

  found = reported(*c.mfu() * 64, 1e-6);
  CHECK(found.matches[0].factor == mfu::WrongFactor::gpus_not_divided);
  CHECK(found.matches[0].departures == 1);

  found = reported(*c.mfu() / 3, 1e-6);
  CHECK(found.matches[0].factor == mfu::WrongFactor::forward_only);

  found = reported(*c.mfu() / 2, 1e-6);
  CHECK_FALSE(found.matches[0].peak.dense);

  found = reported(*c.mfu() * 989.4 / 312, 1e-6);
  CHECK(found.matches[0].peak.flops == 312e12);

  for (const mfu::Match& match : found.matches) {
    CHECK(match.value == Approx(found.reported.value * (1 + match.relative_error)));
  }
}

TEST_CASE("the detective follows the sequence into the tokens of a step") {
  CalcInput input = llama();
  const Calculation right = mfu::calculate(input);
  input.seq_len = 16384;
  const Calculation wrong = mfu::calculate(input);
  const mfu::Detection found = mfu::detect(wrong, {true, *right.mfu(), 1e-6}, 0.0, 50);
  CHECK(found.matches[0].factor == mfu::WrongFactor::sequence_halved);
}
