// mfu.run/1 as one JSON object, read in one pass: the keys may come in any order.
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "base/decimal.hpp"
#include "base/json_cursor.hpp"
#include "base/note_code.hpp"
#include "readers/reader.hpp"
#include "readers/run/rank_fields.hpp"

namespace mfu {

namespace {

class RunJsonReader : TelemetrySink {
 public:
  explicit RunJsonReader(ReadJob& job)
      : job_(job),
        cursor_(job.bytes, {.window = job.window}),
        source_(job.builder.add_source(job.bytes.name(), false)),
        first_record_(job.builder.size()) {}

  void read();

 private:
  void read_steps();
  void read_ranks();
  void read_rank(std::size_t index);
  void read_groups(const RankContext& context);
  void read_series(const RankContext& context, std::size_t id);
  void settle_steps();
  void settle_unit();

  void number(std::size_t series, double value) override;
  void array(const RankContext& context, std::size_t series) override {
    read_series(context, series);
  }

  ReadJob& job_;
  JsonCursor cursor_;
  std::size_t source_;
  std::size_t first_record_;
  std::shared_ptr<std::vector<std::int64_t>> steps_;
  bool ranks_seen_ = false;
  Place ranks_place_;
  int shift_ = 0;
  bool unit_known_ = false;
  std::size_t expected_length_ = 0;
  RankRecord record_;  // the one that is being read
};

void RunJsonReader::read() {
  if (cursor_.peek() != JsonCursor::Kind::object) {
    cursor_.fail("expected an object, found " + cursor_.describe_next(),
                 "a timing document is one object with \"schema\":\"mfu.run/1\"");
  }
  cursor_.enter_object();
  std::string key;
  while (cursor_.next_key(key)) {
    if (job_.header.take(cursor_, key)) continue;
    if (key == "steps") {
      read_steps();
    } else if (key == "ranks") {
      read_ranks();
    } else {
      (void)cursor_.peek();
      job_.unknown.add(key, cursor_.place());
      cursor_.skip_value();
    }
  }
  job_.header.require_schema();
  if (!ranks_seen_) {
    Place where;
    where.file = job_.bytes.name();
    where.what = "ranks";
    throw Error(ErrorKind::insufficient, "ranks is missing", std::move(where),
                cursor_.at_end()
                    ? "one object per recorded rank is needed"
                    : "one object per recorded rank is needed; in JSON Lines, the header "
                      "must be the first line and at most 256 KiB");
  }
  cursor_.finish();
  settle_steps();
  if (!unit_known_) settle_unit();
}

void RunJsonReader::read_steps() {
  (void)cursor_.peek();
  Place where = cursor_.place();
  where.what = "steps";
  if (steps_) {
    throw Error(ErrorKind::format, "the key 'steps' is given twice", where, "remove one of them");
  }
  steps_ = std::make_shared<std::vector<std::int64_t>>();
  if (cursor_.peek() != JsonCursor::Kind::array) {
    throw Error(ErrorKind::format,
                "expected an array of step ids, found " + cursor_.describe_next(), where);
  }
  cursor_.enter_array();
  while (cursor_.next_element()) {
    (void)cursor_.peek();
    Place here;
    // The place of every id would cost more than the id.
    const auto index = steps_->size();
    if (cursor_.peek() != JsonCursor::Kind::number) {
      here = cursor_.place();
      here.what = "steps, index " + std::to_string(index);
      throw Error(ErrorKind::format, "expected a whole number, found " + cursor_.describe_next(),
                  here);
    }
    const std::int64_t id = cursor_.integer();
    if (!steps_->empty() && id <= steps_->back()) {
      here = cursor_.place();
      here.what = "steps, index " + std::to_string(index);
      throw Error(ErrorKind::format,
                  id == steps_->back() ? "step " + std::to_string(id) + " appears twice"
                                       : "step " + std::to_string(id) + " comes after step " +
                                             std::to_string(steps_->back()),
                  here, "steps are ascending, each once");
    }
    steps_->push_back(id);
  }
  expected_length_ = steps_->size();
}

void RunJsonReader::read_ranks() {
  if (cursor_.peek() != JsonCursor::Kind::array) {
    Place where = cursor_.place();
    where.what = "ranks";
    throw Error(ErrorKind::format, "expected an array, found " + cursor_.describe_next(),
                std::move(where), "one object per recorded rank");
  }
  ranks_place_ = cursor_.place();
  ranks_place_.what = "ranks";
  if (ranks_seen_) {
    throw Error(ErrorKind::format, "the key 'ranks' is given twice", ranks_place_,
                "join the two arrays");
  }
  ranks_seen_ = true;
  unit_known_ = job_.header.has("time_unit");
  if (unit_known_) shift_ = job_.header.time_shift();
  cursor_.enter_array();
  std::size_t index = 0;
  for (; cursor_.next_element(); ++index) read_rank(index);
  if (index == 0) {
    throw Error(ErrorKind::insufficient, "ranks is empty", ranks_place_,
                "one object per recorded rank is needed");
  }
}

void RunJsonReader::read_rank(std::size_t index) {
  RankContext context{cursor_, job_.unknown, {}, {}, index};
  if (cursor_.peek() != JsonCursor::Kind::object) {
    context.fail("", "expected an object, found " + cursor_.describe_next());
  }
  record_ = RankRecord{};
  const JsonCursor::Spot spot = cursor_.spot();
  record_.line = spot.line;
  record_.column = spot.column;
  cursor_.enter_object();
  std::uint32_t seen = 0;
  std::string key;
  while (cursor_.next_key(key)) {
    const RankKeyMatch match = match_rank_key(key);
    if (match.key == RankKey::unknown) {
      if (cursor_.peek() == JsonCursor::Kind::array) {
        std::string hint = near_rank_key(key);
        if (hint.empty()) {
          hint = "series are compute, comm, stall, wait, step, forward, backward, overlapped_comm";
        }
        context.fail(key, "unknown series '" + key + "'", hint);
      }
      context.ignore("ranks[]." + key);
      continue;
    }
    const std::uint32_t bit = std::uint32_t{1}
                              << (static_cast<std::uint32_t>(match.key) +
                                  (match.key == RankKey::series ? 16 + match.series : 0));
    if ((seen & bit) != 0) context.fail(key, "the key is given twice", "remove one of them");
    seen |= bit;
    switch (match.key) {
      case RankKey::rank:
        record_.info.rank = read_whole(context, "rank", kMostRank);
        context.rank = record_.info.rank;
        break;
      case RankKey::series:
        read_series(context, match.series);
        break;
      case RankKey::comm_by_group:
        read_groups(context);
        break;
      case RankKey::telemetry:
        read_telemetry(context, record_.info, *this);
        break;
      default:
        read_rank_fact(context, match.key, record_.info);
    }
  }
  if (!context.rank) {
    Place where;
    where.file = job_.bytes.name();
    where.line = record_.line;
    where.column = record_.column;
    context.fail_at(std::move(where), "", "rank is missing",
                    "each object in ranks names its global rank");
  }
  job_.builder.add(source_) = std::move(record_);
  job_.builder.record(job_.builder.size() - 1).source = source_;
}

void RunJsonReader::read_groups(const RankContext& context) {
  if (cursor_.peek() == JsonCursor::Kind::null) {
    cursor_.null();
    return;
  }
  if (cursor_.peek() != JsonCursor::Kind::object) {
    context.fail("comm_by_group", "expected an object, found " + cursor_.describe_next(),
                 R"(for example {"tp":[...],"dp":[...]})");
  }
  cursor_.enter_object();
  std::string kind;
  while (cursor_.next_key(kind)) {
    const std::size_t id = job_.builder.group_series(kind);
    if (record_.at(id).line > 0) context.fail("comm_by_group." + kind, "the key is given twice");
    read_series(context, id);
  }
}

void RunJsonReader::read_series(const RankContext& context, std::size_t id) {
  const JsonCursor::Kind kind = cursor_.peek();
  if (kind == JsonCursor::Kind::null) {
    cursor_.null();
    return;
  }
  const bool seconds = is_seconds(id);
  const std::string name = (seconds ? "" : "telemetry.") + job_.builder.series_name(id);
  if (kind != JsonCursor::Kind::array) {
    context.fail(name, "expected an array, found " + cursor_.describe_next(), "one value per step");
  }
  RecordedSeries& series = record_.at(id);
  const JsonCursor::Spot spot = cursor_.spot();
  series.line = spot.line;
  series.column = spot.column;
  // A hostile `steps` may be long; what is really there decides beyond this.
  series.values.reserve(std::min<std::size_t>(expected_length_, 65536));
  JsonCursor::NumberRule rule;
  rule.most = std::numeric_limits<double>::max();
  if (seconds) {
    rule.shift = shift_;
    if (unit_known_) rule.most = kMostSeconds;
  } else {
    rule.negative_allowed = true;
  }
  const JsonCursor::Series end = cursor_.number_array(series.values, rule);
  if (end.stopped_at != JsonCursor::Element::plain) {
    fail_element(context, name, end.stopped_at, end.index);
  }
  if (expected_length_ == 0) {
    expected_length_ = series.values.size();
    series.values.shrink_to_fit();
  }
}

void RunJsonReader::number(std::size_t series, double value) {
  telemetry_of(record_.info.telemetry, series).assign(1, value);
}

void RunJsonReader::settle_steps() {
  RunBuilder& builder = job_.builder;
  if (!steps_) {
    // The longest series: a shorter one is then an error that names it.
    std::size_t length = 0;
    for (std::size_t i = first_record_; i < builder.size(); ++i) {
      for (const RecordedSeries& series : builder.record(i).series) {
        length = std::max(length, series.values.size());
      }
    }
    steps_ = std::make_shared<std::vector<std::int64_t>>(length);
    for (std::size_t i = 0; i < length; ++i) (*steps_)[i] = static_cast<std::int64_t>(i);
    job_.notes.add(NoteCode::step_ids_assumed, "steps is missing: steps are numbered from 0",
                   ranks_place_);
  }
  if (steps_->empty()) {
    Place where;
    where.file = job_.bytes.name();
    where.what = "steps";
    throw Error(ErrorKind::insufficient, "there is no step", std::move(where),
                "the recorder wrote no samples");
  }
  for (std::size_t i = first_record_; i < builder.size(); ++i) {
    builder.record(i).steps = StepList(steps_);
  }
}

// time_unit came after the ranks, or not at all.
void RunJsonReader::settle_unit() {
  const int shift = job_.header.time_shift();
  for (std::size_t i = first_record_; i < job_.builder.size(); ++i) {
    RankRecord& record = job_.builder.record(i);
    for (std::size_t id = 0; shift != 0 && id < record.series.size(); ++id) {
      if (!is_seconds(id)) continue;
      for (double& value : record.series[id].values) value = shift_decimal(value, shift);
    }
  }
}

}  // namespace

bool sniff_run_json(std::string_view head) {
  if (head.substr(0, 3) == "\xEF\xBB\xBF") head.remove_prefix(3);
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && head[first] == '{';
}

void read_run_json(ReadJob& job) { RunJsonReader(job).read(); }

}  // namespace mfu
