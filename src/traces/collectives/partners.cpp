#include "traces/collectives/partners.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace mfu::traces {

namespace {

std::string plain(std::string_view kind) {
  std::string letters;
  for (const char c : kind) {
    if (c >= 'A' && c <= 'Z') letters += static_cast<char>(c - 'A' + 'a');
    if (c >= 'a' && c <= 'z') letters += c;
  }
  return letters;
}

bool point_to_point(std::string_view kind) {
  const std::string letters = plain(kind);
  return letters == "send" || letters == "recv" || letters == "isend" || letters == "irecv" ||
         letters == "peertopeer" || letters == "ptop";
}

// Kinds that move the same number of bytes on every rank.
bool even_sizes(std::string_view kind) {
  const std::string letters = plain(kind);
  return letters == "allreduce" || letters == "broadcast" || letters == "barrier" ||
         letters == "allgatherbase" || letters == "reducescatterbase" ||
         letters == "allgatherintotensor" || letters == "reducescattertensor";
}

std::string rank_name(const RankTrace& trace) {
  return trace.rank ? "rank " + std::to_string(*trace.rank) : trace.file;
}

class Finder : public Partners {
 public:
  explicit Finder(const Scope& scope) : scope_(scope) {}

  void find() {
    collect();
    by_number();
    by_order();
    count();
  }

 private:
  void refuse(std::string why) {
    if (reason.empty()) reason = std::move(why);
  }

  void count() {
    std::vector<std::size_t> left = spans_;
    for (const Candidate& candidate : found) {
      for (const Member& m : candidate.pair.members) --left[m.rank];
    }
    of = found.size() + (left.empty() ? 0 : *std::max_element(left.begin(), left.end()));
  }

  void collect() {
    spans_.assign(scope_.traces.size(), 0);
    for (std::size_t r = 0; r < scope_.traces.size(); ++r) {
      const auto& spans = scope_.traces[r].collectives;
      for (std::size_t i = 0; i < spans.size(); ++i) {
        if (scope_.step_id(r, spans[i]) < 0) continue;
        const Member member{r, i};
        ++spans_[r];
        all_ns += static_cast<double>(scope_.duration(member));
        if (point_to_point(scope_.kind(member))) {
          refuse("sends and receives do not say who the peer was");
          continue;
        }
        const bool numbered = spans[i].sequence >= 0 && !scope_.group(member).empty();
        (numbered ? numbered_ : ordered_).push_back(member);
      }
    }
  }

  // More ranks under one name than its group has: several groups of one name.
  bool too_many(const std::vector<Member>& members) {
    for (const Member& m : members) {
      const std::int32_t size = scope_.span(m).group_size;
      if (size > 0 && members.size() > static_cast<std::size_t>(size)) {
        refuse("several process groups are called '" + scope_.group(m) + "'");
        return true;
      }
    }
    return false;
  }

  bool sizes_differ(const std::vector<Member>& members) {
    if (!even_sizes(scope_.kind(members.front()))) return false;
    const std::int64_t bytes = scope_.span(members.front()).bytes;
    for (const Member& m : members) {
      if (scope_.span(m).bytes == bytes) continue;
      refuse("sizes differ: " + rank_name(scope_.traces[members.front().rank]) + " and " +
             rank_name(scope_.traces[m.rank]) + " do not reduce the same tensors");
      return true;
    }
    return false;
  }

  void take(std::vector<Member> members, bool numbered) {
    if (members.size() < 2 || too_many(members) || sizes_differ(members)) return;
    Candidate candidate;
    candidate.numbered = numbered;
    candidate.joint = numbered || plain(scope_.kind(members.front())) != "sendrecv";
    candidate.pair.step = scope_.step_id(members.front().rank, scope_.span(members.front()));
    candidate.pair.transfer_ns = std::numeric_limits<std::int64_t>::max();
    for (const Member& m : members) {
      candidate.pair.transfer_ns = std::min(candidate.pair.transfer_ns, scope_.duration(m));
    }
    candidate.pair.members = std::move(members);
    found.push_back(std::move(candidate));
  }

