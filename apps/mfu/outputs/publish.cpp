#include "outputs/publish.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/note_code.hpp"
#include "mfu/quantity.hpp"
#include "outputs/terminal.hpp"

namespace mfu::app {
namespace {

std::string first_of(const std::vector<std::string>& lines) {
  return lines.empty() ? std::string() : lines.front();
}

// Which figure it is that cannot be.
std::string impossible_figure(const Judged& judged) {
  if (judged.mfu && *judged.mfu > 1.0) {
    return fmt::format("an MFU of {} is impossible", format_percent(*judged.mfu));
  }
  if (judged.hfu) return fmt::format("an HFU of {} is impossible", format_percent(*judged.hfu));
  return "an MFU or HFU over 100 % is impossible";
}

}  // namespace

void say_error(const Error& error) {
  const std::string place = error.place().str();
  say(fmt::format("mfu: error: {}{}{}", place, place.empty() ? "" : ": ", error.message()));
  if (!error.hint().empty()) say("  hint: " + error.hint());
}

// An ignored key may be misspelt: it is reported even without -v.
void say_notes(const std::vector<Note>& notes, bool verbose) {
  for (const Note& note : notes) {
    if (note.severity == Severity::info && !verbose && note.code != NoteCode::unknown_keys)
      continue;
    const std::string place = note.first.str();
    say(fmt::format("mfu: note: {}{}{}{}", place, place.empty() ? "" : ": ", note.text,
                    note.count > 1 ? fmt::format(" ({} times)", note.count) : std::string()));
  }
}

void refuse_if_strict(const std::vector<Note>& notes, const Judged& judged,
                      const std::string& otherwise) {
  std::string texts;
  const Note* first = nullptr;
  for (const Note& note : notes) {
    if (note.severity == Severity::info) continue;
    if (first == nullptr) first = &note;
    texts += (texts.empty() ? "" : "; ") + note.text;
  }
  if (first != nullptr) {
    throw Error(ErrorKind::insufficient, "--strict: " + texts, first->first,
                "without --strict " + otherwise);
  }
  if (judged.impossible) {
    throw Error(ErrorKind::insufficient, "--strict: " + impossible_figure(judged), {},
                first_of(judged.impossible_because));
  }
}

Gate judge_min_mfu(const GateLimits& limits, const Judged& judged) {
  Place place;
  place.what = "--min-mfu";
  if (!judged.mfu) {
    throw Error(ErrorKind::insufficient, "the MFU is not known, so it cannot be judged", place,
                judged.missing);
  }
  if (judged.impossible) {
    throw Error(ErrorKind::insufficient, impossible_figure(judged) + ", so it cannot be judged",
                place, first_of(judged.impossible_because));
  }
  return {"min-mfu", limits.min_mfu_text, judged.mfu, format_percent(*judged.mfu),
          *judged.mfu >= limits.min_mfu.value_or(0.0)};
}

int publish(Report& report, std::vector<OutputTarget>& targets, bool verbose, bool interrupted) {
  const bool text_on_standard_output =
      std::any_of(targets.begin(), targets.end(), [](const OutputTarget& target) {
        return target.output.is_standard() && target.renderer->format == "text";
      });
  if (text_on_standard_output) say_notes(report.notes, verbose);
  const bool failed = std::any_of(report.gates.begin(), report.gates.end(),
                                  [](const Gate& gate) { return !gate.passed; });
  report.exit_code = interrupted ? 130 : failed ? 1 : 0;
  const RenderStyle terminal = standard_output_style();
  // A form that this report does not have is refused before anything is written.
  std::vector<std::string> rendered;
  for (const OutputTarget& target : targets) {
    rendered.push_back(
        target.renderer->render(report, target.output.is_standard() ? terminal : RenderStyle{}));
  }
  const bool annotate = std::any_of(targets.begin(), targets.end(), [](const OutputTarget& target) {
    return target.renderer->format == "github";
  });
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i].output.write(rendered[i]);
  if (annotate) {
    // The runner reads both streams; what is on standard output must stay what was asked for.
    Output beside = text_on_standard_output ? Output::standard() : Output::standard_error();
    beside.write(render_github_annotations(report));
  }
  return report.exit_code;
}

}  // namespace mfu::app
