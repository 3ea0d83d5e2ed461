// Named columns: what a generic JSON Lines or CSV log has to be told, or says by its names.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "logs/training_log.hpp"

namespace mfu {

enum class QuantityKind { count, time, flops, ratio, timestamp };

struct Quantity {
  std::string_view name;
  QuantityKind kind;
  std::optional<double> LoggedStep::*field;  // null: the step's number
  // Column names that say it without being told, unit included.
  std::string_view known;  // separated by blanks
};

inline constexpr std::array<Quantity, 11> kQuantities{{
    {"step", QuantityKind::count, nullptr,
     "step iteration iter global_step _step train/global_step trainer/global_step"},
    {"step_time", QuantityKind::time, &LoggedStep::step_s,
     "step_time_s step_time_ms step_s step_ms iteration_time_ms iteration_time_s iter_time_ms "
     "iter_time_s step_time step_us step_time_us train/step_time time_per_step "
     "elapsed_time_per_iteration_ms"},
    {"tokens", QuantityKind::count, &LoggedStep::tokens, "tokens_per_step step_tokens tokens"},
    {"samples", QuantityKind::count, &LoggedStep::global_batch, "global_batch_size global_batch"},
    {"tokens_per_s", QuantityKind::count, &LoggedStep::tokens_per_s,
     "tokens_per_second tokens_per_sec tokens/s tok/s tokens_per_s"},
    {"tokens_per_s_per_gpu", QuantityKind::count, &LoggedStep::tokens_per_s_per_gpu,
     "tokens_per_second_per_gpu tokens_per_sec_per_gpu tokens_per_s_per_gpu tgs"},
    {"samples_per_s", QuantityKind::count, &LoggedStep::samples_per_s,
     "samples_per_second samples_per_sec samples_per_s"},
    {"flops", QuantityKind::flops, &LoggedStep::model_flops_per_s_per_gpu,
     "tflops_per_gpu model_tflops_per_gpu tflops"},
    {"hardware_flops", QuantityKind::flops, &LoggedStep::hardware_flops_per_s_per_gpu,
     "hardware_tflops_per_gpu"},
    {"mfu", QuantityKind::ratio, &LoggedStep::mfu, "mfu train/mfu perf/mfu"},
    {"timestamp", QuantityKind::timestamp, &LoggedStep::timestamp_s,
     "timestamp _timestamp time_unix wall_time"},
}};

// Throws Error{usage}: a quantity that does not exist, or a unit that is none.
void check_columns(const std::map<std::string, std::string>& columns);

// One column of a file as it is to be taken.
struct Column {
  std::size_t quantity = 0;  // of kQuantities
  int shift = 0;             // power of ten to SI
  bool unit_assumed = false;
};

// Which column of these names holds what; told first, known names after. nullopt for the others.
class ColumnNames {
 public:
  // `told` must outlive it.
  explicit ColumnNames(const std::map<std::string, std::string>& told) : told_(told) {}
  explicit ColumnNames(const std::map<std::string, std::string>&& told) = delete;
  [[nodiscard]] std::optional<Column> find(std::string_view name);
  // Throws Error{format} for a column that was told and never found among names that were looked
  // for, with those near it.
  void require_told() const;
  // What was looked for so far was not a column name.
  void forget() noexcept { seen_.clear(); }

 private:
  std::vector<std::string> seen_;  // the first of them
  std::size_t looked_for_ = 0;
  const std::map<std::string, std::string>& told_;
  std::array<bool, kQuantities.size()> found_{};
};

// Puts a value where it belongs. False: it says nothing (not above 0).
bool put_value(const Column& column, double value, LoggedStep& step, std::optional<double>& number);

}  // namespace mfu
