#include "command_line.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "base/nearest.hpp"
#include "commands/commands.hpp"
#include "inputs/read_inputs.hpp"
#include "mfu/render.hpp"
#include "mfu/version.hpp"
#include "options.hpp"
#include "outputs/publish.hpp"
#include "outputs/terminal.hpp"
#include "readers/input_format.hpp"

namespace mfu::app {
namespace {

constexpr int kAnswered = 0;
constexpr int kNotAnswered = 2;
constexpr int kBug = 70;
constexpr int kClosedPipe = 141;

struct Command {
  std::string_view name;
  // Declares the command; the returned function runs it after parsing.
  std::function<int()> (*add)(CLI::App& parent);
};

constexpr std::array kCommands{
    Command{"calc", add_calc},       Command{"flops", add_flops},
    Command{"peak", add_peak},       Command{"whatif", add_whatif},
    Command{"log", add_log},         Command{"diagnose", add_diagnose},
    Command{"reduce", add_reduce},   Command{"compare", add_compare},
    Command{"history", add_history}, Command{"plan", add_plan},
    Command{"list", add_list},       Command{"explain", add_explain},
};

constexpr std::string_view kExamples =
    "Examples:\n"
    "  mfu calc --model llama-3.1-8b --chip h100-sxm --gpus 64 --seq-len 8192 \\\n"
    "           --batch 512 --step-time 12.9s   MFU, and by other conventions\n"
    "  mfu log train.log --chip h100-sxm        MFU of a training run, from its log\n"
    "  train | mfu log - --tee --chip h100-sxm  the same, while it runs\n"
    "  mfu diagnose run.json                    where the step's time goes, and why\n"
    "  mfu diagnose TRACE_DIR                   profiler traces of all ranks\n"
    "  mfu reduce TRACE_DIR -o run.json         big traces to a small document\n"
    "  mfu diagnose rank*.jsonl --json          the same for programs\n"
    "  mfu compare before.json after.json       did the fix work, and what moved\n"
    "  zcat run.json.gz | mfu diagnose -        from standard input (gzip works too)\n"
    "  mfu diagnose run.json --min-mfu 40%      exit 1 when the MFU is lower\n"
    "  mfu FILE                                 what the file is for\n"
    "\n"
    "Exit codes: 0 answered, 1 a gate failed, 2 not answered, 70 a bug in mfu.";

[[noreturn]] void refuse_command(const std::string& name) {
  std::array<std::string_view, kCommands.size()> names;
  std::transform(kCommands.begin(), kCommands.end(), names.begin(),
                 [](const Command& command) { return command.name; });
  const bool option = name.size() > 1 && name.front() == '-';
  throw Error(ErrorKind::usage,
              fmt::format("unknown {} '{}'", option ? "option" : "command", name.substr(0, 80)), {},
              option ? "mfu --help lists commands and options" : name_hint(name, names));
}

// mfu FILE: what the file is for. Nothing: the first argument is no file or folder.
std::vector<std::string> arguments_for_file(const std::vector<std::string>& arguments) {
  const std::string& path = arguments.front();
  std::error_code ignored;
  std::vector<std::string> all;
  if (std::filesystem::is_directory(path, ignored)) {
    all = {"diagnose", path};
  } else if (const std::optional<DetectedFormat> found = format_of_file(path)) {
    switch (found->format) {
      case InputFormat::training_log:
      case InputFormat::text:
        all = {"log", path};
        break;
      case InputFormat::history:
        all = {"history", "show", "--db", path};
        break;
      case InputFormat::model_config:
        all = {"flops", "--model", path};
        break;
      case InputFormat::report:
      case InputFormat::chips:
      case InputFormat::dcgm_dmon:
      case InputFormat::smi_dmon:
      case InputFormat::dcgm_text:
      case InputFormat::smi_csv:
      case InputFormat::kernel_log:
        throw Error(ErrorKind::usage,
                    fmt::format("is {}: no command answers it alone", found->called()),
                    Place{.file = path}, std::string(found->way()));
      default:
        all = {"diagnose", path};  // which refuses what it cannot read
    }
  }
  if (!all.empty()) all.insert(all.end(), arguments.begin() + 1, arguments.end());
  return all;
}

// An unset variable of a CI script leaves an option without its value: a gate that silently does
// not hold is worse than an error.
void refuse_empty_values(const std::vector<std::string>& arguments) {
  Problems problems;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") break;
    if (!argument.starts_with("--")) continue;
    const std::size_t equals = argument.find('=');
    const bool empty = equals == std::string::npos
                           ? i + 1 < arguments.size() && arguments[i + 1].empty()
                           : equals + 1 == argument.size();
    if (!empty) continue;
    Place place;
    place.what = argument.substr(0, equals);
    problems.add(Error(ErrorKind::usage, "the value is empty", place,
                       "is a variable of the script not set?"));
  }
  problems.throw_if_any();
}

}  // namespace

int run_command_line(const std::vector<std::string>& arguments) {
  CLI::App top("Model FLOPs Utilization and where the step's time goes.", "mfu");
  top.get_formatter()->column_width(30);
  top.set_help_flag("-h,--help", "This help");
  top.set_version_flag("--version", std::string(version()), "The version");
  top.footer(std::string(kExamples));
  top.allow_extras();
  // A command's name after the command is a word: mfu explain peak.
  top.require_subcommand(0, 1);

  std::vector<std::pair<CLI::App*, std::function<int()>>> commands;
  for (const Command& command : kCommands) {
    std::function<int()> run = command.add(top);
    commands.emplace_back(top.get_subcommand(std::string(command.name)), std::move(run));
  }
  if (arguments.empty()) {
    Output::standard().write(top.help());
    return kNotAnswered;
  }
  refuse_empty_values(arguments);
  try {
    // CLI11 takes the arguments last first.
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    top.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    Output::standard().write(top.help());
    return kAnswered;
  } catch (const CLI::CallForVersion&) {
    Output::standard().write(fmt::format("mfu {}\n", version()));
    return kAnswered;
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::usage, error.what(), {}, "mfu --help shows how");
  }
  for (const auto& [command, run] : commands) {
    if (command->parsed()) return run();
  }
  const std::vector<std::string> rest = top.remaining();
  if (const std::vector<std::string> all = arguments_for_file(arguments); !all.empty()) {
    return run_command_line(all);
  }
  refuse_command(rest.empty() ? std::string() : rest.front());
}

int report_error(const Error& error, const std::vector<std::string>& arguments) {
  if (const auto* several = dynamic_cast<const UsageErrors*>(&error)) {
    for (const Error& one : several->all()) say_error(one);
  } else {
    say_error(error);
  }
  if (!wants_json(arguments)) return kNotAnswered;
  std::string command;
  for (const Command& known : kCommands) {
    if (std::find(arguments.begin(), arguments.end(), known.name) != arguments.end()) {
      command = known.name;
      break;
    }
  }
  try {
    Output::standard().write(render_error_json(error, command, version(), kNotAnswered));
  } catch (const ClosedPipe&) {
    return kClosedPipe;
  } catch (const Error& unwritten) {
    say_error(unwritten);
  }
  return kNotAnswered;
}

int report_bug(const char* what) {
  say(fmt::format("mfu: internal error: {}", what));
  say("  hint: this is a bug in mfu; please report it with the command line and the file");
  return kBug;
}

}  // namespace mfu::app
