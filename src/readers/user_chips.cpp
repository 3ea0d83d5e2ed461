#include "readers/user_chips.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/json_cursor.hpp"
#include "base/nearest.hpp"
#include "base/note_code.hpp"

namespace mfu {

struct UserChips::Owned {
  struct Row {
    std::vector<PrecisionRate> rates;
    std::vector<std::string_view> aliases;
  };
  std::deque<std::string> strings;  // a deque keeps them where they are
  std::deque<Row> details;
  std::vector<Chip> rows;
  std::uint64_t bytes = 0;

  std::string_view keep(std::string text) { return strings.emplace_back(std::move(text)); }
};

UserChips::UserChips() : owned_(std::make_unique<Owned>()) {}
UserChips::UserChips(UserChips&&) noexcept = default;
UserChips& UserChips::operator=(UserChips&&) noexcept = default;
UserChips::~UserChips() = default;
std::span<const Chip> UserChips::rows() const& noexcept { return owned_->rows; }
std::uint64_t UserChips::bytes() const noexcept { return owned_->bytes; }

namespace {

constexpr std::string_view kChipsSchema = "mfu.chips/1";
constexpr std::size_t kMostBytes = 4 * 1024 * 1024;
// Ids and aliases: each is held against every built-in row.
constexpr std::size_t kMostNames = 1024;
constexpr double kAgreement = 0.005;
constexpr double kLeastPeak = 1e9;  // FLOP/s of one device: outside of these, a unit is wrong
constexpr double kMostPeak = 1e17;
constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

constexpr std::array<std::string_view, 2> kTopKeys{"schema", "chips"};
constexpr std::array<std::string_view, 13> kChipKeys{
    "id",      "name",       "unit_kind",          "units",   "rates",   "base_mhz",
    "max_mhz", "memory_gib", "bandwidth_gb_per_s", "power_w", "aliases", "sparse_figures",
    "source"};
constexpr std::array<std::string_view, 4> kRateKeys{"precision", "flop_per_clock_per_unit",
                                                    "tflops", "mhz"};

struct Range {
  double least, most;
  std::string_view hint;
};

// As names are compared: case-folded, and '-', '_' and space are equal.
std::string folded(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '-' || c == '_' || c == ' ') {
      if (!out.empty() && out.back() != '-') out += '-';
    } else {
      out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  if (!out.empty() && out.back() == '-') out.pop_back();
  return out;
}

// Whether the built-in rows alone would have answered to the name.
bool names_a_built_in(std::string_view name) {
  try {
    return match_chip(name).chip != nullptr;
  } catch (const Error&) {
    return false;
  }
}

// Reads one chips document. The cursor knows the place of everything.
class ChipsReader {
 public:
  ChipsReader(ByteSource& bytes, UserChips::Owned& owned, Notes& notes)
      : cursor_(bytes), owned_(owned), notes_(notes), file_(bytes.name()) {}

  void read() {
    if (cursor_.peek() != JsonCursor::Kind::object) fail("a chips file is a JSON object", kForm);
    cursor_.enter_object();
    std::string key;
    bool schema = false;
    bool chips = false;
    while (next_key(key, kTopKeys, "")) {
      if (key == "schema") {
        schema = true;
        const std::string named = text("schema");
        if (named != kChipsSchema) {
          throw Error(ErrorKind::unsupported, "the schema is '" + named.substr(0, 80) + "'",
                      cursor_.place(), "this version reads " + std::string(kChipsSchema));
        }
      } else {
        chips = true;
        if (cursor_.peek() != JsonCursor::Kind::array) fail("'chips' is not a list", kForm);
        cursor_.enter_array();
        while (cursor_.next_element()) chip();
      }
    }
    if (!schema) fail("the key 'schema' is missing", "\"schema\": \"mfu.chips/1\"");
    if (!chips || owned_.rows.empty()) fail("there is no chip in it", kForm);
    if (cursor_.peek() != JsonCursor::Kind::end) fail("there is more after the object", kForm);
  }

 private:
  static constexpr std::string_view kForm =
      "{\"schema\": \"mfu.chips/1\", \"chips\": [{\"id\": ..., \"rates\": [...]}]}";

