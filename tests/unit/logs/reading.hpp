// Reading a log from text in a test.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "logs/registry.hpp"
#include "logs/training_log.hpp"
#include "mfu/error.hpp"

struct ReadLog {
  mfu::TrainingLog log;
  mfu::Notes notes;
  std::vector<mfu::LogEvidence> evidence;

  [[nodiscard]] const mfu::LoggedStep& step(std::size_t index, std::size_t segment = 0) const {
    return log.segments.at(segment).steps.at(index);
  }
  [[nodiscard]] std::size_t steps() const {
    std::size_t count = 0;
    for (const mfu::LogSegment& segment : log.segments) count += segment.steps.size();
    return count;
  }
};

inline ReadLog read_log_text(std::string_view text, const mfu::LogReadOptions& options = {},
                             std::size_t piece = SIZE_MAX) {
  ReadLog read;
  mfu::ByteSource source = mfu::ByteSource::from_memory(text, "train.log", piece);
  read.log = mfu::read_log(source, options, read.notes, &read.evidence);
  return read;
}

// "kind: place: message (hint)", or "ok: format".
inline std::string log_outcome(std::string_view text, const mfu::LogReadOptions& options = {}) {
  try {
    return "ok: " + read_log_text(text, options).log.format;
  } catch (const mfu::Error& error) {
    return std::string(to_string(error.kind())) + ": " + error.what();
  }
}
