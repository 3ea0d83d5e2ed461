// Which bar is the training, and what its steps are.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include "logs/bars/training_bars.hpp"

namespace mfu {

namespace {

constexpr double kMuchLonger = 10.0;
constexpr double kSecond = 1.0;        // that a bar's clock does not show
constexpr std::int64_t kManyMore = 3;  // losses
constexpr double kOtherPace = 2.0;     // of bars that only look alike
constexpr std::size_t kMostNamed = 6;
constexpr std::size_t kMostProcesses = 64;

// What a description says of a bar: 1 training, -1 something else, 0 neither.
int named(std::string_view key, std::int64_t epoch) {
  const std::string_view words = key.substr(0, key.find('\n'));
  static constexpr std::array kOthers{
      "eval",    "valid",   "val ",    "test",     "predict", "infer",   "sanity",   "map",
      "token",   "filter",  "generat", "download", "load",    "fetch",   "upload",   "saving",
      "writ",    "cach",    "pack",    "prepar",   "preproc", "process", "sampling", "skipping",
      "extract", "convert", "shard",   "read",     "build",   "index",   "encod",    "quantiz",
      "merg",    "warmup",  "warming", "compil",   "captur",  "dataset", "calibrat", "flatten",
      "group",   "appl",    "concat"};
  for (const std::string_view other : kOthers) {
    if (words.find(other) != std::string_view::npos) return -1;
  }
  if (words == "val") return -1;
  // "Epoch: 2/3" counts epochs, "Epoch 2: 17/500" what is in one.
  if (words.find("epoch") != std::string_view::npos) return epoch >= 0 ? 1 : -1;
  for (const std::string_view training : {"train", "step", "iter", "loss", "batch", "update"}) {
    if (words.find(training) != std::string_view::npos) return 1;
  }
  return 0;
}

bool counts_epochs(std::string_view key, std::int64_t epoch, BarUnit unit) {
  if (unit == BarUnit::epoch) return true;
  return epoch < 0 && key.substr(0, key.find('\n')).find("epoch") != std::string_view::npos;
}

}  // namespace

std::string TrainingBars::name(const Family& family) const {
  const Bar& bar = bars_[family.bars.front()];
  std::string text =
      bar.description.empty() ? std::string("the undescribed one") : "'" + bar.description + "'";
  if (bar.total > 0) text += " of " + std::to_string(bar.total);
  text += " (line " + std::to_string(bar.course.points().front().line) + ")";
  return text;
}

TrainingBars::Family TrainingBars::family_of(std::vector<std::size_t> bars) const {
  Family family;
  for (const std::size_t i : bars) {
    const Bar& bar = bars_[i];
    family.duration_s += bar.course.duration_s();
    family.losses += bar.losses;
    family.loss_inside = family.loss_inside || bar.loss_inside;
    family.total = std::max(family.total, bar.total);
  }
  family.named = named(bars_[bars.front()].key, bars_[bars.front()].epoch);
  family.bars = std::move(bars);
  return family;
}

// Another bar of the same key that goes on at the same time is another process's: one is enough.
void TrainingBars::drop_other_ranks() {
  std::map<std::string_view, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < bars_.size(); ++i) alike[bars_[i].key].push_back(i);
  for (auto& [key, same] : alike) {
    std::map<std::uint64_t, std::size_t> points;  // of each process
    for (const std::size_t i : same) points[bars_[i].origin] += bars_[i].course.points().size();
    std::vector<std::uint64_t> processes;  // that with most first
    for (const std::size_t i : same) {
      const std::uint64_t one = bars_[i].origin;
      if (std::find(processes.begin(), processes.end(), one) == processes.end()) {
        processes.push_back(one);
      }
    }
    std::stable_sort(processes.begin(), processes.end(),
                     [&](std::uint64_t a, std::uint64_t b) { return points[a] > points[b]; });
    const auto give = [this](Bar& copy, Bar& whole) {
      copy.rank_of_another = true;
      whole.losses += copy.losses;
      whole.loss_inside = whole.loss_inside || copy.loss_inside;
      ++others_ranks_;
    };
    const auto apart = [](const Bar& one, const Bar& other) {
      return one.course.last_order() < other.course.first_order() ||
             other.course.last_order() < one.course.first_order();
    };
    std::vector<std::size_t> kept;
    for (std::size_t p = 0; p < processes.size() && p < kMostProcesses; ++p) {
      const std::size_t others = kept.size();
      for (const std::size_t i : same) {
        if (bars_[i].origin != processes[p]) continue;
        // A run before the launcher named its processes has no bar beside it.
        std::size_t whole = others;
        for (std::size_t k = 0; k < others; ++k) {
          if (!apart(bars_[i], bars_[kept[k]])) whole = k;
        }
        if (whole < others) {
          give(bars_[i], bars_[kept[whole]]);
        } else {
          kept.push_back(i);
        }
      }
    }
    std::sort(kept.begin(), kept.end());
    // Without a name on the lines: both advance, each while the other does.
    for (std::size_t a = 0; a < kept.size(); ++a) {
      for (std::size_t b = a + 1; b < kept.size() && b < a + 64; ++b) {
        Bar& one = bars_[kept[a]];
        Bar& other = bars_[kept[b]];
        if (one.rank_of_another || other.rank_of_another || one.total != other.total ||
            one.epoch != other.epoch || inside_a_gap(other, one) || inside_a_gap(one, other)) {
          continue;
        }
        if (apart(one, other)) continue;
        if (one.course.points().size() >= other.course.points().size()) {
          give(other, one);
        } else {
          give(one, other);
        }
      }
    }
  }
}

