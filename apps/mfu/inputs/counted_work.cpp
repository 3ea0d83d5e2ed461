#include "inputs/counted_work.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "inputs/model_source.hpp"
#include "mfu/flops.hpp"
#include "mfu/model.hpp"

namespace mfu::app {
namespace {

ModelShape shape_of(const RunTimings& run, std::vector<InputInfo>& files, Notes& notes) {
  if (!run.model_json.empty()) return parse_model(run.model_json, "model", notes);
  try {
    return find_model(run.model);
  } catch (const Error&) {
    const bool path_like = run.model.find('/') != std::string::npos || run.model.ends_with(".json");
    if (!path_like || files.empty()) throw;
    std::filesystem::path path(run.model);
    if (path.is_relative() && files.front().path != "-") {
      path = std::filesystem::path(files.front().path).parent_path() / path;
    }
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) path /= "config.json";
    if (!std::filesystem::exists(path, ignored)) throw;
    InputInfo info;
    info.format = "model";
    const std::string text = read_text(path.string(), info);
    ModelShape shape = parse_model(text, path.string(), notes);
    files.push_back(std::move(info));
    return shape;
  }
}

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

WorkCount count_work(RunTimings& run, std::vector<InputInfo>& files, Notes& notes) {
  const auto not_counted = [&notes](std::string why, const char* what) {
    notes.add("work-not-counted", Severity::info, why, Place{.what = what});
    return WorkCount{{}, std::move(why)};
  };
  Workload& workload = run.workload;
  const bool given = workload.flops_per_step && *workload.flops_per_step > 0;
  if (given || (run.model.empty() && run.model_json.empty()) || !workload.seq_len) return {};
  std::optional<double> tokens = workload.tokens_per_step;
  if (!tokens && workload.global_batch) tokens = *workload.global_batch * *workload.seq_len;
  if (!tokens) return {};
  try {
    const ModelShape shape = shape_of(run, files, notes);
    const Convention& convention =
        find_convention(run.convention.empty() ? "palm" : run.convention);
    Work work;
    work.seq_len = *workload.seq_len;
    work.params = shape.given_params;
    const FlopCount plain = count_flops(shape, work, convention);
    if (!plain.model_flops) {
      return not_counted(fmt::format("{} is a hardware count: it gives no MFU", convention.id),
                         "convention");
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
        notes.add("hfu-not-defined", Severity::info, error.message(),
                  Place{.what = "workload.recompute"});
      }
    }
    workload.flops_per_step = *plain.model_flops * *tokens;
    run.convention = std::string(convention.id);
    notes.add("work-counted", Severity::info,
              fmt::format("the work of a step is counted from the model under {}", convention.id),
              Place{.what = "model"});
    return {std::move(result), {}};
  } catch (const Error& error) {
    return not_counted("the work of a step cannot be counted from the model: " + error.message(),
                       "model");
  }
}

}  // namespace mfu::app
