// Who keeps a view or a reference of an argument does not compile with one that ends at once.
// (ByteSource: see bytes.cpp.)
#include "base/temporary.hpp"

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/json_fields.hpp"
#include "base/json_scanner.hpp"
#include "catch.hpp"
#include "diagnose/fit/model.hpp"
#include "logs/bars/progress_bar.hpp"
#include "logs/values.hpp"
#include "model/fields.hpp"
#include "readers/text_lines.hpp"
#include "readers/user_chips.hpp"
#include "traces/collectives/clocks.hpp"
#include "traces/kineto/event.hpp"
#include "traces/nsight/sqlite_file.hpp"

namespace mfu {
namespace {

template <typename Text>
concept Database = requires(Text&& text) {
  traces::SqliteFile::from_memory(std::forward<Text>(text), "t");
};
template <typename Text>
concept Trimmed = requires(Text&& text) {
  trimmed(std::forward<Text>(text));
};
template <typename Text>
concept Stripped = requires(Text&& text) {
  stripped(std::forward<Text>(text));
};
template <typename Text>
concept JsonValue = requires(Text&& text) {
  json_value(std::forward<Text>(text), "key");
};
template <typename Text>
concept Cells = requires(Text&& text, std::vector<std::string_view>& out) {
  split_at_commas(std::forward<Text>(text), out);
  split_at_blanks(std::forward<Text>(text), out);
};
template <typename Text>
concept Bar = requires(Text&& text) {
  parse_progress_bar(std::forward<Text>(text));
};
template <typename Text>
concept Event = requires(Text&& text, traces::KinetoEvent& out) {
  traces::parse_event(std::forward<Text>(text), out);
};

// Each kind of text: a name, a view and a literal pass, what ends with the expression does not.
#define MFU_NO_TEMPORARY(takes)                  \
  static_assert(takes<std::string&>);            \
  static_assert(takes<const std::string&>);      \
  static_assert(takes<std::string_view>);        \
  static_assert(takes<const std::string_view&>); \
  static_assert(takes<const char*>);             \
  static_assert(takes<const char(&)[5]>);        \
  static_assert(!takes<std::string>);            \
  static_assert(!takes<const std::string>)

MFU_NO_TEMPORARY(Database);
MFU_NO_TEMPORARY(Trimmed);
MFU_NO_TEMPORARY(Stripped);
MFU_NO_TEMPORARY(JsonValue);
MFU_NO_TEMPORARY(Cells);
MFU_NO_TEMPORARY(Bar);
MFU_NO_TEMPORARY(Event);

static_assert(std::constructible_from<LogText, std::string&>);
static_assert(std::constructible_from<LogText, const char (&)[5]>);
static_assert(!std::constructible_from<LogText, std::string>);
static_assert(std::constructible_from<JsonFields, std::string&>);
static_assert(!std::constructible_from<JsonFields, std::string>);

using Keys = std::vector<std::string_view>;
static_assert(std::constructible_from<JsonScanner, ByteSource&, const Keys&>);
static_assert(!std::constructible_from<JsonScanner, ByteSource&, Keys>);
static_assert(!std::constructible_from<JsonScanner, ByteSource&, Keys, JsonScanner::Limits>);

using Json = nlohmann::json;
static_assert(std::constructible_from<Fields, const Json&, const JsonText&>);
static_assert(!std::constructible_from<Fields, Json, const JsonText&>);
static_assert(!std::constructible_from<Fields, const Json&, JsonText>);

using diagnosis::Attribution;
using diagnosis::Job;
using diagnosis::PipelineForm;
using diagnosis::StepModel;
static_assert(std::constructible_from<Job, const RunTimings&, Notes&>);
static_assert(!std::constructible_from<Job, RunTimings, Notes&>);
static_assert(std::constructible_from<PipelineForm, const Job&>);
static_assert(!std::constructible_from<PipelineForm, Job>);
static_assert(std::constructible_from<StepModel, const Job&, const Attribution&, PipelineForm&>);
static_assert(!std::constructible_from<StepModel, Job, const Attribution&, PipelineForm&>);
static_assert(!std::constructible_from<StepModel, const Job&, Attribution, PipelineForm&>);

using Candidates = std::vector<traces::Candidate>;
static_assert(std::constructible_from<traces::Clocks, const traces::Scope&, Candidates&>);
static_assert(!std::constructible_from<traces::Clocks, traces::Scope, Candidates&>);

// What an object hands out of itself.
template <typename Table>
concept Rows = requires(Table&& table) {
  std::forward<Table>(table).rows();
};
static_assert(Rows<UserChips&>);
static_assert(Rows<const UserChips&>);
static_assert(!Rows<UserChips>);
template <typename File>
concept Selects = requires(File&& file) {
  std::forward<File>(file).select("table", {"column"});
};
static_assert(Selects<traces::SqliteFile&>);
static_assert(!Selects<traces::SqliteFile>);

}  // namespace

TEST_CASE("a temporary text is told from a named one") {
  STATIC_REQUIRE(TemporaryString<std::string>);
  STATIC_REQUIRE(TemporaryString<const std::string>);
  STATIC_REQUIRE_FALSE(TemporaryString<std::string&>);
  STATIC_REQUIRE_FALSE(TemporaryString<std::string_view>);
}

}  // namespace mfu
