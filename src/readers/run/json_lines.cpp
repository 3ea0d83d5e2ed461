// mfu.run/1 as JSON Lines: a header line, then rank lines and sample lines in any mix.
#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/json_cursor.hpp"
#include "base/note_code.hpp"
#include "readers/reader.hpp"
#include "readers/run/rank_fields.hpp"

namespace mfu {

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kSmallRanks = std::int64_t{1} << 20;

// A line is taken whole or not at all: nothing of a cut-off line reaches the run.
struct Line {
  struct Value {
    std::size_t series;
    double value;
  };
  RankInfo info;
  bool has_facts = false;
  std::vector<Value> values;

  void clear() {
    if (has_facts) info = RankInfo{};
    has_facts = false;
    values.clear();
  }
  [[nodiscard]] bool has(std::size_t series) const {
    return std::any_of(values.begin(), values.end(),
                       [series](const Value& value) { return value.series == series; });
  }
};

class RunLinesReader : TelemetrySink {
 public:
  explicit RunLinesReader(ReadJob& job)
      : job_(job),
        cursor_(job.bytes, {.window = job.window, .lines = true}),
        context_{cursor_, job.unknown, {}, {}, {}},
        source_(job.builder.add_source(job.bytes.name(), true)),
        first_record_(job.builder.size()) {}

  void read();

 private:
  void read_header();
  void read_repeated_header();
  // False: the input has ended.
  bool read_line();
  void read_field();
  void read_groups();
  void read_value(std::size_t series, std::string_view name);
  void commit();
  void commit_sample(RankRecord& record);
  void commit_facts(RankInfo& info);
  RankRecord& record_of(std::int64_t rank);
  void note_tail(std::int64_t line, const std::string& why);
  void pad_series();

  void number(std::size_t series, double value) override {
    line_.values.push_back({series, value});
  }
  void array(const RankContext& context, std::size_t series) override {
    context.fail("telemetry." + std::string(kSeriesNames[series]),
                 "expected a number, found an array", "in JSON Lines a line holds one value");
  }

