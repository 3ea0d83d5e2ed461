// A plan in words: constants and their sources in `mfu explain`, what is open, tables.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "mfu/render.hpp"
#include "mfu/report.hpp"
#include "plan/batch.hpp"
#include "plan/optimal.hpp"
#include "plan/schedule.hpp"
#include "report/list/list_section.hpp"
#include "report/plan/plan_section.hpp"

namespace {

using mfu::PlanFindings;
using mfu::PlanSection;

std::string explained(std::string_view id) {
  const mfu::ListSection section = mfu::explain_item(id);
  std::string text;
  for (const mfu::Item& item : section.items) {
    CHECK_FALSE(item.source.empty());
    text += item.text;
  }
  return text;
}

PlanFindings findings() {
  PlanFindings made;
  made.model = "toy";
  made.params = 8e9;
  made.active_params = 8e9;
  made.convention = &mfu::find_convention("6n");
  mfu::PlanInput input;
  input.flops_per_token = 6.0 * 8e9;
  input.peak_flops = 989.4e12;
  input.tokens = 1e12;
  input.gpus = 512.0;
  input.mfu = 0.3;
  input.power_w = 700.0;
  input.failures = mfu::FailureRate{1e8, true, 60.0, 600.0, {}};
  made.plan = mfu::plan_compute(input);
  made.optimal =
      mfu::plan_optimal(6.0 * 8e9 * 1e12, 8e9, 1e12, mfu::find_loss_fit("hoffmann-2022"));
  mfu::BatchInput batch;
  batch.noise_scale = 4e6;
  batch.batch = 4e6;
  batch.tokens = 1e12;
  batch.mfu = 0.3;
  made.batch = mfu::plan_batch(batch);
  made.batch_asked = true;
  mfu::ScheduleInput schedule;
  schedule.steps = 250000.0;
  schedule.warmup_steps = 1000.0;
  schedule.tokens_per_step = 4e6;
  schedule.peak_rate = 3e-4;
  made.schedule = schedule;
  made.rate_given = true;
  return made;
}

const mfu::PlanTable& table(const PlanSection& section, std::string_view id) {
  const auto found = std::find_if(section.tables.begin(), section.tables.end(),
                                  [&](const auto& one) { return one.id == id; });
  REQUIRE(found != section.tables.end());
  return *found;
}

}  // namespace

TEST_CASE("every constant of a plan stands in explain, with a source") {
  for (const mfu::LossFit& fit : mfu::loss_fits()) {
    const std::string text = explained(fit.id);
    for (const double constant : {fit.e, fit.a, fit.b, fit.alpha, fit.beta}) {
      CHECK_THAT(text, contains(fmt::format("= {}", constant)));
    }
  }
  CHECK_THAT(explained("kaplan-2020"), contains("2e8") && contains("0.21"));
  CHECK(mfu::kKaplanBatchTokens == 2e8);
  CHECK(mfu::kKaplanBatchPower == 0.21);
  CHECK_THAT(explained("chinchilla"), contains("20 tokens"));
  CHECK(mfu::kTokensPerParam == 20.0);
  const std::string rates = explained("peak-rate");
  for (const mfu::PublishedRate& row : mfu::published_rates()) {
    if (!row.model.starts_with("GPT-3 ")) continue;
    CHECK_THAT(rates, contains(fmt::format("{} {:g}e-4", row.model.substr(6), row.rate * 1e4)));
  }
  // Titles and years stand where they were looked up; numbers of equations were not.
  for (const char* id : {"goodput", "young-daly", "kaplan-2020", "hoffmann-2022"}) {
    for (const mfu::Item& item : mfu::explain_item(id).items) {
      CHECK_THAT(item.source, !contains("equation"));
    }
  }
  for (const char* id :
       {"plan", "usual-mfu", "effective-compute", "energy-bound", "critical-batch", "noise-scale",
        "inverse-loss", "data-parallel-limit", "schedule", "goodput", "young-daly", "mtbf"}) {
    CHECK_FALSE(explained(id).empty());
  }
}

