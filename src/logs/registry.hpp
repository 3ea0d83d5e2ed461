// The formats, and what read_log() does with them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "logs/format.hpp"
#include "logs/training_log.hpp"
#include "mfu/error.hpp"

namespace mfu {

[[nodiscard]] const std::vector<LogFormatRow>& log_format_rows();

// What each format found in a log, in the order of the rows.
struct LogEvidence {
  std::string_view format;
  std::size_t steps = 0;  // distinct
  std::size_t rank_values = 0;
  double score = 0.0;  // by which one is chosen
};

[[nodiscard]] TrainingLog read_log(ByteSource& source, const LogReadOptions& options, Notes& notes,
                                   std::vector<LogEvidence>* evidence = nullptr);

// Of the rows whose name is asked for.
inline constexpr std::string_view kRankTimersName = "megatron-timers";

LogFormatRow megatron_lm_format();
LogFormatRow megatron_deepspeed_format();
LogFormatRow gpt_neox_format();
LogFormatRow primus_format();
LogFormatRow megatron_bridge_format();
LogFormatRow torchtitan_format();
LogFormatRow nanogpt_format();
LogFormatRow nanochat_format();
LogFormatRow nanotron_format();
LogFormatRow nemo1_format();
LogFormatRow nemo2_format();
LogFormatRow mlperf_format();
LogFormatRow maxtext_format();
LogFormatRow deepspeed_format();
LogFormatRow hf_trainer_format();
LogFormatRow trainer_state_format();
LogFormatRow litgpt_format();
LogFormatRow composer_format();
LogFormatRow olmo_format();
LogFormatRow prime_rl_format();
LogFormatRow verl_format();
LogFormatRow levanter_format();
LogFormatRow json_lines_format();
LogFormatRow csv_format();
LogFormatRow timestamped_steps_format();
LogFormatRow rank_timers_format();
LogFormatRow nvrx_format();
LogFormatRow straggler_detector_format();
LogFormatRow greyhound_format();
LogFormatRow ascend_format();

}  // namespace mfu
