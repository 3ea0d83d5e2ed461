#include "traces/timeline/clocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/note_code.hpp"
#include "mfu/quantity.hpp"
#include "statistics/robust.hpp"

namespace mfu::traces {
namespace {

// Recorders date an event to this; also the least tolerance of ends.
constexpr double kSameInstantUs = 50.0;
// One impossible group in as many is an accident of the recorder.
constexpr double kMostAccidents = 0.01;
// Fewer collectives of a worker cannot tell an offset from chance.
constexpr std::size_t kLeastForOffset = 3;
constexpr double kInstantOutlierSigmas = 6.0;

std::string duration(double us) { return format_seconds(us / 1e6); }

class Agreement {
 public:
  Agreement(const Timeline& timeline, const OpGroups& groups)
      : timeline_(timeline), groups_(groups) {}

  bool judge(Notes& notes) {
    for (std::size_t g = 0; g < groups_.size(); ++g) look_at(g);
    judge_offsets();
    const bool accidents =
        static_cast<double>(impossible_) <= kMostAccidents * static_cast<double>(shared_);
    const bool agree = accidents && offset_text_.empty();
    if (impossible_ > 0) {
      note(notes, NoteCode::timeline_impossible_order, first_text_, first_impossible_, impossible_,
           agree);
    }
    if (!offset_text_.empty()) {
      note(notes, NoteCode::timeline_clock_offset, offset_text_, first_offset_, 1, agree);
    }
    return agree;
  }

 private:
  [[nodiscard]] const TimelineOp& op(std::uint32_t index) const { return timeline_.ops[index]; }

  void impossible(std::uint32_t at, std::string text) {
    if (impossible_++ > 0) return;
    first_impossible_ = at;
    first_text_ = std::move(text);
  }

  void look_at(std::size_t g) {
    const auto members = groups_.group(g);
    if (members.size() < 2) return;
    ++shared_;
    const auto by_start = [this](auto a, auto b) { return op(a).start_us < op(b).start_us; };
    const auto by_end = [this](auto a, auto b) { return op(a).end_us < op(b).end_us; };
    if (is_point_to_point(op(members.front()).work)) {
      for (const std::uint32_t receive : members) {
        const Work work = op(receive).work;
        if (work != Work::forward_recv && work != Work::backward_recv) continue;
        for (const std::uint32_t send : members) {
          if (op(send).work == work || op(send).start_us <= op(receive).end_us + kSameInstantUs) {
            continue;
          }
          impossible(receive, "a receive ends " + duration(op(send).start_us - op(receive).end_us) +
                                  " before its send begins");
          return;
        }
      }
      return;
    }
    const std::uint32_t last = *std::max_element(members.begin(), members.end(), by_start);
    const std::uint32_t first = *std::min_element(members.begin(), members.end(), by_end);
    const double early = op(last).start_us - op(first).end_us;
    if (early > kSameInstantUs) {
      impossible(first,
                 "a worker leaves a collective " + duration(early) + " before another has come");
    }
    collectives_.push_back(g);
  }

  // Of a collective that is one of few: ends that differ by more than its transfer takes.
  void look_at_ends(std::size_t g) {
    double latest_start = -std::numeric_limits<double>::infinity();
    double latest_end = latest_start;
    double earliest_end = std::numeric_limits<double>::infinity();
    for (const std::uint32_t member : groups_.group(g)) {
      latest_start = std::max(latest_start, op(member).start_us);
      latest_end = std::max(latest_end, op(member).end_us);
      earliest_end = std::min(earliest_end, op(member).end_us);
    }
    const double transfer = earliest_end - latest_start;
    const double spread = latest_end - earliest_end;
    // Where one leaves before another has come it is counted already.
    if (transfer < -kSameInstantUs || spread <= std::max(transfer, kSameInstantUs)) return;
    impossible(groups_.group(g).front(), "the ends of a collective differ by " + duration(spread) +
                                             ", more than its transfer takes");
  }

  [[nodiscard]] double middle_end(std::size_t g) {
    ends_.clear();
    for (const std::uint32_t member : groups_.group(g)) ends_.push_back(op(member).end_us);
    return median_inplace(ends_);
  }

  // An offset of each worker against its groups' middle ends, and what is left without it.
  void judge_offsets() {
    std::vector<std::vector<double>> own(timeline_.workers.size());
    std::vector<double> middle;
    for (const std::size_t g : collectives_) {
      middle.push_back(middle_end(g));
      for (const std::uint32_t member : groups_.group(g)) {
        own[op(member).worker].push_back(op(member).end_us - middle.back());
      }
    }
    for (const std::size_t g : collectives_) {
      const auto members = groups_.group(g);
      const bool few = std::any_of(members.begin(), members.end(), [&](std::uint32_t member) {
        return own[op(member).worker].size() < kLeastForOffset;
      });
      if (few) look_at_ends(g);
    }
    std::vector<double> offset(own.size(), 0.0);
    std::size_t earliest = own.size();
    std::size_t latest = own.size();
    for (std::size_t w = 0; w < own.size(); ++w) {
      if (own[w].size() < kLeastForOffset) continue;
      offset[w] = median_inplace(own[w]);
      if (earliest == own.size() || offset[w] < offset[earliest]) earliest = w;
      if (latest == own.size() || offset[w] > offset[latest]) latest = w;
    }
    if (earliest == own.size()) return;
    std::vector<double> spread;
    for (const std::size_t g : collectives_) {
      double low = 0.0;
      double high = 0.0;
      bool any = false;
      for (const std::uint32_t member : groups_.group(g)) {
        const double end = op(member).end_us - offset[op(member).worker];
        low = any ? std::min(low, end) : end;
        high = any ? std::max(high, end) : end;
        any = true;
      }
      spread.push_back(high - low);
    }
    const double tolerance =
        std::max(kSameInstantUs, median(spread) + kInstantOutlierSigmas * robust_sigma(spread));
    const double range = offset[latest] - offset[earliest];
    if (range <= tolerance) return;
    const std::size_t odd =
        std::fabs(offset[latest]) >= std::fabs(offset[earliest]) ? latest : earliest;
    while (op(first_offset_).worker != odd) ++first_offset_;
    offset_text_ = "the ends of collectives differ by " + duration(range) +
                   " from worker to worker, always the same way (tolerance " + duration(tolerance) +
                   ")";
  }

  void note(Notes& notes, NoteCode code, const std::string& text, std::uint32_t at,
            std::int64_t count, bool accident) const {
    Place where = place_of(timeline_, op(at));
    where.what += ", " + timeline_.types[op(at).type];
    notes.add(code, accident ? Severity::info : Severity::loss,
              accident ? text + ": too few to doubt the clocks"
                       : text +
                             ": the workers' clocks do not agree, so waiting is not separated from "
                             "transfer, and the schedule is not replayed",
              std::move(where), count);
  }

  const Timeline& timeline_;
  const OpGroups& groups_;
  std::int64_t shared_ = 0;
  std::int64_t impossible_ = 0;
  std::uint32_t first_impossible_ = 0;
  std::string first_text_;
  std::uint32_t first_offset_ = 0;        // an operation of the worker that is farthest off
  std::string offset_text_;               // empty: there is none
  std::vector<std::size_t> collectives_;  // groups
  std::vector<double> ends_;
};

}  // namespace

bool clocks_agree(const Timeline& timeline, const OpGroups& groups, Notes& notes) {
  return Agreement(timeline, groups).judge(notes);
}

}  // namespace mfu::traces
