// The Kineto traces of the shared corpus, where it is there: each gives the facts that the index of
// the corpus states, which were computed by another program.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "traces/kineto/kineto.hpp"

namespace mfu::traces {
namespace captured_traces {

const std::filesystem::path kCorpus = std::filesystem::path(MFU_SHARED_DIR) / "corpus";

// rows of the index: file -> expected facts
std::map<std::string, std::string> kineto_rows() {
  std::map<std::string, std::string> rows;
  std::ifstream in(kCorpus / "INDEX.tsv");
  std::string line;
  while (std::getline(in, line)) {
    if (line.rfind("kineto/", 0) != 0) continue;
    rows[line.substr(0, line.find('\t'))] = line.substr(line.rfind('\t') + 1);
  }
  return rows;
}

std::optional<double> number_after(const std::string& facts, const std::string& key) {
  const std::size_t at = facts.find(key);
  if (at == std::string::npos) return std::nullopt;
  const char* const text = facts.c_str() + at + key.size();
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text) return std::nullopt;
  return value;
}

// The index gives microseconds to one digit, computed in doubles: of a time of day in microseconds
// those hold a quarter, which adds up over thousands of activities.
void check_split(const std::string& facts, const std::string& name, const StepSplit& window,
                 double margin = 0.051) {
  const std::size_t at = facts.find(name + "={");
  REQUIRE(at != std::string::npos);
  const std::string part = facts.substr(at, facts.find('}', at) - at);
  CAPTURE(name, part);
  const auto same = [&](const char* key, std::int64_t ns) {
    CAPTURE(key, ns);
    const auto wanted = number_after(part, std::string("\"") + key + "\": ");
    REQUIRE(wanted);
    CHECK(static_cast<double>(ns) / 1e3 == Approx(*wanted).margin(margin).epsilon(0));
  };
  const Split& split = window.split;
  same("win_us", split.window_ns);
  same("compute_us", split.compute_ns);
  same("comm_us", split.exposed_comm_ns + split.overlapped_comm_ns);
  same("overlap_us", split.overlapped_comm_ns);
  same("exposed_comm_us", split.exposed_comm_ns);
  same("mem_only_us", split.exposed_memory_ns);
  same("idle_us", split.idle_ns);
}

void check_sums(const StepSplit& window) {
  const Split& split = window.split;
  CHECK(split.window_ns == window.end_ns - window.begin_ns);
  CHECK(split.compute_ns + split.exposed_comm_ns + split.exposed_memory_ns + split.idle_ns ==
        split.window_ns);
  CHECK(split.idle_ns >= 0);
  CHECK(split.overlapped_comm_ns <= split.compute_ns);
}

RankTrace read(const std::string& file, Notes& notes) {
  ByteSource source = ByteSource::open((kCorpus / file).string());
  return read_kineto(source, notes);
}

TEST_CASE("traces of the corpus give the facts of its index", "[traces]") {
  if (!std::filesystem::is_directory(kCorpus)) MFU_SKIP("the shared corpus is not here");
  int files = 0;
  for (const auto& [file, facts] : kineto_rows()) {
    if (facts.find("gpu_span") == std::string::npos && facts.find("kernels=") == std::string::npos)
      continue;
    ++files;
    CAPTURE(file);
    {
      ByteSource source = ByteSource::open((kCorpus / file).string());
      CHECK(sniff_kineto(source.peek(64 * 1024)));
    }
    Notes notes;
    const RankTrace trace = read(file, notes);
    // Files without distributedInfo have names that this corpus gave them.
    const auto rank = number_after(facts, "rank=");
    if (rank || !trace.rank_from_name) {
      CHECK(trace.rank.has_value() == rank.has_value());
      if (rank) CHECK(trace.rank == static_cast<std::int64_t>(*rank));
    }
    const auto world = number_after(facts, "world=");
    CHECK(trace.world_size.has_value() == world.has_value());
    if (world && trace.world_size) CHECK(static_cast<double>(*trace.world_size) == *world);
    const bool coarse = file.find("ns_resolution") != std::string::npos;
    const double margin = coarse ? 60.0 : file.find("nccl_meta") != std::string::npos ? 0.2 : 0.051;
    if (trace.has_gpu) {
      check_split(facts, "gpu_span", trace.gpu_span, margin);
      CHECK(static_cast<double>(trace.collectives.size()) == *number_after(facts, "comm_kernels="));
    } else {
      CHECK(facts.find("gpu_span") == std::string::npos);
    }
    CHECK(static_cast<double>(trace.host_steps.size()) == *number_after(facts, " steps="));
    for (const StepSplit& step : trace.host_steps) {
      const std::string name = "ProfilerStep#" + std::to_string(step.id);
      if (trace.has_gpu) {
        check_split(facts, name, step, margin);
      } else {
        const auto window = number_after(facts, name + "=");
        REQUIRE(window);
        CHECK(static_cast<double>(step.split.window_ns) / 1e3 ==
              Approx(*window).margin(0.051).epsilon(0));
      }
    }
    for (const auto* windows : {&trace.steps, &trace.host_steps}) {
      for (const StepSplit& step : *windows) check_sums(step);
    }
    // Steps on the GPU's clock touch.
    if (trace.step_source == StepSource::gpu_annotation) {
      for (std::size_t i = 1; i < trace.steps.size(); ++i) {
        CHECK(trace.steps[i].begin_ns == trace.steps[i - 1].end_ns);
      }
    }
    for (const Note& note : notes.all()) {
      CAPTURE(note.code.str(), note.text);
      CHECK((note.code == "activity-without-launch" || note.code == "step-without-gpu-work" ||
             note.code == "no-gpu-activity" || note.code == "invalid-escape" ||
             note.code == "host-after-last-kernel"));
    }
  }
  CHECK(files >= 20);
}

TEST_CASE("times of day in microseconds keep their nanoseconds", "[traces]") {
  const std::string file = "kineto/ns_resolution_v100_world1.json.gz";
  if (!std::filesystem::exists(kCorpus / file)) MFU_SKIP("the shared corpus is not here");
  Notes notes;
  // Computed once with decimals of 28 digits.
  const RankTrace trace = read(file, notes);
  CHECK(trace.gpu_span.split.window_ns == 480029179);
  CHECK(trace.gpu_span.split.compute_ns == 468153602);
  CHECK(trace.gpu_span.split.exposed_memory_ns == 4300839);
  REQUIRE(trace.host_steps.size() == 5);
  CHECK(trace.host_steps[4].split.idle_ns == 1101407);
}

TEST_CASE("broken traces of the corpus are read or refused as they deserve", "[traces]") {
  if (!std::filesystem::is_directory(kCorpus)) MFU_SKIP("the shared corpus is not here");
  Notes plain_notes;
  const RankTrace plain = read("kineto/malformed/event_list_only.json", plain_notes);
  CHECK(plain.has_gpu);
  CHECK_FALSE(plain.rank);
  CHECK(plain_notes.all().size() <= 1);  // launches that the excerpt left out

  const auto like_plain = [&](const char* file, const char* code, std::int64_t count) {
    CAPTURE(file);
    Notes notes;
    const RankTrace trace = read(std::string("kineto/malformed/") + file, notes);
    CHECK(trace.gpu_span.split.compute_ns == plain.gpu_span.split.compute_ns);
    CHECK(trace.gpu_span.split.idle_ns == plain.gpu_span.split.idle_ns);
    CHECK(trace.collectives.size() == plain.collectives.size());
    CHECK(trace.rank == 7);
    bool found = false;
    for (const Note& note : notes.all()) {
      if (note.code != code) continue;
      found = true;
      CHECK(note.count == count);
      CHECK(note.first.byte_offset > 0);
    }
    CHECK(found);
  };
  like_plain("control_chars_in_name.json", "control-character", 1);
  like_plain("invalid_escape_windows_path.json", "invalid-escape", 1);
  like_plain("nan_inf_na_tokens.json", "odd-token", 3);
  like_plain("no_closing_bracket.json", "truncated-tail", 1);

  Notes notes;
  const RankTrace cut = read("kineto/malformed/truncated_mid_event.json", notes);
  CHECK(notes.has("truncated-tail"));
  CHECK(cut.gpu_span.split.compute_ns > 0);
  CHECK(cut.gpu_span.split.compute_ns < plain.gpu_span.split.compute_ns);

  for (const char* file : {"empty.json", "empty_events.json"}) {
    CAPTURE(file);
    Notes none;
    CHECK_THROWS_AS(read(std::string("kineto/malformed/") + file, none), Error);
  }
}

TEST_CASE("a pipeline timeline is not a profiler trace", "[traces]") {
  const std::filesystem::path timeline = kCorpus / "straggler/bytedance_timeline-AR.json.gz";
  if (!std::filesystem::exists(timeline)) MFU_SKIP("the shared corpus is not here");
  ByteSource source = ByteSource::open(timeline.string());
  CHECK_FALSE(sniff_kineto(source.peek(64 * 1024)));
}

}  // namespace captured_traces
}  // namespace mfu::traces