  ReadJob& job_;
  JsonCursor cursor_;
  RankContext context_;
  std::size_t source_;
  std::size_t first_record_;
  int shift_ = 0;
  Line line_;
  std::int64_t line_number_ = 0;
  std::uint32_t seen_ = 0;
  std::string key_;
  std::string group_;
  std::vector<std::uint32_t> near_index_;  // record of a small rank, plus 1
  std::unordered_map<std::int64_t, std::size_t> far_index_;
};

void RunLinesReader::read() {
  read_header();
  shift_ = job_.header.time_shift();
  bool tail_noted = false;
  try {
    while (cursor_.next_line() && read_line()) {
    }
  } catch (const JsonCutOff&) {
    const std::int64_t line = cursor_.spot().line;
    if (cursor_.abandon_line()) throw;  // in the middle
    note_tail(line, "the last line is cut off and was dropped");
    tail_noted = true;
  } catch (const Error&) {
    const std::int64_t line = cursor_.spot().line;
    if (!cursor_.zeros_to_the_end()) throw;
    note_tail(line, "the file ends in zero bytes, which were dropped");
    tail_noted = true;
  }
  if (job_.bytes.cut_off() && !tail_noted) {
    note_tail(cursor_.spot().line, "the gzip data is cut off; what came before was read");
  }
  pad_series();
}

void RunLinesReader::note_tail(std::int64_t line, const std::string& why) {
  Place where;
  where.file = job_.bytes.name();
  where.line = line;
  job_.notes.add(NoteCode::truncated_tail, why + " (did the job die?)", std::move(where));
}

void RunLinesReader::read_header() {
  if (cursor_.peek() != JsonCursor::Kind::object) {
    cursor_.fail("expected an object, found " + cursor_.describe_next(),
                 "the first line of JSON Lines is the header");
  }
  cursor_.enter_object();
  while (cursor_.next_key(key_)) {
    if (job_.header.take(cursor_, key_)) continue;
    (void)cursor_.peek();
    if (key_ == "steps" || key_ == "ranks") {
      cursor_.fail("the header of JSON Lines holds no " + key_,
                   "several documents in one file? give each its own file");
    }
    job_.unknown.add(key_, cursor_.place());
    cursor_.skip_value();
  }
  job_.header.require_schema();
}

// A resumed job that appends to its file writes its header again.
void RunLinesReader::read_repeated_header() {
  RunHeader again(job_.bytes.name());
  do {
    if (again.take(cursor_, key_)) continue;
    (void)cursor_.peek();
    job_.unknown.add(key_, cursor_.place());
    cursor_.skip_value();
  } while (cursor_.next_key(key_));
  job_.header.require_same(again);
}

bool RunLinesReader::read_line() {
  const JsonCursor::Kind kind = cursor_.peek();
  if (kind == JsonCursor::Kind::end) return false;
  line_.clear();
  context_.rank.reset();
  context_.step.reset();
  seen_ = 0;
  line_number_ = cursor_.spot().line;
  if (kind != JsonCursor::Kind::object) {
    cursor_.fail("expected an object, found " + cursor_.describe_next(),
                 "one JSON object per line");
  }
  cursor_.enter_object();
  bool more = cursor_.next_key(key_);
  // A resumed recorder writes its header again; its keys come in any order.
  if (more && RunHeader::knows(key_)) {
    read_repeated_header();
    return true;
  }
  for (; more; more = cursor_.next_key(key_)) read_field();
  commit();
  return true;
}

void RunLinesReader::read_field() {
  const RankKeyMatch match = match_rank_key(key_);
  if (match.key == RankKey::unknown) {
    // Samples are single numbers, and so are other things that a recorder may log: only what looks
    // like a misspelling is refused, and arrays, which are series in any reading.
    const JsonCursor::Kind kind = cursor_.peek();
    const std::string hint = near_rank_key(key_);
    if (kind == JsonCursor::Kind::array || (kind == JsonCursor::Kind::number && !hint.empty())) {
      context_.fail(key_, "unknown series '" + key_ + "'", hint);
    }
    context_.ignore(key_);
    return;
  }
  const auto position =
      static_cast<std::uint32_t>(match.key) +
      (match.key == RankKey::series ? 16 + static_cast<std::uint32_t>(match.series) : 0);
  const std::uint32_t bit = std::uint32_t{1} << position;
  if ((seen_ & bit) != 0) context_.fail(key_, "the key is given twice", "remove one of them");
  seen_ |= bit;
  switch (match.key) {
    case RankKey::rank:
      context_.rank = read_whole(context_, "rank", kMostRank);
      break;
    case RankKey::series:
      if (match.series == kStep) {
        // The id of the step, not its wall time: a sample line has no other place for it.
        if (cursor_.peek() != JsonCursor::Kind::number) {
          context_.fail("step", "expected a step id, found " + cursor_.describe_next());
        }
        context_.step = cursor_.integer();
      } else {
        read_value(match.series, key_);
      }
      break;
    case RankKey::comm_by_group:
      read_groups();
      break;
    case RankKey::telemetry:
      line_.has_facts = true;
      read_telemetry(context_, line_.info, *this);
      break;
    default:
      line_.has_facts = true;
      read_rank_fact(context_, match.key, line_.info);
  }
}

void RunLinesReader::read_value(std::size_t series, std::string_view name) {
  double value = 0.0;
  const JsonCursor::Element element =
      cursor_.sample(value, {.shift = shift_, .most = kMostSeconds});
  if (element != JsonCursor::Element::plain) {
    if (element == JsonCursor::Element::other && cursor_.peek() == JsonCursor::Kind::array) {
      context_.fail(name, "expected a number, found an array",
                    "in JSON Lines each step has a line of its own");
    }
    fail_element(context_, name, element, {});
  }
  line_.values.push_back({series, value});
}

void RunLinesReader::read_groups() {
  if (cursor_.peek() == JsonCursor::Kind::null) {
    cursor_.null();
    return;
  }
  if (cursor_.peek() != JsonCursor::Kind::object) {
    context_.fail("comm_by_group", "expected an object, found " + cursor_.describe_next(),
                  R"(for example {"tp":0.1,"dp":0.2})");
  }
  cursor_.enter_object();
  while (cursor_.next_key(group_)) {
    const std::size_t id = job_.builder.group_series(group_);
    const std::string name = "comm_by_group." + group_;
    if (line_.has(id)) context_.fail(name, "the key is given twice");
    read_value(id, name);
  }
}

void RunLinesReader::commit() {
  Place where;
  where.file = job_.bytes.name();
  where.line = line_number_;
  if (!context_.rank) {
    context_.fail_at(std::move(where), "", "rank is missing",
                     "every line after the header names its rank");
  }
  if (!context_.step) {
    for (const Line::Value& value : line_.values) {
      if (!is_seconds(value.series)) continue;
      context_.fail_at(std::move(where), "", "a sample without a step", "add \"step\":ID");
    }
  }
  RankRecord& record = record_of(*context_.rank);
  if (line_.has_facts) commit_facts(record.info);
  if (context_.step) {
    commit_sample(record);
    return;
  }
  // Telemetry in a rank line holds for the whole run.
  for (const Line::Value& value : line_.values) {
    telemetry_of(record.info.telemetry, value.series).assign(1, value.value);
  }
}

void RunLinesReader::commit_sample(RankRecord& record) {
  for (const std::size_t series : {kCompute, kComm, kStall}) {
    if (line_.has(series)) continue;
    Place where;
    where.file = job_.bytes.name();
    where.line = line_number_;
    context_.fail_at(std::move(where), kSeriesNames[series], "is missing",
                     "compute, comm and stall are required; write null for a missing sample");
  }
  const std::size_t count = record.steps.size();
  if (count > 0 && *context_.step <= record.steps.back() && record.ascending) {
    record.ascending = false;
    record.disorder_line = line_number_;
  }
  record.steps.push_back(*context_.step);
  for (const Line::Value& value : line_.values) {
    RecordedSeries& series = record.at(value.series);
    std::vector<double>& values = series.values;
    if (values.capacity() <= count) {
      // Not doubled: what is reserved in vain would cost up to the size of a column.
      values.reserve(count + count / 8 + 8);
    }
    values.resize(count, kMissing);  // steps whose lines did not have this one
    values.push_back(value.value);
  }
}

// The later line wins, as with samples.
void RunLinesReader::commit_facts(RankInfo& info) {
  RankInfo& from = line_.info;
  for (const Axis axis : kAxes) {
    if (from.coords[axis] < 0) continue;
    if (info.coords[axis] >= 0 && info.coords[axis] != from.coords[axis]) {
      Place where;
      where.file = job_.bytes.name();
      where.line = line_number_;
      context_.fail_at(std::move(where), "coords." + std::string(to_string(axis)),
                       "was " + std::to_string(info.coords[axis]) + " on an earlier line and is " +
                           std::to_string(from.coords[axis]) + " here",
                       "a rank keeps its logical place; is this another run?");
    }
    info.coords[axis] = from.coords[axis];
  }
  const bool moved = (!info.node.empty() && !from.node.empty() && info.node != from.node) ||
                     (info.gpu && from.gpu && info.gpu != from.gpu);
  if (moved) {
    Place where;
    where.file = job_.bytes.name();
    where.line = line_number_;
    job_.notes.add(NoteCode::rank_moved,
                   context_.who() +
                       " was on another node or GPU on an earlier line; the later place " +
                       "is taken for all steps",
                   std::move(where));
  }
  if (!from.node.empty()) info.node = from.node;
  if (from.gpu) info.gpu = from.gpu;
  if (!from.leaf_switch.empty()) info.leaf_switch = from.leaf_switch;
  const auto unite = [](auto& into, const auto& more) {
    for (const auto& value : more) {
      if (std::find(into.begin(), into.end(), value) == into.end()) into.push_back(value);
    }
    std::sort(into.begin(), into.end());
  };
  unite(info.telemetry.throttle_reasons, from.telemetry.throttle_reasons);
  unite(info.telemetry.xid, from.telemetry.xid);
  info.telemetry.throttle_recorded |= from.telemetry.throttle_recorded;
  info.telemetry.xid_recorded |= from.telemetry.xid_recorded;
  if (from.telemetry.ecc_uncorrected) {
    info.telemetry.ecc_uncorrected = from.telemetry.ecc_uncorrected;
  }
}

RankRecord& RunLinesReader::record_of(std::int64_t rank) {
  RunBuilder& builder = job_.builder;
  std::size_t known = 0;
  const auto small = static_cast<std::size_t>(rank);
  if (rank < kSmallRanks) {
    if (near_index_.size() <= small) near_index_.resize(small + 1);
    known = near_index_[small];
  } else if (const auto found = far_index_.find(rank); found != far_index_.end()) {
    known = found->second;
  }
  if (known > 0) return builder.record(known - 1);
  RankRecord& record = builder.add(source_);
  record.info.rank = rank;
  record.line = line_number_;
  record.steps = job_.builder.follow_steps();
  if (rank < kSmallRanks) {
    near_index_[small] = static_cast<std::uint32_t>(builder.size());
  } else {
    far_index_[rank] = builder.size();
  }
  return record;
}

void RunLinesReader::pad_series() {
  for (std::size_t i = first_record_; i < job_.builder.size(); ++i) {
    RankRecord& record = job_.builder.record(i);
    for (RecordedSeries& series : record.series) {
      if (!series.values.empty()) series.values.resize(record.steps.size(), kMissing);
    }
  }
}

}  // namespace

bool sniff_run_jsonl(std::string_view head) {
  if (!sniff_run_json(head)) return false;
  // A second object after the first one has closed.
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t at = head.find('{'); at < head.size(); ++at) {
    const char c = head[at];
    if (in_string) {
      if (c == '\\') ++at;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (--depth > 0) continue;
      const std::size_t next = head.find_first_not_of(" \t\r\n", at + 1);
      // Zero bytes: a tail that was never written.
      return next != std::string_view::npos && (head[next] == '{' || head[next] == '\0');
    }
  }
  return false;
}

void read_run_jsonl(ReadJob& job) { RunLinesReader(job).read(); }

}  // namespace mfu
