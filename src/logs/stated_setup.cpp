#include "logs/stated_setup.hpp"

#include <array>
#include <cmath>
#include <string>

#include "logs/values.hpp"

namespace mfu {

namespace {

constexpr std::array<std::string_view, 8> kStatedWords{
    "world_size",    "world size",    "World size",     "WORLD_SIZE",
    "num_processes", "Num processes", "rainable param", "M Params ("};
constexpr double kPartly = 0.5;  // of the parameters: fewer are trained beside frozen weights

// "world_size: 8", "world_size=8", "'world_size': 8", "World size is 8".
std::optional<double> value_behind(std::string_view text, std::string_view key) {
  LogText at(text);
  if (!at.find(key)) return std::nullopt;
  const std::string_view rest = at.rest();
  std::size_t skip = 0;
  while (skip < rest.size() && skip < 48 &&
         (rest[skip] == ' ' || rest[skip] == '\'' || rest[skip] == '"' || rest[skip] == ':' ||
          rest[skip] == '=' || rest[skip] == '.')) {
    ++skip;
  }
  if (skip == 0) return std::nullopt;
  LogText value(rest.substr(skip));
  return positive(value.si_number());
}

std::optional<double> whole(std::optional<double> value) {
  return value && *value >= 1.0 && *value == std::floor(*value) ? value : std::nullopt;
}

}  // namespace

void StatedSetup::Figure::say(std::optional<double> stated, std::int64_t at) {
  if (!stated) return;
  if (value && *value != *stated) contradicted = true;
  if (value) return;
  value = stated;
  line = at;
}

std::span<const std::string_view> StatedSetup::words() { return kStatedWords; }

void StatedSetup::line(const LogLine& line) {
  const std::string_view text = line.text;
  for (const std::string_view key :
       {"world_size", "world size", "World size", "WORLD_SIZE", "num_processes", "Num processes"}) {
    const std::size_t at = text.find(key);
    // "tp_world_size: 4" is another group's.
    if (at == std::string_view::npos || (at > 0 && (text[at - 1] == '_' || text[at - 1] == '-'))) {
      continue;
    }
    if (at > 0 && text[at - 1] == ' ') {
      bool parallel = false;
      for (const std::string_view group : {"parallel ", "tp ", "pp ", "dp ", "group ", "local "}) {
        parallel = parallel || text.substr(0, at).ends_with(group);
      }
      if (parallel) continue;
    }
    world_size_.say(whole(value_behind(text, key)), line.number);
    break;
  }
  // PEFT: "trainable params: 20,971,520 || all params: 8,051,232,768 || trainable%: 0.26".
  if (text.find("trainable params:") != std::string_view::npos &&
      text.find("|| all params:") != std::string_view::npos) {
    trainable_.say(whole(value_behind(text, "trainable params")), line.number);
    params_.say(whole(value_behind(text, "all params")), line.number);
  } else if (text.find("rainable parameters = ") != std::string_view::npos) {
    // "Number of trainable parameters = 8,030,261,248"; "Trainable parameters = 1,000/8,000 (..)",
    // "... = 1,000 of 8,000 (..)".
    LogText at(text);
    (void)at.find("rainable parameters = ");
    trainable_.say(whole(at.number()), line.number);
    if (at.take("/") || at.take(" of ")) params_.say(whole(at.number()), line.number);
  }
  // ms-swift: "PeftModel: 7636.5391M Params (20.1851M Trainable [0.2643%]), ..".
  const std::size_t counts = text.find("M Params (");
  if (counts != std::string_view::npos) {
    std::size_t from = counts;
    while (from > 0 && (digit(text[from - 1]) || text[from - 1] == '.')) --from;
    LogText all(text.substr(from));
    LogText part(text.substr(counts + 10));
    const auto trainable = positive(part.number(6));
    if (trainable && part.take("M Trainable")) {
      trainable_.say(trainable, line.number);
      params_.say(positive(all.number(6)), line.number);
    }
  }
}

void StatedSetup::add_to(TrainingLog& log) const {
  const auto where = [](const Figure& figure) { return "line " + std::to_string(figure.line); };
  if (world_size_.value && !world_size_.contradicted && !log.gpus) {
    log.gpus = world_size_.value;
    log.said_by["gpus"] = "world size, " + where(world_size_);
  }
  // Without frozen weights the trainable ones are all.
  const bool partly = trainable_.value && params_.value && !trainable_.contradicted &&
                      !params_.contradicted && *trainable_.value < kPartly * *params_.value;
  if (partly) {
    log.frozen_weights = true;
    log.said_by["trainable"] = where(trainable_);
  }
  if (params_.value && !params_.contradicted) {
    log.params = params_.value;
    log.said_by["params"] = where(params_);
  } else if (trainable_.value && !trainable_.contradicted && !params_.value) {
    log.params = trainable_.value;
    log.said_by["params"] = "trainable parameters, " + where(trainable_);
  }
  if (trainable_.value && !trainable_.contradicted) log.trainable_params = trainable_.value;
}

}  // namespace mfu
