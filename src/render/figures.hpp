// A report's figures, set-up and remarks, for forms with little room.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mfu/report.hpp"

namespace mfu::render {

struct Figure {
  std::string_view id;     // "step_seconds": of metrics and columns
  std::string_view label;  // "step, median": for people
  double value = 0.0;      // SI
  std::string text;        // "12.90 s"
  std::string_view help;   // one sentence without a full stop
};

struct Fact {
  std::string_view id;
  std::string_view label;
  std::string text;
};

struct Gist {
  std::string answer;  // "MFU 31.4 %, step 12.90 s, 325,140 tokens/s"
  std::string status;  // "ok", "impossible", "no-peak", "no-model"; of compare its outcome
  bool impossible = false;
  std::string missing;
  std::vector<std::string> impossible_because;
  std::vector<Figure> figures;  // those that are known
  std::vector<Fact> setup;
  std::vector<Fact> remarks;
  [[nodiscard]] const Figure* find(std::string_view id) const noexcept;
  [[nodiscard]] std::string_view setup_text(std::string_view id) const noexcept;
};

// Of log, calc, whatif and diagnose. Throws Error{unsupported} for another command: `form` has no
// sense there.
[[nodiscard]] Gist gist_of(const Report& report, std::string_view form);

// What the figures are of: the first file that was read; of a comparison what came after.
[[nodiscard]] std::string_view main_input(const Report& report) noexcept;

// Records alone, and not what was held against them.
[[nodiscard]] bool is_of_history(const Report& report) noexcept;

// "--min-mfu 40%: 38.2 %, FAILED"
[[nodiscard]] std::string gate_text(const Gate& gate);

// Cut between characters to at most `most` bytes.
[[nodiscard]] std::string cut_to_bytes(std::string text, std::size_t most);

}  // namespace mfu::render
