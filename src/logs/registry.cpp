#include "logs/registry.hpp"

#include <algorithm>

#include "logs/tables/columns.hpp"

namespace mfu {

const std::vector<LogFormatRow>& log_format_rows() {
  static const std::vector<LogFormatRow> rows{
      megatron_lm_format(),
      megatron_deepspeed_format(),
      gpt_neox_format(),
      primus_format(),
      megatron_bridge_format(),
      torchtitan_format(),
      nanogpt_format(),
      nanochat_format(),
      nanotron_format(),
      nemo1_format(),
      nemo2_format(),
      mlperf_format(),
      maxtext_format(),
      deepspeed_format(),
      hf_trainer_format(),
      trainer_state_format(),
      litgpt_format(),
      composer_format(),
      olmo_format(),
      prime_rl_format(),
      verl_format(),
      levanter_format(),
      json_lines_format(),
      csv_format(),
      timestamped_steps_format(),
      rank_timers_format(),
      nvrx_format(),
      straggler_detector_format(),
      greyhound_format(),
      ascend_format(),
  };
  return rows;
}

std::vector<LogFormatInfo> log_formats() {
  std::vector<LogFormatInfo> infos;
  for (const LogFormatRow& row : log_format_rows()) {
    infos.push_back({row.name, row.summary, row.tier == LogTier::per_rank});
  }
  return infos;
}

std::vector<std::string_view> log_columns() {
  std::vector<std::string_view> names;
  for (const Quantity& quantity : kQuantities) names.push_back(quantity.name);
  return names;
}

}  // namespace mfu
