// mfu_make_job SCENARIO [SEED] [--jsonl] [--unit s|ms|us|ns] [--decimals N] [--truth]
// One synthetic job as mfu.run/1 on standard output, or what is true of it.
// mfu_make_job --accuracy [COUNT [FIRST [SCENARIO]]]: the diagnosis of COUNT jobs of each kind, the
// first of them number FIRST, against the truth, and the misses.
// mfu_make_job --map [NAME]: the verdict over the sizes of a fault, and its cliffs.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "faults/maps/maps.hpp"
#include "faults/scenarios/scenario.hpp"
#include "faults/scenarios/showcase.hpp"
#include "faults/scoring/accuracy.hpp"
#include "faults/written/write.hpp"

namespace {

using namespace mfu::faults;

int usage() {
  std::fputs(
      "mfu_make_job SCENARIO [SEED] [--jsonl] [--unit s|ms|us|ns] [--decimals N] [--truth]\n"
      "mfu_make_job --accuracy [COUNT [FIRST [SCENARIO]]]\n"
      "examples:",
      stderr);
  for (const Showcase& each : showcases())
    std::fprintf(stderr, " %s", std::string(each.name).c_str());
  std::fputs("\nscenarios, drawn by seed:", stderr);
  for (const Scenario& each : scenarios())
    std::fprintf(stderr, " %s", std::string(each.name).c_str());
  std::fputs("\n", stderr);
  return 2;
}

void print_truth(const Job& job) {
  const Truth& truth = job.truth;
  std::printf("family %s%s\n", std::string(to_string(truth.family)).c_str(),
              truth.decidable ? "" : (" (undecidable: " + truth.why + ")").c_str());
  std::printf("locality %s, persistence %s, cause %s\n",
              std::string(to_string(truth.locality)).c_str(),
              std::string(to_string(truth.persistence)).c_str(),
              std::string(to_string(truth.cause)).c_str());
  std::printf("ranks");
  for (const auto rank : truth.culprits.ranks) std::printf(" %lld", static_cast<long long>(rank));
  std::printf("\nstep %.6f s, without the fault %.6f s (%.1f %%)\n", truth.step_seconds,
              truth.fixed_step_seconds, 100.0 * truth.loss_share);
}

int print_accuracy(const std::vector<std::string>& arguments) {
  const int count = arguments.size() > 1 ? std::atoi(arguments[1].c_str()) : 10;
  const std::uint64_t first =
      arguments.size() > 2 ? std::strtoull(arguments[2].c_str(), nullptr, 10) : 1;
  std::vector<Row> rows;
  for (const Scenario& each : scenarios()) {
    if (arguments.size() > 3 && each.name != arguments[3]) continue;
    rows.push_back(accuracy(each, first, count, mfu::DiagnoseOptions{}));
  }
  Tally all;
  for (const Row& row : rows) all.add(row.tally);
  std::fputs((accuracy_table(rows, true) + "\n" + tally_table(all)).c_str(), stdout);
  return 0;
}

int print_maps(const std::vector<std::string>& arguments) {
  int count = 0;
  for (const FaultMap& map : fault_maps()) {
    if (arguments.size() > 1 && arguments[1] != map.name) continue;
    const std::vector<MapPoint> points = map.draw();
    std::printf("%s: %s\n%s", std::string(map.name).c_str(), std::string(map.what).c_str(),
                drawn(points).c_str());
    for (const std::string& cliff : cliffs(points)) {
      std::printf("cliff: %s\n", cliff.c_str());
      ++count;
    }
  }
  std::printf("%d cliffs\n", count);
  return 0;
}

int run(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments[0] == "--map") return print_maps(arguments);
  if (!arguments.empty() && arguments[0] == "--accuracy") return print_accuracy(arguments);
  std::string name;
  std::uint64_t seed = 1;
  bool jsonl = false;
  bool truth = false;
  WriteOptions options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const bool has_value = i + 1 < arguments.size();
    if (argument == "--jsonl") {
      jsonl = true;
    } else if (argument == "--truth") {
      truth = true;
    } else if (argument == "--unit" && has_value) {
      options.time_unit = arguments[++i];
    } else if (argument == "--decimals" && has_value) {
      options.decimals = std::atoi(arguments[++i].c_str());
    } else if (name.empty()) {
      name = argument;
    } else {
      seed = std::strtoull(argument.c_str(), nullptr, 10);
    }
  }
  if (name.empty()) return usage();
  const Showcase* showcase = find_showcase(name);
  const Job job = simulate(showcase ? showcase->spec() : find_scenario(name).draw(seed));
  if (truth) {
    print_truth(job);
    return 0;
  }
  if (showcase != nullptr) options.coords = job.spec.recording.coords_per_rank;
  const std::string text = jsonl ? to_jsonl(job.run, options).front() : to_json(job.run, options);
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return usage();
  }
}