// Whether `inner` runs from its first to its last line between two counts of `outer`.
bool TrainingBars::inside_a_gap(const Bar& inner, const Bar& outer) const {
  if (inner.course.first_order() < outer.course.first_order() ||
      inner.course.last_order() > outer.course.last_order()) {
    return false;
  }
  const auto& points = outer.course.points();
  const auto next = std::upper_bound(
      points.begin(), points.end(), inner.course.first_order(),
      [](std::int64_t order, const BarCourse::Point& point) { return order < point.order; });
  return next == points.end() || next->order > inner.course.last_order();
}

std::vector<TrainingBars::Family> TrainingBars::families() {
  std::map<std::string_view, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < bars_.size(); ++i) {
    if (!bars_[i].rank_of_another) alike[bars_[i].key].push_back(i);
  }
  std::vector<Family> found;
  for (const auto& [key, same] : alike) {
    std::vector<std::size_t> nested;
    std::vector<std::size_t> with_loss;
    std::vector<std::size_t> without;
    for (const std::size_t i : same) {
      bool within = false;
      for (const std::size_t k : same) {
        within = within ||
                 (k != i && !inside_a_gap(bars_[k], bars_[i]) && inside_a_gap(bars_[i], bars_[k]));
      }
      const bool loss = bars_[i].losses > 0 || bars_[i].loss_inside;
      (within ? nested : loss ? with_loss : without).push_back(i);
    }
    if (!nested.empty()) found.push_back(family_of(std::move(nested)));
    if (!with_loss.empty()) found.push_back(family_of(std::move(with_loss)));
    // Bars that have no description may be anything: those of another pace are something else.
    std::vector<std::pair<double, std::size_t>> paces;
    for (const std::size_t i : without) {
      const auto& points = bars_[i].course.points();
      const double steps = static_cast<double>(points.back().done - points.front().done);
      paces.emplace_back(steps > 0.0 ? bars_[i].course.duration_s() / steps : 0.0, i);
    }
    std::sort(paces.begin(), paces.end());
    std::vector<std::size_t> part;
    for (std::size_t i = 0; i < paces.size(); ++i) {
      const bool described = bars_[paces[i].second].key.front() != '\n';
      if (!part.empty() && !described && paces[i].first > kOtherPace * paces[i - 1].first) {
        std::sort(part.begin(), part.end());
        found.push_back(family_of(std::exchange(part, {})));
      }
      part.push_back(paces[i].second);
    }
    std::sort(part.begin(), part.end());
    if (!part.empty()) found.push_back(family_of(std::move(part)));
  }
  return found;
}

