#include "outputs/history_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>
#include <utility>

#include "base/bytes.hpp"
#include "base/note_code.hpp"
#include "readers/input_format.hpp"

namespace mfu::app {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::string_view kHistorySchema = "mfu.history/1";

[[noreturn]] void refuse(const std::string& path, std::string what, int error) {
  Place place;
  place.file = path;
  const char* hint = error == ENOENT   ? "the folder does not exist: create it first"
                     : error == EACCES ? "the file or its folder is not writable"
                     : error == EROFS  ? "the file system is read-only"
                     : error == EISDIR ? "name a file in it: history.jsonl"
                     : error == ENOSPC ? "nothing was added"
                                       : "";
  throw Error(ErrorKind::io, std::move(what) + ": " + std::strerror(error), place, hint);
}

// An append takes a millisecond: a process that holds the lock longer hangs, and a CI job that
// waits for it would hang as well.
constexpr std::chrono::seconds kLongestWait{10};

// 0, or errno: EWOULDBLOCK where another process still holds the lock at the end of the wait.
int locked_within(int descriptor, std::chrono::seconds longest) {
  // flock has no time limit of its own, and a signal to end it would be the whole program's.
  constexpr std::chrono::milliseconds kLongestPause{16};
  const auto end = std::chrono::steady_clock::now() + longest;
  std::chrono::milliseconds pause{1};
  while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    if (error == EINTR) continue;
    if (error != EWOULDBLOCK || std::chrono::steady_clock::now() >= end) return error;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
  return 0;
}

// A descriptor that is closed, and with it the lock let go.
class Locked {
 public:
  explicit Locked(const std::string& path) : path_(path) {
    descriptor_ = open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) refuse(path, "cannot be appended to", errno);
    struct stat status {};
    if (fstat(descriptor_, &status) == 0 && !S_ISREG(status.st_mode)) {
      close(descriptor_);
      throw Error(ErrorKind::io, "is not a file that can be appended to", Place{.file = path});
    }
    const int error = locked_within(descriptor_, kLongestWait);
    if (error == 0) return;
    close(descriptor_);
    if (error != EWOULDBLOCK) refuse(path, "cannot be locked", error);
    throw Error(ErrorKind::io,
                fmt::format("another process has held its lock for {} s: nothing was added",
                            kLongestWait.count()),
                Place{.file = path},
                "end that process (lslocks or fuser FILE names it) and add again, or add to "
                "another --db");
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() { close(descriptor_); }

  void append(std::string text) const {
    const off_t size = lseek(descriptor_, 0, SEEK_END);
    if (size < 0) refuse(path_, "cannot be appended to", errno);
    if (size > 0) refuse_if_foreign();
    char last = '\n';
    if (size > 0 && pread(descriptor_, &last, 1, size - 1) != 1) {
      refuse(path_, "cannot be read", errno);
    }
    // An earlier writer was cut off here: its line stays, ours starts on a new one.
    if (last != '\n') text.insert(text.begin(), '\n');
    ssize_t written = 0;
    do {
      written = write(descriptor_, text.data(), text.size());
    } while (written < 0 && errno == EINTR);
    if (written == static_cast<ssize_t>(text.size())) return;
    const int error = written < 0 ? errno : ENOSPC;
    // Half a record is worse than none. We hold the lock, so nobody else can have written since.
    if (written > 0 && ftruncate(descriptor_, size) != 0) refuse(path_, "was left cut off", errno);
    refuse(path_, "cannot be appended to", error);
  }

 private:
  // Data appended to gzip cannot be read again, and a report or a script that is named by
  // mistake is not the place for a record.
  void refuse_if_foreign() const {
    constexpr std::size_t kHead = 65536;
    std::string head(kHead, '\0');
    const ssize_t got = pread(descriptor_, head.data(), head.size(), 0);
    if (got < 0) refuse(path_, "cannot be read", errno);
    head.resize(static_cast<std::size_t>(got));
    Place place;
    place.file = path_;
    if (head.starts_with("\x1F\x8B")) {
      throw Error(ErrorKind::io, "is gzip: nothing can be appended to it", place,
                  "unpack it first: gzip -d FILE");
    }
    constexpr std::string_view kStart = "{\"schema\":\"mfu.history/";
    const bool cut_off = kStart.starts_with(head);
    const InputFormat found = detect_format(head).format;
    if (cut_off || found == InputFormat::empty || found == InputFormat::history) return;
    throw Error(ErrorKind::format, "is not a history: nothing was added", place,
                "name another file: --db history.jsonl is created if it does not exist");
  }

