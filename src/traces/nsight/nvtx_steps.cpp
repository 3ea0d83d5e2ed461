#include "traces/nsight/nvtx_steps.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "traces/text.hpp"

namespace mfu::traces {

namespace {

constexpr std::size_t kLongestName = 128;

void trim_end(std::string_view& text, std::string_view what) {
  const std::size_t last = text.find_last_not_of(what);
  text = last == std::string_view::npos ? std::string_view{} : text.substr(0, last + 1);
}

// Takes the digits at the end.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::size_t at = text.size();
  while (at > 0 && digit(text[at - 1])) --at;
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data() + at, end, value);
  if (result.ec != std::errc{} || result.ptr != end) return std::nullopt;
  text = text.substr(0, at);
  return value;
}

// Lower case, letters and digits only.
std::string letters_and_digits(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') {
      out += static_cast<char>(c + 32);
    } else if (digit(c) || (c >= 'a' && c <= 'z')) {
      out += c;
    }
  }
  return out;
}

bool part_of_step(std::string_view word) noexcept {
  for (const std::string_view part :
       {"micro", "sub", "accum", "layer", "optim", "eval", "valid", "test", "forward", "backward",
        "fwd", "bwd", "warp", "sched", "postprocess", "preprocess"}) {
    if (word.find(part) != std::string_view::npos) return true;
  }
  return false;
}

bool numbered_word(std::string_view word) noexcept {
  for (const std::string_view end : {"step", "iteration", "iter", "batch"}) {
    if (word.ends_with(end)) return true;
  }
  return false;
}

bool whole_step_word(std::string_view word) noexcept {
  for (const std::string_view name :
       {"step", "trainstep", "trainingstep", "iteration", "trainiteration", "trainingiteration",
        "iter", "trainbatch", "runtrainingbatch", "batch"}) {
    if (word == name) return true;
  }
  return false;
}

}  // namespace

std::optional<StepName> parse_step_name(std::string_view text) {
  if (text.empty() || text.size() > kLongestName) return std::nullopt;
  std::string_view rest = text;
  trim_end(rest, " \t)]");
  std::optional<std::int64_t> number = take_number(rest);
  if (number) {
    // "12/1000", "12 of 1000": the first is the step's.
    std::string_view before = rest;
    trim_end(before, " ");
    const bool of = before.ends_with(" of");
    if (before.ends_with('/') || of) {
      before.remove_suffix(of ? 3 : 1);
      trim_end(before, " ");
      const std::optional<std::int64_t> first = take_number(before);
      if (!first) return std::nullopt;
      number = first;
      rest = before;
    }
    const std::string word = letters_and_digits(rest);
    if (!numbered_word(word) || part_of_step(word)) return std::nullopt;
    return StepName{printable(rest) + "N", number};
  }
  rest = text;
  trim_end(rest, " \t");
  // "[pl][profile]run_training_batch", "[Strategy]DDPStrategy.training_step"
  const std::size_t bracket = rest.rfind(']');
  if (rest.front() == '[' && bracket != std::string_view::npos) rest.remove_prefix(bracket + 1);
  const std::size_t dot = rest.rfind('.');
  if (dot != std::string_view::npos) rest.remove_prefix(dot + 1);
  if (!whole_step_word(letters_and_digits(rest))) return std::nullopt;
  return StepName{printable(text), std::nullopt};
}

void NvtxSteps::add(const StepName& name, std::int64_t thread, std::int64_t begin_ns,
                    std::int64_t end_ns) {
  const auto key = std::pair{name.family, thread};
  auto at = families_.find(key);
  if (at == families_.end()) {
    if (families_.size() == kMostFamilies) return;
    at = families_.emplace(key, Family{}).first;
  }
  at->second.numbered = name.number.has_value();
  at->second.ranges.push_back({name.number.value_or(0), begin_ns, end_ns});
}

std::vector<StepSplit> NvtxSteps::windows_of(const Family& family) {
  std::vector<Range> ranges = family.ranges;
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
    return std::tie(a.begin_ns, b.end_ns, a.id) < std::tie(b.begin_ns, a.end_ns, b.id);
  });
  std::vector<StepSplit> out;
  for (const Range& range : ranges) {
    if (range.end_ns <= range.begin_ns) continue;
    if (!out.empty() && range.begin_ns < out.back().end_ns) {
      // The same range a second time, within the first (pushed by two libraries).
      if (range.end_ns <= out.back().end_ns && (!family.numbered || range.id == out.back().id)) {
        continue;
      }
      return {};
    }
    if (family.numbered && !out.empty() && range.id <= out.back().id) return {};
    StepSplit window;
    window.id = family.numbered ? range.id : static_cast<std::int64_t>(out.size());
    window.begin_ns = range.begin_ns;
    window.end_ns = range.end_ns;
    out.push_back(window);
  }
  if (!family.numbered && out.size() < 2) return {};
  return out;
}

NvtxSteps::Choice NvtxSteps::choose() const {
  Choice choice;
  std::tuple<bool, bool, std::int64_t> best;
  const auto name_once = [](std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const auto& [key, family] : families_) {
    std::vector<StepSplit> windows = windows_of(family);
    if (windows.empty()) {
      name_once(choice.unusable, key.first);
      continue;
    }
    std::int64_t covered = 0;
    for (const StepSplit& window : windows) covered += window.end_ns - window.begin_ns;
    const std::tuple<bool, bool, std::int64_t> rank{family.numbered, windows.size() >= 3, covered};
    if (!choice.windows.empty() && rank <= best) {
      name_once(choice.others, key.first);
      continue;
    }
    if (!choice.windows.empty()) name_once(choice.others, choice.family);
    best = rank;
    choice.family = key.first;
    choice.windows = std::move(windows);
  }
  return choice;
}

}  // namespace mfu::traces
