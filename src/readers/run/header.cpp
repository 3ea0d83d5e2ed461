#include "readers/run/header.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "base/nearest.hpp"
#include "base/note_code.hpp"
#include "mfu/model.hpp"
#include "readers/traces/trace_json.hpp"
#include "timings/trace.hpp"

namespace mfu {

namespace {

using nlohmann::json;

constexpr std::string_view kRunSchema = "mfu.run/1";
constexpr std::size_t kMostHeaderBytes = 4 * 1024 * 1024;  // of a value that is no model
// More microbatches, chunks, ranks of an axis or GPUs than any job has.
constexpr double kMostCount = kMostGpus;
constexpr double kMostStages = kMostPipelineStages;

constexpr std::array<std::string_view, 10> kHeaderKeys{
    "schema",     "job",   "model",       "workload",  "hardware",
    "convention", "clock", "parallelism", "time_unit", "waits_in"};
// Beside them, and of one file alone: what its traces showed.
constexpr std::string_view kTraceKey = "trace";
constexpr std::string_view kReplayKey = "replay";
constexpr std::string_view kReducedNotesKey = "reduced_notes";

// What an absent key means, where that is a value: a file that says it and one that does not agree.
std::string_view default_text(std::string_view key) {
  if (key == "time_unit") return "\"s\"";
  if (key == "waits_in") return "\"comm\"";
  if (key == "clock") return "\"datasheet\"";
  return "null";
}

json parse(const JsonText& value) { return parse_json_text<json>(value); }

// A value of the header with its key path, which every complaint names.
class Field {
 public:
  Field(const json& value, const JsonText& origin, std::string key)
      : value_(value), origin_(origin), path_(std::move(key)) {}
  Field(const json&& value, const JsonText& origin, std::string key) = delete;
  Field(const json& value, const JsonText&& origin, std::string key) = delete;

  [[nodiscard]] Field at(const std::string& key) const {
    Field inner(value_.at(key), origin_, path_ + "." + key);
    inner.keys_ = keys_;
    inner.keys_.push_back(key);
    return inner;
  }
  [[nodiscard]] bool is_null() const { return value_.is_null(); }
  [[nodiscard]] const json& value() const { return value_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  [[noreturn]] void fail(std::string message, std::string hint = {}) const {
    throw Error(ErrorKind::format, std::move(message), place(), std::move(hint));
  }
  [[nodiscard]] Place place() const {
    Place where = place_within(origin_, keys_);
    where.what = path_;
    return where;
  }

  void require_object() const {
    if (!value_.is_object()) fail("expected an object, found " + kind_of_value(value_));
  }
  [[nodiscard]] std::string text() const {
    if (!value_.is_string()) fail("expected a string, found " + kind_of_value(value_));
    return value_.get<std::string>();
  }
  // `most`: beyond it the number is a slip of the unit, and products of it would overflow.
  [[nodiscard]] double positive(double most = 1e30) const {
    if (!value_.is_number()) {
      fail("expected a number, found " + kind_of_value(value_),
           value_.is_string() ? "without quotes" : "");
    }
    const double number = value_.get<double>();
    if (!(number > 0.0) || !std::isfinite(number)) fail("expected a number above 0");
    if (number > most || number < 1.0 / most) {
      fail(value_.dump() + " is out of any sensible range", "check the unit");
    }
    return number;
  }
  template <typename Integer>
  [[nodiscard]] Integer whole(std::int64_t least, double most = kMostCount) const {
    const std::string wanted = "expected a whole number from " + std::to_string(least) + " on";
    if (!value_.is_number()) {
      fail(wanted + ", found " + kind_of_value(value_), value_.is_string() ? "without quotes" : "");
    }
    const double number = value_.get<double>();
    if (number != std::floor(number) || number < static_cast<double>(least)) {
      fail(wanted + ", found " + value_.dump());
    }
    if (number > most) fail("too large: " + value_.dump());
    return static_cast<Integer>(number);
  }
  // Index of the value in `names`.
  [[nodiscard]] std::size_t choice(std::span<const std::string_view> names) const {
    const std::string chosen = text();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == chosen) return i;
    }
    fail("unknown value '" + chosen + "'", name_hint(chosen, names));
  }

