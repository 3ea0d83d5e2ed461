#include "report/wording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mfu/quantity.hpp"

namespace mfu {
namespace {

std::string times(double a, double b) {
  return b > 0 ? fmt::format(" ({:.2f} x)", a / b) : std::string();
}

std::string of_steps(const Fact& fact) {
  return fact.of > 0 ? fmt::format("{} of {} steps", fact.count, fact.of)
                     : fmt::format("{} steps", fact.count);
}

std::string in_steps(const Fact& fact) {
  return fact.count > 0 ? ", in " + of_steps(fact) : std::string();
}

std::string stage_name(std::int64_t stage, std::int64_t of) {
  if (of > 1 && stage == of - 1) return fmt::format("stage {} (the last of {})", stage, of);
  if (of > 1 && stage == 0) return fmt::format("stage 0 (the first of {})", of);
  return of > 1 ? fmt::format("stage {} (of {}, from 0)", stage, of)
                : fmt::format("stage {}", stage);
}

std::string verb(const Subject& subject, std::string_view singular, std::string_view plural) {
  return subject.name + " " + std::string(subject.plural ? plural : singular);
}

// "node n1", "nodes n1, n2"; a name that says so itself needs no "node" before it.
std::string node_names(const std::vector<std::string>& nodes) {
  const bool says_so = !nodes.empty() && nodes.front().starts_with("node");
  return (says_so ? "" : nodes.size() == 1 ? "node " : "nodes ") + name_list(nodes);
}

std::string peers(const Subject& subject) { return subject.plural ? "their peers " : "its peers "; }

}  // namespace

std::string family_name(Family family) {
  return family == Family::single_gpu_efficiency ? std::string("single-GPU efficiency")
                                                 : std::string(to_string(family));
}

std::string cause_name(Cause cause) {
  switch (cause) {
    case Cause::none:
      return "";
    case Cause::thermal:
      return "heat";
    case Cause::power:
      return "power cap";
    case Cause::hardware:
      return "hardware";
    case Cause::link:
      return "link";
    case Cause::stage_partition:
      return "stage partition";
    case Cause::data_lengths:
      return "sequence lengths";
    case Cause::data_shard:
      return "uneven data shards";
    case Cause::expert_load:
      return "expert load";
    case Cause::input:
      return "input";
    case Cause::checkpoint:
      return "checkpoint";
    case Cause::gc:
      return "garbage collection";
    case Cause::kernels:
      return "kernels";
    case Cause::schedule:
      return "schedule";
    case Cause::jitter:
      return "jitter";
    case Cause::clocks:
      return "low clocks";
    case Cause::ecc:
      return "memory errors";
    case Cause::xid:
      return "Xid";
  }
  return "";
}

std::string persistence_phrase(Persistence persistence, std::optional<std::int64_t> onset_step,
                               std::optional<double> period_steps) {
  switch (persistence) {
    case Persistence::none:
      return "";
    case Persistence::steady:
      return "steady";
    case Persistence::bursts:
      return period_steps && *period_steps > 1
                 ? fmt::format("in bursts about every {:.3g} steps", *period_steps)
                 : std::string("in bursts");
    case Persistence::onset:
      return onset_step ? fmt::format("since step {}", *onset_step) : std::string("from an onset");
    case Persistence::ended:
      return "ended";
    case Persistence::once:
      return "once";
    case Persistence::drift:
      return "drifting";
    case Persistence::moving:
      return "moving from step to step";
  }
  return "";
}

std::string shortened(const std::string& name) {
  constexpr std::size_t kLongest = 40;
  if (name.size() <= kLongest) return name;
  std::size_t end = kLongest - 3;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;
  return name.substr(0, end) + "...";
}

std::string number_list(std::vector<std::int64_t> numbers) {
  constexpr std::size_t kShown = 5;
  std::sort(numbers.begin(), numbers.end());
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t j = i;
    while (j + 1 < numbers.size() && numbers[j + 1] - numbers[j] <= 1) ++j;
    if (j == i) {
      runs.push_back(fmt::format("{}", numbers[i]));
    } else {
      runs.push_back(fmt::format("{}{}{}", numbers[i], j == i + 1 ? ", " : "-", numbers[j]));
    }
    i = j + 1;
  }
  const bool cut = runs.size() > kShown;
  std::string text = fmt::format(
      "{}",
      fmt::join(runs.begin(),
                runs.begin() + static_cast<std::ptrdiff_t>(std::min(runs.size(), kShown)), ", "));
  if (cut) text += fmt::format(", ... ({} in all)", numbers.size());
  return text;
}

