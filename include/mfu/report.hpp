// Report: one result, many renderers. It holds numbers and finished sentences; a renderer only
// places them. Unknown is std::nullopt, never zero.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mfu/chip.hpp"
#include "mfu/compare.hpp"
#include "mfu/diagnose.hpp"
#include "mfu/error.hpp"
#include "mfu/flops.hpp"
#include "mfu/history.hpp"
#include "mfu/log_summary.hpp"
#include "mfu/measure.hpp"
#include "mfu/model.hpp"
#include "mfu/plan_report.hpp"
#include "mfu/read.hpp"
#include "mfu/references.hpp"
#include "mfu/training_log.hpp"

namespace mfu {

struct Gate {
  std::string id;     // "min-mfu", "fail-on"
  std::string limit;  // as the user gave it
  std::optional<double> value;
  std::string value_text;
  bool passed = false;
};

// A finding with its words.
struct FindingText {
  std::string code;  // "straggler/rank/steady"
  std::vector<std::string> evidence;
  std::vector<std::string> health;  // one for each fact of the finding's health
  std::vector<std::string> actions;
  std::string owner;
  std::string verify;  // the command that tells afterwards whether it helped
};

// What the devices' telemetry says, in words.
struct HealthTexts {
  std::vector<std::string> facts;    // one for each of verdict.health
  std::vector<std::string> checked;  // the same, short: what speaks against, what was not measured
  std::string clock;                 // the split of single-GPU efficiency; empty: no clock
  std::vector<std::string> remarks;  // one for each of health.remarks
  std::string two_modes;             // steps of two kinds; empty: they are of one
};

// One row of the table of parts.
struct PartText {
  std::string label;                         // "waiting for slower ranks"
  std::optional<double> factor;              // the factor of the product that this part is
  std::optional<double> efficiency_without;  // MFU (else parallel efficiency) if the part were 0
  bool blamed = false;                       // the verdict points at it
};

// What the traces show beside the verdict: short lines with a label each.
struct TraceSection {
  TraceEvidence evidence;
  std::string title;  // "Across ranks"
  struct Line {
    std::string label;  // "last"
    std::string text;
  };
  std::vector<Line> lines;
};

// The recorded schedule of a pipeline, replayed.
struct ReplaySection {
  PipelineReplay replay;
  std::string title;
  std::vector<TraceSection::Line> lines;
};

// What is asked of the table of fixes.
struct WorthAsk {
  bool show = false;  // even where one fix is all there is
  std::optional<double> price_per_gpu_hour;
  std::optional<double> steps_left;
};

// The fixes in a table: each family's alone, then all in their order.
struct WorthSection {
  FixWorth worth;  // over all steps
  // Where the run ends in another state than it was in on the whole: the rows and all prices are of
  // that one, since it is how the job goes on.
  std::optional<EndState> end_state;
  CostBasis basis;
  bool on_screen = false;  // JSON has it always
  std::string title;
  std::vector<std::string> headers;  // of the cells
  struct Row {
    std::string label;
    std::vector<std::string> cells;  // empty: a heading
  };
  std::vector<Row> rows;
  std::vector<std::string> remarks;
};

// Where a measurement stands among what others have published: a calibration, no proof.
struct ReferencesSection {
  ReferencePlacement placement;
  std::vector<std::string> texts;  // one for each of placement.nearest
  std::string line;                // all of it; empty: no point of like scale
};

struct DiagnoseSection {
  Diagnosis diagnosis;
  std::string title;                            // model, GPUs, peak
  std::string steps_line;                       // which steps
  CalcStatus status = CalcStatus::no_model;     // no_model: no work
  std::vector<std::string> impossible_because;  // an MFU over 1: what explains it, likeliest first
  std::vector<PartText> part_texts;             // one for each of diagnosis.parts
  Fingerprint fingerprint;
  std::optional<double> hfu;     // MFU x hardware / model FLOPs, where recomputation is known
  std::optional<double> params;  // of the model that the work was counted from
  std::optional<double> active_params;  // of these, what one token goes through
  std::string mfu_missing;              // why there is no MFU, and what would give it; else empty
  std::string recoverable_missing;      // why the verdict has no recoverable step; else empty
  std::string verdict_line;             // "stall (input), all ranks, steady; confidence 0.98"
  std::vector<std::string> also;        // other material findings, one line each
  std::vector<std::string> why;         // evidence of the verdict
  std::string worth;                    // "9.4 MFU points (31.4 -> 40.8 %), 12.90 -> 9.92 s a step"
  std::vector<std::string> actions;
  std::string owner;
  std::string verify;  // the command that tells afterwards whether it helped; empty: nothing to do
  std::string refuted_by;
  std::vector<FindingText> finding_texts;          // one for each diagnosis.findings
  std::string measured, derived, assumed, unseen;  // how sure
  std::optional<WorthSection> worth_table;
  HealthTexts health;
  std::optional<TermSpread> spread;     // how sure the mean step and the factors are
  std::vector<SideCount> counts;        // FLOPs of a token, where they are known
  std::optional<ModelShape> shape;      // that the work was counted from
  std::optional<ReplaySection> replay;  // where the run comes from a timeline
  std::optional<TraceSection> trace;    // where the run comes from traces
  std::optional<ReferencesSection> references;
};

// A log with a relative score a rank and no times: it can show that nobody stands out.
struct ScoresSection {
  std::string verdict_line;
  std::vector<std::string> why;
  std::string unseen;
  std::string next;  // what a diagnosis would need
};

// An MFU against one peak, held against another.
struct Rebase {
  double from_mfu = 0.0;
  double from_peak_flops = 0.0;
  std::string from_name;  // chip and precision; empty: a number
  double to_peak_flops = 0.0;
  std::string to_name;
  [[nodiscard]] double achieved_flops() const { return from_mfu * from_peak_flops; }
  [[nodiscard]] double mfu() const { return achieved_flops() / to_peak_flops; }
};

// calc, and whatif, which is the same with more rows.
struct CalcSection {
  Calculation calculation;
  bool what_if = false;
  CalcStatus status = CalcStatus::no_model;  // of the rebase, where there is no calculation
  Fingerprint fingerprint;
  std::string mfu_missing;                // why there is no MFU, and what would give it; else empty
  std::vector<std::string> result_texts;  // a few words for each of calculation.results
  std::vector<std::string> impossible_because;
  std::vector<std::string> advice;  // closing lines
  std::optional<ReferencesSection> references;
  std::vector<PeakRow> peaks;
  std::vector<std::string> peak_texts;  // one for each of peaks
  std::optional<Detection> detection;
  std::vector<std::string> match_texts;  // one for each match
  struct MatchLine {  // matches that are one hypothesis under several conventions, together
    double value = 0.0;
    double relative_error = 0.0;
    bool tied = false;
    std::string text;
  };
  std::vector<MatchLine> match_lines;  // the first few
  std::string detection_line;          // how the best stands, and how many stand beside it
  std::optional<Rebase> rebase;        // then there is no calculation
};

// Which of the inputs are missing or contradict each other, each with the way out; empty: none.
[[nodiscard]] std::vector<Error> calc_problems(const Calculation& calculation);

// Words and numbers of a calculation without problems. Pure.
[[nodiscard]] CalcSection describe_calc(Calculation calculation);
// Adds the peaks and, where a figure was printed, what would give it.
void describe_what_if(CalcSection& section, std::optional<Detection> detection);
[[nodiscard]] CalcSection describe_rebase(const Rebase& rebase);

struct FlopsTotal {
  const Convention* convention = nullptr;
  std::optional<double> flops_per_token;
  std::optional<double> hardware_flops_per_token;
  std::string text;  // a few words
};

// What one convention counts, by component, and what the others make of the same model.
struct FlopsSection {
  std::string title;
  std::string model;
  const Convention* convention = nullptr;
  std::string settings;
  std::optional<double> seq_len;
  std::optional<double> tokens_per_step;
  std::optional<ParameterCount> parameters;
  double params = 0.0;                // N that was used, where the formula has one
  std::vector<Component> components;  // of the convention, or of the exact count under its switches
  std::string components_line;        // whose components these are
  std::vector<std::string> component_texts;
  std::optional<double> components_total;  // forward and backward, per token
  FlopsTotal total;
  std::vector<FlopsTotal> others;
  std::vector<std::string> advice;
};

// `components_of`: the count whose components are shown where the convention has none of its own.
[[nodiscard]] FlopsSection describe_flops(const ModelShape& model, const CalcInput& input,
                                          std::span<const Convention* const> others);

// `peak`: what is asked.
struct PeakQuery {
  const Chip* chip = nullptr;       // nothing: all chips
  std::vector<PrecisionShare> mix;  // empty: bf16, or fp16 where a chip has no bf16
  Clock clock;
  bool sparse = false;
  std::optional<double> flops;       // a figure to explain, FLOP/s
  std::vector<std::string> remarks;  // on the name, from telemetry: said as they are
  int devices_in_name = 0;           // see ChipMatch
  std::span<const Chip> user_chips;
};

// One chip in one precision, or in a mix.
struct PeakEntry {
  const Chip* chip = nullptr;
  std::string precision;
  Peak peak;
  ClockRule clock = ClockRule::datasheet;
  bool dense = true;
  std::optional<double> flop_per_clock_per_unit;
  std::optional<double> flops_at_max;  // nothing: no maximum clock, or the peak does not scale
  const Achievable* achievable = nullptr;
  std::optional<double> achievable_ratio;  // to the dense datasheet figure
  std::optional<double> ridge_flops_per_byte;
};

// What a figure of TFLOP/s is for a chip.
struct PeakInverse {
  double flops = 0.0;
  std::optional<double> clock_mhz;   // that it would need
  std::vector<std::string> reading;  // what else it may be: sparse, a card, another precision
};

struct PeakSection {
  std::string title;
  std::vector<PeakEntry> entries;  // of one chip: the one that is asked for; else one a chip
  std::vector<PeakEntry> rates;    // of one chip: all its precisions at that clock
  std::optional<PeakInverse> inverse;
  int devices_in_name = 0;
  std::vector<std::string> remarks;
  std::string left_out;  // chips of the list without such a peak, and why; empty: none
};

// Throws as peak_at does where one chip is asked for; Error{unsupported} for sparse figures that
// its maker does not print.
[[nodiscard]] PeakSection describe_peak(const PeakQuery& query);

// Where an input of `log` comes from: an option, a line of the log, a file.
struct LogSource {
  std::string what;   // "model", "batch"
  std::string value;  // "32"
  std::string from;   // "arguments block, line 212"; "--batch; the log says 64"
};

struct LogSection {
  LogSummary summary;
  CalcSection calc;  // of the median step
  std::string format;
  std::string title;       // format, model, GPUs, peak
  std::string steps_line;  // which steps
  // Nothing where the log gives rates and the tokens of a step are not known.
  std::optional<double> p50_seconds, mean_seconds, p95_seconds;
  std::optional<Interval> p50_seconds_ci;  // 95 %
  std::optional<LogSpread> spread;         // how sure the mean is
  std::map<std::string, int> parallel;     // as the log says: "tp", "pp" ...
  std::string seconds_missing;             // why not; else empty
  std::vector<LogSource> sources;
  std::vector<LoggedFigure> reported;
  std::vector<std::string> reported_texts;   // one for each of reported
  std::optional<std::string> reproduced_by;  // of the first of reported; nothing: nothing does
  struct Line {
    std::string label;  // "outliers"
    std::string text;
    bool blamed = false;
  };
  std::vector<Line> lines;  // about the steps
};

// Words and numbers of a log. `calculation`: of the median step; what it lacks is said. Pure.
[[nodiscard]] LogSection describe_log(const TrainingLog& log, LogSummary summary,
                                      Calculation calculation, std::vector<LogSource> sources);

// What was measured, as one side of a comparison. `name`: of the input.
[[nodiscard]] Side side_of(const DiagnoseSection& section, std::string name);
[[nodiscard]] Side side_of(const LogSection& section, std::string name);
[[nodiscard]] Side side_of(const CalcSection& section, std::string name);

struct CompareSection {
  Comparison comparison;
  Side before, after;
  std::string before_title, after_title;  // input, model, GPUs, steps
  std::string verdict_line;               // "better: 29.9 % more speed (95 %: 29.1 to 30.7 %)"
  std::string moved_line;                 // which factor, and its share of the change; empty: none
  std::string expected;                   // --expect; empty: not asked
  bool as_expected = false;
  std::string expected_line;
  std::string restated_line;  // how both were brought under one convention; empty: not needed
  std::vector<std::string> reason_texts;      // one for each of comparison.reasons
  std::vector<std::string> difference_texts;  // one for each of comparison.differences
  std::string credit;                         // whether the change has one cause
  std::vector<std::string> cautions;
  std::vector<std::string> factor_labels;  // one for each of comparison.factors
  std::vector<std::string> part_labels;    // one for each of comparison.parts
};

// Words and numbers of a comparison. `expected`: a factor or part; empty: none. Pure.
[[nodiscard]] CompareSection describe_compare(Comparison comparison, Side before, Side after,
                                              std::string expected);
// Why the two are not comparable, each with the way out. Not empty for such.
[[nodiscard]] std::vector<Error> compare_problems(const CompareSection& section);

enum class HistoryAction { add, show, baseline, against };
[[nodiscard]] std::string_view to_string(HistoryAction action) noexcept;

// `history`, and --against history.
struct HistorySection {
  HistoryAction action = HistoryAction::show;
  std::string title;
  std::vector<HistorySeries> series;
  struct EntryText {
    std::string name, text;
  };
  struct SeriesText {
    std::string title;  // the job, and what its records are of
    std::string baseline;
    std::vector<std::string> changes;
    std::vector<EntryText> entries;  // one for each of the series' entries
  };
  std::vector<SeriesText> texts;          // one for each of series
  std::string job;                        // against: what it was looked for under
  std::optional<AgainstHistory> against;  // nothing: no baseline
  std::string against_line;
};
// Fills series and words.
void describe_history(HistorySection& section, std::vector<HistorySeries> series);

// `list` and `explain`.
struct Item {
  std::string id, title, text, source;
};
struct ListSection {
  std::string title;
  bool detailed = false;  // all of it, not one line an item
  std::vector<Item> items;
};
enum class Catalogue { conventions, models, chips, terms };
[[nodiscard]] ListSection list_items(Catalogue catalogue);
// A convention, chip, model or term. Throws Error{usage} with the nearest.
[[nodiscard]] ListSection explain_item(std::string_view id);

struct Report {
  std::string tool_version;
  std::string command;
  std::vector<InputInfo> inputs;
  std::vector<Note> notes;
  std::vector<Gate> gates;
  int exit_code = 0;
  std::optional<DiagnoseSection> diagnose;
  std::optional<ScoresSection> scores;  // of diagnose, where a log has nothing else
  std::optional<CalcSection> calc;
  std::optional<FlopsSection> flops;
  std::optional<PeakSection> peak;
  std::optional<LogSection> log;
  std::optional<PlanSection> plan;
  std::optional<CompareSection> compare;
  std::optional<HistorySection> history;
  std::optional<ListSection> list;
};

// The unit in which seconds of this magnitude are read, and the decimals that give four digits. All
// times that are compared with one another are shown in one scale.
struct TimeScale {
  double unit_seconds = 1.0;
  std::string_view unit = "s";
  int decimals = 2;
};
[[nodiscard]] TimeScale time_scale(double seconds) noexcept;

// What the MFU of a diagnosis stands on. `settings`: the switches that its work was counted with,
// where it was counted and not given.
[[nodiscard]] Fingerprint fingerprint_of(const Setup& setup, std::string_view settings);

// Words and numbers of a diagnosis. Pure.
[[nodiscard]] DiagnoseSection describe(Diagnosis diagnosis, const RunTimings& run,
                                       const WorthAsk& ask = {});

}  // namespace mfu
