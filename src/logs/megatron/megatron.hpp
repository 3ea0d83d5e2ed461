// What the frameworks that print Megatron's iteration line share.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "logs/format.hpp"

namespace mfu {

// " iteration N/ M | key: value | key: value |", whatever the keys are.
struct MegatronLine {
  std::int64_t iteration = 0;
  std::optional<double> iteration_s;       // mean over the log interval
  std::optional<double> iteration_mean_s;  // Primus: since the start
  bool without_time = false;               // printed, and no time: 0, nan
  bool in_seconds = false;                 // printed "(s)" and not "(ms)"
  std::optional<double> consumed_tokens;
  std::optional<double> global_batch;
  std::optional<double> samples_per_s;
  std::optional<double> tokens_per_s_per_gpu;
  std::optional<double> tflops;           // "throughput per GPU (TFLOP/s/GPU)", model FLOPs
  std::optional<double> hardware_tflops;  // "TFLOPs", with recomputation
  std::optional<double> approx_flops;     // GPT-NeoX: "approx flops per GPU"
  bool loss = false;                      // one is printed: at least one update was made
  bool compute_per_gpu = false;           // Primus' name for the throughput
  bool samples_first = false;             // GPT-NeoX: "samples/sec" before "iteration"
};
[[nodiscard]] std::optional<MegatronLine> parse_megatron_line(std::string_view text);

// The arguments block, with or without its borders, and the lines about vocabulary and data.
class MegatronArguments {
 public:
  // True: the line was one of its.
  bool take(const LogLine& line);
  // Fills what the block says.
  void apply(TrainingLog& log, Notes& notes) const;
  [[nodiscard]] std::optional<double> number(std::string_view name) const;

 private:
  [[nodiscard]] std::string_view text(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::string model_json() const;

  std::map<std::string, std::string, std::less<>> values_;
  std::int64_t first_line_ = 0;
  std::optional<double> padded_vocab_;
  std::int64_t vocab_line_ = 0;
  std::int64_t differing_ = 0;
  std::int64_t first_differing_ = 0;
};

// A format of this family: arguments, timers that are pauses, and iteration lines that it accepts.
class MegatronFamily : public LogFormat {
 public:
  using LogFormat::LogFormat;
  void line(const LogLine& line) override;
  void end() override;
  void finish(std::vector<LogSegment>& segments) override;

 protected:
  // Is this line one of this format? Fills what is particular to it.
  virtual bool accept(const MegatronLine& parsed, LoggedStep& step, const LogLine& line) = 0;
  virtual void other(const LogLine&) {}
  MegatronArguments arguments_;

 private:
  void take_pause(const LogLine& line);
};

// The words by which lines of the family are recognised, beside the format's own.
[[nodiscard]] std::vector<std::string_view> megatron_words(
    std::initializer_list<std::string_view> own);

}  // namespace mfu
