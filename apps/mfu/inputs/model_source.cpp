#include "inputs/model_source.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/bytes.hpp"
#include "base/decimal.hpp"
#include "base/note_code.hpp"
#include "mfu/quantity.hpp"

namespace mfu::app {
namespace {

// Names are rounded and leave out embeddings; this far off is another model.
constexpr double kNameTolerance = 0.4;
constexpr double kStatedTolerance = 0.02;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "llama-2-7b" -> 7e9, "mixtral-8x7b" -> 56e9, "gpt2-124m" -> 124e6; the first that stands there.
std::optional<double> size_in_name(std::string_view name) {
  for (std::size_t at = 0; at < name.size(); ++at) {
    const bool starts = is_digit(name[at]) &&
                        (at == 0 || !(is_digit(name[at - 1]) || name[at - 1] == '.' ||
                                      std::isalpha(static_cast<unsigned char>(name[at - 1]))));
    if (!starts) continue;
    std::size_t end = at;
    while (end < name.size() && (is_digit(name[end]) || name[end] == '.')) ++end;
    double times = 1.0;
    std::size_t begin = at;
    if (end + 1 < name.size() && (name[end] == 'x' || name[end] == 'X') &&
        is_digit(name[end + 1])) {
      times = parse_decimal(name.substr(at, end - at)).value;
      begin = ++end;
      while (end < name.size() && (is_digit(name[end]) || name[end] == '.')) ++end;
    }
    if (end >= name.size()) continue;
    const char unit = name[end];
    const bool ends =
        end + 1 == name.size() || !std::isalnum(static_cast<unsigned char>(name[end + 1]));
    const double scale = unit == 'b' || unit == 'B' ? 1e9 : unit == 'm' || unit == 'M' ? 1e6 : 0.0;
    const Decimal number = parse_decimal(name.substr(begin, end - begin));
    if (scale > 0 && ends && number.status == DecimalStatus::ok) {
      return times * number.value * scale;
    }
  }
  return {};
}

std::string size_text(double params) {
  return params >= 1e9 ? fmt::format("{:.4g}B", params / 1e9)
                       : fmt::format("{:.4g}M", params / 1e6);
}

bool far(double stated, double counted, double tolerance) {
  return std::fabs(stated / counted - 1) > tolerance && std::fabs(counted / stated - 1) > tolerance;
}

}  // namespace

std::string read_text(const std::string& path, InputInfo& info, std::size_t most) {
  ByteSource source = ByteSource::open(path);
  return read_text(source, info, most);
}

std::string read_text(ByteSource& source, InputInfo& info, std::size_t most) {
  std::string text;
  std::array<char, 65536> piece;
  while (const std::size_t count = source.read(piece.data(), piece.size())) {
    text.append(piece.data(), count);
    if (text.size() > most) break;
  }
  info.path = source.name();
  info.bytes = source.raw_bytes();
  if (source.gzip()) info.format += " (gzip)";
  return text;
}

ModelShape load_model(const std::string& name, std::vector<InputInfo>& files, Notes& notes) {
  const std::size_t start = name.find_first_not_of(" \t\r\n");
  if (start != std::string::npos && name[start] == '{')
    return parse_model(name, "--model", notes, MissingKeys::leave);
  const bool path_like =
      name == "-" || name.find('/') != std::string::npos || name.ends_with(".json");
  const auto from_file = [&](const std::string& path) {
    InputInfo info;
    info.format = "model";
    const std::string text = read_text(path, info, kMostModelBytes);
    ModelShape shape = parse_model(text, path, notes, MissingKeys::leave);
    files.push_back(std::move(info));
    return shape;
  };
  try {
    return find_model(name);
  } catch (const Error&) {
    std::error_code ignored;
    if (std::filesystem::is_directory(name, ignored)) return from_file(name + "/config.json");
    if (path_like || std::filesystem::exists(name, ignored)) return from_file(name);
    throw;
  }
}

void check_size(const ModelShape& model, std::optional<double> stated, Notes& notes) {
  std::optional<ParameterCount> counted;
  if (model.layers > 0) counted = count_parameters(model);
  Place place;
  place.what = "--params";
  if (stated && counted && far(*stated, counted->total, kStatedTolerance) &&
      far(*stated, counted->active, kStatedTolerance)) {
    notes.add(NoteCode::params_disagree,
              fmt::format("--params says {} ({}), the shape of {} has {} ({}); the stated number "
                          "is used where a formula takes N",
                          size_text(*stated), format_grouped(*stated),
                          model.name.empty() ? "the model" : model.name, size_text(counted->total),
                          format_grouped(counted->total)),
              place);
  }
  const std::optional<double> named = size_in_name(model.name);
  const std::optional<double> size = counted ? std::optional<double>(counted->total) : stated;
  if (named && size && far(*named, *size, kNameTolerance)) {
    place.what = "--model";
    notes.add(NoteCode::name_disagrees,
              fmt::format("the name '{}' says {}, the {} {} ({})", model.name, size_text(*named),
                          counted ? "shape has" : "stated count is", size_text(*size),
                          format_grouped(*size)),
              place);
  }
}

}  // namespace mfu::app