  // Calls take(key, field) for every key that is not null; false: unknown.
  template <typename Take>
  void each(UnknownKeys& unknown, Take take) const {
    require_object();
    for (const auto& [key, inner] : value_.items()) {
      const Field field = at(key);
      if (!take(std::string_view(key), field)) unknown.add(field.path(), field.place());
    }
  }

 private:
  const json& value_;
  const JsonText& origin_;
  std::string path_;
  std::vector<std::string> keys_;
};

constexpr std::array<std::string_view, 4> kTimeUnits{"s", "ms", "us", "ns"};
constexpr std::array<std::string_view, 3> kWaitsIn{"comm", "stall", "separate"};
// With the rule that each means.
constexpr std::array<std::string_view, 4> kClocks{"datasheet", "max", "base", "measured"};
constexpr std::array<ClockRule, 4> kClockRules{ClockRule::datasheet, ClockRule::max,
                                               ClockRule::base, ClockRule::measured};
constexpr std::array<std::string_view, 5> kAxisNames{"tp", "cp", "ep", "dp", "pp"};

void apply_job(const Field& job, RunTimings& run) {
  job.require_object();
  for (const auto& [key, value] : job.value().items()) {
    if (value.is_null()) continue;
    run.job[key] = value.is_string() ? value.get<std::string>() : value.dump();
  }
}

void apply_workload(const Field& workload, RunTimings& run, UnknownKeys& unknown, Notes& notes) {
  Workload& work = run.workload;
  workload.each(unknown, [&work](std::string_view key, const Field& field) {
    constexpr std::array<std::string_view, 8> kKnown{
        "seq_len",           "global_batch",   "tokens_per_step", "microbatches",
        "pipeline_schedule", "virtual_stages", "flops_per_step",  "recompute"};
    if (std::find(kKnown.begin(), kKnown.end(), key) == kKnown.end()) return false;
    if (field.is_null()) return true;
    if (key == "seq_len") work.seq_len = field.positive();
    if (key == "global_batch") work.global_batch = field.positive();
    if (key == "tokens_per_step") work.tokens_per_step = field.positive();
    if (key == "microbatches") work.microbatches = field.whole<int>(1);
    if (key == "pipeline_schedule") {
      work.pipeline_schedule = static_cast<PipelineSchedule>(field.choice(kScheduleIds));
      work.pipeline_schedule_given = true;
    }
    if (key == "virtual_stages") work.virtual_stages = field.whole<int>(1);
    if (key == "flops_per_step") work.flops_per_step = field.positive();
    if (key == "recompute") work.recompute = static_cast<Recompute>(field.choice(kRecomputeIds));
    return true;
  });
  if (!work.seq_len || !work.global_batch) return;
  const double product = *work.seq_len * *work.global_batch;
  if (!work.tokens_per_step) {
    work.tokens_per_step = product;
  } else if (std::fabs(*work.tokens_per_step - product) > 1e-9 * product) {
    // Padding is left out of the count, or the batch ramps up: possible, but worth a look.
    notes.add(NoteCode::tokens_per_step_differs,
              "workload.tokens_per_step is not seq_len x global_batch; tokens_per_step is used",
              workload.at("tokens_per_step").place());
  }
}

void apply_hardware(const Field& hardware, RunTimings& run, UnknownKeys& unknown) {
  hardware.each(unknown, [&run](std::string_view key, const Field& field) {
    constexpr std::array<std::string_view, 4> kKnown{"chip", "precision", "count", "peak_tflops"};
    if (std::find(kKnown.begin(), kKnown.end(), key) == kKnown.end()) return false;
    if (field.is_null()) return true;
    if (key == "chip") run.hardware.chip = field.text();
    if (key == "precision") run.hardware.precision = field.text();
    if (key == "count") run.hardware.count = field.whole<std::int64_t>(1);
    if (key == "peak_tflops") run.hardware.peak_tflops = field.positive(1e9);
    return true;
  });
}

std::array<Axis, 5> parse_order(const Field& field) {
  const std::string text = field.text();
  std::vector<Axis> order;
  std::size_t from = 0;
  while (from <= text.size()) {
    const std::size_t to = std::min(text.find('-', from), text.size());
    const std::string name = text.substr(from, to - from);
    const auto known = std::find(kAxisNames.begin(), kAxisNames.end(), name);
    if (known == kAxisNames.end()) {
      field.fail("unknown axis '" + name + "' in '" + text + "'",
                 "innermost first, as in tp-cp-ep-dp-pp");
    }
    const Axis axis = kAxes[static_cast<std::size_t>(known - kAxisNames.begin())];
    if (std::find(order.begin(), order.end(), axis) != order.end()) {
      field.fail("the axis '" + name + "' appears twice in '" + text + "'");
    }
    order.push_back(axis);
    from = to + 1;
  }
  std::array<Axis, 5> complete{};
  std::size_t at = 0;
  for (const Axis axis : order) complete[at++] = axis;
  for (const Axis axis : kAxes) {
    if (std::find(order.begin(), order.end(), axis) == order.end()) complete[at++] = axis;
  }
  return complete;
}

void apply_parallelism(const Field& parallelism, RunTimings& run, UnknownKeys& unknown) {
  std::string order;
  parallelism.each(unknown, [&](std::string_view key, const Field& field) {
    if (key == "order") {
      if (field.is_null()) return true;
      run.parallelism.order = parse_order(field);
      order = field.text();
      return true;
    }
    const auto known = std::find(kAxisNames.begin(), kAxisNames.end(), key);
    if (known == kAxisNames.end()) return false;
    if (field.is_null()) return true;
    run.parallelism.size[static_cast<std::size_t>(known - kAxisNames.begin())] =
        field.whole<int>(1, key == "pp" ? kMostStages : kMostCount);
    return true;
  });
  if (order.empty()) return;
  for (const Axis axis : kAxes) {
    const std::string name(to_string(axis));
    if (run.parallelism[axis].value_or(1) > 1 && order.find(name) == std::string::npos) {
      parallelism.at("order").fail("the axis '" + name + "' has a size but no place in the order");
    }
  }
}

}  // namespace

