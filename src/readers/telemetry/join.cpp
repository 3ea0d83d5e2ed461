// Which rank ran on which device of the telemetry.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/note_code.hpp"
#include "readers/telemetry/device_table.hpp"
#include "readers/telemetry/sample.hpp"
#include "readers/telemetry/telemetry.hpp"
#include "timings/device_health.hpp"

namespace mfu {
namespace {

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// "n1" of "n1.cluster"; an address (10.0.0.1) has no short form.
std::string_view short_name(std::string_view host) {
  const std::string_view first = host.substr(0, host.find('.'));
  const bool named = std::any_of(first.begin(), first.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
  return named ? first : host;
}

// Whether `name` stands in `text` by itself: "n1" in "smi-n1.csv", not in "smi-n10.csv".
bool stands_in(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) {
      return true;
    }
  }
  return false;
}

constexpr double kMonth = 30.0 * kDay;

constexpr std::string_view kHint = "say whose it is: --telemetry NODE=FILE";

class Join {
 public:
  Join(RunTimings& run, const Telemetry& telemetry, Notes& notes)
      : run_(run), telemetry_(telemetry), notes_(notes) {
    for (const RankInfo& info : run.ranks) nodes_.insert(info.node);
  }

  void join() {
    for (const DeviceReading& device : telemetry_.devices) {
      const auto node = node_of(device.node, device.file);
      if (node) devices_[*node].push_back(device);
    }
    for (auto& [node, devices] : devices_) settle(node, devices);
    for (auto& [node, devices] : devices_) {
      for (const DeviceReading& device : devices) note_apart(device);
      join_devices(node, devices);
    }
    for (const KernelLog& log : telemetry_.logs) join_log(log);
    const auto without = static_cast<std::int64_t>(
        std::count_if(run_.ranks.begin(), run_.ranks.end(),
                      [](const RankInfo& info) { return !info.device.has_value(); }));
    if (without > 0) {
      notes_.add(NoteCode::telemetry_partial,
                 std::to_string(without) + " of " + std::to_string(run_.ranks.size()) +
                     " ranks have no device in the telemetry",
                 {}, without);
    }
  }

 private:
  using Devices = std::vector<DeviceReading>;

  void lose(const std::string& text, const std::string& file) {
    notes_.add(NoteCode::telemetry_not_joined, text + "; " + std::string(kHint),
               Place{.file = file});
  }

  // The run's node of that name; a full name and its first part are the same host, where that
  // leaves no choice.
  [[nodiscard]] std::optional<std::string> known_node(std::string_view name) const {
    if (nodes_.contains(std::string(name))) return std::string(name);
    std::optional<std::string> found;
    for (const std::string& node : nodes_) {
      if (node.empty() || short_name(node) != short_name(name)) continue;
      const bool both_full =
          node.find('.') != std::string::npos && name.find('.') != std::string_view::npos;
      if (both_full) continue;
      if (found) return {};
      found = node;
    }
    return found;
  }

  // The longest of the run's nodes that stands in a part of the path; nothing: none, or two.
  [[nodiscard]] std::optional<std::string> node_in(std::string_view part) const {
    std::optional<std::string> found;
    std::size_t longest = 0;
    bool tied = false;
    for (const std::string& node : nodes_) {
      for (const std::string_view name : {std::string_view(node), short_name(node)}) {
        if (name.empty() || name.size() < longest || !stands_in(part, name)) continue;
        if (found && *found != node) tied = name.size() == longest;
        if (name.size() > longest) tied = false;
        found = node;
        longest = name.size();
      }
    }
    return tied ? std::nullopt : found;
  }

  [[nodiscard]] std::optional<std::string> node_of(const std::string& named,
                                                   const std::string& file) {
    std::string name = named;
    for (const TelemetryFile& given : telemetry_.files) {
      if (given.path == file && !given.node.empty()) name = given.node;
    }
    const bool unnamed_run = nodes_.size() == 1 && nodes_.contains("");
    if (!name.empty()) {
      if (const auto node = known_node(name)) return node;
      if (unnamed_run && only_source(name)) return "";
      lose("the run has no node \"" + name.substr(0, 80) + "\"", file);
      return {};
    }
    std::string_view rest = file;
    for (int part = 0; part < 2 && !rest.empty(); ++part) {
      const std::size_t slash = rest.find_last_of('/');
      if (const auto node =
              node_in(slash == std::string_view::npos ? rest : rest.substr(slash + 1))) {
        return node;
      }
      rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(0, slash);
    }
    if (nodes_.size() == 1) return *nodes_.begin();
    lose("neither the file nor its name says which node the telemetry is from", file);
    return {};
  }

