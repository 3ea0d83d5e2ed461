// A measurement in words and as JSON.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.hpp"
#include "measure/detective.hpp"
#include "mfu/measure.hpp"
#include "mfu/render.hpp"
#include "mfu/report.hpp"
#include "render/rows.hpp"
#include "report/list/list_section.hpp"
#include "report/measure/calc_section.hpp"

namespace {

mfu::CalcInput llama() {
  mfu::CalcInput input;
  input.model = mfu::find_model("llama-3.1-8b");
  input.seq_len = 8192;
  input.batch = 512;
  input.gpus = 64;
  input.step_seconds = 12.9;
  mfu::PeakUsed peak;
  peak.chip = &mfu::find_chip("h100-sxm");
  peak.precision = mfu::Precision::bf16;
  peak.flops = 989.4e12;
  peak.clock_mhz = 1830;
  input.peak = peak;
  input.convention = &mfu::find_convention("palm");
  return input;
}

mfu::Report report_of(mfu::CalcSection section) {
  mfu::Report report;
  report.command = "calc";
  report.calc = std::move(section);
  return report;
}

std::string shown(const mfu::Report& report, const char* format, int width = 80) {
  mfu::RenderStyle style;
  style.width = width;
  return mfu::find_renderer(format).render(report, style);
}

}  // namespace

TEST_CASE("fingerprints name convention, switches, peak, precision and clock") {
  CHECK(to_text(mfu::describe_calc(mfu::calculate(llama())).fingerprint) ==
        "convention=palm attention=full window=ignore recompute=none trainable=all peak=989.4T "
        "precision=bf16 clock=datasheet@1830MHz");
  CHECK(to_text(mfu::fingerprint_of("", "", {})) ==
        "convention=unnamed peak=unknown precision=unnamed clock=none");
}

TEST_CASE("every missing input has a way out") {
  for (const mfu::Error& error : mfu::calc_problems(mfu::calculate({}))) {
    CHECK(error.kind() == mfu::ErrorKind::usage);
    CHECK_FALSE(error.hint().empty());
    CHECK_FALSE(error.place().what.empty());
  }
}

TEST_CASE("the screen says the same as the JSON, at every width") {
  const mfu::Report report = report_of(mfu::describe_calc(mfu::calculate(llama())));
  REQUIRE_THAT(shown(report, "text"), starts_with("  MFU 31.4 %    310.2 of 989.4 TFLOP/s"));
  for (const int width : {40, 46, 60, 80, 200}) {
    std::string line;
    for (const char c : shown(report, "text", width)) {
      if (c != '\n') {
        line += c;
        continue;
      }
      CHECK(line.size() <= 80);
      line.clear();
    }
  }
  const auto json = nlohmann::json::parse(shown(report, "json"));
  CHECK(json.at("headline").at("mfu").get<double>() == Approx(0.31356).epsilon(1e-4));
  CHECK(json.at("results").at(0).at("convention") == "palm");
}

TEST_CASE("conventions that count the same share a line of the detective") {
  const mfu::Calculation c = mfu::calculate(llama());
  mfu::CalcSection section = mfu::describe_calc(c);
  mfu::describe_what_if(section, mfu::detect(c, {true, *c.mfu(), 1e-6}, 0.0, 24));
  REQUIRE_FALSE(section.match_lines.empty());
  REQUIRE_THAT(section.match_lines[0].text, contains("palm = "));
  CHECK(section.match_lines.size() <= 10);
  CHECK(section.match_texts.size() == section.detection->matches.size());
  const auto json = nlohmann::json::parse(shown(report_of(section), "json"));
  CHECK(json.at("matches").size() == section.match_texts.size());
  CHECK(json.at("matches").at(0).at("relative_error").get<double>() == 0.0);
}

TEST_CASE("a row is one line of JSON with its place") {
  const mfu::Report report = report_of(mfu::describe_calc(mfu::calculate(llama())));
  const std::string line = mfu::render_row_json(report, {7, "x"});
  CHECK(line.find('\n') == line.size() - 1);
  const auto json = nlohmann::json::parse(line);
  CHECK(json.at("row") == 7);
  CHECK(json.at("id") == "x");
}

TEST_CASE("everything in the catalogue has words and a source") {
  for (const mfu::Catalogue catalogue : {mfu::Catalogue::conventions, mfu::Catalogue::models,
                                         mfu::Catalogue::chips, mfu::Catalogue::terms}) {
    for (const mfu::Item& item : mfu::list_items(catalogue).items) {
      CAPTURE(item.id);
      CHECK_FALSE(item.text.empty());
      CHECK_FALSE(item.source.empty());
    }
  }
  CHECK_THROWS_AS(mfu::explain_item("plam"), mfu::Error);
}
