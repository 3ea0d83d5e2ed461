#include "traces/collectives/captures.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/note_code.hpp"
#include "statistics/robust.hpp"
#include "timings/trace.hpp"
#include "traces/collectives/collectives.hpp"
#include "traces/split.hpp"

namespace mfu::traces {

namespace {

// The ends of one collective's ranks differ by this many times what they do among the others: far
// more than their own scatter, far less than what steps of another time differ by.
constexpr double kSameEnds = 4.0;
constexpr double kLeastEndSpread = 20e3;  // ns

// The last number in the name of the folder that a file is in, and the name without it.
struct CaptureFolder {
  std::string without_number;
  std::int64_t number = -1;  // -1: there is none
};

CaptureFolder folder_of(std::string_view file) {
  CaptureFolder result;
  const std::size_t slash = file.find_last_of('/');
  if (slash == std::string_view::npos) return result;
  const std::string_view folder = file.substr(0, slash);
  const std::size_t last = folder.find_last_of("0123456789");
  const std::size_t name = folder.find_last_of('/') + 1;  // npos + 1: 0
  if (last == std::string_view::npos || last < name) return result;
  std::size_t first = last;
  while (first > name && folder[first - 1] >= '0' && folder[first - 1] <= '9') --first;
  std::int64_t number = 0;
  const auto digits = folder.substr(first, last + 1 - first);
  if (std::from_chars(digits.data(), digits.data() + digits.size(), number).ec != std::errc()) {
    return result;
  }
  result.number = number;
  result.without_number = std::string(folder.substr(0, first)) + '#';
  result.without_number += folder.substr(last + 1);
  return result;
}

void shift(RankTrace& trace, std::int64_t by) {
  const auto move = [by](StepSplit& window) {
    window.begin_ns += by;
    window.end_ns += by;
  };
  std::for_each(trace.steps.begin(), trace.steps.end(), move);
  std::for_each(trace.host_steps.begin(), trace.host_steps.end(), move);
  move(trace.gpu_span);
  for (CollectiveSpan& span : trace.collectives) {
    span.start_ns += by;
    span.end_ns += by;
  }
}

std::int64_t last_end(const RankTrace& trace) {
  std::int64_t end = trace.steps.empty() ? 0 : trace.steps.back().end_ns;
  for (const CollectiveSpan& span : trace.collectives) end = std::max(end, span.end_ns);
  return end;
}

std::uint32_t index_in(std::vector<std::string>& names, const std::string& name) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) names.push_back(name);
  return static_cast<std::uint32_t>(at - names.begin());
}

void append(RankTrace& to, RankTrace from) {
  if (to.epoch_offset_ns && from.epoch_offset_ns) {
    shift(from, *from.epoch_offset_ns - *to.epoch_offset_ns);
  } else if (!from.steps.empty() && from.steps.front().begin_ns < last_end(to)) {
    // Clocks that begin anew: the captures follow each other.
    shift(from, last_end(to) - from.steps.front().begin_ns);
    to.epoch_offset_ns.reset();
  }
  const auto before = static_cast<std::uint32_t>(to.steps.size());
  to.steps.insert(to.steps.end(), from.steps.begin(), from.steps.end());
  to.host_steps.insert(to.host_steps.end(), from.host_steps.begin(), from.host_steps.end());
  for (CollectiveSpan span : from.collectives) {
    if (span.step != kNoStep) span.step += before;
    span.kind = index_in(to.kinds, from.kinds[span.kind]);
    span.group = index_in(to.groups, from.groups[span.group]);
    to.collectives.push_back(span);
  }
  if (from.has_gpu) {
    to.gpu_span.end_ns = std::max(to.gpu_span.end_ns, from.gpu_span.end_ns);
    add(to.gpu_span.split, from.gpu_span.split);
  }
  to.has_gpu = to.has_gpu && from.has_gpu;
  to.activities += from.activities;
  to.lost_activities += from.lost_activities;
  to.cut_off = to.cut_off || from.cut_off;
}

// By number of the folder, indices of the traces in it.
using CapturesByNumber = std::map<std::int64_t, std::vector<std::size_t>>;

// Do the numbers of each rank's steps ascend from one capture to the next?
bool ascend_over(const CapturesByNumber& captures, const std::vector<RankTrace>& traces) {
  std::map<std::int64_t, std::int64_t> last;  // by rank
  for (const auto& [number, members] : captures) {
    for (const std::size_t i : members) {
      for (const StepSplit& step : traces[i].steps) {
        const auto [at, first] = last.try_emplace(*traces[i].rank, step.id);
        if (!first && step.id <= at->second) return false;
        at->second = step.id;
      }
    }
  }
  return true;
}

// Numbers the steps from the first capture on; those of one capture alike on all ranks.
void count_on(const CapturesByNumber& captures, std::vector<RankTrace>& traces) {
  std::int64_t next = 0;
  for (const auto& [number, members] : captures) {
    std::int64_t most = 0;
    for (const std::size_t i : members) {
      std::int64_t count = 0;
      for (StepSplit& step : traces[i].steps) step.id = next + count++;
      most = std::max(most, count);
    }
    next += most;
  }
}

