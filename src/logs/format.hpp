// What a log format is: the words that its lines have, and an object that takes such lines.
// To add one: a file that defines a LogFormat and its row, and a line in registry.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/note_code.hpp"
#include "logs/lines.hpp"
#include "logs/steps.hpp"
#include "logs/training_log.hpp"
#include "mfu/error.hpp"

namespace mfu {

// Why a format that knows these lines takes no step from them.
struct LogRefusal {
  std::string message;
  std::string hint;
  std::int64_t line = 0;
};

class LogFormat {
 public:
  explicit LogFormat(const LogReadOptions& options) : steps(options.max_steps) {}
  virtual ~LogFormat() = default;
  LogFormat(const LogFormat&) = delete;
  LogFormat& operator=(const LogFormat&) = delete;

  // A line that has one of the format's words; every line while every_line is set.
  virtual void line(const LogLine& line) = 0;
  // The input has ended.
  virtual void end() {}
  // Last touches that need neighbours; only for the format that is chosen.
  virtual void finish(std::vector<LogSegment>&) {}

  StepCollector steps;
  TrainingLog found;  // all but the segments
  Notes notes;        // passed on only when this format is chosen
  bool every_line = false;
  // Its steps may be something else's: a framework that prints steps of its own is believed first.
  bool unsure = false;
  std::optional<LogRefusal> refusal;  // thrown where no other format has a step

  void pause(const char* kind, const LogLine& line, double seconds);

 protected:
  void say(const char* what, std::string where, std::int64_t line) {
    found.said_by[what] = std::move(where) + ", line " + std::to_string(line);
  }
  // The first statement is kept: a log may repeat it for every rank.
  void set(std::optional<double>& field, const char* what, std::optional<double> value,
           const char* where, std::int64_t line) {
    if (!value || field) return;
    field = value;
    say(what, where, line);
  }
  [[nodiscard]] static LoggedStep step_at(const LogLine& line, std::int64_t iteration) {
    LoggedStep step;
    step.iteration = iteration;
    step.line = line.number;
    step.timestamp_s = line.timestamp_s;
    return step;
  }
  void note(NoteCode code, std::string text, const LogLine& line) {
    Place where;
    where.line = line.number;
    notes.add(code, std::move(text), std::move(where));
  }
  void rank_value(std::string series, std::int64_t iteration, std::int64_t rank, double value,
                  RankUnit unit);
};

enum class LogTier {
  framework,  // prints whole steps
  library,    // inside a framework that may print more
  generic,    // any columns
  per_rank,   // values by rank, no steps
  any_line,   // no framework's lines: taken where nothing else has a step
};

struct LogFormatRow {
  std::string_view name;
  std::string_view summary;
  LogTier tier;
  // Any of them makes a line worth asking about.
  std::vector<std::string_view> words;
  // All of them are in a log of this format: what is missing is said when nothing is found.
  std::vector<std::string_view> needed;
  std::unique_ptr<LogFormat> (*make)(const LogReadOptions& options);
};

template <class Format>
std::unique_ptr<LogFormat> make_format(const LogReadOptions& options) {
  return std::make_unique<Format>(options);
}

// Steps whose time is the distance of their lines' timestamps. Times that stand are left alone.
void times_from_timestamps(std::vector<LogSegment>& segments);
// Over how many steps each line averages, from the distance of their numbers.
void averages_from_distance(std::vector<LogSegment>& segments);
// tokens holds a running total: makes it that of each step.
void tokens_from_total(std::vector<LogSegment>& segments);

}  // namespace mfu