// Of the gaps between two counts of `outer`: in how many `inner` runs.
double TrainingBars::share_of_gaps(const Family& inner, const Family& outer) const {
  std::size_t gaps = 0;
  std::size_t taken = 0;
  for (const std::size_t o : outer.bars) {
    const auto& points = bars_[o].course.points();
    gaps += points.size() > 1 ? points.size() - 1 : 0;
    std::int64_t last_gap = -1;
    for (const std::size_t i : inner.bars) {
      if (!inside_a_gap(bars_[i], bars_[o])) continue;
      const std::int64_t from = bars_[i].course.first_order();
      const std::int64_t gap =
          std::upper_bound(points.begin(), points.end(), from,
                           [](std::int64_t order, const BarCourse::Point& point) {
                             return order < point.order;
                           }) -
          points.begin();
      if (gap != last_gap) ++taken;
      last_gap = gap;
    }
  }
  if (gaps == 0) return taken > 0 ? 1.0 : 0.0;
  return static_cast<double>(taken) / static_cast<double>(gaps);
}

bool TrainingBars::better(const Family& a, const Family& b) const {
  const Bar& first_a = bars_[a.bars.front()];
  const Bar& first_b = bars_[b.bars.front()];
  if (announced_ > 0 && (a.total == announced_) != (b.total == announced_)) {
    return a.total == announced_;
  }
  const auto epochs = [](const Bar& bar) { return counts_epochs(bar.key, bar.epoch, bar.unit); };
  if (epochs(first_a) != epochs(first_b)) return !epochs(first_a);
  if ((a.named < 0) != (b.named < 0)) return b.named < 0;
  const bool loss_a = a.losses > 0 || a.loss_inside;
  const bool loss_b = b.losses > 0 || b.loss_inside;
  if (loss_a != loss_b) return loss_a;
  if (a.losses >= kManyMore * b.losses && a.losses > 0 && !(b.loss_inside && !a.loss_inside)) {
    return true;
  }
  if (b.losses >= kManyMore * a.losses && b.losses > 0 && !(a.loss_inside && !b.loss_inside)) {
    return false;
  }
  // What runs between a few of its counts is an evaluation; between all of them, it is not told
  // which of the two counts the steps.
  const double b_in_a = share_of_gaps(b, a);
  const double a_in_b = share_of_gaps(a, b);
  if (b_in_a > 0.0 && b_in_a < 0.25) return true;
  if (a_in_b > 0.0 && a_in_b < 0.25) return false;
  if (a.named != b.named) return a.named > b.named;
  if (b_in_a > 0.0 || a_in_b > 0.0) return false;
  return a.duration_s > 0.0 && a.duration_s >= kMuchLonger * (b.duration_s + kSecond);
}

// Other bars and evaluations between two counts of the training.
void TrainingBars::find_interruptions(const Family& family) {
  std::vector<bool> of_family(bars_.size(), false);
  for (const std::size_t i : family.bars) of_family[i] = true;
  const std::string_view key = bars_[family.bars.front()].key;
  for (const std::size_t t : family.bars) {
    BarCourse& course = bars_[t].course;
    const std::vector<BarCourse::Point>& points = course.points();
    std::size_t gaps = 0;
    const auto gap_of = [&points](std::int64_t order) {
      return static_cast<std::size_t>(
          std::upper_bound(points.begin(), points.end(), order,
                           [](std::int64_t wanted, const BarCourse::Point& point) {
                             return wanted < point.order;
                           }) -
          points.begin());
    };
    std::vector<bool> hit(points.size(), false);
    const auto interrupt = [&](std::size_t to, double seconds, bool evaluation) {
      if (to == 0 || to >= points.size()) return;
      if (!hit[to]) ++gaps;
      hit[to] = true;
      course.interrupt(to, seconds, evaluation);
    };
    for (std::size_t i = 0; i < bars_.size(); ++i) {
      const Bar& other = bars_[i];
      if (of_family[i] || (other.rank_of_another && other.key == key)) continue;
      if (other.course.seen() < 2 || other.course.last_order() < course.first_order() ||
          other.course.first_order() > course.last_order()) {
        continue;
      }
      const std::size_t to = gap_of(other.course.first_order());
      if (to == gap_of(other.course.last_order())) {
        const bool evaluation = other.key.find("val") < other.key.find('\n');
        interrupt(to, other.course.duration_s(), evaluation);
        continue;
      }
      // Over several: where it went on by more than a line.
      std::size_t at = 0;
      std::int64_t count = 0;
      for (const BarCourse::Point& point : other.course.points()) {
        const std::size_t gap = gap_of(point.order);
        count = gap == at ? count + 1 : 1;
        at = gap;
        if (count == 3) interrupt(gap, 0.0, false);
      }
    }
    for (const Evaluation& evaluation : evaluations_) {
      if (evaluation.order >= course.first_order() && evaluation.order < course.last_order()) {
        interrupt(gap_of(evaluation.order), evaluation.seconds, true);
      }
    }
    // In every gap it is a part of the step.
    if (2 * gaps > points.size()) course.forget_interruptions();
  }
}