  std::string path_;
  int descriptor_ = -1;
};

OrderedJson number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson text(const std::string& value) {
  return value.empty() ? OrderedJson(nullptr) : OrderedJson(value);
}

std::string record_of(const HistoryEntry& entry) {
  const OrderedJson object = {
      {"schema", kHistorySchema},
      {"job", entry.job},
      {"fingerprint", to_text(entry.fingerprint)},
      {"command", entry.command},
      {"label", text(entry.label)},
      {"time", text(entry.time)},
      {"statistic", text(entry.statistic)},
      {"mfu", number(entry.mfu)},
      {"step_seconds", number(entry.step_seconds)},
      {"tokens_per_second", number(entry.tokens_per_second)},
      {"tokens_per_step", number(entry.tokens_per_step)},
      {"gpus", number(entry.gpus)},
      {"model", text(entry.model)},
      {"chip", text(entry.chip)},
      {"verdict", text(entry.verdict)},
      {"relative_ci", entry.relative_ci
                          ? OrderedJson::array({entry.relative_ci->lo, entry.relative_ci->hi})
                          : OrderedJson(nullptr)}};
  return object.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::optional<double> figure_at(const OrderedJson& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number() ? std::optional(at->get<double>()) : std::nullopt;
}

std::string words_at(const OrderedJson& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

// Nothing, or a possible value: one edited by hand or written by another program must not become
// what is usual.
bool can_be(const OrderedJson& object, const char* key, double most) {
  const auto at = object.find(key);
  if (at == object.end() || at->is_null()) return true;
  if (!at->is_number()) return false;
  const double value = at->get<double>();
  return value > 0.0 && value <= most;
}

bool is_record(const OrderedJson& object) {
  return !words_at(object, "job").empty() && !words_at(object, "fingerprint").empty() &&
         can_be(object, "mfu", 1.0) && can_be(object, "step_seconds", 1e9) &&
         can_be(object, "tokens_per_second", 1e18) && can_be(object, "tokens_per_step", 1e18) &&
         can_be(object, "gpus", 1e9);
}

HistoryEntry entry_from(const OrderedJson& object) {
  HistoryEntry entry;
  entry.job = words_at(object, "job");
  entry.fingerprint = parse_fingerprint(words_at(object, "fingerprint"));
  entry.command = words_at(object, "command");
  entry.label = words_at(object, "label");
  entry.time = words_at(object, "time");
  entry.model = words_at(object, "model");
  entry.chip = words_at(object, "chip");
  entry.verdict = words_at(object, "verdict");
  entry.statistic = words_at(object, "statistic");
  // A log's record that does not say is of the time when its headline was the median step.
  if (entry.statistic.empty() && entry.command == "log") {
    entry.statistic = to_string(LogStatistic::median);
  }
  entry.mfu = figure_at(object, "mfu");
  entry.step_seconds = figure_at(object, "step_seconds");
  entry.tokens_per_second = figure_at(object, "tokens_per_second");
  entry.tokens_per_step = figure_at(object, "tokens_per_step");
  entry.gpus = figure_at(object, "gpus");
  const auto ends = object.find("relative_ci");
  if (ends != object.end() && ends->is_array() && ends->size() == 2 && (*ends)[0].is_number() &&
      (*ends)[1].is_number()) {
    const Interval interval{(*ends)[0].get<double>(), (*ends)[1].get<double>()};
    // Of relative differences, all of them.
    if (interval.lo > -1.0 && interval.lo <= interval.hi && interval.hi < 1e6) {
      entry.relative_ci = interval;
    }
  }
  return entry;
}

// What the records of a job are kept under where nobody gives it a name.
std::string job_of(const Side& side) {
  if (!side.job.empty()) return side.job;
  std::string name = side.model.empty() ? "unnamed" : side.model;
  if (side.gpus) name += fmt::format("/{:.10g}", *side.gpus);
  if (!side.chip.empty()) name += "x" + side.chip;
  return name;
}

}  // namespace

HistoryEntry entry_of(const Side& side, std::string_view command, const std::string& job) {
  HistoryEntry entry;
  entry.job = job.empty() ? job_of(side) : job;
  entry.fingerprint = side.fingerprint;
  entry.command = command;
  entry.model = side.model;
  entry.chip = side.chip;
  entry.gpus = side.gpus;
  entry.tokens_per_step = side.tokens_per_step;
  entry.mfu = side.mfu;
  entry.step_seconds = side.step_seconds;
  entry.relative_ci = side.relative_ci;
  if (side.measure == Measure::log && !side.factors.empty()) {
    entry.statistic = to_string(side.statistic);
    entry.mfu = side.headline_mfu;
    entry.step_seconds = side.headline_step_seconds;
    entry.relative_ci = side.headline_relative;
  }
  if (entry.step_seconds && side.tokens_per_step) {
    entry.tokens_per_second = *side.tokens_per_step / *entry.step_seconds;
  }
  return entry;
}

HistoryEntry entry_of(const SavedReport& report, const std::string& job) {
  HistoryEntry entry = entry_of(report.side, to_string(report.command), job);
  entry.verdict = report.verdict;
  return entry;
}

void append_history(const std::string& path, const std::vector<HistoryEntry>& entries) {
  std::string lines;
  for (const HistoryEntry& entry : entries) lines += record_of(entry);
  Locked(path).append(std::move(lines));
}

std::vector<HistoryEntry> read_history(const std::string& path, InputInfo& info, Notes& notes) {
  ByteSource source = ByteSource::open(path);
  std::string bytes;
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  std::string piece(kPiece, '\0');
  for (std::size_t got = source.read(piece.data(), piece.size()); got > 0;
       got = source.read(piece.data(), piece.size())) {
    bytes.append(piece, 0, got);
  }
  info = {path, std::string(kHistorySchema), source.raw_bytes()};
  std::vector<HistoryEntry> entries;
  std::int64_t number = 0;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t newline = bytes.find('\n', begin);
    const std::size_t end = std::min(newline, bytes.size());
    const std::string_view line = std::string_view(bytes).substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    Place place;
    place.file = path;
    place.line = number;
    const OrderedJson object = OrderedJson::parse(line, nullptr, false);
    const std::string schema = object.is_object() ? words_at(object, "schema") : std::string();
    if (schema == kHistorySchema && !is_record(object)) {
      notes.add(NoteCode::history_values, "a record with impossible values is left out", place);
    } else if (schema == kHistorySchema) {
      entries.push_back(entry_from(object));
      entries.back().line = number;
    } else if (schema.starts_with("mfu.history/")) {
      notes.add(NoteCode::history_version,
                "a record from another version is left out: " + schema.substr(0, 40), place);
    } else if (newline == std::string::npos) {
      notes.add(NoteCode::history_cut_off, "the last record is cut off: it is left out", place);
    } else {
      notes.add(NoteCode::history_line, "a line that is not a record is left out", place);
    }
  }
  return entries;
}

}  // namespace mfu::app
