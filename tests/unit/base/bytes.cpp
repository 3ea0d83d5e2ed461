#include "base/bytes.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

#include "catch.hpp"
#include "mfu/error.hpp"
#include "statistics/robust.hpp"
#include "unit/base/temp_file.hpp"

using namespace mfu;

namespace {

std::string all_of(ByteSource& source, std::size_t piece = 7) {
  std::string text;
  std::string buffer(piece, '\0');
  while (const std::size_t count = source.read(buffer.data(), buffer.size())) {
    text.append(buffer, 0, count);
  }
  return text;
}

// A source of a temporary text does not compile: it would read freed memory from 128 KiB on.
template <typename Text>
concept Readable = requires(Text&& text) {
  ByteSource::from_memory(std::forward<Text>(text), "t");
  ByteSource::from_memory(std::forward<Text>(text), "t", 7);
};
static_assert(Readable<std::string&>);
static_assert(Readable<const std::string&>);
static_assert(Readable<std::string_view>);
static_assert(Readable<const char (&)[5]>);
static_assert(Readable<const char*>);
static_assert(!Readable<std::string>);
static_assert(!Readable<const std::string>);

std::string noise(std::size_t length) {
  Random random(3);
  std::string text;
  while (text.size() < length) text += static_cast<char>('a' + random.below(20));
  return text;
}

}  // namespace

TEST_CASE("plain and gzip bytes come out the same, in any pieces") {
  const std::string text = noise(300'000);
  const std::string packed = gzipped(text);
  for (const std::size_t piece : {std::size_t{1000}, std::size_t{65536}, SIZE_MAX}) {
    ByteSource plain = ByteSource::from_memory(text, "t", piece);
    CHECK(all_of(plain, 5000) == text);
    CHECK_FALSE(plain.gzip());
    ByteSource source = ByteSource::from_memory(packed, "t", piece);
    CHECK(all_of(source, 5000) == text);
    CHECK(source.gzip());
    CHECK_FALSE(source.cut_off());
    CHECK(source.raw_bytes() == packed.size());
  }
}

TEST_CASE("gzip of one byte at a time, several members, and padding") {
  const std::string packed =
      gzipped("one ") + gzipped("") + gzipped("two") + std::string(100, '\0');
  for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, SIZE_MAX}) {
    ByteSource source = ByteSource::from_memory(packed, "t", piece);
    CHECK(all_of(source) == "one two");
    CHECK_FALSE(source.cut_off());
  }
}

TEST_CASE("gzip that is cut off anywhere is an end that says so") {
  const std::string packed = gzipped("some text");
  for (std::size_t length = 2; length < packed.size(); ++length) {
    ByteSource source = ByteSource::from_memory(std::string_view(packed).substr(0, length), "t");
    CHECK(std::string("some text").starts_with(all_of(source)));
    CHECK(source.cut_off());
  }
  const std::string two = packed + packed.substr(0, 1);
  ByteSource source = ByteSource::from_memory(two, "t");
  CHECK(all_of(source) == "some text");
  CHECK(source.cut_off());
}

TEST_CASE("corrupt gzip is refused with its place") {
  std::string packed = gzipped(noise(1000));
  packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1);  // the checksum
  ByteSource source = ByteSource::from_memory(packed, "t");
  CHECK_THROWS_WITH(all_of(source), contains("t: byte") && contains("corrupt"));
  const std::string trailing = gzipped("x") + "trailing";
  ByteSource garbage = ByteSource::from_memory(trailing, "t");
  CHECK_THROWS_WITH(all_of(garbage), contains("after the end of the gzip data"));
}

TEST_CASE("peek does not consume") {
  const std::string packed = gzipped("hello world");
  ByteSource source = ByteSource::from_memory(packed, "t");
  CHECK(source.peek(5) == "hello");
  CHECK(source.peek(100) == "hello world");
  CHECK(all_of(source) == "hello world");
}

TEST_CASE("files that cannot be opened say why") {
  const TempDir dir;
  CHECK_THROWS_WITH(ByteSource::open(dir.path("none")), contains("no such file"));
  CHECK_THROWS_WITH(ByteSource::open(dir.path("")), contains("is a directory"));
  const std::string secret = dir.write("secret", "x");
  ::chmod(secret.c_str(), 0);
  if (::geteuid() == 0) MFU_SKIP("root may read everything");
  CHECK_THROWS_WITH(ByteSource::open(secret), contains("permission denied"));
}