std::string name_list(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    if (i > 0) text += ", ";
    text += shortened(names[i]);
  }
  if (names.size() > kShown) text += fmt::format(", ... ({} in all)", names.size());
  return text;
}

Subject subject_of(Locality locality, const Culprits& culprits, int stages) {
  const auto plural = [](std::size_t count, std::string_view word) {
    return std::string(word) + (count == 1 ? " " : "s ");
  };
  switch (locality) {
    case Locality::rank:
      if (!culprits.ranks.empty()) {
        std::string name = plural(culprits.ranks.size(), "rank") + number_list(culprits.ranks);
        if (culprits.nodes.size() == 1) name += " on " + node_names(culprits.nodes);
        return {std::move(name), culprits.ranks.size() > 1};
      }
      break;
    case Locality::node:
      if (!culprits.nodes.empty()) {
        return {node_names(culprits.nodes), culprits.nodes.size() > 1};
      }
      break;
    case Locality::link:
      if (!culprits.groups.empty()) return {"the link of the " + name_list(culprits.groups), false};
      if (!culprits.nodes.empty()) {
        return {"the link of " + node_names(culprits.nodes), false};
      }
      if (!culprits.ranks.empty()) {
        return {
            "the link of " + plural(culprits.ranks.size(), "rank") + number_list(culprits.ranks),
            false};
      }
      return {"one link", false};
    case Locality::group:
      if (!culprits.groups.empty()) {
        // "the dp group of tp=3", but "ep=3, ep=5".
        const bool places = culprits.groups.front().find(' ') == std::string::npos;
        return {(places ? "" : "the ") + name_list(culprits.groups), culprits.groups.size() > 1};
      }
      if (!culprits.ranks.empty()) {
        return {"the group of ranks " + number_list(culprits.ranks), false};
      }
      return {"one group", false};
    case Locality::stage:
      if (!culprits.stages.empty()) {
        std::string name = plural(culprits.stages.size(), "stage") + number_list(culprits.stages);
        if (stages > 1) name += fmt::format(" of {}", stages);
        return {std::move(name), culprits.stages.size() > 1};
      }
      break;
    case Locality::all:
      return {"all ranks", true};
    case Locality::none:
      break;
  }
  return {"", false};
}

