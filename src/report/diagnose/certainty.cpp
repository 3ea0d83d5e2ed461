#include "report/diagnose/certainty.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "diagnose/detail.hpp"
#include "diagnose/devices/health_check.hpp"
#include "diagnose/evidence.hpp"
#include "diagnose/places/place.hpp"
#include "diagnose/setup.hpp"
#include "diagnose/step_terms.hpp"
#include "mfu/quantity.hpp"

namespace mfu {
namespace {

std::string joined_clauses(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string split_phrase(SplitMethod split, WaitsIn waits_in) {
  const std::string_view where = waits_in == WaitsIn::stall ? "stall" : "communication";
  switch (split) {
    case SplitMethod::separate:
      return "waiting is the file's own wait series";
    case SplitMethod::groups:
      return fmt::format("waiting = {} above the minimum of the rank's group in that step", where);
    case SplitMethod::step_minimum:
      return fmt::format("waiting = {} above the least of any rank in that step", where);
    case SplitMethod::pipeline_model:
      return "transfer = step minus the pipeline's compute minus the common stall";
  }
  return "";
}

// The recorder's own statement of where the waits are, and what the method could not separate.
std::string unseparated(const Diagnosis& diagnosis) {
  const bool pipelined = diagnosis.detail->setup.stages > 1;
  if (diagnosis.detail->split == SplitMethod::separate && pipelined) {
    return "waits separate from the schedule's bubble: both recorded as wait or stall";
  }
  if (diagnosis.detail->split == SplitMethod::groups && pipelined) {
    return "waits between stages separate from the schedule's bubble: both in the groups' time";
  }
  if (diagnosis.detail->split == SplitMethod::pipeline_model) {
    return diagnosis.detail->waits_in == WaitsIn::stall
               ? "bubbles, waits, input and host time separately: all recorded as stall"
               : "bubbles, waits and transfer separately: all recorded as communication";
  }
  if (diagnosis.detail->split == SplitMethod::step_minimum) {
    return diagnosis.detail->waits_in == WaitsIn::stall
               ? "waits, input and host time separately: all recorded as stall"
               : "whether one link is slow or all are (no comm_by_group)";
  }
  return "";
}

constexpr std::array<std::string_view, kHealthChecks> kCheckNames{
    "clocks", "throttle reasons", "temperatures", "memory temperatures", "power", "ECC", "Xid"};

// "clocks, power of all ranks; temperatures of 3 ranks": empty where nothing is measured.
std::string measured_telemetry(const Diagnosis& diagnosis) {
  std::vector<std::string> of_all;
  std::vector<std::string> parts;
  for (std::size_t c = 0; c < kHealthChecks; ++c) {
    const std::int64_t ranks = diagnosis.detail->health.measured[c];
    if (ranks == 0) continue;
    if (ranks >= diagnosis.detail->setup.recorded_ranks) {
      of_all.emplace_back(kCheckNames[c]);
    } else {
      parts.push_back(
          fmt::format("{} of {} {}", kCheckNames[c], ranks, ranks == 1 ? "rank" : "ranks"));
    }
  }
  if (!of_all.empty()) {
    parts.insert(parts.begin(), fmt::format("{} of their devices", fmt::join(of_all, ", ")));
  }
  return joined_clauses(parts);
}

std::vector<std::string> missing_telemetry(const Diagnosis& diagnosis) {
  const auto& measured = diagnosis.detail->health.measured;
  const auto none = [&](HealthCheck check) {
    return measured[static_cast<std::size_t>(check)] == 0;
  };
  std::vector<std::string> missing;
  if (none(HealthCheck::temperature)) missing.emplace_back("temperatures");
  if (none(HealthCheck::clock)) missing.emplace_back("clocks");
  if (none(HealthCheck::power)) missing.emplace_back("power");
  if (none(HealthCheck::ecc) && none(HealthCheck::xid)) {
    missing.emplace_back("ECC and Xid");
  } else if (none(HealthCheck::ecc)) {
    missing.emplace_back("ECC");
  } else if (none(HealthCheck::xid)) {
    missing.emplace_back("Xid");
  }
  return missing;
}

std::string measured(const Diagnosis& diagnosis, const RunTimings& run) {
  std::vector<std::string> series{"compute", "communication", "stall"};
  if (!run.wait.empty()) series.emplace_back("wait");
  if (!run.step.empty()) series.emplace_back("step");
  if (!run.forward.empty() && !run.backward.empty()) series.emplace_back("forward, backward");
  if (!run.comm_by_group.empty()) series.emplace_back("communication by group");
  const std::size_t steps = diagnosis.detail->steps_used.size();
  const std::int64_t ranks = diagnosis.detail->setup.recorded_ranks;
  const std::string text =
      fmt::format("{} of {} {}, {} {}", fmt::join(series, ", "), ranks,
                  ranks == 1 ? "rank" : "ranks", steps, steps == 1 ? "step" : "steps");
  const std::string telemetry = measured_telemetry(diagnosis);
  return telemetry.empty() ? text : text + "; " + telemetry;
}

std::string derived(const Diagnosis& diagnosis) {
  const Setup& setup = diagnosis.detail->setup;
  std::vector<std::string> parts{split_phrase(diagnosis.detail->split, diagnosis.detail->waits_in)};
  if (setup.stages > 1 && setup.microbatches) {
    parts.push_back(fmt::format("bubble of {} stages, {} microbatches from the schedule",
                                setup.stages, *setup.microbatches));
  }
  if (diagnosis.verdict.confidence > 0) parts.emplace_back("confidence: bootstrap over the steps");
  return joined_clauses(parts);
}

std::string assumed(const Diagnosis& diagnosis, const RunTimings& run) {
  const Setup& setup = diagnosis.detail->setup;
  std::vector<std::string> parts;
  parts.emplace_back(setup.reference == Reference::median
                         ? "reference compute is the median rank's"
                         : "reference compute is the mean over ranks (work can be moved)");
  if (!run.waits_in_given) parts.emplace_back("waits are in communication (waits_in not given)");
  if (setup.stages > 1 && !run.workload.pipeline_schedule_given) {
    parts.emplace_back("1f1b schedule");
  }
  if (setup.flops_per_step && setup.convention.empty()) {
    parts.emplace_back("flops_per_step is model FLOPs (convention not named)");
  }
  if (setup.peak_flops_per_gpu && !setup.peak_given && setup.clock_mhz) {
    parts.push_back(fmt::format("peak at {:.0f} MHz, dense", *setup.clock_mhz));
  }
  if (diagnosis.headline.mfu) {
    parts.push_back(fmt::format("target efficiency {} per GPU",
                                format_percent(diagnosis.detail->target_efficiency, 0)));
  }
  return joined_clauses(parts);
}

std::string unseen(const Diagnosis& diagnosis, const RunTimings& run) {
  const Setup& setup = diagnosis.detail->setup;
  std::vector<std::string> parts;
  if (setup.expected_ranks > setup.recorded_ranks) {
    parts.push_back(fmt::format("{} of {} ranks", setup.expected_ranks - setup.recorded_ranks,
                                setup.expected_ranks));
  }
  if (const std::string text = unseparated(diagnosis); !text.empty()) parts.push_back(text);
  const bool places = std::any_of(run.ranks.begin(), run.ranks.end(),
                                  [](const RankInfo& rank) { return !rank.node.empty(); });
  std::vector<std::string> absent = missing_telemetry(diagnosis);
  // With separate telemetry, what is missing is missing there too.
  const bool some = !diagnosis.detail->health.ranks.empty();
  if (some && !absent.empty()) {
    parts.push_back(fmt::format("{}: not measured", fmt::join(absent, ", ")));
    absent.clear();
  }
  if (!places) absent.emplace_back("nodes");
  if (!absent.empty()) {
    parts.push_back(fmt::format("{}: not in the file", fmt::join(absent, ", ")));
  }
  return joined_clauses(parts);
}

}  // namespace

Certainty certainty_of(const Diagnosis& diagnosis, const RunTimings& run) {
  return {measured(diagnosis, run), derived(diagnosis), assumed(diagnosis, run),
          unseen(diagnosis, run)};
}

std::vector<Unmeasured> unmeasured_of(const Diagnosis& diagnosis) {
  const DiagnosisDetail& detail = *diagnosis.detail;
  const Setup& setup = detail.setup;
  std::vector<Unmeasured> list;
  if (!detail.without_compute.empty()) {
    list.push_back({"compute", diagnosis::rank_names(detail.without_compute),
                    "it is 0 in every step while other ranks compute"});
  }
  if (setup.expected_ranks > setup.recorded_ranks) {
    const std::int64_t count = setup.expected_ranks - setup.recorded_ranks;
    list.push_back({"everything", fmt::format("{} of {} ranks", count, setup.expected_ranks),
                    "they were not recorded"});
  }
  if (detail.waits_unknown) {
    list.push_back({"waiting for peers", "the recorded rank", "its peers were not recorded"});
  }
  for (const Fact& fact : detail.verdict_facts) {
    if (fact.kind == FactKind::unmeasured) {
      list.push_back({"communication and waiting", "all ranks", "communication is 0 everywhere"});
    } else if (fact.kind == FactKind::cut_trace) {
      list.push_back({"the end of the trace", fmt::format("rank {}", fact.count),
                      "the file stops in the middle"});
    } else if (fact.kind == FactKind::lost_activities) {
      list.push_back({"GPU activities", fact.name,
                      fmt::format("{} of {} could not be read", fact.count, fact.of)});
    }
  }
  return list;
}

}  // namespace mfu