void TrainingBars::tell_steps(const Family& family, Choice& choice) {
  // Epochs go on counting; a run that starts again does not.
  std::int64_t offset = 0;
  const Bar* before = nullptr;
  std::vector<std::pair<const Bar*, std::int64_t>> parts;
  for (const std::size_t i : family.bars) {
    const Bar& bar = bars_[i];
    if (before != nullptr) {
      const std::int64_t end = before->course.points().back().done;
      bool next_epoch = before->total > 0 ? end >= before->total : false;
      if (bar.epoch >= 0 && before->epoch >= 0) next_epoch = bar.epoch > before->epoch;
      for (const std::int64_t start : starts_) {
        if (start >= before->course.last_order() && start < bar.course.first_order()) {
          next_epoch = false;
        }
      }
      offset = next_epoch ? offset + std::max(end, before->total) : 0;
    }
    parts.emplace_back(&bar, offset);
    before = &bar;
  }
  std::size_t told = 0;
  bool only_means = true;
  for (const auto& [bar, start] : parts) {
    const BarCourse::Times times = bar->course.times();
    const auto& points = bar->course.points();
    for (const BarCourse::Stretch& stretch : times.stretches) {
      Step one;
      one.step.iteration = start + points[stretch.to].done;
      one.step.line = points[stretch.to].line;
      one.step.step_s = stretch.seconds;
      one.step.steps_averaged = static_cast<int>(std::min<std::int64_t>(
          points[stretch.to].done - points[stretch.from].done, 1'000'000'000));
      one.from_order = points[stretch.from + 1].order;
      one.to_order = stretch.to + 1 < points.size() ? points[stretch.to + 1].order
                                                    : std::numeric_limits<std::int64_t>::max();
      choice.steps.push_back(one);
      ++told;
    }
    if (!times.stretches.empty() && !times.mean_of_all) only_means = false;
    if (times.resumed_at > 0 && choice.resumed_line == 0) {
      choice.resumed_line = points[times.resumed_at].line;
    }
    for (std::size_t i = 1; i < points.size(); ++i) {
      if (!points[i].interrupted) continue;
      choice.pauses.push_back({points[i].evaluation, points[i].line, start + points[i - 1].done,
                               static_cast<double>(points[i].pause_s)});
    }
  }
  choice.mean_of_run = told > 0 && only_means;
  if (told > 0) return;
  // The clock stands still, or there is one line only.
  for (const auto& [bar, start] : parts) {
    const auto& points = bar->course.points();
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (points[i].printed_s <= 0.0 || points[i].done < 1) continue;
      Step one;
      one.step.iteration = start + points[i].done;
      one.step.line = points[i].line;
      one.step.step_s = points[i].printed_s;
      one.from_order = points[i].order;
      one.to_order =
          i + 1 < points.size() ? points[i + 1].order : std::numeric_limits<std::int64_t>::max();
      choice.steps.push_back(one);
      choice.printed_rates = true;
    }
  }
}

TrainingBars::Choice TrainingBars::choose() {
  Choice choice;
  if (bars_.empty()) return choice;
  // The log stops in the middle of the bar.
  for (Bar& bar : bars_) {
    if (bar.loss_pending && bar.course.points().back().done != bar.total) ++bar.losses;
  }
  drop_other_ranks();
  choice.ranks = others_ranks_;
  std::vector<Family> all = families();
  // What counts no steps is a training in no log.
  std::vector<const Family*> able;
  for (const Family& family : all) {
    const Bar& bar = bars_[family.bars.front()];
    if (bar.unit == BarUnit::step && family.named >= 0 &&
        !counts_epochs(bar.key, bar.epoch, bar.unit)) {
      able.push_back(&family);
    }
  }
  const auto names = [&](const std::vector<const Family*>& of) {
    std::string text;
    for (std::size_t i = 0; i < of.size() && i < kMostNamed; ++i) {
      if (i > 0) text += i + 1 == of.size() ? " and " : ", ";
      text += name(*of[i]);
    }
    if (of.size() > kMostNamed) text += " and " + std::to_string(of.size() - kMostNamed) + " more";
    return text;
  };
  const std::int64_t first_line = bars_.front().course.points().front().line;
  if (able.empty()) {
    std::vector<const Family*> rest;
    for (const Family& family : all) rest.push_back(&family);
    choice.refusal = LogRefusal{"no progress bar counts training steps: " + names(rest),
                                "mfu calc --step-time takes the time of a step", first_line};
    return choice;
  }
  const Family* best = nullptr;
  for (const Family* candidate : able) {
    bool wins = true;
    for (const Family* other : able) {
      wins = wins && (other == candidate || better(*candidate, *other));
    }
    if (wins) best = candidate;
  }
  if (best == nullptr) {
    // Those that something else beats are not asked about.
    std::vector<const Family*> open;
    for (const Family* candidate : able) {
      bool beaten = false;
      for (const Family* other : able) {
        beaten = beaten ||
                 (other != candidate && better(*other, *candidate) && !better(*candidate, *other));
      }
      if (!beaten) open.push_back(candidate);
    }
    if (open.size() < 2) open = able;
    choice.refusal = LogRefusal{"which progress bar is the training is not clear: " + names(open),
                                "keep the lines of one: tr '\\r' '\\n' < train.log | grep '/" +
                                    std::to_string(open.front()->total) +
                                    " ' | mfu log -; or mfu calc --step-time",
                                bars_[open.front()->bars.front()].course.points().front().line};
    return choice;
  }
  choice.certain = best->losses > 0 || best->loss_inside || best->named > 0 ||
                   (announced_ > 0 && best->total == announced_);
  choice.bar = name(*best);
  choice.line = bars_[best->bars.front()].course.points().front().line;
  std::vector<const Family*> rest;
  for (const Family& family : all) {
    if (&family != best) rest.push_back(&family);
  }
  choice.set_aside = names(rest);
  find_interruptions(*best);
  tell_steps(*best, choice);
  return choice;
}

void tell_bars(const TrainingBars::Choice& choice, LogFormat& format) {
  for (const TrainingBars::Pause& one : choice.pauses) {
    LogLine at;
    at.number = one.line;
    at.iteration = one.after;
    format.pause(one.evaluation ? "evaluation" : "other progress bar", at, one.seconds);
  }
  if (choice.steps.empty()) return;
  const auto note = [&format](NoteCode code, std::string text, std::int64_t line) {
    Place where;
    where.line = line;
    format.notes.add(code, std::move(text), std::move(where));
  };
  if (choice.printed_rates) {
    note(NoteCode::smoothed_time, "s/it of a progress bar is a running mean", choice.line);
    format.found.said_by["step_time"] = "the rate of a progress bar, " + choice.bar;
  } else {
    note(NoteCode::times_from_bar,
         "step times are differences of a progress bar's clock over those of its count",
         choice.line);
    format.found.said_by["step_time"] = "elapsed time over count of a progress bar, " + choice.bar;
  }
  if (choice.mean_of_run) {
    note(NoteCode::mean_of_run, "the bar gives one mean, start-up included", choice.line);
  }
  if (choice.resumed_line > 0) {
    note(NoteCode::bar_jumped,
         "the progress bar jumps to where the run went on: steps count from there",
         choice.resumed_line);
  }
  if (choice.ranks > 0) {
    format.notes.add(NoteCode::ranks_merged, "other ranks print the same progress bar",
                     Place{.line = choice.line}, choice.ranks);
  }
  if (!choice.set_aside.empty()) {
    note(NoteCode::bars_set_aside,
         "the training's progress bar is " + choice.bar + ", not " + choice.set_aside, choice.line);
  }
}

}  // namespace mfu
