#include "logs/bars/progress_bar.hpp"

#include <cmath>

#include "logs/values.hpp"

namespace mfu {

namespace {

// "1:42:42<", of unknown length "1:42:42,". -1: no clock.
std::int64_t clock_at(std::string_view text) {
  std::int64_t seconds = 0;
  std::int64_t part = 0;
  std::size_t colons = 0;
  std::size_t at = 0;
  for (; at < text.size() && at < 16 && (digit(text[at]) || text[at] == ':'); ++at) {
    if (text[at] == ':') {
      seconds = (seconds + part) * 60;
      part = 0;
      ++colons;
    } else {
      part = part * 10 + (text[at] - '0');
    }
  }
  if (colons == 0 || colons > 2 || at >= text.size()) return -1;
  if (text[at] != '<' && text[at] != ',') return -1;
  return seconds + part;
}

BarUnit unit_named(std::string_view name) {
  for (const std::string_view step : {"it", "its", "step", "steps", "batch", "batches", "iter",
                                      "iters", "iteration", "iterations", "update", "updates"}) {
    if (name == step) return BarUnit::step;
  }
  if (name == "epoch" || name == "epochs" || name == "ep") return BarUnit::epoch;
  return BarUnit::other;
}

// "4.79s/it", "12.50it/s", "?it/s".
void read_rate(std::string_view inside, ProgressBar& bar) {
  const std::size_t comma = inside.find(',');
  if (comma == std::string_view::npos) return;
  const std::string_view rest = inside.substr(comma + 1);
  std::string_view text = trimmed(rest.substr(0, rest.find(',')));
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return;
  std::size_t digits = 0;
  while (digits < slash && (digit(text[digits]) || text[digits] == '.')) ++digits;
  const std::string_view number = text.substr(0, digits);
  if (number.empty() && !text.starts_with("?")) return;
  const std::size_t skip = number.empty() ? 1 : digits;
  const std::string_view above = text.substr(skip, slash - skip);
  const std::string_view below = text.substr(slash + 1);
  const bool seconds_each = above == "s" && below != "s";
  if (!seconds_each && below != "s") return;
  bar.unit = unit_named(seconds_each ? below : above);
  LogText at(number);
  const auto value = positive(at.number());
  if (!value) return;
  const std::size_t point = number.find('.');
  const double half = point == std::string_view::npos
                          ? 0.5
                          : 0.5 * std::pow(10.0, -static_cast<double>(number.size() - point - 1));
  bar.step_s = seconds_each ? *value : 1.0 / *value;
  bar.step_rounding_s = seconds_each ? half : half / (*value * *value);
}

// What stands before the percentage or, without one, before the count, when a colon ends it.
std::string_view description_in(std::string_view before) {
  const std::size_t percent = before.rfind("%|");
  if (percent != std::string_view::npos) {
    before = before.substr(0, percent);
    while (!before.empty() && (digit(before.back()) || before.back() == '.')) {
      before.remove_suffix(1);
    }
  } else if (const std::size_t bar = before.find(": |"); bar != std::string_view::npos) {
    before = before.substr(0, bar + 1);  // of unknown length
  }
  before = trimmed(before);
  if (before.empty() || before.back() != ':') return {};
  while (!before.empty() && (before.back() == ':' || before.back() == ' ')) {
    before.remove_suffix(1);
  }
  // Another line's end may be glued to it.
  const std::size_t glued = before.find_last_of("}]");
  if (glued != std::string_view::npos) before = before.substr(glued + 1);
  if (before.size() > 80) before = before.substr(before.size() - 80);
  return trimmed(before);
}

}  // namespace

std::optional<ProgressBar> parse_progress_bar(std::string_view text, std::size_t from) {
  for (std::size_t open = text.find('[', from); open != std::string_view::npos;
       open = text.find('[', open + 1)) {
    const std::string_view inside = text.substr(open + 1);
    const std::int64_t elapsed = clock_at(inside);
    if (elapsed < 0) continue;
    ProgressBar bar;
    bar.elapsed_s = elapsed;
    std::size_t at = open;
    while (at > from && text[at - 1] == ' ') --at;
    const std::size_t close = inside.find(']');
    // Cut off inside of its clock or rate.
    if (close == std::string_view::npos && inside.find(',') == std::string_view::npos) continue;
    const bool open_end = inside[inside.find_first_not_of("0123456789:")] == ',';
    const std::size_t count_end = at;
    while (at > from && text[at - 1] != ' ' && text[at - 1] != '|') --at;
    LogText count(text.substr(at, count_end - at));
    const auto done = count.integer();
    if (!done || *done < 0) continue;
    if (count.take("/")) {
      const auto total = count.integer();
      if (total ? *total < 1 : !count.take("?")) continue;
      bar.total = total.value_or(0);
      if (!count.rest().empty() || (open_end && total)) continue;
    } else if (count.rest().empty()) {
      continue;  // "12 [00:05]" says nothing of what it counts
    } else {
      bar.unit = unit_named(count.rest());
    }
    bar.done = *done;
    bar.inside = inside.substr(0, close);
    bar.end = close == std::string_view::npos ? text.size() : open + 1 + close + 1;
    bar.description = description_in(text.substr(from, at - from));
    if (close != std::string_view::npos) read_rate(bar.inside, bar);
    return bar;
  }
  return std::nullopt;
}

}  // namespace mfu
