// The JSON of plan.
#include <utility>

#include "render/json/sections.hpp"
#include "report/plan/plan_section.hpp"

namespace mfu::render {
namespace {

// Reasons for the nulls of an object, by key.
class Missing {
 public:
  void reason(const Json& object, const char* key, std::string_view why) {
    if (object.at(key).is_null()) reasons_[key] = why;
  }
  [[nodiscard]] Json take() { return std::exchange(reasons_, Json::object()); }

 private:
  Json reasons_ = Json::object();
};

Json hours(const std::optional<double>& gpu_seconds) {
  return gpu_seconds ? number(*gpu_seconds / 3600.0) : Json(nullptr);
}

Json setup_of(const PlanSection& section) {
  const PlanFindings& f = section.findings;
  const std::optional<PeakUsed>& peak = f.peak;
  Json object = {
      {"model", text(f.model)},
      {"params", number(f.params)},
      {"active_params", number(f.active_params)},
      {"chip", peak && peak->chip != nullptr ? Json(peak->chip->id) : Json(nullptr)},
      {"precision", peak ? text(precision_text(*peak)) : Json(nullptr)},
      {"peak_flops_per_gpu", peak ? number(peak->flops) : Json(nullptr)},
      {"clock_mhz", peak ? number(peak->clock_mhz) : Json(nullptr)},
      {"convention", f.convention != nullptr ? Json(f.convention->id) : Json(nullptr)},
      {"fingerprint", to_text(section.fingerprint)},
      {"seq_len", number(f.seq_len)},
      {"tokens_per_step", number(f.tokens_per_step)},
      {"flops_per_token", number(f.plan.input.flops_per_token)},
  };
  Missing missing;
  missing.reason(object, "model", "--model was not given, or names nothing");
  missing.reason(object, "params", "neither --model nor --params");
  missing.reason(object, "active_params", "neither --model nor --params");
  missing.reason(object, "chip", "--chip was not given");
  missing.reason(object, "precision", "no peak");
  missing.reason(object, "peak_flops_per_gpu", "neither --chip nor --peak");
  missing.reason(object, "clock_mhz", "no peak, or one without a clock");
  missing.reason(object, "seq_len", "--seq-len was not given");
  missing.reason(object, "tokens_per_step", "neither --tokens-per-step nor --batch and --seq-len");
  missing.reason(object, "flops_per_token", "no model");
  object["missing"] = missing.take();
  return object;
}

Json ids_of(const std::vector<PlanQuantity>& quantities) {
  Json list = Json::array();
  for (const PlanQuantity quantity : quantities) list.push_back(to_string(quantity));
  return list;
}

Json remedies_of(const std::optional<PlanRemedies>& found) {
  if (!found) return nullptr;
  Json object = {{"gpus", number(found->gpus)},
                 {"mfu", number(found->mfu)},
                 {"tokens", number(found->tokens)}};
  Missing missing;
  missing.reason(object, "gpus", "no number of them would");
  missing.reason(object, "mfu", "the MFU of the plan is not known");
  missing.reason(object, "tokens", "the tokens of the plan are not known");
  object["missing"] = missing.take();
  return object;
}

std::string_view name_of(PlanVariant::Change change) {
  switch (change) {
    case PlanVariant::Change::none:
      return "as-planned";
    case PlanVariant::Change::target_mfu:
      return "target-mfu";
    case PlanVariant::Change::target_by_gpus:
      return "target-by-gpus";
    case PlanVariant::Change::twice_the_gpus:
      return "twice-the-gpus";
    case PlanVariant::Change::twice_the_mfu:
      return "twice-the-mfu";
    case PlanVariant::Change::point_of_mfu:
      return "point-of-mfu";
  }
  return "";
}

Json plan_of(const PlanSection& section) {
  const Plan& plan = section.findings.plan;
  Json object = {
      {"unknown", plan.solved.empty() ? Json(nullptr) : Json(to_string(plan.solved.front()))},
      {"solved", ids_of(plan.solved)},
      {"open", ids_of(plan.open)},
      {"settled_by_any_of", ids_of(plan.settling)},
      {"status", section.status},
      {"seconds", number(plan.seconds)},
      {"step_seconds_total", number(plan.step_seconds)},
      {"gpu_hours", hours(plan.gpu_seconds)},
      {"gpus", number(plan.gpus)},
      {"gpus_at_most", plan.gpus_at_most},
      {"gpus_too", number(plan.gpus_too)},
      {"mfu", number(plan.mfu)},
      {"tokens", number(plan.tokens)},
      {"cost", number(plan.cost)},
      {"least_cost", number(plan.least_cost)},
      {"least_seconds", number(plan.least_seconds)},
      {"fastest_gpus", number(plan.fastest_gpus)},
      {"price_per_gpu_hour", plan.price ? number(*plan.price * 3600.0) : Json(nullptr)},
      {"currency", text(section.findings.currency)},
      {"energy_joules", number(plan.energy_joules)},
      {"total_flops", number(plan.total_flops)},
      {"peak_total_flops", number(plan.peak_total_flops)},
      {"delivered_flops_per_second", number(plan.delivered_flops_per_second)},
      {"goodput", number(plan.goodput)},
      {"deadline_seconds", number(plan.input.deadline_s)},
      {"budget", number(plan.input.budget)},
      {"open_text", text(section.open_text)},
      {"deadline_held_by", remedies_of(plan.late)},
      {"budget_held_by", remedies_of(plan.dear)},
  };
  Missing missing;
  const char* undetermined = "the inputs do not determine it: see open_text";
  for (const char* key : {"seconds", "step_seconds_total", "gpu_hours", "gpus", "mfu", "tokens",
                          "total_flops", "peak_total_flops", "delivered_flops_per_second"}) {
    missing.reason(object, key, undetermined);
  }
  missing.reason(object, "unknown", "no quantity that was not given follows from the inputs");
  missing.reason(object, "gpus_too", "no other number of GPUs takes the same time");
  missing.reason(object, "least_cost", "the cost is known, or nothing bounds it");
  for (const char* key : {"least_seconds", "fastest_gpus"}) {
    missing.reason(object, key, "some number of GPUs meets the deadline, or no deadline was given");
  }
  missing.reason(object, "cost", "no --price, --cost or --budget, or no GPU-hours");
  missing.reason(object, "price_per_gpu_hour", "no --price, and none follows");
  missing.reason(object, "currency", "the amounts were given without one");
  missing.reason(object, "energy_joules", "no GPU-hours, or a chip without a known power limit");
  missing.reason(object, "goodput", "failures are per GPU, and their number is not known");
  missing.reason(object, "deadline_seconds", "--deadline was not given");
  missing.reason(object, "budget", "--budget was not given");
  missing.reason(object, "open_text", "nothing is open");
  missing.reason(object, "deadline_held_by", "no deadline is missed");
  missing.reason(object, "budget_held_by", "no budget is exceeded");
  object["missing"] = missing.take();
  object["variants"] = Json::array();
  for (const PlanVariant& one : plan.variants) {
    object["variants"].push_back({{"id", name_of(one.change)},
                                  {"mfu", number(one.mfu)},
                                  {"gpus", number(one.gpus)},
                                  {"seconds", number(one.seconds)},
                                  {"gpu_hours", number(one.gpu_seconds / 3600.0)},
                                  {"cost", number(one.cost)}});
    if (!one.cost) object["variants"].back()["missing"] = {{"cost", "no price"}};
  }
  return object;
}

Json optimal_of(const Optimal& found) {
  Json object = {{"flops", number(found.flops)},
                 {"loss_fit", found.fit->id},
                 {"beyond_fit", found.beyond_fit},
                 {"params", number(found.params)},
                 {"tokens", number(found.tokens)},
                 {"loss", number(found.loss)},
                 {"trained", nullptr},
                 {"flops_for_same_loss", number(found.flops_for_same_loss)}};
  if (found.loss) {
    object["trained"] = found.trained == Trained::under  ? "under"
                        : found.trained == Trained::over ? "over"
                                                         : "near";
  }
  Missing missing;
  missing.reason(object, "params", "neither --model nor --params");
  for (const char* key : {"tokens", "loss", "trained", "flops_for_same_loss"}) {
    missing.reason(object, key, "it needs a model and its tokens");
  }
  object["missing"] = missing.take();
  object["sizes"] = Json::array();
  for (const OptimalSize& size : found.sizes) {
    object["sizes"].push_back({{"id", size.fit == nullptr ? "chinchilla" : size.fit->id},
                               {"params", number(size.params)},
                               {"tokens", number(size.tokens)},
                               {"loss", number(size.loss)}});
  }
  return object;
}

Json batch_of(const PlanSection& section) {
  if (!section.findings.batch) return nullptr;
  const BatchPlan& plan = *section.findings.batch;
  Json object = {{"critical_batch_tokens", number(plan.critical)},
                 {"law", plan.measured ? Json("noise-scale") : Json(to_string(plan.input.law))},
                 {"loss", number(plan.input.loss)},
                 {"batch_tokens", number(plan.input.batch)},
                 {"steps", number(plan.steps)},
                 {"most_data_parallel_replicas", number(plan.most_replicas)},
                 {"least_gpus_per_replica", number(plan.least_gpus_each)}};
  Missing missing;
  missing.reason(object, "loss", "the noise scale was given directly");
  missing.reason(object, "batch_tokens", "neither --tokens-per-step nor --batch and --seq-len");
  missing.reason(object, "steps", "it needs a batch and the tokens");
  missing.reason(object, "most_data_parallel_replicas", "--seq-len was not given");
  missing.reason(object, "least_gpus_per_replica",
                 "it needs --seq-len, GPUs, and a critical batch of a sequence or more");
  object["missing"] = missing.take();
  object["rows"] = Json::array();
  for (const BatchRow& row : plan.rows) {
    object["rows"].push_back({{"batch_tokens", number(row.batch)},
                              {"share_of_critical", number(row.share)},
                              {"tokens_over_least", number(row.tokens_over_least)},
                              {"steps_over_least", number(row.steps_over_least)},
                              {"tokens", number(row.tokens)},
                              {"steps", number(row.steps)},
                              {"even_mfu", number(row.even_mfu)}});
    Json& made = object["rows"].back();
    missing.reason(made, "tokens", "it needs a batch and the tokens");
    missing.reason(made, "steps", "it needs a batch and the tokens");
    missing.reason(made, "even_mfu", "it needs a batch and the MFU");
    made["missing"] = missing.take();
  }
  return object;
}

Json goodput_of(const Plan& plan) {
  if (!plan.failures) return nullptr;
  const Goodput& found = *plan.failures;
  return {{"goodput", number(found.useful)},
          {"job_mtbf_seconds", number(found.job_mtbf_s)},
          {"interval_seconds", number(found.interval_s)},
          {"young_seconds", number(found.young_s)},
          {"daly_seconds", number(found.daly_s)},
          {"parts",
           {{{"id", "steps"}, {"share", number(found.useful)}},
            {{"id", "checkpoints"}, {"share", number(found.checkpoints)}},
            {{"id", "redone"}, {"share", number(found.redone)}},
            {{"id", "restarts"}, {"share", number(found.restarts)}}}}};
}

}  // namespace

void json_plan(Json& object, const PlanSection& section) {
  const PlanFindings& f = section.findings;
  object["setup"] = setup_of(section);
  object["plan"] = plan_of(section);
  object["optimal"] = f.optimal ? optimal_of(*f.optimal) : Json(nullptr);
  if (!f.optimal) {
    object["optimal_missing"] = section.optimal_missing.empty()
                                    ? Json("the FLOPs of the run are not known")
                                    : Json(section.optimal_missing);
  }
  object["batch"] = batch_of(section);
  if (!f.batch) {
    object["batch_missing"] = section.batch_missing.empty()
                                  ? Json("neither a batch, a noise scale nor a loss was given")
                                  : Json(section.batch_missing);
  }
  object["schedule"] = Json::array();
  if (f.schedule) {
    const ScheduleInput& schedule = *f.schedule;
    object["schedule_shape"] = {{"shape", to_string(schedule.shape)},
                                {"steps", number(schedule.steps)},
                                {"warmup_steps", number(schedule.warmup_steps)},
                                {"decay_steps", number(schedule.decay_steps)},
                                {"final_share", number(schedule.final_share)},
                                {"mean_share", number(mean_share(schedule))},
                                {"peak_learning_rate", number(schedule.peak_rate)}};
    // Of the rows, too: one reason is enough for all of them.
    Json missing = Json::object();
    if (!schedule.peak_rate) {
      for (const char* key : {"peak_learning_rate", "learning_rate"}) {
        missing[key] = "no --peak-lr, and GPT-3's table has none for this size";
      }
    }
    if (!schedule.tokens_per_step) {
      missing["tokens"] = "neither --tokens-per-step nor --batch and --seq-len";
    }
    object["schedule_shape"]["missing"] = std::move(missing);
    for (const SchedulePoint& point : section.schedule) {
      Json row = {{"step", number(point.step)}};
      row["tokens"] =
          schedule.tokens_per_step ? number(point.step * *schedule.tokens_per_step) : Json(nullptr);
      row["share"] = number(point.share);
      row["learning_rate"] =
          schedule.peak_rate ? number(point.share * *schedule.peak_rate) : Json(nullptr);
      row["phase"] = point.phase;
      object["schedule"].push_back(std::move(row));
    }
  }
  object["goodput"] = goodput_of(f.plan);
  if (!f.plan.failures) {
    object["goodput_missing"] = f.plan.input.failures
                                    ? "failures are per GPU, and their number is not known"
                                    : "--mtbf was not given";
  }
  object["advice"] = section.advice;
  object["left_out"] = Json::object();
  for (const PlanLine& line : section.left_out) object["left_out"][line.label] = line.text;
}

}  // namespace mfu::render
