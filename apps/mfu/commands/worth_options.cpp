#include "commands/worth_options.hpp"

#include <cmath>

#include "mfu/quantity.hpp"

namespace mfu::app {

void add_worth_options(CLI::App& command, WorthText& text) {
  command.add_flag("--worth", text.show, "Show what each fix is worth, alone and in order");
  command.add_option("--price", text.price, "Per GPU and hour: also show the cost")
      ->type_name("N/h");
  command.add_option("--steps-left", text.steps_left, "Also show the rest of the job")
      ->type_name("N");
  command.add_option("--tokens-left", text.tokens_left, "The same, in tokens: 2T")->type_name("N");
}

WorthLimits parse_worth(const WorthText& text, Problems& problems) {
  WorthLimits limits;
  limits.ask.show = text.show;
  problems.attempt([&] {
    if (!text.price.empty()) limits.ask.price_per_gpu_hour = parse_price(text.price, "--price");
  });
  problems.attempt([&] {
    if (text.steps_left.empty()) return;
    const double steps = parse_count(text.steps_left, "--steps-left");
    if (steps != std::floor(steps)) {
      throw Error(ErrorKind::usage, "'" + text.steps_left + "' is not a number of steps",
                  at("--steps-left"), "write 50000 or 50,000");
    }
    limits.ask.steps_left = steps;
  });
  problems.attempt([&] {
    if (!text.tokens_left.empty()) {
      limits.tokens_left = parse_large(text.tokens_left, "--tokens-left");
    }
  });
  if (!text.steps_left.empty() && !text.tokens_left.empty()) {
    problems.add(Error(ErrorKind::usage, "--steps-left and --tokens-left say the same thing",
                       at("--tokens-left"), "give one of them"));
  }
  return limits;
}

WorthAsk worth_ask(const WorthLimits& limits, const Setup& setup) {
  WorthAsk ask = limits.ask;
  if (!limits.tokens_left) return ask;
  if (!setup.tokens_per_step) {
    throw Error(ErrorKind::insufficient, "the run does not say how many tokens a step has",
                at("--tokens-left"), "give --tokens-per-step, or --steps-left instead");
  }
  ask.steps_left = *limits.tokens_left / *setup.tokens_per_step;
  return ask;
}

}  // namespace mfu::app
