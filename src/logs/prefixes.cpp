// What launchers and logging libraries put in front of a line. Which process a line comes from is
// data: it tells copies of a step from a run that started again.
#include <array>
#include <charconv>

#include "logs/lines.hpp"
#include "logs/values.hpp"

namespace mfu {

namespace {

bool letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool of_a_name(char c) noexcept {
  return digit(c) || letter(c) || c == '.' || c == '-' || c == '_';
}

class Prefixes {
 public:
  explicit Prefixes(LogLine& line) : line_(line), text_(line.text) {}

  void strip() {
    // A dozen nested prefixes have not been seen; a hostile line may have thousands.
    for (int round = 0; round < 12; ++round) {
      std::size_t blank = 0;
      while (blank < text_.size() && (text_[blank] == ' ' || text_[blank] == '\t')) ++blank;
      const std::string_view inner = text_.substr(blank);
      if (inner.empty()) break;
      std::size_t taken = 0;
      const char first = inner.front();
      if (digit(first)) {
        taken = number_or_date(inner);
      } else if (first == '[') {
        taken = bracket(inner);
      } else if (first == '(') {
        taken = ray_task(inner);
      } else if (letter(first)) {
        taken = named(inner);
      } else if (first == '-') {
        taken = dash(inner);
      }
      if (taken == 0) break;
      text_ = inner.substr(taken);
    }
    line_.text = text_;
  }

 private:
  void from(std::string_view who) {
    std::uint64_t hash = line_.origin == 0 ? 0xcbf29ce484222325ULL : line_.origin;
    for (const char c : who) {
      hash ^= static_cast<unsigned char>(c);
      hash *= 0x100000001b3ULL;
    }
    line_.origin = hash == 0 ? 1 : hash;
  }
  void ranked(std::string_view number) {
    std::int64_t rank = -1;
    std::from_chars(number.data(), number.data() + number.size(), rank);
    if (line_.rank < 0) line_.rank = rank;
    from(number);
  }
  static std::size_t run_of_digits(std::string_view text) {
    std::size_t count = 0;
    while (count < text.size() && digit(text[count])) ++count;
    return count;
  }
  // Blanks behind `at`.
  static std::size_t over_blanks(std::string_view text, std::size_t at) {
    while (at < text.size() && text[at] == ' ') ++at;
    return at;
  }

  std::size_t number_or_date(std::string_view text) {
    if (const auto time = timestamp_at(text)) {
      if (!line_.timestamp_s) line_.timestamp_s = time->seconds;
      std::size_t at = time->length;
      if (at < text.size() && text[at] == ']') ++at;
      return at;
    }
    const std::size_t count = run_of_digits(text);
    if (count <= 7 && text.substr(count).starts_with(": ")) {  // srun -l
      ranked(text.substr(0, count));
      return count + 2;
    }
    if (count == 2 && text.size() > 9 && text[2] == ':' && text[5] == ':' && digit(text[3]) &&
        digit(text[6]) && digit(text[7]) && text[8] == ' ') {
      return 9;  // a time of day: no date, so no timestamp
    }
    return name_of_host(text);
  }

  std::size_t bracket(std::string_view text) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos || end > 160) return 0;
    const std::string_view inside = text.substr(1, end - 1);
    std::size_t after = end + 1;
    if (const auto time = timestamp_at(inside)) {
      if (!line_.timestamp_s) line_.timestamp_s = time->seconds;
      return after;
    }
    for (const std::string_view name : {"rank", "default", "Rank ", "rank: ", "worker :"}) {
      if (!inside.starts_with(name)) continue;
      const std::string_view number = inside.substr(name.size());
      if (number.empty() || run_of_digits(number) != number.size()) continue;
      ranked(number);
      if (after < text.size() && text[after] == ':') ++after;
      return after;
    }
    for (const std::string_view level : {"INFO", "WARNING", "ERROR", "DEBUG", "TRAIN", "titan"}) {
      if (inside == level) return after;
      // "[INFO 2020-06-08 05:26:19]", "[INFO|trainer.py:12]", "[INFO|DP=0|PP=0|TP=0|host]"
      if (inside.starts_with(level) && inside.size() > level.size() &&
          (inside[level.size()] == ' ' || inside[level.size()] == '|')) {
        const std::string_view more = inside.substr(level.size() + 1);
        if (const auto time = timestamp_at(more)) {
          if (!line_.timestamp_s) line_.timestamp_s = time->seconds;
        } else if (more.starts_with("DP=")) {
          from(more);
        }
        if (after < text.size() && text[after] == ':') ++after;
        return after;
      }
    }
    if (inside.starts_with("NeMo ") && inside.size() > 7) {  // "[NeMo I 2025-03-07 22:43:58 x:1]"
      if (const auto time = timestamp_at(inside.substr(7))) line_.timestamp_s = time->seconds;
      return after;
    }
    if (inside.starts_with("pod/")) {  // kubectl logs --prefix
      from(inside);
      return after;
    }
    // DeepSpeed: "[timer.py:215:stop]"
    if (inside.find(".py:") != std::string_view::npos) return after;
    // mpirun --tag-output: "[1,3]<stdout>:"
    const std::size_t comma = inside.find(',');
    if (comma != std::string_view::npos && text.substr(after).starts_with("<std")) {
      const std::size_t colon = text.find(':', after);
      if (colon != std::string_view::npos) {
        ranked(inside.substr(comma + 1));
        return colon + 1;
      }
    }
    return 0;
  }

