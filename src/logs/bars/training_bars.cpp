// The bars of a log as they come off its lines.
#include "logs/bars/training_bars.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "logs/values.hpp"

namespace mfu {

namespace {

constexpr std::size_t kMostBars = 8'192;
constexpr std::size_t kMostPoints = 400'000;
constexpr std::size_t kSmallBar = 256;  // points: not thinned
constexpr std::size_t kMostOpen = 8;    // bars of one description that may go on at a time
constexpr std::size_t kMostEvents = 100'000;

char small_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Numbers count on from line to line, the words stay.
std::string without_numbers(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!digit(text[i])) {
      plain += small_letter(text[i]);
      continue;
    }
    if (!plain.empty() && plain.back() == '-') plain.pop_back();
    while (i + 1 < text.size() &&
           (digit(text[i + 1]) || text[i + 1] == '.' || text[i + 1] == ',' || text[i + 1] == 'e')) {
      ++i;
    }
    plain += '#';
  }
  for (const std::string_view word : {"nan", "inf"}) {
    if (plain.ends_with(word)) plain.replace(plain.size() - word.size(), word.size(), "#");
  }
  return plain;
}

// "Epoch 3", "3|120|Loss: 2.1": the number of the epoch.
std::int64_t epoch_in(const std::string& words, std::string_view text) {
  std::size_t at = words.find("epoch");
  if (at == std::string::npos) {
    if (text.empty() || !digit(text[0]) || text.find('|') == std::string_view::npos) return -1;
    at = 0;
  } else {
    at += 5;
  }
  while (at < text.size() && (text[at] == ' ' || text[at] == '[' || text[at] == '#' ||
                              text[at] == ':' || text[at] == '=')) {
    ++at;
  }
  LogText number(text.substr(std::min(at, text.size())));
  return number.integer().value_or(-1);
}

std::string small_letters(std::string_view text) {
  std::string plain(text);
  for (char& c : plain) c = small_letter(c);
  return plain;
}

// "loss" of the training, not "eval_loss" or "val loss".
bool tells_training_loss(std::string_view text) {
  for (std::size_t i = 0; i + 4 <= text.size(); ++i) {
    if (small_letter(text[i]) != 'l' || small_letter(text[i + 1]) != 'o' ||
        small_letter(text[i + 2]) != 's' || small_letter(text[i + 3]) != 's') {
      continue;
    }
    const std::size_t from = i > 12 ? i - 12 : 0;
    const std::string before = small_letters(text.substr(from, i - from));
    bool other = false;
    for (const std::string_view word : {"val", "test", "dev"}) {
      const std::size_t at = before.rfind(word);
      // One word or two with it: "eval_loss", "validation loss", but not "val: 3, loss".
      other = other ||
              (at != std::string::npos && before.find_first_of(",:=|}{;", at) == std::string::npos);
    }
    if (!other) return true;
  }
  for (const std::string_view word : {"learning_rate", "lr=", "lr:", "'lr'"}) {
    if (text.find(word) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

void TrainingBars::take_bar(const ProgressBar& bar, const LogLine& line) {
  ++order_;
  // A launcher names the process at the start of a line, not after each carriage return.
  if (line.origin != 0 || line.number != carried_line_) {
    carried_line_ = line.number;
    carried_origin_ = line.origin;
  }
  if (open_bars_ == nullptr || bar.description != printed_.description ||
      bar.total != printed_.total || bar.unit != printed_.unit ||
      carried_origin_ != printed_.origin) {
    printed_.description = bar.description;
    printed_.total = bar.total;
    printed_.unit = bar.unit;
    printed_.origin = carried_origin_;
    printed_.epoch = epoch_in(small_letters(bar.description), bar.description);
    printed_.key = without_numbers(bar.description);
    const bool described = !printed_.key.empty();
    printed_.key += '\n';
    printed_.key += static_cast<char>('0' + static_cast<int>(bar.unit));
    if (!described) printed_.key += std::to_string(bar.total);
    open_bars_ = &open_[printed_.key + '\n' + std::to_string(carried_origin_)];
  }
  std::vector<std::size_t>& open = *open_bars_;
  std::size_t best = bars_.size();
  double least = std::numeric_limits<double>::infinity();
  for (auto at = open.rbegin(); at != open.rend(); ++at) {
    if (bars_[*at].total != bar.total || bars_[*at].epoch != printed_.epoch) continue;
    const auto off = bars_[*at].course.misfit(bar, last_ == *at);
    if (off && *off < least) {
      least = *off;
      best = *at;
    }
  }
  if (best == bars_.size()) {
    if (bars_.size() >= kMostBars) return;
    Bar fresh;
    fresh.course.start(bar, line.number, order_);
    fresh.key = printed_.key;
    fresh.description = bar.description;
    fresh.origin = carried_origin_;
    fresh.total = bar.total;
    fresh.epoch = printed_.epoch;
    fresh.unit = bar.unit;
    bars_.push_back(std::move(fresh));
    if (open.size() >= kMostOpen) open.erase(open.begin());
    open.push_back(best);
    ++points_;
  } else {
    Bar& found = bars_[best];
    if (found.course.add(bar, line.number, order_)) ++points_;
    if (found.loss_pending) ++found.losses;
    found.loss_pending = false;
  }
  Bar& found = bars_[best];
  if (!found.loss_inside) {
    found.loss_inside = tells_training_loss(bar.inside) || tells_training_loss(bar.description) ||
                        bar.inside.find("v_num=") != std::string_view::npos;
  }
  last_ = best;
  if (points_ >= kMostPoints) keep_small();
}

void TrainingBars::keep_small() {
  for (Bar& bar : bars_) {
    if (bar.course.points().size() > kSmallBar) points_ -= bar.course.thin();
  }
}

bool TrainingBars::take(const LogLine& line) {
  std::size_t at = 0;
  while (const auto bar = parse_progress_bar(line.text, at)) {
    take_bar(*bar, line);
    at = bar->end;
  }
  if (at == 0) return false;
  if (at < line.text.size()) beside(line.text.substr(at));
  return true;
}

void TrainingBars::beside(std::string_view text) {
  if (last_ && tells_training_loss(text)) bars_[*last_].loss_pending = true;
}

void TrainingBars::evaluated(std::optional<double> seconds) {
  if (order_ == 0 || evaluations_.size() >= kMostEvents) return;
  evaluations_.push_back({order_, seconds.value_or(0.0)});
}

}  // namespace mfu
