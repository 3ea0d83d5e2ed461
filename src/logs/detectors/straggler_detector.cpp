// Megatron's StragglerDetector: "| MnRtt/Rnk: 3453.08ms/8 | MxRtt/Rnk: 3468.20ms/0 | MnPwr/Rnk:
// 601796W/8 | ... | MnEtpt/Rnk: 296.02TF/0 |" and "Bottom 4 Ranks with lowest Etpt(TF): 296.02/0,
// 296.17/2,". Only the extremes are printed. The power is in milliwatts though it says W; TF is an
// estimate of the rank's own throughput.
#include <array>
#include <set>
#include <utility>

#include "logs/registry.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

struct Metric {
  std::string_view key;
  std::string_view unit_printed;
  const char* series;
  int shift;
  RankUnit unit;
};
constexpr std::array<Metric, 7> kMetrics{{
    {"Rtt/Rnk:", "ms", "iteration-time", -3, RankUnit::seconds},
    {"Pwr/Rnk:", "W", "power", -3, RankUnit::watts},
    {"Tmp/Rnk:", "C", "temperature", 0, RankUnit::celsius},
    {"Utl/Rnk:", "%", "utilization", -2, RankUnit::ratio},
    {"Clk/Rnk:", "MHz", "clock", 6, RankUnit::hertz},
    {"DRtt/Rnk:", "ms", "data-time", -3, RankUnit::seconds},
    {"Etpt/Rnk:", "TF", "estimated-throughput", 12, RankUnit::flops_per_second},
}};

class StragglerDetector : public LogFormat {
 public:
  using LogFormat::LogFormat;

  void line(const LogLine& line) override {
    if (line.text.find("Rtt/Rnk:") != std::string_view::npos) {
      ++report_;
      told_.clear();
      for (std::size_t i = 0; i < kMetrics.size(); ++i) {
        for (const std::string_view end : {"Mn", "Mx"}) {
          LogText at(line.text);
          if (!at.find(std::string(end) + std::string(kMetrics[i].key))) continue;
          const auto value = at.number(kMetrics[i].shift);
          if (!value || !at.take(kMetrics[i].unit_printed) || !at.take("/")) continue;
          if (const auto rank = at.integer(); rank && *rank >= 0) add(i, *rank, *value, line);
        }
      }
      return;
    }
    LogText at(line.text);
    if (report_ == 0 || !at.find("Etpt(TF):")) return;
    while (const auto value = at.number(12)) {
      if (!at.take("/")) return;
      const auto rank = at.integer();
      if (rank && *rank >= 0) add(kMetrics.size() - 1, *rank, *value, line);
      if (!at.take(",")) return;
    }
  }

 private:
  void add(std::size_t metric, std::int64_t rank, double value, const LogLine& line) {
    // The lists repeat the extremes.
    if (!told_.emplace(metric, rank).second) return;
    rank_value(kMetrics[metric].series, line.iteration >= 0 ? line.iteration : report_, rank, value,
               kMetrics[metric].unit);
  }

  std::int64_t report_ = 0;
  std::set<std::pair<std::size_t, std::int64_t>> told_;
};

}  // namespace

LogFormatRow straggler_detector_format() {
  return {"megatron-straggler",      "Megatron's StragglerDetector",
          LogTier::per_rank,         {"Rtt/Rnk:", "Etpt(TF):"},
          {"Rtt/Rnk:", "Etpt/Rnk:"}, make_format<StragglerDetector>};
}

}  // namespace mfu
