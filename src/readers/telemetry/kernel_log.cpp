// The kernel's log (dmesg, journalctl -k, syslog): Xid lines of the NVIDIA driver, and a GPU that
// fell off the bus without one. nvidia-smi cannot be queried for Xids.
#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "readers/telemetry/format.hpp"
#include "readers/telemetry/sample.hpp"

namespace mfu {
namespace {

constexpr std::string_view kXid = "NVRM: Xid (";
constexpr std::int64_t kFellOff = 79;

// "[ 1234.567890] text", "[Mon Nov 30 08:10:54 2026] text", "<6>[ 12.3] text"
bool stamped(std::string_view line) {
  if (line.starts_with('<')) {
    const std::size_t end = line.find('>');
    if (end == std::string_view::npos) return false;
    line.remove_prefix(end + 1);
  }
  const std::size_t close = line.find(']');
  if (!line.starts_with('[') || close == std::string_view::npos || close < 6) return false;
  const std::string_view stamp = stripped(line.substr(1, close - 1));
  const bool seconds = stamp.find_first_not_of("0123456789.") == std::string_view::npos &&
                       stamp.find('.') != std::string_view::npos;
  const bool date =
      std::count(stamp.begin(), stamp.end(), ':') == 2 && stamp.find(' ') != std::string_view::npos;
  return seconds || date;
}

// The word before "kernel:" (syslog, journalctl) or "kernel -" (RFC 5424); empty: there is none.
std::string_view host_of(std::string_view line) {
  std::size_t at = line.find(" kernel: ");
  if (at == std::string_view::npos) at = line.find(" kernel - ");
  if (at == std::string_view::npos) return {};
  const std::string_view before = line.substr(0, at);
  const std::size_t gap = before.find_last_of(' ');
  return gap == std::string_view::npos ? std::string_view{} : before.substr(gap + 1);
}

class LogReader {
 public:
  explicit LogReader(TelemetryJob& job) : job_(job) {}

  void read() {
    TextLines lines(job_.bytes);
    std::string_view line;
    (void)log_of({});  // a log without a line of the driver says that there was no Xid
    while (lines.next(line)) {
      const std::string_view host = host_of(line);
      const bool ours = line.find("NVRM:") != std::string_view::npos;
      const auto date = seconds_of_log_line(line);
      if (!ours && host.empty() && !date) continue;
      KernelLog& log = log_of(host);
      if (date) log.last_s = std::max(log.last_s.value_or(*date), *date);
      if (const std::size_t at = line.find(kXid); at != std::string_view::npos) {
        take_xid(log, line.substr(at + kXid.size()), date, lines.place());
      } else if (ours) {
        take_fall(log, line, date);
      }
    }
    for (const Fall& fall : falls_) {
      KernelLog& log = logs_[fall.log];
      const bool known = std::any_of(log.events.begin(), log.events.end(), [&](const auto& event) {
        return event.code == kFellOff && event.pci_bus == fall.pci_bus;
      });
      if (!known) count(log, fall.pci_bus, kFellOff, fall.date_s);
    }
    // Lines that name their host: the log without a name holds nothing.
    if (logs_.size() > 1 && logs_.front().events.empty()) logs_.erase(logs_.begin());
    job_.logs.insert(job_.logs.end(), logs_.begin(), logs_.end());
  }

 private:
  struct Fall {
    std::size_t log;
    std::string pci_bus;
    std::optional<double> date_s;
  };

  KernelLog& log_of(std::string_view host) {
    for (KernelLog& log : logs_) {
      if (log.node == host) return log;
    }
    KernelLog& added = logs_.emplace_back();
    added.node = host;
    added.file = job_.bytes.name();
    return added;
  }

  static void count(KernelLog& log, const std::string& pci_bus, std::int64_t code,
                    std::optional<double> date) {
    auto event = std::find_if(log.events.begin(), log.events.end(), [&](const auto& known) {
      return known.pci_bus == pci_bus && known.code == code;
    });
    if (event == log.events.end()) event = log.events.insert(event, {pci_bus, code, 0, {}});
    ++event->count;
    if (date) event->dates_s.push_back(*date);
  }

  // "PCI:0000:cb:00): 79, pid=..."; old drivers leave out "PCI:".
  void take_xid(KernelLog& log, std::string_view rest, std::optional<double> date,
                const Place& place) {
    const std::size_t close = rest.find(')');
    std::string_view bus = rest.substr(0, close);
    if (bus.starts_with("PCI:")) bus.remove_prefix(4);
    std::int64_t code = 0;
    bool readable = false;
    if (close != std::string_view::npos) {
      rest = stripped(rest.substr(close + 1));
      if (rest.starts_with(':')) rest = stripped(rest.substr(1));
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), code);
      // A line that is cut off within the number names another Xid.
      readable = error == std::errc() && end != rest.data() + rest.size() && code > 0;
    }
    if (readable) {
      count(log, bus_of(bus), code, date);
    } else {
      note_line(job_, place);
    }
  }

  // Three lines: the device, its id, and that it has fallen off the bus; newer drivers write one.
  void take_fall(const KernelLog& log, std::string_view line, std::optional<double> date) {
    if (const std::size_t at = line.find("GPU "); at != std::string_view::npos) {
      std::string_view word = line.substr(at + 4);
      word = word.substr(0, word.find(' '));
      if (word.ends_with(':')) word.remove_suffix(1);
      if (std::string bus = bus_of(word); !bus.empty()) last_bus_ = std::move(bus);
    }
    if (line.find("fallen off the bus") == std::string_view::npos || last_bus_.empty()) return;
    falls_.push_back({static_cast<std::size_t>(&log - logs_.data()), last_bus_, date});
  }

  TelemetryJob& job_;
  std::vector<KernelLog> logs_;
  std::vector<Fall> falls_;
  std::string last_bus_;
};

}  // namespace

bool sniff_kernel_log(std::string_view head) {
  if (head.find("NVRM:") != std::string_view::npos) return true;
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  head.remove_prefix(first);
  const std::string_view line = head.substr(0, head.find('\n'));
  return stamped(line) || !host_of(line).empty();
}

void read_kernel_log(TelemetryJob& job) { LogReader(job).read(); }

}  // namespace mfu