  void by_number() {
    // Several kernels can carry one number: the n-th of one rank is the n-th of another.
    using Key = std::tuple<std::string, std::string, std::int64_t, std::size_t>;
    std::map<Key, std::vector<Member>> pairs;
    std::map<std::tuple<std::size_t, std::string, std::string, std::int64_t>, std::size_t> times;
    for (const Member& m : numbered_) {
      const std::int64_t number = scope_.span(m).sequence;
      const std::size_t n = times[{m.rank, scope_.group(m), scope_.kind(m), number}]++;
      pairs[{scope_.group(m), scope_.kind(m), number, n}].push_back(m);
    }
    for (auto& [key, members] : pairs) {
      if (members.size() < 2) {
        refuse("collective " + std::to_string(std::get<2>(key)) + " of group '" + std::get<0>(key) +
               "' is in the trace of " + rank_name(scope_.traces[members.front().rank]) + " alone");
      }
      take(std::move(members), true);
    }
  }

  // The place of a span's stream among its rank's, where all ranks have as many.
  std::vector<std::vector<std::int32_t>> streams() const {
    std::vector<std::vector<std::int32_t>> all(scope_.traces.size());
    for (const Member& m : ordered_) all[m.rank].push_back(scope_.span(m).stream);
    for (auto& own : all) {
      std::sort(own.begin(), own.end());
      own.erase(std::unique(own.begin(), own.end()), own.end());
    }
    const bool as_many = std::all_of(
        all.begin(), all.end(), [&](const auto& own) { return own.size() == all.front().size(); });
    if (!as_many) all.assign(all.size(), {});
    return all;
  }

  void by_order() {
    const auto all_streams = streams();
    using Key = std::tuple<std::int64_t, std::string, std::ptrdiff_t>;
    std::map<Key, std::map<std::size_t, std::vector<Member>>> buckets;
    std::map<std::string, std::map<std::size_t, bool>> takes_part;
    for (const Member& m : ordered_) {
      const CollectiveSpan& span = scope_.span(m);
      std::ptrdiff_t slot = 0;
      if (scope_.group(m).empty() && !all_streams[m.rank].empty()) {
        const auto& own = all_streams[m.rank];
        slot = std::lower_bound(own.begin(), own.end(), span.stream) - own.begin();
      }
      buckets[{scope_.step_id(m.rank, span), scope_.group(m), slot}][m.rank].push_back(m);
      takes_part[scope_.group(m)][m.rank] = true;
    }
    for (auto& [key, lists] : buckets) {
      const auto& [step, group, slot] = key;
      // Without a name the group is taken to be all of the recorded ranks.
      const std::size_t expected =
          group.empty() ? scope_.traces.size() : takes_part.at(group).size();
      if (matching(lists, step, expected)) {
        const std::size_t count = lists.begin()->second.size();
        for (std::size_t i = 0; i < count; ++i) {
          std::vector<Member> members;
          for (const auto& [rank, list] : lists) members.push_back(list[i]);
          take(std::move(members), false);
        }
      }
    }
  }

  bool matching(std::map<std::size_t, std::vector<Member>>& lists, std::int64_t step,
                std::size_t expected) {
    for (auto& [rank, list] : lists) {
      std::stable_sort(list.begin(), list.end(), [this](const Member& a, const Member& b) {
        return scope_.span(a).start_ns < scope_.span(b).start_ns;
      });
    }
    const auto& [first_rank, first] = *lists.begin();
    if (lists.size() < expected) {
      refuse("in step " + std::to_string(step) + " only " + std::to_string(lists.size()) + " of " +
             std::to_string(expected) + " ranks have collectives there");
      return false;
    }
    for (const auto& [rank, list] : lists) {
      const std::string who = rank_name(scope_.traces[rank]);
      const std::string other = rank_name(scope_.traces[first_rank]);
      if (list.size() != first.size()) {
        refuse("in step " + std::to_string(step) + " " + other + " has " +
               std::to_string(first.size()) + " collectives and " + who + " has " +
               std::to_string(list.size()));
        return false;
      }
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (scope_.kind(list[i]) == scope_.kind(first[i])) continue;
        refuse("in step " + std::to_string(step) + " collective " + std::to_string(i) + " is " +
               scope_.kind(first[i]) + " on " + other + " and " + scope_.kind(list[i]) + " on " +
               who);
        return false;
      }
    }
    return true;
  }

  const Scope& scope_;
  std::vector<std::size_t> spans_;  // of each rank
  std::vector<Member> numbered_;
  std::vector<Member> ordered_;
};

}  // namespace

Partners find_partners(const Scope& scope) {
  Finder finder(scope);
  finder.find();
  return static_cast<Partners&&>(finder);
}

}  // namespace mfu::traces
