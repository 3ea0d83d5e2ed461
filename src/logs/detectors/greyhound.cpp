// Greyhound's local controller: "[2025-05-04 14:20:55.103770] Esimated iteration time: {'rank0':
// 1126199.5, 'rank1': 1128187.5}" (its spelling), microseconds, from the period of a rank's
// collectives.
#include "logs/registry.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

class Greyhound : public LogFormat {
 public:
  using LogFormat::LogFormat;

  void line(const LogLine& line) override {
    LogText at(line.text);
    if (!at.find("imated iteration time:") || !at.find("{")) return;
    ++report_;
    while (at.find("'rank")) {
      const auto rank = at.integer();
      if (!rank || *rank < 0 || !at.take("':")) return;
      if (const auto value = positive(at.number(-6))) {
        rank_value("iteration-time", report_, *rank, *value, RankUnit::seconds);
      }
    }
  }

 private:
  std::int64_t report_ = 0;
};

}  // namespace

LogFormatRow greyhound_format() {
  return {"greyhound",
          "Greyhound's estimated iteration times",
          LogTier::per_rank,
          {"imated iteration time:"},
          {"imated iteration time:", "'rank"},
          make_format<Greyhound>};
}

}  // namespace mfu
