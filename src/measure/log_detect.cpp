// What produces the MFU or FLOP/s that a log prints: the detective, given what the log's framework
// does.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "logs/training_log.hpp"
#include "measure/detective.hpp"
#include "measure/log_summary.hpp"

namespace mfu {
namespace {

constexpr std::size_t kMatches = 400;  // all ties: the log's own convention may be any of them
constexpr std::size_t kKept = 10;
constexpr int kMostDepartures = 2;  // three changes at once reach any number

// The place of a convention among those that the framework is known for; past the end: none.
std::size_t rank_among(const std::vector<std::string>& hints, const Match& match) {
  if (match.convention == nullptr) return hints.size();
  const auto at = std::find(hints.begin(), hints.end(), match.convention->id);
  return static_cast<std::size_t>(at - hints.begin());
}

Detection detect_with_hints(const Calculation& calculation, const Reported& reported,
                            double rounding, const std::vector<std::string>& hints) {
  Detection detection = detect(calculation, reported, rounding, kMatches);
  for (Match& match : detection.matches) {
    if (match.departures <= kMostDepartures || !match.tied) continue;
    match.tied = false;
    --detection.ties;
  }
  std::stable_sort(
      detection.matches.begin(), detection.matches.end(), [&](const Match& a, const Match& b) {
        const auto key = [&](const Match& match) {
          const bool plain = match.factor == WrongFactor::none ||
                             match.factor == WrongFactor::recomputed_full ||
                             match.factor == WrongFactor::recomputed_selective;
          const std::size_t hint = plain && match.peak.used ? rank_among(hints, match) : 1000;
          return std::make_tuple(!match.tied, match.tied ? std::min(hint, hints.size()) : 0,
                                 match.tied ? match.departures : 0,
                                 match.tied ? 0.0 : std::fabs(match.relative_error));
        };
        return key(a) < key(b);
      });
  if (detection.matches.size() > kKept) detection.matches.resize(kKept);
  return detection;
}

}  // namespace

std::vector<LoggedFigure> logged_figures(const LogSummary& summary, const TrainingLog& log,
                                         const Calculation& calculation) {
  std::vector<LoggedFigure> figures;
  // The log's own figures are told as its usual line prints them; the calculation is of the
  // headline's step.
  const double usual = summary.cost / summary.median_cost;
  const bool recounted = !calculation.results.empty() && calculation.tokens_per_second_per_gpu;
  const auto add = [&](LoggedFigure figure, double wanted, bool ratio, double rounding) {
    figure.recounted = recounted;
    if (recounted) {
      Reported reported;
      reported.is_ratio = ratio;
      reported.value = wanted;
      reported.half_unit = rounding;
      figure.detection =
          detect_with_hints(calculation, reported, summary.rounding, log.convention_hints);
    }
    figures.push_back(std::move(figure));
  };
  if (summary.mfu) {
    LoggedFigure figure;
    figure.is_ratio = true;
    figure.value = *summary.mfu * usual;
    figure.against_flops = log.peak_flops_assumed;
    double rounding = summary.mfu_rounding;
    if (!figure.against_flops && summary.model_flops_per_s_per_gpu) {
      figure.against_flops = *summary.model_flops_per_s_per_gpu / *summary.mfu;
      rounding += summary.flops_rounding;
    }
    const double wanted =
        figure.against_flops ? *summary.mfu * *figure.against_flops : *summary.mfu;
    const bool ratio = !figure.against_flops;
    add(std::move(figure), wanted, ratio, rounding);
  }
  for (const bool hardware : {false, true}) {
    const std::optional<double>& printed =
        hardware ? summary.hardware_flops_per_s_per_gpu : summary.model_flops_per_s_per_gpu;
    if (!printed) continue;
    LoggedFigure figure;
    figure.hardware = hardware;
    figure.value = *printed * usual;
    add(std::move(figure), *printed, false, summary.flops_rounding);
  }
  return figures;
}

}  // namespace mfu
