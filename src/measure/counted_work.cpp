// The work of a step from a run's model, sequence length and tokens.
#include "measure/counted_work.hpp"

#include <string>
#include <utility>

#include "base/note_code.hpp"
#include "flops/counted_work.hpp"
#include "mfu/flops.hpp"
#include "mfu/measure.hpp"
#include "mfu/model.hpp"

namespace mfu {
namespace {

std::optional<RecomputeCount> recompute_of(const RunTimings& run) {
  if (!run.workload.recompute) return {};
  switch (*run.workload.recompute) {
    case Recompute::none:
      return RecomputeCount::none;
    case Recompute::selective:
      return RecomputeCount::selective;
    case Recompute::full:
      return RecomputeCount::full;
  }
  return {};
}

}  // namespace

bool is_countable(const RunTimings& run) noexcept {
  const Workload& workload = run.workload;
  const bool given = workload.flops_per_step && *workload.flops_per_step > 0;
  const bool tokens = workload.tokens_per_step || workload.global_batch;
  return !given && (!run.model.empty() || !run.model_json.empty()) && workload.seq_len && tokens;
}

void count_work(RunTimings& run, const std::function<ModelShape()>& find, Notes& notes) {
  if (!is_countable(run)) return;
  Workload& workload = run.workload;
  const double tokens = workload.tokens_per_step
                            ? *workload.tokens_per_step
                            : workload.global_batch.value_or(0.0) * *workload.seq_len;
  try {
    const ModelShape shape = find();
    const Convention& convention =
        find_convention(run.convention.empty() ? "palm" : run.convention);
    Work work;
    work.seq_len = *workload.seq_len;
    work.params = shape.given_params;
    const FlopCount plain = count_flops(shape, work, convention);
    if (!plain.model_flops) {
      notes.add(NoteCode::work_not_counted,
                std::string(convention.id) + " is a hardware count: it gives no MFU",
                Place{.what = "convention"});
      return;
    }
    const ParameterCount counted = count_parameters(shape);
    CountedWork result{counted.total, counted.active, {}, plain.settings, shape};
    if (const std::optional<RecomputeCount> recompute = recompute_of(run)) {
      try {
        const FlopCount again = count_flops(shape, work, convention, {.recompute = recompute});
        if (again.hardware_flops) {
          result.hardware_share = *again.hardware_flops / *plain.model_flops;
        }
      } catch (const Error& error) {
        notes.add(NoteCode::hfu_not_defined, error.message(), Place{.what = "workload.recompute"});
      }
    }
    workload.flops_per_step = *plain.model_flops * tokens;
    run.convention = std::string(convention.id);
    run.counted = std::move(result);
    notes.add(NoteCode::work_counted,
              "the work of a step is counted from the model under " + std::string(convention.id),
              Place{.what = "model"});
  } catch (const Error& error) {
    notes.add(NoteCode::work_not_counted,
              "the work of a step cannot be counted from the model: " + error.message(),
              Place{.what = "model"});
  }
}

void count_work(RunTimings& run, Notes& notes) {
  count_work(
      run,
      [&] {
        return run.model_json.empty() ? find_model(run.model)
                                      : parse_model(run.model_json, "model", notes);
      },
      notes);
}

}  // namespace mfu