  // The run names no node, so it is one host; telemetry of several cannot all be its.
  [[nodiscard]] bool only_source(const std::string& name) const {
    const auto other = [&name](const std::string& node) { return !node.empty() && node != name; };
    return std::none_of(telemetry_.devices.begin(), telemetry_.devices.end(),
                        [&](const DeviceReading& device) { return other(device.node); }) &&
           std::none_of(telemetry_.logs.begin(), telemetry_.logs.end(),
                        [&](const KernelLog& log) { return other(log.node); }) &&
           std::none_of(telemetry_.files.begin(), telemetry_.files.end(),
                        [&](const TelemetryFile& file) { return other(file.node); });
  }

  static bool differ(const std::string& a, const std::string& b) {
    return !a.empty() && !b.empty() && a != b;
  }

  // One entry a device of the node: what several files say of an index, or of a place on the bus,
  // is of one device, unless UUIDs or names say that it is not.
  void settle(const std::string& node, Devices& devices) {
    std::stable_sort(devices.begin(), devices.end(),
                     [](const DeviceReading& a, const DeviceReading& b) {
                       return a.index.has_value() > b.index.has_value();
                     });
    Devices settled;
    std::set<int> doubtful;
    for (DeviceReading& device : devices) {
      const auto same = std::find_if(settled.begin(), settled.end(), [&](const auto& known) {
        if (device.index) return known.index == device.index;
        return !device.pci_bus.empty() && known.pci_bus == device.pci_bus;
      });
      if (same == settled.end()) {
        settled.push_back(std::move(device));
      } else if (differ(same->uuid, device.uuid) || differ(same->facts.name, device.facts.name)) {
        if (same->index) doubtful.insert(*same->index);
      } else {
        absorb(*same, std::move(device));
      }
    }
    for (const int index : doubtful) {
      lose("two devices" + of_node(node) + " have the index " + std::to_string(index),
           settled.front().file);
    }
    std::erase_if(settled, [&](const DeviceReading& device) {
      return device.index && doubtful.contains(*device.index);
    });
    devices = std::move(settled);
  }

  void note_apart(const DeviceReading& device) {
    if (!device.apart) return;
    notes_.add(NoteCode::telemetry_apart,
               "samples of one device lie more than a day apart, and all of them count: give only "
               "the files that were recorded during the run",
               Place{.file = device.file});
  }

  // Between which dates the run lies, by the telemetry of the node's devices; what a log says of
  // other days is not of the run. Without such telemetry the log's own end stands for the run's.
  struct Window {
    double from_s = -std::numeric_limits<double>::infinity();
    double to_s = std::numeric_limits<double>::infinity();
  };
  [[nodiscard]] Window window_of(const Devices& devices, const KernelLog& log) const {
    std::optional<double> first, last;
    for (const DeviceReading& device : devices) {
      if (!device.first_s) continue;
      first = std::min(first.value_or(*device.first_s), *device.first_s);
      last = std::max(last.value_or(*device.last_s), *device.last_s);
    }
    // The clocks of the two can be in different time zones.
    if (first) return {*first - kDay, *last + kDay};
    if (log.last_s) return {*log.last_s - kMonth, *log.last_s};
    return {};
  }

  static std::string of_node(const std::string& node) {
    return node.empty() ? std::string() : " of node " + node.substr(0, 80);
  }

  [[nodiscard]] std::vector<RankInfo*> ranks_of(const std::string& node) {
    std::vector<RankInfo*> ranks;
    for (RankInfo& info : run_.ranks) {
      if (info.node == node) ranks.push_back(&info);
    }
    return ranks;
  }

  void join_devices(const std::string& node, Devices& devices) {
    const std::vector<RankInfo*> ranks = ranks_of(node);
    const bool placed = std::any_of(ranks.begin(), ranks.end(),
                                    [](const RankInfo* info) { return info->gpu.has_value(); });
    if (!placed) {
      join_in_order(node, ranks, devices);
      return;
    }
    // A run without names of nodes and with the same index twice is more than one host.
    std::set<int> indices;
    for (const RankInfo* info : ranks) {
      const bool twice = info->gpu && !indices.insert(*info->gpu).second;
      if (node.empty() && twice) {
        lose("the run has ranks with the same GPU index, but names no nodes",
             devices.empty() ? std::string() : devices.front().file);
        return;
      }
    }
    // One rank and one device leave no choice.
    const bool single = devices.size() == 1 && ranks.size() == 1 && run_.ranks.size() == 1;
    for (const DeviceReading& device : devices) {
      bool used = false;
      for (RankInfo* info : ranks) {
        const bool same = info->gpu && device.index && *info->gpu == *device.index;
        if (!same && !(single && !device.index)) continue;
        info->device = health_of(device);
        used = true;
      }
      if (used) continue;
      if (!device.index) {
        lose("a device" + of_node(node) + " has no index to find its rank by", device.file);
      } else {
        notes_.add(NoteCode::telemetry_unused,
                   "devices of the telemetry on which no recorded rank ran",
                   Place{.file = device.file});
      }
    }
  }

