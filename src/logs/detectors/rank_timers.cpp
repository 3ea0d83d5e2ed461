// Megatron's timers of all ranks: "times across ranks (ms):", two blanks and "name:", five blanks
// and "rank  3: 960.55". Ranks whose timer is 0 are left out. "(min, max)" and "max" blocks name no
// rank.
#include "logs/registry.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

class RankTimers : public LogFormat {
 public:
  using LogFormat::LogFormat;

  void line(const LogLine& line) override {
    if (line.text.find("times across ranks (ms):") != std::string_view::npos) {
      every_line = true;
      name_.clear();
      iteration_ = line.iteration;
      return;
    }
    if (!every_line) return;
    const std::string_view text = trimmed(line.text);
    LogText at(text);
    if (at.take("rank ") && !name_.empty()) {
      const auto rank = at.integer();
      if (rank && *rank >= 0 && at.take(":")) {
        if (const auto value = at.number(-3)) {
          rank_value(name_, iteration_, *rank, *value, RankUnit::seconds);
          return;
        }
      }
    }
    if (text.size() > 1 && text.size() < 200 && text.back() == ':' &&
        text.find(' ') == std::string_view::npos) {
      name_ = text.substr(0, text.size() - 1);
      return;
    }
    every_line = false;
  }

 private:
  std::string name_;
  std::int64_t iteration_ = -1;
};

}  // namespace

LogFormatRow rank_timers_format() {
  return {kRankTimersName,
          "Megatron's timers of all ranks",
          LogTier::per_rank,
          {"times across ranks (ms):"},
          {"times across ranks (ms):", " rank "},
          make_format<RankTimers>};
}

}  // namespace mfu
