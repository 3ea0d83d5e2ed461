// The forms for CI: their caps and escapes, on reports that no log can make.
#include <algorithm>
#include <string>

#include "catch.hpp"
#include "mfu/render.hpp"
#include "report/list/list_section.hpp"
#include "report/measure/calc_section.hpp"

using namespace mfu;

namespace {

Report failing(std::size_t gates) {
  Report report;
  report.tool_version = "1";
  report.command = "calc";
  report.calc = CalcSection{};
  report.calc->status = mfu::CalcStatus::ok;
  report.calc->calculation.ratio = 0.25;
  for (std::size_t i = 0; i < gates; ++i) {
    report.gates.push_back(
        {"min-mfu", "40%", 0.25, "25.0 %\r\n::error::owned\x01 \"<&'" + std::to_string(i), false});
  }
  return report;
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string rendered(const char* form, const Report& report) {
  return find_renderer(form).render(report, {});
}

}  // namespace

TEST_CASE("ten annotations at most, one a line, nothing escapes its message", "[forms]") {
  CHECK(lines_of(render_github_annotations(failing(3))) == 4);
  const std::string many = render_github_annotations(failing(40));
  CHECK(lines_of(many) == 10);
  CHECK(many.find("\n::error::owned") == std::string::npos);
  CHECK(many.find("25.0 %25%0D%0A::error::owned? ") != std::string::npos);
  CHECK(many.find('\r') == std::string::npos);
}

TEST_CASE("a summary is at most 64 KiB and whole characters", "[forms]") {
  Report report = failing(1);
  for (int i = 0; i < 3000; ++i) {
    report.calc->impossible_because.push_back("\xE2\x86\x92 one of very many explanations");
  }
  CHECK(rendered("md", report).size() > 65536);
  const std::string summary = rendered("github", report);
  CHECK(summary.size() <= 65536);
  CHECK(summary.size() > 65000);
  CHECK(summary.find("cut:") != std::string::npos);
  const std::size_t cut = summary.rfind("\n\n(cut");
  CHECK((static_cast<unsigned char>(summary[cut - 1]) < 0x80 ||
         summary.substr(cut - 3, 3) == "\xE2\x86\x92"));
}

TEST_CASE("JUnit has no character that XML has not", "[forms]") {
  const std::string text = rendered("junit", failing(2));
  for (const char c : text) CHECK((static_cast<unsigned char>(c) >= 0x20 || c == '\n'));
  CHECK(text.find("&lt;&amp;&apos;") != std::string::npos);
  CHECK(text.find("failures=\"2\"") != std::string::npos);
}

TEST_CASE("a form that has no sense for a report says so", "[forms]") {
  Report report;
  report.command = "list";
  report.list = ListSection{};
  for (const char* form : {"md", "csv", "github", "junit", "prom"}) {
    CHECK_THROWS_AS(rendered(form, report), Error);
  }
  CHECK_NOTHROW(rendered("json", report));
}

TEST_CASE("what is not known has no sample and an empty cell", "[forms]") {
  Report report = failing(0);
  report.calc->calculation.ratio.reset();
  const std::string prom = rendered("prom", report);
  CHECK(prom.find("utilization_ratio") == std::string::npos);
  CHECK(prom.find("nan") == std::string::npos);
  CHECK(rendered("csv", report).find("\ncalc,,ok,,") != std::string::npos);
}