// Times of a trace on the common clock: from its first step to its last.
struct CaptureTime {
  double begin_s = 0.0;
  double length_s = 0.0;
};

std::optional<CaptureTime> time_of(const RankTrace& trace) {
  if (!trace.epoch_offset_ns || trace.steps.empty()) return std::nullopt;
  const auto offset = static_cast<double>(*trace.epoch_offset_ns);
  const auto begin = static_cast<double>(trace.steps.front().begin_ns) + offset;
  const auto end = static_cast<double>(trace.steps.back().end_ns) + offset;
  return CaptureTime{begin / 1e9, (end - begin) / 1e9};
}

// By value, the members that share it; of the largest group, else of the one with the lowest index.
template <class Value>
std::vector<bool> outside_of_most(const std::vector<std::optional<Value>>& values) {
  std::map<Value, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i]) groups[*values[i]].push_back(i);
  }
  std::vector<bool> outside(values.size(), false);
  if (groups.size() < 2) return outside;
  const auto most =
      std::max_element(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
        return std::tuple(a.second.size(), b.second.front()) <
               std::tuple(b.second.size(), a.second.front());
      });
  for (std::size_t i = 0; i < values.size(); ++i) {
    outside[i] = values[i].has_value() && *values[i] != most->first;
  }
  return outside;
}

// Captures that begin further apart than a capture is long are of different times: which, by
// number.
std::vector<std::optional<std::size_t>> times_of(const std::vector<RankTrace>& traces) {
  std::vector<std::pair<double, std::size_t>> begins;
  std::vector<double> lengths;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const std::optional<CaptureTime> time = time_of(traces[i]);
    if (!time) continue;
    begins.emplace_back(time->begin_s, i);
    lengths.push_back(time->length_s);
  }
  std::vector<std::optional<std::size_t>> result(traces.size());
  if (begins.empty()) return result;
  const double length = median_inplace(lengths);
  std::sort(begins.begin(), begins.end());
  std::size_t number = 0;
  for (std::size_t k = 0; k < begins.size(); ++k) {
    if (k > 0 && begins[k].first - begins[k - 1].first > length) ++number;
    result[begins[k].second] = number;
  }
  return result;
}

// The median spread of the ends of paired collectives, clock offsets removed, ns; nothing: they do
// not pair.
std::optional<double> spread_of_ends(const std::vector<const RankTrace*>& traces) {
  std::vector<RankTrace> copies;
  std::set<std::int64_t> common;
  for (const RankTrace* trace : traces) {
    copies.push_back(*trace);
    std::set<std::int64_t> ids;
    for (const StepSplit& step : trace->steps) ids.insert(step.id);
    if (copies.size() == 1) common = ids;
    std::erase_if(common, [&ids](std::int64_t id) { return !ids.contains(id); });
  }
  if (common.empty()) return std::nullopt;
  std::vector<std::vector<std::int64_t>> ids;
  for (const RankTrace& trace : copies) {
    auto& own = ids.emplace_back();
    for (const StepSplit& step : trace.steps)
      own.push_back(common.contains(step.id) ? step.id : -1);
  }
  const Pairing pairing = pair_collectives(copies, ids);
  return pairing.status == TracePairing::paired ? pairing.end_spread_ns : std::nullopt;
}

std::string apart_in_words(double seconds) {
  const auto text = [](double value, const char* unit) {
    return std::to_string(static_cast<std::int64_t>(value)) + " " + unit;
  };
  if (seconds >= 2 * 86400.0) return text(seconds / 86400.0, "days");
  if (seconds >= 2 * 3600.0) return text(seconds / 3600.0, "hours");
  if (seconds >= 2 * 60.0) return text(seconds / 60.0, "minutes");
  return text(seconds, "s");
}

class Strangers {
 public:
  Strangers(std::vector<RankTrace>& traces, Notes& notes) : traces_(traces), notes_(notes) {}

  void set_aside() {
    without_gpu();
    of_another_world();
    of_another_time();
  }

 private:
  void take_out(const std::vector<bool>& out) {
    std::size_t i = 0;
    std::erase_if(traces_, [&](const RankTrace&) { return out[i++]; });
  }

  void note(NoteCode code, const RankTrace& trace, const std::string& what) {
    notes_.add(code,
               "rank " + std::to_string(*trace.rank) + " " + what + ": its trace is set aside",
               Place{.file = trace.file});
  }

  void without_gpu() {
    if (std::none_of(traces_.begin(), traces_.end(),
                     [](const RankTrace& t) { return t.has_gpu; })) {
      return;
    }
    std::vector<bool> out;
    for (const RankTrace& trace : traces_) {
      out.push_back(!trace.has_gpu);
      if (!trace.has_gpu) {
        note(NoteCode::no_gpu_activity, trace, "has no GPU activity in its trace, and others have");
      }
    }
    take_out(out);
  }

