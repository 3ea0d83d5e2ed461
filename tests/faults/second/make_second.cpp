// mfu_second --seed N [--to M] --out DIR   writes N.json (the document) and N.label.json
// mfu_second --list                        the kinds of jobs
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "job.hpp"

namespace {

nlohmann::ordered_json label_json(const second::Job& job) {
  const second::Label& label = job.label;
  return {{"seed", job.seed},
          {"kind", job.kind},
          {"shape", job.shape},
          {"recorder", job.recorder},
          {"ranks", job.ranks},
          {"steps", job.steps},
          {"step_s", job.step_s},
          {"twin_step_s", job.twin_step_s},
          {"decidable", label.decidable},
          {"readings", label.readings},
          {"families", label.families},
          {"locality", label.locality},
          {"place_matters", label.place_matters},
          {"or_inconclusive", label.or_inconclusive},
          {"culprit_ranks", label.ranks},
          {"culprit_nodes", label.nodes},
          {"persistence", label.persistence},
          {"cause", label.cause},
          {"why", label.why}};
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t from = 0, to = 0;
  bool given = false;
  std::string out = ".";
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--list") {
      for (const std::string& name : second::kind_names()) std::cout << name << '\n';
      return 0;
    }
    const char* value = i + 1 < argc ? argv[++i] : "";
    if (option == "--seed") {
      from = to = std::strtoull(value, nullptr, 10);
      given = true;
    } else if (option == "--to") {
      to = std::strtoull(value, nullptr, 10);
    } else if (option == "--out") {
      out = value;
    } else {
      given = false;
      break;
    }
  }
  if (!given) {
    std::cerr << "usage: mfu_second --seed N [--to M] --out DIR | --list\n";
    return 2;
  }
  for (std::uint64_t seed = from; seed <= to; ++seed) {
    const second::Job job = second::make(seed);
    const std::string stem = out + "/" + std::to_string(seed);
    std::ofstream(stem + ".json") << job.document;
    std::ofstream(stem + ".label.json") << label_json(job).dump(1) << '\n';
  }
}
