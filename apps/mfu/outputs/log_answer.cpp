#include "outputs/log_answer.hpp"

#include <utility>

#include "inputs/log_input.hpp"
#include "outputs/terminal.hpp"

namespace mfu::app {
namespace {

// What a step would cost at the peak: a first look at the steps tells their MFU.
std::optional<double> cost_at_peak(LogInput gathered, const CalcText& text, const TrainingLog& log,
                                   const LogSummaryOptions& options) {
  if (!gathered.input.peak) return {};
  Notes unused;
  const LogSummary summary = summarize(log, options, unused);
  add_measurement(gathered, text, log, summary, unused);
  const Calculation calculation = calculate_log(gathered, log, summary, unused);
  const std::optional<double> mfu = calculation.mfu();
  if (!mfu || *mfu > 1.0) return {};
  return summary.cost * *mfu;
}

// An interrupt before there was anything to answer is not an error to report.
template <typename Work>
auto quiet_if(bool interrupted, const Work& work) {
  try {
    return work();
  } catch (const Error&) {
    if (interrupted) throw Interrupted{};
    throw;
  }
}

}  // namespace

LogAnswer answer_log(const TrainingLog& log, const CalcText& text, LogSummaryOptions summing,
                     Problems& problems, Notes& notes, bool interrupted) {
  LogInput gathered = gather_log_input(text, log, problems, notes);
  problems.throw_if_any();
  if (gathered.input.peak) summing.peak_flops = gathered.input.peak->flops;
  LogSummary summary = quiet_if(interrupted, [&] {
    summing.least_cost = cost_at_peak(gathered, text, log, summing);
    return summarize(log, summing, notes);
  });
  add_measurement(gathered, text, log, summary, notes);
  Calculation calculation = calculate_log(gathered, log, summary, notes);
  if (calculation.disagreements) {
    for (const Error& problem : calc_problems(calculation)) problems.add(problem);
    problems.throw_if_any();
  }
  LogAnswer answer;
  answer.files = std::move(gathered.files);
  answer.section =
      describe_log(log, std::move(summary), std::move(calculation), std::move(gathered.sources));
  return answer;
}

}  // namespace mfu::app