  // Ranks of a node that do not say on which device they ran: frameworks number both alike.
  void join_in_order(const std::string& node, const std::vector<RankInfo*>& ranks,
                     Devices& devices) {
    std::sort(devices.begin(), devices.end(), [](const DeviceReading& a, const DeviceReading& b) {
      return a.index.value_or(1 << 30) < b.index.value_or(1 << 30);
    });
    const bool indexed = std::all_of(devices.begin(), devices.end(),
                                     [](const auto& device) { return device.index.has_value(); });
    if (devices.size() != ranks.size() || (!indexed && devices.size() != 1)) {
      lose("the ranks" + of_node(node) + " do not say on which GPU they ran, and they are " +
               std::to_string(ranks.size()) + ", the devices " + std::to_string(devices.size()),
           devices.empty() ? std::string() : devices.front().file);
      return;
    }
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      ranks[i]->device = health_of(devices[i]);
      if (devices[i].index) ranks[i]->gpu = devices[i].index;
    }
    if (ranks.size() > 1) {
      notes_.add(NoteCode::telemetry_by_order,
                 "the ranks do not say on which GPU they ran: they are matched in the order of the "
                 "indices",
                 Place{.file = devices.front().file});
    }
  }

  void join_log(const KernelLog& log) {
    const auto node = node_of(log.node, log.file);
    if (!node) return;
    const std::vector<RankInfo*> ranks = ranks_of(*node);
    for (RankInfo* info : ranks) {
      if (!info->device) info->device.emplace();
      info->device->xid_known = true;
    }
    const Devices& devices = devices_[*node];
    const Window window = window_of(devices, log);
    for (const KernelLog::Event& event : log.events) {
      const auto earlier = std::count_if(event.dates_s.begin(), event.dates_s.end(),
                                         [&](double date) { return date < window.from_s; });
      const auto later = std::count_if(event.dates_s.begin(), event.dates_s.end(),
                                       [&](double date) { return date > window.to_s; });
      if (earlier + later > 0) {
        notes_.add(
            NoteCode::xid_other_days,
            "the kernel log has Xids from other days than the run: they are not evidence about it",
            Place{.file = log.file}, earlier + later);
      }
      const std::int64_t during = event.count - earlier - later;
      if (during == 0 && earlier == 0) continue;
      const auto device = std::find_if(devices.begin(), devices.end(), [&](const auto& known) {
        return !event.pci_bus.empty() && known.pci_bus == event.pci_bus;
      });
      const bool placed = device != devices.end() && device->index;
      for (RankInfo* info : ranks) {
        if (placed && info->gpu != device->index) continue;
        add_xid(*info->device, {event.code, during > 0 ? during : earlier, during == 0,
                                !placed && ranks.size() > 1});
      }
      if (!placed && ranks.size() > 1) {
        notes_.add(NoteCode::xid_device_unknown,
                   "an Xid is from a device that no other telemetry names: which rank ran there is "
                   "not known (query index and pci.bus_id too)",
                   Place{.file = log.file});
      }
    }
  }

  // DCGM may show the latest of them as well.
  static void add_xid(DeviceHealth& device, const XidSeen& seen) {
    for (XidSeen& known : device.xid) {
      if (known.code != seen.code) continue;
      known.count = std::max(known.count, seen.count);
      known.before = known.before && seen.before;
      known.on_node = known.on_node && seen.on_node;
      return;
    }
    device.xid.push_back(seen);
  }

  RunTimings& run_;
  const Telemetry& telemetry_;
  Notes& notes_;
  std::set<std::string> nodes_;
  std::map<std::string, Devices> devices_;
};

}  // namespace

void join_telemetry(RunTimings& run, const Telemetry& telemetry, Notes& notes) {
  Join(run, telemetry, notes).join();
}

}  // namespace mfu
