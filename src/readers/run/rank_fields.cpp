#include "readers/run/rank_fields.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/nearest.hpp"

namespace mfu {

namespace {

struct NamedKey {
  std::string_view name;
  RankKeyMatch match;
};

constexpr std::array<NamedKey, 15> kKeys{{{"rank", {RankKey::rank, 0}},
                                          {"compute", {RankKey::series, kCompute}},
                                          {"comm", {RankKey::series, kComm}},
                                          {"stall", {RankKey::series, kStall}},
                                          {"step", {RankKey::series, kStep}},
                                          {"wait", {RankKey::series, kWait}},
                                          {"forward", {RankKey::series, kForward}},
                                          {"backward", {RankKey::series, kBackward}},
                                          {"overlapped_comm", {RankKey::series, kOverlappedComm}},
                                          {"comm_by_group", {RankKey::comm_by_group, 0}},
                                          {"node", {RankKey::node, 0}},
                                          {"gpu", {RankKey::gpu, 0}},
                                          {"switch", {RankKey::leaf_switch, 0}},
                                          {"coords", {RankKey::coords, 0}},
                                          {"telemetry", {RankKey::telemetry, 0}}}};

constexpr std::array<std::string_view, 7> kTelemetryKeys{
    "sm_clock_mhz",     "temperature_c", "memory_temperature_c", "power_w",
    "throttle_reasons", "xid",           "ecc_uncorrected"};

bool take_null(JsonCursor& cursor) {
  if (cursor.peek() != JsonCursor::Kind::null) return false;
  cursor.null();
  return true;
}

// Host and switch names; recorders also number them.
std::string read_name(const RankContext& context, std::string_view key) {
  JsonCursor& cursor = context.cursor;
  switch (cursor.peek()) {
    case JsonCursor::Kind::string:
      return cursor.string();
    case JsonCursor::Kind::number:
      return std::to_string(cursor.integer());
    default:
      context.fail(key, "expected a name, found " + cursor.describe_next());
  }
}

int read_index(const RankContext& context, std::string_view key) {
  return static_cast<int>(
      read_whole(context, key, key == "coords.pp" ? kMostPipelineStages - 1 : kMostGpus));
}

void read_coords(const RankContext& context, Coords& coords) {
  JsonCursor& cursor = context.cursor;
  if (cursor.peek() != JsonCursor::Kind::object) {
    context.fail("coords", "expected an object, found " + cursor.describe_next(),
                 R"(for example {"tp":0,"pp":1,"dp":3})");
  }
  cursor.enter_object();
  std::string key;
  std::array<bool, 5> seen{};
  while (cursor.next_key(key)) {
    const auto axis = std::find_if(kAxes.begin(), kAxes.end(),
                                   [&key](Axis known) { return to_string(known) == key; });
    if (axis == kAxes.end()) {
      context.ignore("ranks[].coords." + key);
      continue;
    }
    bool& twice = seen[static_cast<std::size_t>(*axis)];
    if (twice) context.fail("coords." + key, "the key is given twice");
    twice = true;
    if (take_null(cursor)) continue;
    coords[*axis] = read_index(context, "coords." + key);
  }
}

template <typename Read>
void read_list(const RankContext& context, std::string_view key, Read read) {
  JsonCursor& cursor = context.cursor;
  if (cursor.peek() != JsonCursor::Kind::array) {
    context.fail(key, "expected an array, found " + cursor.describe_next());
  }
  cursor.enter_array();
  while (cursor.next_element()) read();
}

}  // namespace

RankKeyMatch match_rank_key(std::string_view key) noexcept {
  for (const NamedKey& known : kKeys) {
    if (known.name == key) return known.match;
  }
  return {};
}

std::string near_rank_key(std::string_view key) {
  std::array<std::string_view, kKeys.size()> names;
  for (std::size_t i = 0; i < kKeys.size(); ++i) names[i] = kKeys[i].name;
  const std::string_view near = nearest_name(key, names);
  return near.empty() ? std::string() : "did you mean '" + std::string(near) + "'?";
}

std::string RankContext::who() const {
  if (!rank) return index ? "ranks[" + std::to_string(*index) + "]" : std::string();
  std::string text = "rank " + std::to_string(*rank);
  if (step) text += ", step " + std::to_string(*step);
  return text;
}

void RankContext::fail_at(Place where, std::string_view key, const std::string& message,
                          const std::string& hint) const {
  where.what = who();
  if (!where.what.empty() && !key.empty()) where.what += ", ";
  where.what += key;
  throw Error(ErrorKind::format, message, std::move(where), hint);
}

void RankContext::fail(std::string_view key, const std::string& message, const std::string& hint,
                       std::optional<std::size_t> element) const {
  std::string name(key);
  if (element) name += ", index " + std::to_string(*element);
  fail_at(cursor.place(), name, message, hint);
}

void RankContext::ignore(const std::string& path) const {
  (void)cursor.peek();
  unknown.add(path, cursor.place());
  cursor.skip_value();
}

std::int64_t read_whole(const RankContext& context, std::string_view key, std::int64_t most) {
  JsonCursor& cursor = context.cursor;
  if (cursor.peek() != JsonCursor::Kind::number) {
    context.fail(key, "expected a whole number from 0 on, found " + cursor.describe_next());
  }
  const std::int64_t value = cursor.integer();
  if (value < 0 || value > most) {
    context.fail(key, "expected a whole number from 0 to " + std::to_string(most) + ", found " +
                          std::to_string(value));
  }
  return value;
}

void read_rank_fact(const RankContext& context, RankKey key, RankInfo& info) {
  if (take_null(context.cursor)) return;
  switch (key) {
    case RankKey::node:
      info.node = read_name(context, "node");
      break;
    case RankKey::gpu:
      info.gpu = read_index(context, "gpu");
      break;
    case RankKey::leaf_switch:
      info.leaf_switch = read_name(context, "switch");
      break;
    default:
      read_coords(context, info.coords);
  }
}

void read_telemetry(const RankContext& context, RankInfo& info, TelemetrySink& sink) {
  JsonCursor& cursor = context.cursor;
  if (take_null(cursor)) return;
  if (cursor.peek() != JsonCursor::Kind::object) {
    context.fail("telemetry", "expected an object, found " + cursor.describe_next());
  }
  cursor.enter_object();
  std::string key;
  std::uint32_t seen = 0;
  while (cursor.next_key(key)) {
    const std::string path = "telemetry." + key;
    for (std::size_t i = 0; i < kTelemetryKeys.size(); ++i) {
      if (kTelemetryKeys[i] != key) continue;
      if ((seen >> i & 1U) != 0) context.fail(path, "the key is given twice", "remove one of them");
      seen |= 1U << i;
    }
    if (take_null(cursor)) continue;
    std::size_t series = kSmClock;
    while (series < kFixedSeries && kSeriesNames[series] != key) ++series;
    if (series < kFixedSeries) {
      const JsonCursor::Kind kind = cursor.peek();
      if (kind == JsonCursor::Kind::array) {
        sink.array(context, series);
      } else if (kind == JsonCursor::Kind::number) {
        sink.number(series, cursor.number());
      } else {
        context.fail(path, "expected a number or an array, found " + cursor.describe_next());
      }
    } else if (key == "throttle_reasons") {
      info.telemetry.throttle_recorded = true;
      read_list(context, path, [&] {
        if (cursor.peek() != JsonCursor::Kind::string) {
          context.fail(path, "expected names, found " + cursor.describe_next());
        }
        const std::string name = cursor.string();
        auto& names = info.telemetry.throttle_reasons;
        if (names.size() < 4096 && std::find(names.begin(), names.end(), name) == names.end()) {
          names.push_back(name);
        }
      });
    } else if (key == "xid") {
      info.telemetry.xid_recorded = true;
      read_list(context, path, [&] {
        const std::int64_t code = cursor.integer();
        auto& codes = info.telemetry.xid;
        if (codes.size() < 4096 && std::find(codes.begin(), codes.end(), code) == codes.end()) {
          codes.push_back(code);
        }
      });
    } else if (key == "ecc_uncorrected") {
      info.telemetry.ecc_uncorrected = cursor.integer();
    } else {
      context.ignore("ranks[]." + path);
    }
  }
}

void fail_element(const RankContext& context, std::string_view name, JsonCursor::Element element,
                  std::optional<std::size_t> index) {
  const std::string missing = "write null for a missing sample";
  switch (element) {
    case JsonCursor::Element::negative:
      context.fail(name, "a negative time", missing, index);
    case JsonCursor::Element::too_large:
      context.fail(name, "a time of over 30 years", "is time_unit right? s, ms, us or ns", index);
    case JsonCursor::Element::not_finite: {
      const std::string found = context.cursor.describe_next();
      context.fail(name,
                   found == "a number" ? "a number that is too large" : found + " is not a time",
                   missing, index);
    }
    default:
      context.fail(name, "expected a number or null, found " + context.cursor.describe_next(), {},
                   index);
  }
}

}  // namespace mfu