  void of_another_world() {
    std::vector<std::optional<std::int64_t>> sizes;
    for (const RankTrace& trace : traces_) {
      const bool sound = trace.world_size && *trace.world_size >= 1;
      sizes.push_back(sound ? trace.world_size : std::nullopt);
    }
    const std::vector<bool> out = outside_of_most(sizes);
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (!out[i]) continue;
      note(NoteCode::capture_of_another_job, traces_[i],
           "is of a job of " + std::to_string(*sizes[i]) + " ranks, others are not");
    }
    take_out(out);
  }

  void of_another_time() {
    std::vector<bool> far = outside_of_most(times_of(traces_));
    if (std::count(far.begin(), far.end(), true) == 0) return;
    std::vector<const RankTrace*> near;
    std::vector<std::optional<std::string>> devices;
    std::vector<double> begins;
    for (std::size_t i = 0; i < far.size(); ++i) {
      devices.emplace_back();
      if (!traces_[i].device_name.empty()) devices.back() = traces_[i].device_name;
      if (far[i]) continue;
      near.push_back(&traces_[i]);
      if (const auto time = time_of(traces_[i])) begins.push_back(time->begin_s);
    }
    const std::vector<bool> other_device = outside_of_most(devices);
    const double begin = median_inplace(begins);
    const std::optional<double> spread = near.size() > 1 ? spread_of_ends(near) : std::nullopt;
    for (std::size_t i = 0; i < far.size(); ++i) {
      if (!far[i]) continue;
      std::vector<const RankTrace*> with = near;
      with.push_back(&traces_[i]);
      std::sort(with.begin(), with.end(),
                [](const RankTrace* a, const RankTrace* b) { return *a->rank < *b->rank; });
      const std::optional<double> then = other_device[i] ? std::nullopt : spread_of_ends(with);
      // A host's clock may be wrong: then its collectives end with the others' all the same.
      const double allowed = std::max(kLeastEndSpread, kSameEnds * spread.value_or(0.0));
      if (then && *then <= allowed) {
        far[i] = false;
        continue;
      }
      std::string what = "was recorded " +
                         apart_in_words(std::abs(time_of(traces_[i])->begin_s - begin)) +
                         " apart from the others, and ";
      if (other_device[i]) {
        what += "on another device";
      } else if (then) {
        what += "its collectives end up to " +
                std::to_string(static_cast<std::int64_t>(*then / 1e3)) +
                " us apart from theirs once the clocks' offset is removed";
      } else {
        what += "its collectives are not theirs";
      }
      note(NoteCode::capture_of_another_job, traces_[i], what);
    }
    take_out(far);
  }

  std::vector<RankTrace>& traces_;
  Notes& notes_;
};

}  // namespace

void join_captures(std::vector<RankTrace>& traces, Notes& notes) {
  CapturesByNumber captures;
  std::set<std::pair<std::int64_t, std::int64_t>> seen;  // number, rank
  std::set<std::int64_t> ranks;
  std::string folder;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const CaptureFolder own = folder_of(traces[i].file);
    if (own.number < 0 || !traces[i].rank) return;
    if (i > 0 && own.without_number != folder) return;
    folder = own.without_number;
    if (!seen.emplace(own.number, *traces[i].rank).second) return;
    ranks.insert(*traces[i].rank);
    captures[own.number].push_back(i);
  }
  if (captures.size() < 2 || ranks.size() == traces.size()) return;

  // Some without steps: then all that was captured is one step, of the capture's number.
  const bool spans = std::any_of(traces.begin(), traces.end(), [](const RankTrace& trace) {
    return trace.step_source == StepSource::captured_span;
  });
  if (spans) {
    for (auto& [number, members] : captures) {
      for (const std::size_t i : members) {
        RankTrace& trace = traces[i];
        trace.step_source = StepSource::captured_span;
        trace.steps = {trace.gpu_span};
        trace.steps.front().id = number;
        for (CollectiveSpan& span : trace.collectives) span.step = 0;
      }
    }
  }
  const bool numbered = ascend_over(captures, traces);
  if (!numbered) count_on(captures, traces);
  std::map<std::int64_t, RankTrace> joined;  // by rank
  for (auto& [number, members] : captures) {
    for (const std::size_t i : members) {
      const auto [at, first] = joined.try_emplace(*traces[i].rank);
      if (first) {
        at->second = std::move(traces[i]);
      } else {
        append(at->second, std::move(traces[i]));
      }
    }
  }
  notes.add(NoteCode::captures_joined,
            std::to_string(captures.size()) + " captures of one job are joined: the steps of all" +
                (numbered ? std::string() : ", counted on from one to the next"),
            Place{.file = folder}, static_cast<std::int64_t>(captures.size()));
  traces.clear();
  for (auto& [rank, trace] : joined) traces.push_back(std::move(trace));
}

void set_aside_strangers(std::vector<RankTrace>& traces, Notes& notes) {
  Strangers(traces, notes).set_aside();
}

}  // namespace mfu::traces
