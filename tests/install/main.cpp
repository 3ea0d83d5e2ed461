// Uses the installed library the way an outside program would: all that it offers, once.
//
// consumer BEFORE AFTER: two runs. What each part prints stands under a line "== NAME".
#include <cstdio>
#include <mfu/mfu.hpp>
#include <string>

namespace {

void head(const char* name) { std::printf("== %s\n", name); }

void render(const mfu::Report& report, const char* format) {
  std::fputs(mfu::find_renderer(format).render(report, {}).c_str(), stdout);
}

struct Diagnosed {
  mfu::Diagnosis diagnosis;
  mfu::Report report;
};

Diagnosed diagnosed(const char* path) {
  mfu::Notes notes;
  mfu::ReadResult read = mfu::read_run({path}, notes);
  mfu::count_work(read.run, notes);
  Diagnosed result;
  result.diagnosis = mfu::diagnose(read.run, {}, notes);
  result.report = mfu::describe(result.diagnosis, read.run);
  result.report.inputs = read.inputs;
  result.report.notes = notes.all();
  return result;
}

void print_fields(const mfu::Diagnosis& diagnosis) {
  const mfu::Verdict& verdict = diagnosis.verdict;
  std::printf("family %s\n", std::string(mfu::to_string(verdict.family)).c_str());
  std::printf("locality %s\n", std::string(mfu::to_string(verdict.locality)).c_str());
  std::printf("persistence %s\n", std::string(mfu::to_string(verdict.persistence)).c_str());
  for (const std::string& node : verdict.culprits.nodes) std::printf("node %s\n", node.c_str());
  std::printf("confidence %.2f\n", verdict.confidence);
  std::printf("mfu %.3f\n", diagnosis.headline.mfu.value_or(-1.0));
  if (verdict.recoverable) std::printf("step_if_fixed %.3f\n", verdict.recoverable->step_seconds);
  double product = 1.0;
  double sum = 0.0;
  for (const mfu::Factor& factor : diagnosis.factors) product *= factor.value;
  for (const mfu::Part& part : diagnosis.parts) sum += part.seconds;
  std::printf("product_over_mfu %.6f\n", product / diagnosis.headline.mfu.value_or(1.0));
  std::printf("sum_over_step %.6f\n", sum / diagnosis.headline.step_seconds);
}

mfu::CalcInput measurement() {
  const mfu::Chip& chip = mfu::find_chip("h100-sxm");
  const mfu::Peak peak = mfu::peak_at(chip, mfu::Precision::bf16, {});
  mfu::PeakUsed used;
  used.chip = &chip;
  used.precision = mfu::Precision::bf16;
  used.flops = peak.flops;
  used.clock_mhz = peak.clock_mhz;
  mfu::CalcInput input;
  input.model = mfu::find_model("llama-3.1-8b");
  input.convention = &mfu::find_convention("palm");
  input.seq_len = 8192;
  input.batch = 512;
  input.gpus = 64;
  input.step_seconds = mfu::parse_seconds("12.9s", "step time");
  input.peak = used;
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    head("version");
    std::printf("%s\n", std::string(mfu::version()).c_str());

    const Diagnosed before = diagnosed(argv[1]);
    const Diagnosed after = diagnosed(argv[2]);
    head("verdict");
    print_fields(before.diagnosis);
    head("diagnose");
    render(before.report, "text");
    head("diagnose json");
    render(before.report, "json");

    head("calc");
    const mfu::Calculation calculation = mfu::calculate(measurement());
    std::printf("mfu %.3f\n", calculation.mfu().value_or(-1.0));
    render(mfu::describe(calculation), "text");

    head("compare");
    const mfu::Comparison comparison = mfu::compare(before.diagnosis, after.diagnosis);
    std::printf("outcome %s\n", std::string(mfu::to_string(comparison.outcome)).c_str());
    std::printf("moved %s\n", comparison.moved.c_str());
    render(mfu::describe(comparison), "text");

    head("plan");
    mfu::PlanInput plan;
    plan.flops_per_token = calculation.results.front().flops_per_token;
    plan.peak_flops = calculation.input.peak->flops;
    plan.tokens = 1e12;
    plan.gpus = 1024;
    plan.mfu = 0.4;
    const mfu::Plan solved = mfu::plan_compute(plan);
    std::printf("days %.2f\n", solved.seconds.value_or(-1.0) / 86400);
    render(mfu::describe(solved), "text");

    // What has no answer says why, and what would give one.
    head("no answer");
    try {
      mfu::CalcInput little;
      little.step_seconds = 1.0;
      render(mfu::describe(mfu::calculate(little)), "text");
    } catch (const mfu::Error& error) {
      std::printf("kind %s\n", std::string(mfu::to_string(error.kind())).c_str());
      std::printf("problems %zu\n", mfu::calc_problems(mfu::calculate(mfu::CalcInput{})).size());
    }
    try {
      render(mfu::describe(mfu::Diagnosis{}, mfu::RunTimings{}), "text");
    } catch (const mfu::Error& error) {
      std::printf("kind %s\n", std::string(mfu::to_string(error.kind())).c_str());
    }
    std::fflush(stdout);
    static_cast<void>(diagnosed("there-is-no-such-file.json"));
  } catch (const mfu::Error& error) {
    std::printf("== error\n%s\n", error.what());
    return 0;
  }
  return 1;
}