TEST_CASE("answer first, every part with its table and what it leaves out") {
  const PlanSection section = mfu::describe_plan(findings());
  CHECK(section.status == "ok");
  CHECK_THAT(section.headline.front(), contains("days"));
  for (const char* id : {"worth", "failures", "optimal", "batch", "schedule"}) {
    CHECK_FALSE(table(section, id).rows.empty());
  }
  for (const char* label : {"time", "energy", "GPUs", "failures", "size", "batch"}) {
    CHECK(std::any_of(section.left_out.begin(), section.left_out.end(),
                      [&](const mfu::PlanLine& line) { return line.label == label; }));
  }
  for (const mfu::PlanTable& one : section.tables) {
    for (const mfu::PlanTable::Row& row : one.rows) CHECK(row.cells.size() == one.heads.size() + 1);
  }
}

TEST_CASE("every screen keeps to its width") {
  std::vector<PlanFindings> all{findings(), findings(), findings()};
  all[1].trainable = mfu::Trainable::lora;
  all[1].optimal.reset();
  all[1].batch.reset();
  all[2].plan.input.gpus.reset();
  all[2].plan.input.gpu_seconds = 2.0 * *all[0].plan.gpu_seconds;
  all[2].plan = mfu::plan_compute(all[2].plan.input);
  for (PlanFindings& one : all) {
    mfu::Report report;
    report.command = "plan";
    report.plan = mfu::describe_plan(std::move(one));
    for (const int width : {46, 60, 80}) {
      const std::string text = mfu::find_renderer("text").render(report, {width, false, false});
      std::size_t begin = 0;
      while (begin < text.size()) {
        const std::size_t end = text.find('\n', begin);
        CHECK(end - begin <= static_cast<std::size_t>(width));
        begin = end + 1;
      }
    }
  }
}

TEST_CASE("what is not pre-training gets no verdict of pre-training, and is told why") {
  PlanFindings made = findings();
  made.trainable = mfu::Trainable::lora;
  made.optimal.reset();
  made.batch.reset();
  made.schedule->peak_rate.reset();
  const PlanSection section = mfu::describe_plan(std::move(made));
  CHECK_THAT(section.optimal_missing, contains("trainable=lora") && contains("pre-training"));
  CHECK_THAT(section.batch_missing, contains("--noise-scale"));
  for (const std::string& remark : table(section, "schedule").remarks) {
    CHECK_THAT(remark, !contains("Llama"));
  }
}

TEST_CASE("an MFU over 1 is no figure for machines, and says so for people") {
  PlanFindings made = findings();
  made.plan.input.mfu.reset();
  made.plan.input.failures.reset();
  made.plan.input.seconds = 1000.0;
  made.plan = mfu::plan_compute(made.plan.input);
  REQUIRE(made.plan.impossible);
  mfu::Report report;
  report.command = "plan";
  report.plan = mfu::describe_plan(std::move(made));
  CHECK(report.plan->status == "impossible");
  for (const char* form : {"prom", "junit"}) {
    const std::string text = mfu::find_renderer(form).render(report, {});
    CHECK_THAT(text, !contains("utilization_ratio") && !contains("mfu_ratio"));
    CHECK_THAT(text, contains("plan_gpus"));
  }
}

TEST_CASE("what is missing or contradicts is said at once, with the way out") {
  CHECK(mfu::plan_problems(mfu::plan_compute({}), "").size() == 6);
  mfu::PlanInput input = findings().plan.input;
  input.seconds = 1.0;
  const auto wrong = mfu::plan_problems(mfu::plan_compute(input), "");
  REQUIRE(wrong.size() == 1);
  CHECK(wrong[0].place().what == "--time");
  CHECK_THAT(wrong[0].message(), contains("--tokens, --gpus and --mfu give"));
  input.seconds.reset();
  input.gpus.reset();
  PlanFindings open = findings();
  open.plan = mfu::plan_compute(input);
  const PlanSection section = mfu::describe_plan(std::move(open));
  CHECK(section.status == "open");
  CHECK_THAT(section.open_text, contains("GPUs and time") && contains("one of --gpus"));
}

TEST_CASE("long times and money as people write them") {
  CHECK(mfu::long_time_text(36.7 * 86400.0) == "36.7 days");
  CHECK(mfu::long_time_text(86400.0) == "24.0 hours");
  CHECK(mfu::long_time_text(5.0 * 365.25 * 86400.0) == "5.00 years");
  CHECK(mfu::long_time_text(1e30) == "3.17e22 years");
  CHECK(mfu::money_text(1375000.0, "$") == "$1.375M");
  CHECK(mfu::money_text(12345.0, "EUR") == "EUR 12,345");
  CHECK(mfu::money_text(2.5, "") == "2.50");
}