  // "(TaskRunner pid=1234, ip=10.0.0.1) "
  static std::size_t ray_task(std::string_view text) {
    const std::size_t pid = text.find(" pid=");
    const std::size_t end = text.find(')');
    if (pid == std::string_view::npos || end == std::string_view::npos || pid > end) return 0;
    return end + 1;
  }

  // Between the fields of Python's logging: "- root - INFO - "; only after a date.
  std::size_t dash(std::string_view text) const {
    if (!line_.timestamp_s || !text.starts_with("- ")) return 0;
    std::size_t at = 2;
    for (int field = 0; field < 3; ++field) {
      const std::size_t end = text.find(" - ", at);
      if (end == std::string_view::npos || end - at > 80) break;
      const std::string_view name = text.substr(at, end - at);
      bool plain = !name.empty();
      for (const char c : name) plain = plain && (of_a_name(c) || c == ':');
      if (!plain) break;
      at = end + 3;
    }
    return at;
  }

  std::size_t named(std::string_view text) {
    // glog: "I0512 12:00:00.123456 1234 file.py:12] "
    if ((text[0] == 'I' || text[0] == 'W' || text[0] == 'E' || text[0] == 'F') &&
        run_of_digits(text.substr(1)) == 4 && text.size() > 8 && text[5] == ' ' && digit(text[6])) {
      const std::size_t end = text.find("] ");
      return end == std::string_view::npos || end > 120 ? 0 : end + 2;
    }
    for (const std::string_view level : {"INFO", "WARNING", "WARN", "ERROR", "DEBUG", "CRITICAL"}) {
      if (!text.starts_with(level)) continue;
      std::size_t at = level.size();
      if (at < text.size() && text[at] == ':') {  // "INFO:module:"
        std::size_t colon = at + 1;
        while (colon < text.size() && of_a_name(text[colon])) ++colon;
        if (colon < text.size() && text[colon] == ':') return colon + 1;
        return at + 1;
      }
      if (at < text.size() && text[at] == ' ') return at + 1;
    }
    return name_of_host(text);
  }

  // "host/0 [default3]:", "worker-0: ", "worker-1  | ": a name with a digit, dash or dot in it, for
  // words with a colon are what logs consist of.
  std::size_t name_of_host(std::string_view text) {
    std::size_t at = 0;
    bool like_a_host = false;
    bool has_letter = false;
    int dots = 0;
    while (at < text.size() && at < 100 && of_a_name(text[at])) {
      like_a_host = like_a_host || digit(text[at]) || text[at] == '-' || text[at] == '.';
      has_letter = has_letter || letter(text[at]);
      if (text[at] == '.') ++dots;
      ++at;
    }
    if (at == 0 || at >= text.size()) return 0;
    const std::string_view name = text.substr(0, at);
    if (text[at] == '/') {
      const std::size_t count = run_of_digits(text.substr(at + 1));
      const std::size_t next = at + 1 + count;
      if (count == 0 || !text.substr(next).starts_with(" [default")) return 0;
      from(text.substr(0, next));
      return next;
    }
    if (!like_a_host || (!has_letter && dots != 3)) return 0;  // 10.0.0.7 is one, too
    if (text.substr(at).starts_with(": ") && name.find("__") == std::string_view::npos) {
      // "step2: loss" and "iter-3: " are not hosts.
      for (const std::string_view word : {"step", "iter", "epoch", "loss", "train", "eval"}) {
        if (name.starts_with(word)) return 0;
      }
      from(name);
      return at + 2;
    }
    const std::size_t bar = over_blanks(text, at);
    if (bar > at && text.substr(bar).starts_with("| ") && bar - at < 24) {  // docker compose
      from(name);
      return bar + 2;
    }
    return 0;
  }

  LogLine& line_;
  std::string_view text_;
};

}  // namespace

void strip_prefixes(LogLine& line) {
  line.rank = -1;
  line.origin = 0;
  line.timestamp_s.reset();
  Prefixes(line).strip();
}

}  // namespace mfu
