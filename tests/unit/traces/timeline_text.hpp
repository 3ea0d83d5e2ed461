// Small pipeline timelines, written as a trace by hand.
#pragma once

#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "mfu/error.hpp"
#include "traces/timeline/timeline.hpp"

// Lanes are numbered five to a worker, as recorders do. Times in seconds.
class TimelineText {
 public:
  enum LaneNumber { kCompute, kPipeline, kTensor, kData, kMisc };

  explicit TimelineText(int dp_size) : dp_size_(dp_size) {}

  void lane(int dp, int pp, int kind) {
    constexpr std::array<std::string_view, 5> kKinds{"compute", "pp-comm", "tp-comm", "dp-comm",
                                                     "misc"};
    add(R"({"ph":"M","name":"thread_name","pid":)" + std::to_string(dp) + R"(,"tid":)" +
        std::to_string(tid(dp, pp, kind)) + R"(,"args":{"name":"PP rank )" + std::to_string(pp) +
        ", TP rank 0, " + std::string(kKinds[static_cast<std::size_t>(kind)]) + R"("}})");
  }
  void lanes(int dp, int pp) {
    for (const int kind : {kCompute, kPipeline, kTensor, kData, kMisc}) lane(dp, pp, kind);
  }
  // `sequence` below 0: the arguments have none.
  void op(std::string_view type, int dp, int pp, int kind, double begin, double end, int sequence,
          int step = 7) {
    const auto us = [](double seconds) { return std::to_string(std::llround(seconds * 1e6)); };
    const long long duration = std::llround(end * 1e6) - std::llround(begin * 1e6);
    add(R"({"name":")" + std::string(type) + R"(","cat":")" + std::string(type) +
        R"(","ph":"X","pid":)" + std::to_string(dp) + R"(,"tid":)" +
        std::to_string(tid(dp, pp, kind)) + R"(,"ts":)" + us(begin + ahead(dp, pp)) + R"(,"dur":)" +
        std::to_string(duration) + R"(,"args":{"step":)" + std::to_string(step) +
        R"(,"model_chunk":0,"mb_id":-1)" +
        (sequence < 0 ? std::string() : R"(,"seq_id":)" + std::to_string(sequence)) + "}}");
  }
  void add(const std::string& event) { events_.push_back(event); }

  // From here on the clock of this worker is ahead.
  void set_clock(int dp, int pp, double ahead_s) { clocks_.push_back({dp, pp, ahead_s}); }

  // Two stages, two microbatches, 1F1B; stage 0 takes 1 s a forward or backward, a transfer 0.1 s.
  // Stage 1 takes 2 s: the step is 10.3 s. A send begins when its worker is ready for it.
  void long_stage(int dp, int step = 7, double t = 0.0) {
    op("forward-compute", dp, 0, kCompute, t + 0.0, t + 1.0, 0, step);
    op("forward-send", dp, 0, kPipeline, t + 1.0, t + 1.1, 0, step);
    op("forward-compute", dp, 0, kCompute, t + 1.1, t + 2.1, 1, step);
    op("forward-send", dp, 0, kPipeline, t + 2.1, t + 5.2, 1, step);
    op("backward-recv", dp, 0, kPipeline, t + 2.1, t + 5.2, 0, step);
    op("backward-compute", dp, 0, kCompute, t + 5.2, t + 6.2, 0, step);
    op("backward-recv", dp, 0, kPipeline, t + 6.2, t + 9.3, 1, step);
    op("backward-compute", dp, 0, kCompute, t + 9.3, t + 10.3, 1, step);
    op("forward-recv", dp, 1, kPipeline, t + 1.0, t + 1.1, 0, step);
    op("forward-compute", dp, 1, kCompute, t + 1.1, t + 3.1, 0, step);
    op("backward-compute", dp, 1, kCompute, t + 3.1, t + 5.1, 0, step);
    op("backward-send", dp, 1, kPipeline, t + 5.1, t + 5.2, 0, step);
    op("forward-recv", dp, 1, kPipeline, t + 5.1, t + 5.2, 1, step);
    op("forward-compute", dp, 1, kCompute, t + 5.2, t + 7.2, 1, step);
    op("backward-compute", dp, 1, kCompute, t + 7.2, t + 9.2, 1, step);
    op("backward-send", dp, 1, kPipeline, t + 9.2, t + 9.3, 1, step);
  }
  // The same where stage 1 takes 1 s, too: 6.3 s. Transfers begin when both ends are ready.
  void even_stages(int dp, int step = 7) {
    op("forward-compute", dp, 0, kCompute, 0.0, 1.0, 0, step);
    op("forward-send", dp, 0, kPipeline, 1.0, 1.1, 0, step);
    op("forward-compute", dp, 0, kCompute, 1.1, 2.1, 1, step);
    op("forward-send", dp, 0, kPipeline, 3.1, 3.2, 1, step);
    op("backward-recv", dp, 0, kPipeline, 3.1, 3.2, 0, step);
    op("backward-compute", dp, 0, kCompute, 3.2, 4.2, 0, step);
    op("backward-recv", dp, 0, kPipeline, 5.2, 5.3, 1, step);
    op("backward-compute", dp, 0, kCompute, 5.3, 6.3, 1, step);
    op("forward-recv", dp, 1, kPipeline, 1.0, 1.1, 0, step);
    op("forward-compute", dp, 1, kCompute, 1.1, 2.1, 0, step);
    op("backward-compute", dp, 1, kCompute, 2.1, 3.1, 0, step);
    op("backward-send", dp, 1, kPipeline, 3.1, 3.2, 0, step);
    op("forward-recv", dp, 1, kPipeline, 3.1, 3.2, 1, step);
    op("forward-compute", dp, 1, kCompute, 3.2, 4.2, 1, step);
    op("backward-compute", dp, 1, kCompute, 4.2, 5.2, 1, step);
    op("backward-send", dp, 1, kPipeline, 5.2, 5.3, 1, step);
  }

  [[nodiscard]] std::string text() const {
    std::string all = "[";
    for (const std::string& event : events_) all += (all.size() > 1 ? ",\n" : "") + event;
    return all + "]";
  }
  [[nodiscard]] mfu::traces::Timeline read(mfu::Notes& notes) const {
    const std::string all = text();
    mfu::ByteSource source = mfu::ByteSource::from_memory(all, "made.json");
    return mfu::traces::read_timeline(source, notes);
  }

 private:
  struct WorkerClock {
    int dp, pp;
    double ahead_s;
  };
  [[nodiscard]] int tid(int dp, int pp, int kind) const { return 5 * (pp * dp_size_ + dp) + kind; }
  [[nodiscard]] double ahead(int dp, int pp) const {
    double seconds = 0.0;
    for (const WorkerClock& clock : clocks_) {
      if (clock.dp == dp && clock.pp == pp) seconds = clock.ahead_s;
    }
    return seconds;
  }
  int dp_size_;
  std::vector<std::string> events_;
  std::vector<WorkerClock> clocks_;
};

// The note of that code; nullptr: there is none.
inline const mfu::Note* note_of(const mfu::Notes& notes, std::string_view code) {
  for (const mfu::Note& note : notes.all()) {
    if (note.code == code) return &note;
  }
  return nullptr;
}
