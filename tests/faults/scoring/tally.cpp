#include "faults/scoring/tally.hpp"

#include <array>
#include <cstdio>

namespace mfu::faults {

namespace {

constexpr double kStepTolerance = 0.1;
constexpr std::array kAllFamilies{
    Family::straggler,     Family::imbalance, Family::stall, Family::single_gpu_efficiency,
    Family::communication, Family::healthy,   Family::mixed, Family::inconclusive};

void add_line(std::string& out, const char* what, const Share& share) {
  std::array<char, 120> line{};
  std::snprintf(line.data(), line.size(), "%-52s %5d of %5d  %7.2f %%\n", what, share.right,
                share.of, 100.0 * share.value());
  out += line.data();
}

std::string short_name(Family family) {
  return family == Family::single_gpu_efficiency ? "single-gpu" : std::string(to_string(family));
}

}  // namespace

void Tally::add(bool fault, const Truth& truth, const Verdict& verdict, const Score& score) {
  ++confusion[{truth.family, verdict.family}];
  if (fault && truth.family == Family::healthy && truth.cause != Cause::jitter) {
    small.add(score.family);
    return;
  }
  if (truth.family == Family::healthy) {
    calm.add(!score.false_alarm);
    healthy.add(score.family);
    return;
  }
  if (!truth.decidable) {
    const bool must = truth.family == Family::inconclusive && truth.accepted.size() == 1;
    const bool said = score.reasoned || verdict.family == truth.family;
    (must ? abstention : hedge).add(score.family && (must ? score.reasoned : said));
    return;
  }
  if (!counts(truth)) return;
  family.add(score.family);
  if (has_culprit(truth)) culprit.add(score.family_exact && score.culprit);
  if (truth.family != Family::mixed) {
    step.add(score.step_known && score.step_error <= kStepTolerance);
  }
}

void Tally::add(const Tally& other) {
  family.add(other.family);
  culprit.add(other.culprit);
  step.add(other.step);
  calm.add(other.calm);
  healthy.add(other.healthy);
  small.add(other.small);
  abstention.add(other.abstention);
  hedge.add(other.hedge);
  for (const auto& [pair, count] : other.confusion) confusion[pair] += count;
}

std::string tally_table(const Tally& tally) {
  std::string out;
  add_line(out, "family right (faults of 6 % and more)", tally.family);
  add_line(out, "culprit exact, where there is one", tally.culprit);
  add_line(out, "step after the fix within 10 % of the twin's", tally.step);
  add_line(out, "healthy jobs that are not accused", tally.calm);
  add_line(out, "healthy jobs that are called healthy", tally.healthy);
  add_line(out, "jobs with a fault too small to count: no verdict", tally.small);
  add_line(out, "undecidable jobs: abstained, and said why", tally.abstention);
  add_line(out, "ambiguous jobs: an accepted answer, and its doubt", tally.hedge);
  std::array<char, 40> cell{};
  out += "\ntrue \\ told    ";
  for (const Family told : kAllFamilies) {
    std::snprintf(cell.data(), cell.size(), " %13s", short_name(told).c_str());
    out += cell.data();
  }
  out += '\n';
  for (const Family truth : kAllFamilies) {
    std::snprintf(cell.data(), cell.size(), "%-14s ", short_name(truth).c_str());
    out += cell.data();
    for (const Family told : kAllFamilies) {
      const auto found = tally.confusion.find({truth, told});
      std::snprintf(cell.data(), cell.size(), " %13d",
                    found == tally.confusion.end() ? 0 : found->second);
      out += cell.data();
    }
    out += '\n';
  }
  return out;
}

}  // namespace mfu::faults