void UnknownKeys::add(const std::string& path, const Place& place) {
  if (std::find(names_.begin(), names_.end(), path) != names_.end()) return;
  if (names_.empty()) first_ = place;
  if (names_.size() < 12) {
    names_.push_back(path);
  } else {
    ++more_;
  }
}

void UnknownKeys::report(Notes& notes) const {
  if (names_.empty()) return;
  std::vector<std::string> sorted = names_;
  std::sort(sorted.begin(), sorted.end());
  std::string text = "keys that mfu.run/1 does not know are ignored: ";
  for (std::size_t i = 0; i < sorted.size(); ++i) text += (i > 0 ? ", " : "") + sorted[i];
  if (more_ > 0) text += ", and more";
  notes.add(NoteCode::unknown_keys, std::move(text), first_,
            static_cast<std::int64_t>(names_.size()) + more_);
}

bool RunHeader::knows(std::string_view key) noexcept {
  return key == kTraceKey || key == kReplayKey || key == kReducedNotesKey ||
         std::find(kHeaderKeys.begin(), kHeaderKeys.end(), key) != kHeaderKeys.end();
}

bool RunHeader::take(JsonCursor& cursor, std::string_view key) {
  if (!knows(key)) return false;
  (void)cursor.peek();
  JsonText value;
  value.start = cursor.place();
  value.start.what = std::string(key);
  if (has(key)) {
    throw Error(ErrorKind::format, "the key '" + std::string(key) + "' is given twice", value.start,
                "remove one of them");
  }
  value.text = cursor.capture_value(key == "model" ? kMostModelBytes : kMostHeaderBytes);
  values_.emplace(std::string(key), std::move(value));
  if (key == "schema") require_schema();
  return true;
}