std::string fact_sentence(const Fact& fact, const WordingContext& context) {
  const Subject subject =
      context.subject.name.empty() ? Subject{"the slow place", false} : context.subject;
  const std::string a = format_seconds(fact.a);
  const std::string b = format_seconds(fact.b);
  switch (fact.kind) {
    case FactKind::compute_excess:
      return fmt::format("{} {} a step, {}{}{}{}", verb(subject, "computes", "compute"), a,
                         peers(subject), b, times(fact.a, fact.b), in_steps(fact));
    case FactKind::stall_excess:
      return fmt::format("{} {} a step, {}{}{}", verb(subject, "stalls for", "stall for"), a,
                         peers(subject), b, in_steps(fact));
    case FactKind::burst_excess:
      // Of the job as a whole: single ranks may be what stops.
      return fmt::format("{} {} more than usual in {}{}",
                         context.locality == Locality::all ? std::string("a step takes")
                                                           : verb(subject, "takes", "take"),
                         a, of_steps(fact),
                         fact.b > 1 ? fmt::format(", about every {:.3g} steps", fact.b) : "");
    case FactKind::once:
      return fmt::format(
          "{}once, in step {} (1 of {} steps): {} more than usual; once is not a pattern",
          fact.name.empty() ? "" : fact.name + " ", fact.count, fact.of, a);
    case FactKind::two_speeds:
      return fmt::format(
          "{} of {} ranks compute {} a step, the others {}{}, with nothing in between", fact.count,
          fact.of, a, b, times(fact.a, fact.b));
    case FactKind::host_bound:
      return fmt::format(
          "the step stays where it is while the slowest rank's compute moves from {} to {}: the "
          "job "
          "waits for something that all ranks share, not for the slowest of them",
          a, b);
    case FactKind::unmeasured:
      return fact.name;
    case FactKind::missing_ranks:
      return fmt::format(
          "{} not recorded ({} of {} are missing): the recorded ranks wait together, as they would "
          "for a rank that nobody sees",
          fact.name + (fact.count > 1 ? " are" : " is"), fact.count, fact.of);
    case FactKind::many_slow:
      return fmt::format(
          "{} of {} ranks are slow: too many to say without their telemetry whether their devices "
          "or their work are",
          fact.count, fact.of);
    case FactKind::onset:
      // One place is dated by its excess over its peers: about nothing before the onset, and a
      // little below it at times.
      if (context.locality != Locality::all) {
        return fmt::format("from step {} on {} {} more a step, before that {}", fact.count,
                           verb(subject, "takes", "take"), b,
                           fact.a > 0.02 * fact.b ? a + " more" : std::string("nothing"));
      }
      return fmt::format("from step {} on {} {} a step, before that {}{}", fact.count,
                         verb(subject, "takes", "take"), b,
                         fact.a > 0.0 ? a : std::string("nothing"), times(fact.b, fact.a));
    case FactKind::slowest_moves:
      return fmt::format("the slowest rank changes: none is slowest in more than {}",
                         of_steps(fact));
    case FactKind::slowest_stays:
      return fmt::format("the same rank is slowest in {}", of_steps(fact));
    case FactKind::stage_work:
      return fmt::format("{} computes {} a step, the other stages {}{}",
                         stage_name(fact.count, fact.of), a, b, times(fact.a, fact.b));
    case FactKind::within_stage:
      return fmt::format(
          "balancing the ranks within stages would save {} a step, balancing the stages {}", a, b);
    case FactKind::graded_shards:
      return fmt::format(
          "compute per rank spreads evenly from {} to {} (2nd to 98th percentile), "
          "the same ranks in every step",
          a, b);
    case FactKind::fwd_bwd:
      return fmt::format(
          "forward and backward of a rank {} (correlation {:.2f} over the steps; "
          "forward varies by {})",
          fact.a >= 0.95 && fact.b >= 0.03 ? "rise and fall together with the batch"
                                           : "do not follow the batch",
          fact.a, format_percent(fact.b));
    case FactKind::fwd_bwd_ratio:
      return fmt::format("against {}peers: forward {:.2f} x, backward {:.2f} x",
                         subject.plural ? "their " : "its ", fact.a, fact.b);
    case FactKind::microbatch_spread:
      return fmt::format(
          "uneven microbatches stretch the pipeline by {} a step (they differ by "
          "about {})",
          a, format_percent(std::expm1(fact.b), 0));
    case FactKind::common_stall:
      return fmt::format("all {} ranks stop together, in {} ({} to {})", context.ranks,
                         of_steps(fact), a, b);
    case FactKind::scattered_stall:
      return fmt::format("individual ranks stop, at different times: {} a step{}", a,
                         in_steps(fact));
    case FactKind::exposed_transfer:
      return fmt::format("transfer that compute does not hide takes {} a step, {} of the step", a,
                         format_percent(fact.b));
    case FactKind::link_excess:
      return fmt::format("the {} transfers for {} a step, the typical group for {}{}",
                         shortened(fact.name), a, b, times(fact.a, fact.b));
    case FactKind::efficiency:
      return fmt::format("while it computes, a GPU reaches {} of its peak{}; the target is {}",
                         format_percent(fact.a), fact.count > 0 ? " at the clock it runs at" : "",
                         format_percent(fact.b));
    case FactKind::slowdown:
      return fmt::format(
          "compute of all ranks goes from {} (first fifth of the steps) to {} (last "
          "fifth){}",
          a, b, times(fact.b, fact.a));
    case FactKind::clocks:
      return fmt::format("{} at {:.0f} MHz, {} {:.0f} MHz", verb(subject, "runs", "run"), fact.a,
                         context.locality == Locality::all || context.locality == Locality::none
                             ? "in the first fifth of the steps at"
                             : peers(subject) + "at",
                         fact.b);
    case FactKind::schedule_bubble:
      return fmt::format(
          "the schedule's own bubble takes {} a step, {} of the step ({} stages, {} "
          "microbatches)",
          a, format_percent(fact.b), fact.count, fact.of);
    case FactKind::overexplained:
      return fmt::format(
          "the parts add up to {} more than the step has ({} of it): some time was recorded twice, "
          "or in the wrong bucket",
          a, format_percent(fact.b));
    case FactKind::unexplained:
      return fmt::format("{} a step ({} of the step) is explained by no part of the model", a,
                         format_percent(fact.b));
    case FactKind::coincides:
      if (fact.count < 0) {
        return fmt::format("{} are the same ranks: these data cannot distinguish them", fact.name);
      }
      return fmt::format("stage {} is exactly {}: these data cannot distinguish them", fact.count,
                         fact.name);
    case FactKind::few_steps:
      return fmt::format("only {} usable steps; {} are needed", fact.count, fact.of);
    case FactKind::few_ranks:
      return fmt::format("only {} of {} ranks are recorded{}", fact.count, fact.of,
                         fact.name.empty() ? std::string() : "; not " + fact.name);
    case FactKind::one_rank:
      return fmt::format("one rank of {} is recorded: nothing to compare it with", fact.of);
    case FactKind::no_microbatches:
      return fmt::format(
          "{} pipeline stages, but the number of microbatches is not given: the "
          "schedule's own bubble cannot be worked out",
          fact.count);
    case FactKind::not_judged:
      return "single-GPU efficiency was not judged: the work or the peak is not given";
    case FactKind::slow_everywhere:
      return "one slow link and slow communication everywhere look alike in these data";
    case FactKind::below_materiality: {
      if (fact.count == 1) {
        return fmt::format(
            "the largest loss at one place ({}) is {} a step, {} of the step (material from {})",
            fact.name.empty() ? "not named" : fact.name, a, format_percent(fact.b),
            format_percent(context.materiality, 0));
      }
      const bool transfer = fact.name == to_string(Family::communication);
      return fmt::format(
          "the largest loss seen ({}) is {} a step, {} of the step (material from {})", fact.name,
          a, format_percent(fact.b),
          format_percent(transfer ? context.communication_materiality : context.materiality, 0));
    }
    case FactKind::step_uneven:
      return fmt::format("the ranks' own step times differ by {} (median over the steps)",
                         format_percent(fact.a));
    case FactKind::cut_trace:
      return fmt::format(
          "the trace of rank {} stops in the middle: what it did later is not known, and looks "
          "like idle time",
          fact.count);
    case FactKind::lost_activities:
      return fmt::format(
          "{} of {} GPU activities of {} could not be read: what they did looks like idle time",
          fact.count, fact.of, fact.name);
    case FactKind::jitter:
      return fmt::format(
          "ranks vary by {} at random; waiting for the slowest of {} costs {} a step, and is "
          "nobody's fault",
          format_percent(fact.b), fact.count, a);
    case FactKind::other_chip:
      return fmt::format("{} ({}) than {}",
                         verb(subject, "is a different chip", "are different chips"),
                         shortened(fact.name), peers(subject));
    case FactKind::jitter_or_work:
      return fmt::format(
          "ranks that vary by {} at random would cost {} a step among {}: forward and backward "
          "recorded separately would distinguish that from uneven work",
          format_percent(fact.b), a, fact.count);
    case FactKind::waits_unsplit:
      return "own stalls and waits were recorded alike: they cannot be told apart";
  }
  return "";
}

std::string part_label(PartId part) {
  switch (part) {
    case PartId::model_math:
      return "model math at peak";
    case PartId::compute:
      return "compute";
    case PartId::kernels_below_peak:
      return "kernels below peak";
    case PartId::recomputation:
      return "recomputation";
    case PartId::imbalance_wait:
      return "waiting for peers";
    case PartId::own_stall:
      return "own stalls";
    case PartId::exposed_transfer:
      return "exposed transfer";
    case PartId::pipeline_bubble:
      return "pipeline bubble";
    case PartId::unattributed:
      return "unattributed";
  }
  return "";
}

}  // namespace mfu
