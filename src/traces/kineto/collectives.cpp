#include "traces/kineto/collectives.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "traces/classify.hpp"
#include "traces/sorted_log.hpp"
#include "traces/text.hpp"

namespace mfu::traces {

namespace {

// As PyTorch names its scalar types. -1: unknown.
std::int64_t bytes_of_type(std::string_view type) noexcept {
  struct Row {
    std::string_view name;
    std::int64_t bytes;
  };
  constexpr Row kRows[] = {{"Float", 4}, {"BFloat16", 2}, {"Half", 2},        {"Double", 8},
                           {"Long", 8},  {"Int", 4},      {"Short", 2},       {"Byte", 1},
                           {"Char", 1},  {"Bool", 1},     {"ComplexFloat", 8}};
  for (const Row& row : kRows) {
    if (row.name == type) return row.bytes;
  }
  return type.starts_with("Float8") ? 1 : -1;
}

// Names go to reports: what is not printable ASCII becomes '?'.

std::int32_t small(std::optional<std::int64_t> value) noexcept {
  if (!value || *value < 0 || *value > std::numeric_limits<std::int32_t>::max()) return -1;
  return static_cast<std::int32_t>(*value);
}

class Names {
 public:
  explicit Names(std::vector<std::string>& names) : names_(names) {}
  std::uint32_t index(const std::string& name) {
    const auto [at, added] = index_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (added) names_.push_back(name);
    return at->second;
  }

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string, std::uint32_t> index_;
};

}  // namespace

CollectiveLog::Arguments CollectiveLog::arguments_of(const KinetoEvent& event) {
  Arguments out;
  if (!event.collective.empty()) out.kind = collective_kind(event.collective);
  // The name alone is not one group everywhere (other frameworks number them by process); the ranks
  // alone are not either (two groups of the same ranks).
  out.group = printable(event.group_name);
  if (!event.group_ranks.empty()) {
    if (!out.group.empty()) out.group += ' ';
    out.group += printable(event.group_ranks);
  }
  const std::int64_t width = bytes_of_type(event.data_type);
  if (event.elements_in && width > 0 && *event.elements_in >= 0 &&
      *event.elements_in <= std::numeric_limits<std::int64_t>::max() / width) {
    out.bytes = *event.elements_in * width;
  }
  out.group_size = small(event.group_size);
  return out;
}

std::uint32_t CollectiveLog::store(Arguments arguments) {
  const std::string key = arguments.kind + '\n' + arguments.group + '\n' +
                          std::to_string(arguments.bytes) + '\n' +
                          std::to_string(arguments.group_size);
  const auto [at, added] = index_.try_emplace(key, static_cast<std::uint32_t>(stored_.size()));
  if (added) stored_.push_back(std::move(arguments));
  return at->second;
}

void CollectiveLog::add_kernel(const KinetoEvent& event, std::uint8_t device) {
  Pending pending;
  pending.span.start_ns = event.start_ns;
  pending.span.end_ns = event.start_ns + event.length_ns;
  pending.span.stream = small(event.stream);
  pending.span.sequence = event.sequence.value_or(-1);
  pending.correlation = event.correlation.value_or(kNoCorrelation);
  pending.external_id = event.external_id.value_or(0);
  pending.device = device;
  pending.complete = !event.collective.empty();
  Arguments arguments = arguments_of(event);
  if (!pending.complete) arguments.kind = collective_kind(event.name);
  pending.arguments = store(std::move(arguments));
  kernels_.push_back(pending);
}

void CollectiveLog::add_call(const KinetoEvent& event) {
  if (!event.external_id || event.collective.empty()) return;
  calls_[*event.external_id] = {store(arguments_of(event)), event.sequence.value_or(-1)};
}

void CollectiveLog::add_host(const KinetoEvent& event) {
  Pending pending;
  pending.span.start_ns = event.start_ns;
  pending.span.end_ns = event.start_ns + event.length_ns;
  Arguments arguments;
  arguments.kind = collective_kind(event.name);
  pending.arguments = store(std::move(arguments));
  host_.push_back(pending);
}

void CollectiveLog::finish(bool gpu, const std::function<bool(std::uint8_t)>& keep,
                           const std::function<std::uint32_t(std::uint64_t, std::int64_t)>& step,
                           RankTrace& out) {
  std::vector<Pending>& all = gpu ? kernels_ : host_;
  std::sort(all.begin(), all.end(), [](const Pending& a, const Pending& b) {
    return std::tie(a.span.start_ns, a.span.end_ns, a.span.stream, a.correlation) <
           std::tie(b.span.start_ns, b.span.end_ns, b.span.stream, b.correlation);
  });
  Names kinds(out.kinds);
  Names groups(out.groups);
  out.collectives.reserve(all.size());
  for (const Pending& pending : all) {
    if (gpu && !keep(pending.device)) continue;
    CollectiveSpan span = pending.span;
    const Arguments* arguments = &stored_[pending.arguments];
    std::string kind = arguments->kind;
    if (gpu && !pending.complete) {
      const auto call = calls_.find(pending.external_id);
      if (call != calls_.end()) {
        arguments = &stored_[call->second.arguments];
        if (arguments->kind != "unknown") kind = arguments->kind;
        span.sequence = call->second.sequence;
      }
    }
    span.kind = kinds.index(kind);
    span.group = groups.index(arguments->group);
    span.bytes = arguments->bytes;
    span.group_size = arguments->group_size;
    span.step = step(pending.correlation, span.start_ns);
    out.collectives.push_back(span);
  }
  all = {};
}

}  // namespace mfu::traces
