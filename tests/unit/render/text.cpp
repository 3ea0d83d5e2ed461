#include <cmath>
#include <string>
#include <vector>

#include "catch.hpp"
#include "diagnose/detail.hpp"
#include "diagnose/evidence.hpp"
#include "mfu/render.hpp"
#include "render/columns.hpp"
#include "render/shown_sums.hpp"
#include "unit/report/example.hpp"

using namespace mfu;

namespace text_screens {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    REQUIRE(end != std::string::npos);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string text_of(const Report& report, RenderStyle style = {}) {
  return find_renderer("text").render(report, style);
}

void check_columns(const std::string& text, std::size_t width = 80) {
  for (const std::string& line : lines_of(text)) {
    INFO(line);
    CHECK(render::columns_of(line) <= width);
    CHECK((line.empty() || line.back() != ' '));
  }
}

// The shown seconds and percentages of the rows, and of the total row.
struct Column {
  double rows = 0.0;
  double total = 0.0;
};
void check_sums(const std::string& text) {
  Column seconds, shares;
  bool in_table = false;
  for (const std::string& line : lines_of(text)) {
    if (line.find("Where the ") != std::string::npos) {
      in_table = true;
      continue;
    }
    if (!in_table) continue;
    if (line.find("-----") != std::string::npos) continue;
    const double s = std::stod(line.substr(24, 10));
    const double p = std::stod(line.substr(34, 9));
    if (line.rfind("    step", 0) == 0) {
      seconds.total = s;
      shares.total = p;
      break;
    }
    seconds.rows += s;
    shares.rows += p;
  }
  CHECK(in_table);
  CHECK(seconds.rows == Approx(seconds.total).margin(1e-9));
  CHECK(shares.rows == Approx(shares.total).margin(1e-9));
}

TEST_CASE("the screen") {
  const std::string text = text_of(example::report_on(example::stalled_by_input()));
  check_columns(text);
  check_sums(text);
  CHECK_THAT(text, starts_with("llama-3.1-8b   64 x H100 SXM, bf16 dense 989.4 TFLOP/s\n"
                               "   steps 21..500 (480 after 2 of warm-up)\n"));
  CHECK_THAT(text, contains("\n  MFU 31.4 %    step 12.90 s (p95 13.71)    325,140 tokens/s\n"));
  CHECK_THAT(text, contains("\n  > own stalls              2.98 s   23.1 %  "));
  CHECK_THAT(text, contains("\nVERDICT  stall (input), all ranks, steady; confidence 0.98\n"));
  CHECK_THAT(text, contains("owner: data\n"));
  CHECK_THAT(text, contains("\n  not if "));
  CHECK(text.find('\x1b') == std::string::npos);
  for (const char c : text) CHECK(static_cast<unsigned char>(c) < 0x80);
}

TEST_CASE("without an MFU the screen says parallel efficiency and what is missing") {
  const std::string text = text_of(example::report_on(example::without_mfu()));
  check_columns(text);
  check_sums(text);
  CHECK_THAT(text, contains("parallel efficiency 49.1 %"));
  CHECK_THAT(text, contains("workload.flops_per_step"));
  CHECK_THAT(text, contains("efficiency if it were 0"));
}

TEST_CASE("names from a file neither widen the screen nor move the cursor") {
  Diagnosis diagnosis = example::stalled_by_input();
  diagnosis.detail->setup.model = std::string(500, 'm') + "\x1b[2J\r\n";
  diagnosis.verdict.locality = Locality::node;
  diagnosis.verdict.culprits.nodes = {std::string(300, 'n'), "\xff\xfe",
                                      "\xE2\x80\xAE"
                                      "bidi"};
  diagnosis.detail->verdict_facts.push_back(
      {FactKind::link_excess, 1, 0.5, 0, 0, std::string(900, 'g')});
  diagnosis.detail->verdict_facts.push_back({FactKind::coincides, 0, 0, 1, 0, "a\nb"});
  const std::string text = text_of(example::report_on(diagnosis));
  check_columns(text);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\r') == std::string::npos);
  CHECK(text.find("\xE2\x80\xAE") == std::string::npos);
}

TEST_CASE("terminals of every width") {
  for (int width = -5; width <= 200; width += 1) {
    RenderStyle style;
    style.width = width;
    const auto limit = static_cast<std::size_t>(std::min(80, std::max(46, width)));
    check_columns(text_of(example::report_on(example::stalled_by_input()), style), limit);
  }
}

TEST_CASE("colour and UTF-8 change no column") {
  RenderStyle style;
  style.color = true;
  style.utf8 = true;
  std::string text = text_of(example::report_on(example::stalled_by_input()), style);
  CHECK_THAT(text, contains("\x1b["));
  CHECK_THAT(text, contains("█"));
  for (std::size_t at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b')) {
    text.erase(at, text.find('m', at) - at + 1);
  }
  check_columns(text);
}

TEST_CASE("negative parts are shown as they are") {
  Diagnosis diagnosis = example::stalled_by_input();
  diagnosis.parts[6].seconds -= 1.0;
  diagnosis.parts[6].share -= 1.0 / 12.9;
  diagnosis.parts[0].seconds += 1.0;
  diagnosis.parts[0].share += 1.0 / 12.9;
  const std::string text = text_of(example::report_on(diagnosis));
  check_sums(text);
  CHECK_THAT(text, contains("-0.57 s"));
}

TEST_CASE("steps of every length keep their columns and sums") {
  for (const double scale : {1e-8, 1e-6, 1e-4, 0.01, 0.0775, 0.5, 1.0, 7.9, 60.0, 1000.0, 1e5}) {
    Diagnosis diagnosis = example::stalled_by_input();
    diagnosis.headline.step_seconds *= scale;
    diagnosis.headline.p95_seconds *= scale;
    for (Part& part : diagnosis.parts) part.seconds *= scale;
    INFO(scale);
    const std::string text = text_of(example::report_on(diagnosis));
    check_columns(text);
    check_sums(text);
  }
}

TEST_CASE("nothing that is not a number is shown as one") {
  Diagnosis diagnosis = example::stalled_by_input();
  const double nan = std::nan("");
  diagnosis.headline.mfu = nan;
  diagnosis.headline.step_seconds = nan;
  for (Part& part : diagnosis.parts) part.seconds = part.share = nan;
  check_columns(text_of(example::report_on(diagnosis)));
}

TEST_CASE("a step that no job has does no harm") {
  Diagnosis diagnosis = example::stalled_by_input();
  diagnosis.headline.step_seconds = diagnosis.headline.p95_seconds = 1e300;
  for (Part& part : diagnosis.parts) part.seconds = 1e300;
  check_columns(text_of(example::report_on(diagnosis)));
}

TEST_CASE("gates are said last") {
  Report report = example::report_on(example::stalled_by_input());
  report.gates = {{"min-mfu", "40%", 0.314, "31.4 %", false}};
  CHECK_THAT(text_of(report), contains("\nGATE     --min-mfu 40%: 31.4 %, FAILED\n"));
}

TEST_CASE("shown values add up to the shown total") {
  using render::shown_units;
  const std::vector<double> thirds{1.0 / 3, 1.0 / 3, 1.0 / 3};
  CHECK(shown_units(thirds, 1.0, 1) == std::vector<std::int64_t>{3, 4, 3});
  const std::vector<double> wrong{1.0, 1.0};
  CHECK(shown_units(wrong, 5.0, 0) == std::vector<std::int64_t>{1, 1});
  CHECK(render::unit_text(-5, 2) == "-0.05");
  CHECK(render::unit_text(1290, 2) == "12.90");
  CHECK(render::unit_text(0, 0) == "0");
}

TEST_CASE("columns of text") {
  using namespace render;
  CHECK(columns_of("abc") == 3);
  CHECK(columns_of("é") == 1);
  CHECK(columns_of("日本") == 4);
  CHECK(fit("abcdef", 5) == "ab...");
  CHECK(fit("日本語日本語", 6) == "日...");
  CHECK(wrap("aaa bbb ccc", 7) == std::vector<std::string>{"aaa bbb", "ccc"});
  CHECK(wrap("aaaaaaaaaa", 4) == std::vector<std::string>{"aaaa", "aaaa", "aa"});
  CHECK(wrap("about 45 %, or", 9) == std::vector<std::string>{"about", "45 %, or"});
  CHECK(wrap("", 4) == std::vector<std::string>{""});
  CHECK(wrap("日本", 1).size() == 2);
  CHECK(printable("a\x1b[0m\xff") == "a?[0m?");
  CHECK(printable("\xC0\xAF\xED\xA0\x80") == "?????");
}

TEST_CASE("an unknown renderer is refused with the known ones") {
  try {
    (void)find_renderer("jsno");
    FAIL();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    CHECK_THAT(error.hint(), contains("json"));
  }
}

}  // namespace text_screens