void RunHeader::require_schema() const {
  const auto found = values_.find("schema");
  if (found == values_.end()) {
    Place where;
    where.file = file_;
    where.what = "schema";
    throw Error(ErrorKind::format, "schema is missing", std::move(where),
                "the document, or the first line of JSON Lines, says \"schema\":\"mfu.run/1\"");
  }
  const json parsed = parse(found->second);
  const Field field(parsed, found->second, "schema");
  const std::string schema = field.text();
  if (schema == kRunSchema || schema.starts_with(std::string(kRunSchema) + ".")) return;
  constexpr std::string_view kFamily = "mfu.run/";
  const bool version = schema.starts_with(kFamily) && schema.size() > kFamily.size() &&
                       schema.find_first_not_of("0123456789.", kFamily.size()) == std::string::npos;
  if (version && schema[kFamily.size()] != '0') {
    throw Error(ErrorKind::unsupported, "schema '" + schema + "' is newer than this version reads",
                field.place(), "this version reads mfu.run/1; a newer mfu may read it");
  }
  field.fail("unknown schema '" + schema + "'", "mfu.run/1 is expected");
}

int RunHeader::time_shift() const {
  const auto found = values_.find("time_unit");
  if (found == values_.end()) return 0;
  const json parsed = parse(found->second);
  if (parsed.is_null()) return 0;
  return -3 * static_cast<int>(Field(parsed, found->second, "time_unit").choice(kTimeUnits));
}

void RunHeader::require_same(const RunHeader& other) const {
  for (const std::string_view key : kHeaderKeys) {
    const auto mine = values_.find(key);
    const auto theirs = other.values_.find(key);
    const bool have_mine = mine != values_.end();
    const bool have_theirs = theirs != other.values_.end();
    if (!have_mine && !have_theirs) continue;
    if (have_mine && have_theirs && mine->second.text == theirs->second.text) continue;
    const auto meaning = [key](bool have, const auto& entry) {
      json value = have ? parse(entry->second) : json();
      return value.is_null() ? json::parse(default_text(key)) : value;
    };
    if (meaning(have_mine, mine) == meaning(have_theirs, theirs)) continue;
    Place where = have_mine ? mine->second.start : Place{file_, 0, 0, -1, std::string(key)};
    const Place there = have_theirs ? theirs->second.start : Place{other.file_, 0, 0, -1, ""};
    throw Error(ErrorKind::format,
                "'" + std::string(key) + "' differs between " + file_ + " and " + other.file_ +
                    (have_mine ? "" : " (it is missing in the first)") +
                    (have_theirs ? "" : " (it is missing in the second)"),
                std::move(where),
                have_theirs ? "the other is at " +
                                  Place{there.file, there.line, there.column, -1, ""}.str() +
                                  "; files given together must be of one run"
                            : "files given together must be of one run");
  }
}

void RunHeader::apply(RunTimings& run, UnknownKeys& unknown, Notes& notes) const {
  require_schema();
  (void)time_shift();
  for (const auto& [key, value] : values_) {
    const json parsed = parse(value);
    if (parsed.is_null()) continue;
    const Field field(parsed, value, key);
    if (key == "job") apply_job(field, run);
    if (key == "workload") apply_workload(field, run, unknown, notes);
    if (key == "hardware") apply_hardware(field, run, unknown);
    if (key == "parallelism") apply_parallelism(field, run, unknown);
    if (key == kReplayKey) run.replay = replay_from_json(parsed, field.place());
    if (key == kTraceKey) run.trace = trace_from_json(parsed, field.place());
    if (key == kReducedNotesKey) notes_from_json(parsed, field.place(), notes);
    if (key == "convention") run.convention = field.text();
    if (key == "waits_in") {
      run.waits_in = static_cast<WaitsIn>(field.choice(kWaitsIn));
      run.waits_in_given = true;
    }
    if (key == "clock") {
      if (parsed.is_number()) {
        run.clock = {ClockRule::mhz, field.positive()};
      } else {
        run.clock.rule = kClockRules[static_cast<std::size_t>(field.choice(kClocks))];
      }
    }
    if (key == "model") {
      if (parsed.is_object()) {
        run.model_json = value.text;
        const auto name = parsed.find("name");
        if (name != parsed.end() && !name->is_null()) run.model = field.at("name").text();
      } else if (parsed.is_string()) {
        run.model = field.text();
      } else {
        field.fail("expected a model's name or an object with its shape");
      }
    }
  }
}

}  // namespace mfu
