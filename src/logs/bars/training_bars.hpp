// Which of a log's progress bars is the training, and its steps.
//
// Not the first bar, nor the one with the most lines: data sets, evaluations and downloads have
// bars too, some of the same length. What tells is what goes with a bar: losses that are printed
// while it runs or stand in it, the number of steps that the log announces, its description, bars
// that run inside of it, and how long it lasts. Where that does not decide, nothing is chosen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "logs/bars/bar_course.hpp"
#include "logs/format.hpp"
#include "logs/lines.hpp"
#include "logs/training_log.hpp"

namespace mfu {

class TrainingBars {
 public:
  TrainingBars() = default;
  TrainingBars(const TrainingBars&) = delete;
  TrainingBars& operator=(const TrainingBars&) = delete;

  // Every bar in the line. False: there is none.
  bool take(const LogLine& line);
  // A line without a bar that may print a loss or learning rate of the training.
  void beside(std::string_view text);
  // An evaluation is over; `seconds`: how long it was, as far as it is said.
  void evaluated(std::optional<double> seconds);
  // The log says that training starts here, and of how many steps it is.
  void run_starts() { starts_.push_back(order_); }
  void announce(std::int64_t steps) { announced_ = steps; }

  [[nodiscard]] bool any() const noexcept { return order_ > 0; }
  // Of all bars so far.
  [[nodiscard]] std::int64_t order() const noexcept { return order_; }

  struct Step {
    LoggedStep step;
    // What is printed beside bars of these orders belongs to it.
    std::int64_t from_order = 0;
    std::int64_t to_order = 0;
  };
  struct Pause {
    bool evaluation = false;
    std::int64_t line = 0;
    std::int64_t after = 0;
    double seconds = 0.0;  // 0: not known
  };
  struct Choice {
    std::vector<Step> steps;  // ascending; a run that starts again begins anew
    std::vector<Pause> pauses;
    std::string bar;                // its name: "'Train', 94 steps"
    std::int64_t line = 0;          // its first
    bool certain = false;           // something but its length says that it is the training
    bool printed_rates = false;     // the clock does not tell: the rates as printed
    bool mean_of_run = false;       // one mean, start-up included
    std::int64_t resumed_line = 0;  // where it went on from a checkpoint; 0: it did not
    std::int64_t ranks = 0;         // bars of other ranks
    std::string set_aside;          // names of the other bars
    std::optional<LogRefusal> refusal;
  };
  [[nodiscard]] Choice choose();

 private:
  struct Bar {
    BarCourse course;
    std::string key;          // without the process that prints it
    std::string description;  // of its first line
    std::uint64_t origin = 0;
    std::int64_t total = 0;
    std::int64_t epoch = -1;  // in the description; -1: none
    BarUnit unit = BarUnit::step;
    std::int64_t losses = 0;  // printed between two of its lines
    bool loss_pending = false;
    bool loss_inside = false;
    bool rank_of_another = false;
  };
  // Bars that are one thing again and again: epochs, evaluations.
  struct Family {
    std::vector<std::size_t> bars;
    double duration_s = 0.0;
    std::int64_t losses = 0;
    bool loss_inside = false;
    int named = 0;  // by its description: 1 training, -1 something else
    std::int64_t total = 0;
  };

  void take_bar(const ProgressBar& bar, const LogLine& line);
  void keep_small();
  [[nodiscard]] std::string name(const Family& family) const;
  [[nodiscard]] std::vector<Family> families();
  [[nodiscard]] Family family_of(std::vector<std::size_t> bars) const;
  void drop_other_ranks();
  [[nodiscard]] bool inside_a_gap(const Bar& inner, const Bar& outer) const;
  [[nodiscard]] double share_of_gaps(const Family& inner, const Family& outer) const;
  [[nodiscard]] bool better(const Family& a, const Family& b) const;
  void find_interruptions(const Family& family);
  void tell_steps(const Family& family, Choice& choice);

  std::vector<Bar> bars_;
  // By key and process: the bars that a line may continue. Most lines are like the one before.
  std::unordered_map<std::string, std::vector<std::size_t>> open_;
  std::vector<std::size_t>* open_bars_ = nullptr;
  struct Printed {
    std::string description;
    std::string key;
    std::int64_t total = 0;
    std::int64_t epoch = -1;
    std::uint64_t origin = 0;
    BarUnit unit = BarUnit::step;
  };
  Printed printed_;
  struct Evaluation {
    std::int64_t order;
    double seconds;
  };
  std::vector<Evaluation> evaluations_;
  std::vector<std::int64_t> starts_;
  std::optional<std::size_t> last_;  // the bar that was printed last
  std::int64_t order_ = 0;
  std::int64_t announced_ = 0;
  std::size_t points_ = 0;
  std::int64_t others_ranks_ = 0;
  std::int64_t carried_line_ = -1;
  std::uint64_t carried_origin_ = 0;
};

// Gives a format the pauses between its steps, and says what was chosen, how the times were told,
// and what was set aside.
void tell_bars(const TrainingBars::Choice& choice, LogFormat& format);

}  // namespace mfu