  [[noreturn]] void fail(std::string message, std::string_view hint) {
    throw Error(ErrorKind::format, std::move(message), cursor_.place(), std::string(hint));
  }

  // The next key of the innermost object: known, and not given before.
  template <std::size_t count>
  bool next_key(std::string& key, const std::array<std::string_view, count>& known,
                std::string_view of) {
    std::set<std::string>& seen = seen_[depth_of(of)];
    if (!cursor_.next_key(key)) {
      seen.clear();
      return false;
    }
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      fail(fmt::format("unknown key '{}'{}{}", key.substr(0, 80), of.empty() ? "" : " of a ", of),
           name_hint(key, known));
    }
    if (!seen.insert(key).second) fail("the key '" + key + "' is given twice", "remove one");
    return true;
  }
  static std::size_t depth_of(std::string_view of) { return of.empty() ? 0 : of == "chip" ? 1 : 2; }

  std::string text(std::string_view what) {
    if (cursor_.peek() != JsonCursor::Kind::string) {
      fail(fmt::format("'{}' is not a string", what), "put it in quotes");
    }
    std::string value = cursor_.string();
    if (value.empty() || value.size() > 200) {
      fail(fmt::format("'{}' is empty or too long", what), "200 characters at most");
    }
    return value;
  }

  double number(std::string_view what, const Range& range) {
    if (cursor_.peek() != JsonCursor::Kind::number) {
      fail(fmt::format("'{}' is not a number", what), range.hint);
    }
    const double value = cursor_.number();
    if (!(value >= range.least && value <= range.most)) {
      fail(fmt::format("'{}' is {:.6g}: not between {:.6g} and {:.6g}", what, value, range.least,
                       range.most),
           range.hint);
    }
    return value;
  }

