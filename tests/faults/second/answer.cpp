#include "answer.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <mfu/mfu.hpp>
#include <nlohmann/json.hpp>

namespace second {
namespace {

using Json = nlohmann::json;

std::vector<std::string> texts(const Json& values) {
  std::vector<std::string> all;
  for (const Json& value : values) {
    all.push_back(value.is_string() ? value.get<std::string>() : value.dump());
  }
  return all;
}

std::string text_or_none(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<Recoverable> recoverable_of(const Json& object, const std::string& family) {
  const auto found = object.find("recoverable");
  if (found == object.end() || !found->is_object()) return std::nullopt;
  const auto step = found->find("step_seconds");
  if (step == found->end() || !step->is_number()) return std::nullopt;
  Recoverable recoverable{family, step->get<double>(), step->get<double>(), step->get<double>()};
  const auto interval = found->find("step_seconds_ci");
  if (interval != found->end() && interval->is_array() && interval->size() == 2) {
    recoverable.low_s = interval->at(0).get<double>();
    recoverable.high_s = interval->at(1).get<double>();
  }
  return recoverable;
}

// The ranks for which `named` holds.
template <class Named>
void add_place(const Job& job, Named named, Answer& answer) {
  std::vector<int> ranks;
  for (int rank = 0; rank < job.ranks; ++rank) {
    if (named(static_cast<std::size_t>(rank))) ranks.push_back(rank);
  }
  answer.places.push_back(std::move(ranks));
}

// A group is named by coordinates: "ep=3", "dp group of tp=0 pp=1". Without any: not known.
bool in_group(const Job& job, const std::string& name, int rank) {
  struct Of {
    const char* axis;
    int inner, size;
  };
  const std::array<Of, 5> all = {{{"tp=", 1, job.tp},
                                  {"cp=", job.tp, job.cp},
                                  {"ep=", job.tp * job.cp, job.ep},
                                  {"dp=", job.tp * job.cp * job.ep, job.dp},
                                  {"pp=", job.tp * job.cp * job.ep * job.dp, job.pp}}};
  bool any = false;
  for (const Of& of : all) {
    const std::size_t found = name.find(of.axis);
    if (found == std::string::npos) continue;
    any = true;
    if (rank / of.inner % of.size != std::atoi(name.c_str() + found + 3)) return false;
  }
  return any;
}

void read_places(const Job& job, const Json& culprits, Answer& answer) {
  const auto named = [&](const char* key) {
    const auto found = culprits.find(key);
    return found == culprits.end() ? std::vector<std::string>{} : texts(*found);
  };
  const auto in = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const auto describe = [&](const char* what, const std::vector<std::string>& names) {
    if (names.empty()) return false;
    answer.place_text += std::string(answer.place_text.empty() ? "" : " ") + what;
    for (std::size_t i = 0; i < names.size() && i < 8; ++i) answer.place_text += ' ' + names[i];
    if (names.size() > 8) answer.place_text += " (" + std::to_string(names.size()) + ")";
    return true;
  };
  const auto ranks = named("ranks");
  const auto nodes = named("nodes");
  const auto switches = named("switches");
  const auto stages = named("stages");
  if (describe("ranks", ranks)) {
    answer.places.emplace_back();
    for (const std::string& rank : ranks) answer.places.back().push_back(std::stoi(rank));
    std::sort(answer.places.back().begin(), answer.places.back().end());
  }
  if (describe("nodes", nodes)) {
    add_place(
        job,
        [&](std::size_t rank) {
          return in(nodes, job.node_names[static_cast<std::size_t>(job.node_of[rank])]);
        },
        answer);
  }
  if (describe("switches", switches)) {
    add_place(
        job,
        [&](std::size_t rank) { return in(switches, "leaf" + std::to_string(job.rack_of[rank])); },
        answer);
  }
  if (describe("stages", stages)) {
    add_place(
        job,
        [&](std::size_t rank) {
          const int stage = static_cast<int>(rank) / (job.tp * job.cp * job.ep * job.dp);
          return in(stages, std::to_string(stage));
        },
        answer);
  }
  const auto groups = named("groups");
  if (describe("groups", groups)) {
    add_place(
        job,
        [&](std::size_t rank) {
          return std::any_of(groups.begin(), groups.end(), [&](const std::string& name) {
            return in_group(job, name, static_cast<int>(rank));
          });
        },
        answer);
  }
}

void read_verdict(const Job& job, const Json& document, Answer& answer) {
  const Json& verdict = document.at("verdict");
  answer.family = text_or_none(verdict, "family");
  answer.locality = text_or_none(verdict, "locality");
  answer.persistence = text_or_none(verdict, "persistence");
  answer.cause = text_or_none(verdict, "cause");
  if (verdict.contains("families")) answer.families = texts(verdict.at("families"));
  if (verdict.contains("readings")) {
    for (const Json& reading : verdict.at("readings")) {
      answer.readings.push_back(reading.is_object() ? text_or_none(reading, "family")
                                                    : reading.get<std::string>());
      if (!reading.is_object()) continue;
      if (auto recoverable = recoverable_of(reading, answer.readings.back())) {
        answer.of_readings.push_back(*recoverable);
      }
    }
  }
  if (answer.readings.empty()) answer.readings = answer.families;
  if (verdict.contains("culprits")) read_places(job, verdict.at("culprits"), answer);
  const auto confidence = verdict.find("confidence");
  if (confidence != verdict.end() && confidence->is_number()) {
    answer.confidence = confidence->get<double>();
  }
  answer.recoverable = recoverable_of(verdict, answer.family);
  const Json& step = document.at("headline").at("step_seconds");
  if (step.is_number()) answer.step_s = step.get<double>();
}

bool same_families(std::vector<std::string> a, std::vector<std::string> b) {
  std::sort(a.begin(), a.end());
  a.erase(std::unique(a.begin(), a.end()), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

}  // namespace

Answer answer_to(const Job& job, const std::string& scratch) {
  Answer answer;
  std::ofstream(scratch) << job.document;
  try {
    mfu::Notes notes;
    mfu::ReadResult read = mfu::read_run({scratch}, notes, {.threads = 1, .progress = {}});
    mfu::count_work(read.run, notes);
    const mfu::Diagnosis diagnosis = mfu::diagnose(read.run, {}, notes);
    mfu::Report report = mfu::describe(diagnosis, read.run);
    report.inputs = read.inputs;
    report.notes = notes.all();
    const Json document = Json::parse(mfu::find_renderer("json").render(report, {}));
    read_verdict(job, document, answer);
  } catch (const std::exception& error) {
    answer.error = error.what();
  }
  return answer;
}

bool place_right(const Job& job, const Answer& answer) {
  const Label& label = job.label;
  if (!label.place_matters || label.readings.front() == "healthy") return true;
  if (label.ranks.empty()) {
    return std::all_of(answer.places.begin(), answer.places.end(), [&](const auto& place) {
      return place.size() == static_cast<std::size_t>(job.ranks);
    });
  }
  return std::find(answer.places.begin(), answer.places.end(), label.ranks) != answer.places.end();
}

namespace {

bool rightly_undecided(const Job& job, const Answer& answer) {
  const auto& readings = job.label.or_inconclusive;
  return !readings.empty() && answer.family == "inconclusive" &&
         same_families(answer.readings, readings);
}

}  // namespace

bool family_right(const Job& job, const Answer& answer) {
  const Label& label = job.label;
  if (!answer.error.empty()) return false;
  if (!label.decidable) {
    return answer.family == "inconclusive" &&
           (label.readings.empty() || same_families(answer.readings, label.readings));
  }
  if (rightly_undecided(job, answer)) return true;
  if (answer.family != label.readings.front()) return false;
  return answer.family != "mixed" || same_families(answer.families, label.families);
}

}  // namespace second
