// NVIDIA Resiliency Extension: "GPU relative performance:" and a line a rank, "Rank=5 Node=n1
// Score=0.97", or "GPU relative perf scores: {0: 1.0, 1: 0.99}". A score is best over own time, 1
// is best; "individual" compares a rank with its own past.
#include "logs/registry.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

class Nvrx : public LogFormat {
 public:
  using LogFormat::LogFormat;

  void line(const LogLine& line) override {
    const std::string_view text = line.text;
    const bool relative = text.find("relative perf") != std::string_view::npos;
    if (relative || text.find("individual perf") != std::string_view::npos) {
      // One report has both kinds; relative comes first.
      if (relative || series_.empty()) ++report_;
      const std::string_view subject =
          trimmed(text.substr(0, text.find(relative ? "relative" : "individual")));
      series_ = subject.empty() || subject == "GPU" ? "gpu" : std::string(subject.substr(0, 100));
      series_ += relative ? "-relative-score" : "-individual-score";
      LogText at(text);
      if (at.find("{")) take_scores(at, line);
      return;
    }
    LogText at(text);
    if (series_.empty() || !at.find("Rank=")) return;
    const auto rank = at.integer();
    if (!rank || *rank < 0 || !at.find("Score=")) return;
    if (const auto score = at.number()) add(*rank, *score, line);
  }

 private:
  void take_scores(LogText at, const LogLine& line) {
    while (const auto rank = at.integer()) {
      if (!at.take(":")) return;
      const auto score = at.number();
      if (score && *rank >= 0) add(*rank, *score, line);
      if (!at.take(",")) return;
    }
  }
  void add(std::int64_t rank, double score, const LogLine& line) {
    rank_value(series_, line.iteration >= 0 ? line.iteration : report_, rank, score,
               RankUnit::ratio);
  }

  std::string series_;
  std::int64_t report_ = 0;
};

}  // namespace

LogFormatRow nvrx_format() {
  return {"nvrx",
          "NVIDIA Resiliency Extension's straggler reports",
          LogTier::per_rank,
          {"relative perf", "individual perf", "Score="},
          {"relative perf", "Score="},
          make_format<Nvrx>};
}

}  // namespace mfu
