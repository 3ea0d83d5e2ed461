#include "readers/traces/trace_set.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/note_code.hpp"
#include "catch.hpp"
#include "readers/input_files.hpp"
#include "readers/registry.hpp"
#include "readers/run/writer.hpp"
#include "unit/base/temp_file.hpp"
#include "unit/traces/made_traces.hpp"

using namespace mfu;

namespace {

// A trace format of the tests: "TRACE 3" is rank 3 of a job of four.
bool sniff_made(std::string_view head) { return head.starts_with("TRACE"); }

std::vector<traces::RankTrace> read_made(ByteSource& source, Notes& notes) {
  std::string text(64, '\0');
  text.resize(source.read(text.data(), text.size()));
  if (text == "TRACE bad") {
    throw Error(ErrorKind::format, "a broken trace", Place{.file = source.name()});
  }
  MadeJob job;
  job.late = [](std::size_t rank, std::size_t) { return rank == 1 ? 3'000'000 : 0; };
  traces::RankTrace trace = make_traces(job).at(static_cast<std::size_t>(text.at(6) - '0'));
  trace.file = source.name();
  notes.add(NoteCode::odd_token, "read " + source.name());
  return {trace};
}

constexpr FormatRow kMade{InputFormat::text, "made",  "a made trace", "",
                          sniff_made,        nullptr, read_made};

const FormatRow* find_made(std::string_view head) { return sniff_made(head) ? &kMade : nullptr; }

ReadResult read_set(const std::vector<std::string>& paths, Notes& notes, unsigned threads = 0) {
  TraceSet set;
  set.files = find_input_files(paths).files;
  set.open = ByteSource::open;
  set.find = find_made;
  ReadOptions options;
  options.threads = threads;
  return read_trace_set(set, notes, options);
}

ReadResult read_set(const std::vector<std::string>& paths) {
  Notes notes;
  return read_set(paths, notes);
}

}  // namespace

TEST_CASE("patterns match as a shell's do") {
  CHECK(matches_pattern("rank3.json", "rank*.json"));
  CHECK(matches_pattern("rank3.json", "*"));
  CHECK(matches_pattern("rank3.json", "rank?.json"));
  CHECK(matches_pattern("rank3.json", "rank[0-3].js*n"));
  CHECK_FALSE(matches_pattern("rank4.json", "rank[0-3].json"));
  CHECK(matches_pattern("rank4.json", "rank[!0-3].json"));
  CHECK_FALSE(matches_pattern("rank.json", "rank?.json"));
  CHECK_FALSE(matches_pattern(".hidden", "*"));
  CHECK(matches_pattern(".hidden", ".h*"));
  CHECK(matches_pattern("a[b", "a[b"));
  CHECK(matches_pattern("aab", "*ab"));
  CHECK(matches_pattern("abcabd", "a*b?"));
  CHECK_FALSE(matches_pattern("", "?"));
  CHECK(matches_pattern("", "*"));
  CHECK(matches_pattern("]", "[]]"));
}

TEST_CASE("folders are looked into one level deep, in the order of names") {
  const TempDir dir;
  std::filesystem::create_directories(dir.path("b/deep"));
  const std::string z = dir.write("z.json", "");
  const std::string a = dir.write("a.JSON.GZ", "");
  const std::string b = dir.write("b/c.sqlite", "");
  (void)dir.write("b/deep/x.json", "");
  (void)dir.write("notes.txt", "");
  (void)dir.write("photo.png", "");
  (void)dir.write(".hidden.json", "");
  const InputFiles found = find_input_files({dir.path("z.json"), dir.path("")});
  std::vector<std::string> names;
  for (const InputFile& file : found.files) {
    names.push_back(std::filesystem::path(file.path).lexically_relative(dir.path("")).string());
  }
  CHECK(names == std::vector<std::string>{"z.json", "a.JSON.GZ", "notes.txt", "b/c.sqlite"});
  CHECK(found.folders.size() == 1);
  const TempDir empty;
  CHECK_THROWS_WITH(find_input_files({empty.path("")}),
                    contains("the folder holds no trace") && contains("*.sqlite"));
  CHECK_THROWS_WITH(find_input_files({empty.path("*.json")}), contains("no file matches"));
  // A name that exists is no pattern, whatever it looks like.
  const std::string odd = dir.write("rank[0].json", "");
  CHECK(find_input_files({odd}).files.size() == 1);
  CHECK(find_input_files({dir.path("*/*.sqlite")}).files.at(0).path == b);
}

TEST_CASE("a folder of traces is one run, whatever the threads and the order") {
  const TempDir dir;
  std::vector<std::string> files;
  for (const int rank : {0, 1, 2, 3}) {
    files.push_back(
        dir.write("r" + std::to_string(rank) + ".json", "TRACE " + std::to_string(rank)));
  }
  (void)dir.write("config.json", "{}");
  Notes notes;
  const ReadResult one = read_set({dir.path("")}, notes, 1);
  CHECK(one.run.ranks.size() == 4);
  CHECK(one.inputs.size() == 4);
  CHECK(one.inputs[0].format == "made");
  CHECK(notes.has("not-a-trace"));
  const std::string written = write_run(one.run, notes);
  for (const unsigned threads : {2U, 3U, 8U}) {
    Notes again;
    CHECK(write_run(read_set({dir.path("")}, again, threads).run, again) == written);
  }
  Notes named;
  const ReadResult reversed = read_set({files[3], files[2], files[1], files[0]}, named, 2);
  CHECK(reversed.inputs[0].path == files[3]);
  Notes forward;
  CHECK(write_run(read_set(files, forward, 2).run, forward) == write_run(reversed.run, named));
}

TEST_CASE("traces and timing documents are not mixed, nor two traces of a rank") {
  const TempDir dir;
  const std::string trace = dir.write("r0.json", "TRACE 0");
  const std::string run = dir.write("run.json", "{}");
  CHECK_THROWS_WITH(read_set({trace, run}), contains("run.json: is not a profiler trace"));
  const std::string twice = dir.write("again.json", "TRACE 0");
  CHECK_THROWS_WITH(read_set({trace, twice}),
                    contains("two traces of rank 0") && contains("again.json and"));
}

TEST_CASE("of several broken files the first by name is told") {
  const TempDir dir;
  std::vector<std::string> files;
  for (int i = 0; i < 12; ++i) {
    const bool bad = i == 5 || i == 9;
    const std::string name = std::string(1, static_cast<char>('a' + i)) + ".json";
    files.push_back(dir.write(name, bad ? "TRACE bad" : "TRACE 0"));
  }
  std::reverse(files.begin(), files.end());
  for (const unsigned threads : {1U, 2U, 5U}) {
    Notes notes;
    CHECK_THROWS_WITH(read_set(files, notes, threads), contains("f.json: a broken trace"));
  }
}