  static constexpr Range kMhz{100, 10'000, "the unit is MHz"};

  std::string id() {
    std::string value = text("id");
    bool fine = true;
    char before = '-';
    for (const char c : value) {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
      const bool joint = c == '-' || c == '.';
      fine = fine && (letter || (joint && before != '-' && before != '.'));
      before = c;
    }
    if (!fine || before == '-' || before == '.') {
      fail("the id '" + value.substr(0, 80) + "' is not of the form acme-x1",
           "lower-case letters, digits and '.', joined by '-'; the first word is the model");
    }
    return value;
  }

  struct RateGiven {
    std::optional<Precision> precision;
    std::optional<double> per_clock, flops, mhz;
    Place place;
  };

  RateGiven rate() {
    RateGiven given;
    if (cursor_.peek() != JsonCursor::Kind::object) fail("a rate is not an object", kForm);
    given.place = cursor_.place();
    cursor_.enter_object();
    std::string key;
    while (next_key(key, kRateKeys, "rate")) {
      if (key == "precision") {
        const Place place = cursor_.place();
        given.precision = parse_precision(text(key), place);
      } else if (key == "tflops") {
        given.flops = 1e12 * number(key, {kLeastPeak / 1e12, kMostPeak / 1e12,
                                          "TFLOP/s of one device, dense"});
      } else if (key == "mhz") {
        given.mhz = number(key, kMhz);
      } else {
        given.per_clock = number(key, {1, 1e7, "dense FLOP of one unit in one clock"});
      }
    }
    if (!given.precision) {
      throw Error(ErrorKind::format, "a rate without 'precision'", given.place,
                  "\"precision\": \"bf16\"");
    }
    return given;
  }

  PrecisionRate finished(const RateGiven& given, int units) {
    PrecisionRate rate{*given.precision, given.per_clock.value_or(0.0), 0.0,
                       given.mhz.value_or(0.0), ClockBasis::unknown};
    std::optional<double> worked_out;
    if (given.per_clock && given.mhz && units > 0) {
      worked_out = units * *given.per_clock * *given.mhz * 1e6;
      if (*worked_out < kLeastPeak || *worked_out > kMostPeak) {
        throw Error(ErrorKind::format,
                    fmt::format("the {} peak, units x rate x clock, is {:.4g} TFLOP/s: not between "
                                "{:.6g} and {:.6g}",
                                to_string(*given.precision), *worked_out / 1e12, kLeastPeak / 1e12,
                                kMostPeak / 1e12),
                    given.place, "'flop_per_clock_per_unit' is for one unit, 'mhz' is in MHz");
      }
    }
    if (given.flops && given.per_clock && units <= 0) {
      throw Error(ErrorKind::format,
                  fmt::format("the {} rate counts the FLOP of a unit, and the chip has no 'units'",
                              to_string(*given.precision)),
                  given.place, "add 'units' to the chip, or give 'tflops' alone");
    }
    if (!given.flops && !worked_out) {
      throw Error(ErrorKind::format,
                  fmt::format("the {} rate has no peak", to_string(*given.precision)), given.place,
                  "give 'tflops', or 'flop_per_clock_per_unit' and 'mhz' with the chip's 'units'");
    }
    if (given.flops && worked_out && std::fabs(*worked_out / *given.flops - 1.0) > kAgreement) {
      throw Error(ErrorKind::format,
                  fmt::format("the {} rate contradicts itself: {:.5g} TFLOP/s are given, units x "
                              "rate x clock is {:.5g}",
                              to_string(*given.precision), *given.flops / 1e12, *worked_out / 1e12),
                  given.place, "sparse figures are twice the dense ones; units are for one device");
    }
    rate.datasheet_flops = given.flops.value_or(worked_out.value_or(0.0));
    if (worked_out) {
      rate.basis = ClockBasis::documented;
    } else if (rate.flop_per_clock_per_unit > 0.0) {
      rate.datasheet_mhz = rate.datasheet_flops / (units * rate.flop_per_clock_per_unit) / 1e6;
      rate.basis = ClockBasis::implied;
    }
    return rate;
  }

  void chip() {
    if (cursor_.peek() != JsonCursor::Kind::object) fail("a chip is not an object", kForm);
    const Place start = cursor_.place();
    cursor_.enter_object();
    Chip row{};
    row.user_defined = true;
    row.unit_kind = "unit";
    UserChips::Owned::Row& details = owned_.details.emplace_back();
    std::vector<RateGiven> rates;
    std::string key;
    while (next_key(key, kChipKeys, "chip")) {
      if (key == "id") row.id = owned_.keep(id());
      if (key == "name") row.name = owned_.keep(text(key));
      if (key == "unit_kind") row.unit_kind = owned_.keep(text(key));
      if (key == "source") row.source = owned_.keep(text(key));
      if (key == "units") {
        row.units = static_cast<int>(whole(number(key, {1, 1e6, "a whole number"}), key));
      }
      if (key == "base_mhz") row.base_mhz = number(key, kMhz);
      if (key == "max_mhz") row.max_mhz = number(key, kMhz);
      if (key == "memory_gib") row.memory_bytes = kGiB * number(key, {0.1, 1e5, "GiB"});
      if (key == "power_w") row.power_w = number(key, {1, 1e5, "watts"});
      if (key == "bandwidth_gb_per_s") {
        row.bandwidth_bytes_per_s = 1e9 * number(key, {1, 1e6, "GB/s, of 10^9 bytes"});
      }
      if (key == "sparse_figures") {
        if (cursor_.peek() != JsonCursor::Kind::boolean)
          fail("'sparse_figures' is true or false", "");
        row.sparse_figures = cursor_.boolean();
      }
      if (key == "aliases") {
        if (cursor_.peek() != JsonCursor::Kind::array) fail("'aliases' is not a list", kForm);
        cursor_.enter_array();
        while (cursor_.next_element()) details.aliases.push_back(owned_.keep(text("aliases")));
      }
      if (key == "rates") {
        if (cursor_.peek() != JsonCursor::Kind::array) fail("'rates' is not a list", kForm);
        cursor_.enter_array();
        while (cursor_.next_element()) rates.push_back(rate());
      }
    }
    if (row.id.empty())
      throw Error(ErrorKind::format, "a chip without 'id'", start, "\"id\": \"acme-x1\"");
    if (rates.empty()) {
      throw Error(ErrorKind::format, fmt::format("the chip '{}' has no rates", row.id), start,
                  "\"rates\": [{\"precision\": \"bf16\", \"tflops\": 400}]");
    }
    for (const RateGiven& given : rates) {
      const bool twice = std::any_of(
          details.rates.begin(), details.rates.end(),
          [&](const PrecisionRate& other) { return other.precision == *given.precision; });
      if (twice) {
        throw Error(ErrorKind::format,
                    fmt::format("{} is given twice for '{}'", to_string(*given.precision), row.id),
                    given.place, "one rate for each precision");
      }
      details.rates.push_back(finished(given, row.units));
    }
    if (row.base_mhz > 0.0 && row.max_mhz > 0.0 && row.base_mhz > row.max_mhz) {
      throw Error(ErrorKind::format,
                  fmt::format("'{}' has a base clock of {:.6g} MHz, above its maximum of {:.6g}",
                              row.id, row.base_mhz, row.max_mhz),
                  start, "are 'base_mhz' and 'max_mhz' swapped?");
    }
    if (row.name.empty()) row.name = row.id;
    if (row.source.empty()) row.source = owned_.keep(file_);
    row.rates = details.rates;
    row.aliases = details.aliases;
    add(row, start);
  }

  double whole(double value, std::string_view what) {
    if (value != std::floor(value)) {
      fail(fmt::format("'{}' is {:.6g}", what, value), "a whole number");
    }
    return value;
  }

  void add(const Chip& row, const Place& start) {
    std::vector<std::string_view> names{row.id};
    names.insert(names.end(), row.aliases.begin(), row.aliases.end());
    std::string_view shadowed;
    for (const std::string_view name : names) {
      const std::string key = folded(name);
      if (key.empty()) {
        throw Error(ErrorKind::format,
                    fmt::format("the alias '{}' of '{}' names nothing", name, row.id), start,
                    "letters or digits");
      }
      const auto [known, fresh] = owners_.emplace(key, owned_.rows.size());
      // A chip's own id may come again among its aliases.
      if (!fresh && known->second != owned_.rows.size()) {
        throw Error(ErrorKind::format, fmt::format("the name '{}' is given to two chips", name),
                    start, "rename one; case, '-', '_' and space make no difference");
      }
      if (owners_.size() > kMostNames) {
        throw Error(ErrorKind::format, "too many names for a list of chips", start,
                    fmt::format("{} ids and aliases at most", kMostNames));
      }
      if (fresh && shadowed.empty() && names_a_built_in(name)) shadowed = name;
    }
    if (!shadowed.empty()) {
      notes_.add(
          NoteCode::user_chip_shadows,
          fmt::format("'{}' is the name of a built-in row as well: the file's row, {}, is used",
                      shadowed, row.id),
          start);
    }
    owned_.rows.push_back(row);
  }

  JsonCursor cursor_;
  UserChips::Owned& owned_;
  Notes& notes_;
  std::string file_;
  std::array<std::set<std::string>, 3> seen_;
  std::map<std::string, std::size_t> owners_;  // folded name -> its row
};

UserChips read_from(ByteSource& bytes, UserChips::Owned& owned, UserChips chips, Notes& notes) {
  ChipsReader(bytes, owned, notes).read();
  owned.bytes = bytes.raw_bytes();
  return chips;
}

}  // namespace

UserChips parse_user_chips(const std::string& text, const std::string& name, Notes& notes) {
  UserChips chips;
  UserChips::Owned& owned = *chips.owned_;
  if (text.size() > kMostBytes) {
    Place place;
    place.file = name;
    throw Error(ErrorKind::format, "too large for a list of chips", place, "4 MiB at most");
  }
  ByteSource bytes = ByteSource::from_memory(text, name);
  return read_from(bytes, owned, std::move(chips), notes);
}

UserChips read_user_chips(const std::string& path, Notes& notes) {
  ByteSource bytes = ByteSource::open(path);
  std::string text;
  std::array<char, 16 * 1024> piece{};
  while (const std::size_t count = bytes.read(piece.data(), piece.size())) {
    text.append(piece.data(), count);
    if (text.size() > kMostBytes) break;
  }
  return parse_user_chips(text, path, notes);
}

}  // namespace mfu
