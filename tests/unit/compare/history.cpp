// What is usual in a history, and when it changed.
#include "compare/history.hpp"

#include <cmath>
#include <vector>

#include "catch.hpp"
#include "statistics/robust.hpp"

namespace {

using namespace mfu;

std::vector<double> level(double mfu, std::size_t count, double sigma, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(std::log(mfu) + sigma * random.normal());
  }
  return values;
}

std::vector<double> joined(std::vector<double> a, const std::vector<double>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

TEST_CASE("a level is found and its outliers do not move it", "[history]") {
  std::vector<double> values = level(0.4, 15, 0.004, 1);
  values[7] = std::log(0.2);  // one bad run
  const auto baseline = baseline_of(values);
  REQUIRE(baseline);
  CHECK(std::exp(baseline->log_middle) == Approx(0.4).epsilon(0.005));
  CHECK(baseline->log_sigma < 0.01);
  CHECK(baseline->entries == 15);
}

TEST_CASE("two records are no baseline", "[history]") {
  CHECK_FALSE(baseline_of(level(0.4, 2, 0.01, 1)));
  CHECK(baseline_of(level(0.4, 3, 0.01, 1)));
  CHECK_FALSE(baseline_of({}));
}

TEST_CASE("a shift of the level is found where it is", "[history]") {
  int right = 0;
  constexpr int kRuns = 40;
  for (int seed = 1; seed <= kRuns; ++seed) {
    const auto s = static_cast<std::uint64_t>(seed);
    const std::vector<double> values =
        joined(level(0.42, 12, 0.005, s), level(0.38, 9, 0.005, s + 1000));
    const std::vector<HistoryChange> changes = changes_in(values);
    if (changes.size() != 1 || changes.front().index != 12) continue;
    ++right;
    CHECK(std::exp(changes.front().log_before) == Approx(0.42).epsilon(0.01));
    CHECK(std::exp(changes.front().log_after) == Approx(0.38).epsilon(0.01));
    // What is usual is what came after.
    CHECK(std::exp(baseline_of(values)->log_middle) == Approx(0.38).epsilon(0.01));
  }
  CHECK(right >= 0.95 * kRuns);
}

TEST_CASE("a level without a shift has none", "[history]") {
  int found = 0;
  constexpr int kRuns = 200;
  for (int seed = 1; seed <= kRuns; ++seed) {
    found += changes_in(level(0.4, 30, 0.006, static_cast<std::uint64_t>(seed))).empty() ? 0 : 1;
  }
  CHECK(found <= 0.03 * kRuns);
}

TEST_CASE("a shift back is two changes", "[history]") {
  const std::vector<double> values =
      joined(joined(level(0.4, 10, 0.003, 1), level(0.3, 10, 0.003, 2)), level(0.4, 10, 0.003, 3));
  const std::vector<HistoryChange> changes = changes_in(values);
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].index == 10);
  CHECK(changes[1].index == 20);
}

TEST_CASE("records are grouped by job and fingerprint", "[history]") {
  std::vector<HistoryEntry> entries;
  for (int i = 0; i < 8; ++i) {
    HistoryEntry entry;
    entry.job = i % 2 == 0 ? "a" : "b";
    entry.fingerprint = parse_fingerprint(i < 6 ? "one" : "two");
    entry.mfu = 0.4 + 0.001 * i;
    entries.push_back(entry);
  }
  entries.back().mfu.reset();
  const std::vector<HistorySeries> all = group_history(entries, "");
  REQUIRE(all.size() == 4);
  CHECK(all[0].entries.size() == 3);
  CHECK(all[0].baseline);
  CHECK(all[3].log_speeds.empty());
  CHECK(group_history(entries, "b").size() == 2);
  CHECK(group_history(entries, "c").empty());
}

TEST_CASE("step times of other batches, GPUs or commands are another line", "[history]") {
  HistoryEntry first;
  first.job = "a";
  first.command = "log";
  first.gpus = 8;
  first.tokens_per_step = 1e6;
  first.step_seconds = 1.0;
  const auto alike = [&](auto&& change) {
    HistoryEntry other = first;
    change(other);
    return group_history({first, other}, "").size() == 1;
  };
  CHECK(alike([](HistoryEntry& e) { e.step_seconds = 1.1; }));
  CHECK(alike([](HistoryEntry& e) { e.tokens_per_step = 1.0002e6; }));
  CHECK_FALSE(alike([](HistoryEntry& e) { e.tokens_per_step = 2e6; }));
  CHECK_FALSE(alike([](HistoryEntry& e) { e.tokens_per_step.reset(); }));
  CHECK_FALSE(alike([](HistoryEntry& e) { e.gpus = 16; }));
  CHECK_FALSE(alike([](HistoryEntry& e) { e.command = "diagnose"; }));
  // An MFU has the batch in it.
  first.mfu = 0.4;
  CHECK(alike([](HistoryEntry& e) { e.tokens_per_step = 2e6; }));
}

TEST_CASE("a run is as usual within the scatter, and slower beyond it", "[history]") {
  const HistoryBaseline baseline = *baseline_of(level(0.4, 20, 0.005, 5));
  const AgainstHistory same = hold_against(baseline, std::log(0.399), {});
  CHECK(same.log_ci.lo < 0);
  CHECK(same.log_ci.hi > 0);
  const AgainstHistory slow = hold_against(baseline, std::log(0.37), {});
  CHECK(slow.log_ci.hi < 0);
  // A run that is itself uncertain tells less.
  const AgainstHistory unsure = hold_against(baseline, std::log(0.37), Interval{-0.2, 0.2});
  CHECK(unsure.log_ci.hi > 0);
}

TEST_CASE("a run like those before is as usual, however few these are", "[history]") {
  for (const std::size_t count : {3U, 4U, 5U, 6U, 8U, 12U, 20U}) {
    int beyond = 0;
    constexpr int kRuns = 1000;
    for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
      const std::vector<double> values = level(0.4, count + 1, 0.02, seed);
      const std::vector<double> before(values.begin(), values.end() - 1);
      const auto baseline = baseline_of(before);
      REQUIRE(baseline);
      const AgainstHistory against = hold_against(*baseline, values.back(), {});
      beyond += against.log_ci.lo > 0 || against.log_ci.hi < 0 ? 1 : 0;
    }
    INFO(count);
    CHECK(beyond <= 0.075 * kRuns);
  }
}

TEST_CASE("what is too old to be looked at is in no change", "[history]") {
  // 650 records: of the first 150 nothing is looked at, and they are most of what came before.
  const std::vector<double> values = joined(
      level(0.30, 150, 0.002, 1), joined(level(0.40, 100, 0.002, 2), level(0.36, 400, 0.002, 3)));
  const std::vector<HistoryChange> changes = changes_in(values);
  REQUIRE(changes.size() == 1);
  CHECK(changes.front().index == 250);
  CHECK(std::exp(changes.front().log_before) == Approx(0.40).epsilon(0.01));
}
