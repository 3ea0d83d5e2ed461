// mfu list and mfu explain: what there is, and one of it in full.
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/nearest.hpp"
#include "commands/commands.hpp"
#include "logs/training_log.hpp"
#include "mfu/report.hpp"
#include "options.hpp"
#include "outputs/publish.hpp"
#include "report/list/list_section.hpp"
#include "report/measure/references.hpp"
#include "report/report_of.hpp"

namespace mfu::app {
namespace {

// The formats of training logs are the readers' own list.
ListSection list_log_formats() {
  ListSection section;
  section.title = "Training logs that mfu log reads";
  for (const LogFormatInfo& format : log_formats()) {
    section.items.push_back({std::string(format.name), std::string(format.summary),
                             format.per_rank ? "values by rank, for mfu diagnose" : "", ""});
  }
  return section;
}

struct Named {
  std::string_view name;
  ListSection (*make)();
};
constexpr std::array kCatalogues{
    Named{"conventions", [] { return list_items(Catalogue::conventions); }},
    Named{"models", [] { return list_items(Catalogue::models); }},
    Named{"chips", [] { return list_items(Catalogue::chips); }},
    Named{"terms", [] { return list_items(Catalogue::terms); }},
    Named{"logs", list_log_formats},
    Named{"references", list_references}};

struct ListText {
  std::vector<std::string> names;
  OutputText output;
};

int answer(std::string_view command, ListSection section, const OutputText& output) {
  Problems problems;
  std::vector<OutputTarget> targets = open_outputs(output, problems);
  problems.throw_if_any();
  Report report = report_of(command);
  report.list = std::move(section);
  return publish(report, targets, false);
}

int run_list(const CLI::App& command, const ListText& text) {
  Problems problems;
  refuse_unknown_options(command, problems);
  if (text.names.size() != 1) {
    problems.add(Error(ErrorKind::usage, "what to list?", {},
                       "mfu list conventions, models, chips, terms, logs or references"));
  }
  problems.throw_if_any();
  std::array<std::string_view, kCatalogues.size()> names;
  for (std::size_t i = 0; i < kCatalogues.size(); ++i) {
    if (kCatalogues[i].name == text.names.front()) {
      return answer("list", kCatalogues[i].make(), text.output);
    }
    names[i] = kCatalogues[i].name;
  }
  throw Error(ErrorKind::usage, "there is no list of '" + text.names.front().substr(0, 80) + "'",
              {}, name_hint(text.names.front(), names));
}

int run_explain(const CLI::App& command, const ListText& text) {
  Problems problems;
  refuse_unknown_options(command, problems);
  if (text.names.empty()) {
    problems.add(Error(ErrorKind::usage, "what to explain?", {},
                       "mfu explain palm: a convention, chip, model or term"));
  }
  problems.throw_if_any();
  ListSection section;
  section.detailed = true;
  for (const std::string& name : text.names) {
    problems.attempt([&] {
      for (Item& item : explain_item(name).items) section.items.push_back(std::move(item));
    });
  }
  problems.throw_if_any();
  return answer("explain", std::move(section), text.output);
}

}  // namespace

std::function<int()> add_list(CLI::App& parent) {
  CLI::App* command =
      parent.add_subcommand("list", "Conventions, models, chips, references and more");
  const auto text = std::make_shared<ListText>();
  command->add_option("WHAT", text->names, "conventions, models, chips, references ...")
      ->type_name("");
  add_output_options(*command, text->output);
  command->allow_extras();
  command->footer(
      "Examples:\n"
      "  mfu list conventions\n"
      "  mfu list references\n"
      "  mfu list models --json\n"
      "Lists: conventions, models, chips, terms, logs, references.");
  return [command, text] { return run_list(*command, *text); };
}

std::function<int()> add_explain(CLI::App& parent) {
  CLI::App* command =
      parent.add_subcommand("explain", "A convention, chip, model or term, in full");
  const auto text = std::make_shared<ListText>();
  command->add_option("ID", text->names, "A convention, chip, model or term")->type_name("");
  add_output_options(*command, text->output);
  command->allow_extras();
  command->footer(
      "Examples:\n"
      "  mfu explain palm\n"
      "  mfu explain hfu mfu\n"
      "  mfu explain h100-sxm");
  return [command, text] { return run_explain(*command, *text); };
}

}  // namespace mfu::app
