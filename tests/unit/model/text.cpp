// A model's text of any length: quantised checkpoints list thousands of names in config.json. The
// answer and the place of an error are those of the short one, whatever comes before or behind.
#include <optional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mfu/model.hpp"
#include "model/fields.hpp"

namespace mfu {
namespace {

constexpr std::size_t kKiB = 1024;
// A source of bytes reads 128 KiB at a time, a cursor over JSON 256 KiB.
constexpr std::size_t kSizes[] = {100'000,    127 * kKiB, 128 * kKiB,  129 * kKiB, 255 * kKiB,
                                  256 * kKiB, 257 * kKiB, 1024 * kKiB, 10'000'000};

const std::string kKeys =
    "\"model_type\":\"llama\",\n\"num_hidden_layers\":6,\n\"hidden_size\":64,\n"
    "\"num_attention_heads\":8,\n\"vocab_size\":100,\n\"intermediate_size\":96";

enum class Pad { before, behind };

// Exactly `size` bytes, a name a line.
std::string padding(std::size_t size) {
  const std::string start = "\"quantization_config\":{\"modules_to_not_convert\":[\n";
  const std::string end = "\"\"]}";
  const std::string name = "\"model.layers.31.block_sparse_moe.experts.255.w1\",\n";
  std::string text = start;
  while (text.size() + name.size() + end.size() <= size) text += name;
  return text + std::string(size - text.size() - end.size(), ' ') + end;
}

// The object of `size` bytes, or a few more where its keys are longer than the usual ones.
std::string padded(std::size_t size, Pad pad, const std::string& keys = kKeys) {
  const std::string filling = padding(size - kKeys.size() - 3);
  return "{" + (pad == Pad::before ? filling + "," + keys : keys + "," + filling) + "}";
}

ModelShape parse(const std::string& text, Notes& notes) {
  return parse_model(text, "config.json", notes);
}

std::optional<Error> refused(const std::string& text) {
  Notes notes;
  try {
    (void)parse(text, notes);
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

// Line and column of the byte `at`.
std::string place_in(const std::string& text, std::size_t at) {
  const std::string before = text.substr(0, at);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t start = before.rfind('\n');
  const std::size_t column = start == std::string::npos ? at + 1 : at - start;
  return "config.json:" + std::to_string(line) + ":" + std::to_string(column);
}

// The keys with `from` changed to `to`, and where in the whole text the error is: at `wrong`.
struct Broken {
  std::string from;
  std::string to;
  std::string wrong;
  std::string message;
  std::string hint;
};

void check_refused(const std::string& text, std::size_t at, const std::string& message,
                   const std::string& hint) {
  const std::optional<Error> error = refused(text);
  REQUIRE(error.has_value());
  CHECK(error->kind() == ErrorKind::format);
  CHECK_THAT(error->message(), contains(message));
  CHECK_THAT(error->what(),
             starts_with(place_in(text, at) +
                         (error->place().what.empty() ? ":" : " (" + error->place().what + "):")));
  CHECK(error->hint() == hint);
}

}  // namespace

TEST_CASE("a long config is counted as a short one", "[model]") {
  Notes short_notes;
  const ModelShape wanted = parse("{" + kKeys + "}", short_notes);
  for (const std::size_t size : kSizes) {
    for (const Pad pad : {Pad::before, Pad::behind}) {
      const std::string text = padded(size, pad);
      INFO(size << (pad == Pad::before ? " before" : " behind"));
      REQUIRE(text.size() == size);
      Notes notes;
      const ModelShape model = parse(text, notes);
      CHECK(model.layers == wanted.layers);
      CHECK(model.hidden == wanted.hidden);
      CHECK(model.vocab == wanted.vocab);
      CHECK(model.name == wanted.name);
      CHECK(count_parameters(model).total == count_parameters(wanted).total);
      CHECK(notes.all().size() == short_notes.all().size());
    }
  }
}

TEST_CASE("what is wrong with a long config is told with its place", "[model]") {
  const std::vector<Broken> all{
      {"\"hidden_size\":64", "\"hidden_size\" 64", "64,", "expected ':', found a number", ""},
      {"\"vocab_size\":100,", "\"vocab_size\":100", "\"intermediate_size", "expected ',' or '}'",
       ""},
      {"\"hidden_size\":64", "\"hidden_size\":NaN", "NaN", "expected a value, found NaN",
       "not JSON; write null for a missing sample"},
      {"\"hidden_size\":64", "\"hidden_size\":\"64\"", "\"64\"",
       "expected a whole number above 0, found a string", "without quotes"},
      {"\"hidden_size\":64", "\"hidden_size\":6e400", "6e400", "a number is too large", ""},
  };
  for (const std::size_t size : kSizes) {
    for (const Pad pad : {Pad::before, Pad::behind}) {
      INFO(size << (pad == Pad::before ? " before" : " behind"));
      for (const Broken& broken : all) {
        if (size > 1024 * kKiB && &broken != &all.front()) continue;  // slow
        std::string keys = kKeys;
        keys.replace(keys.find(broken.from), broken.from.size(), broken.to);
        const std::string text = padded(size, pad, keys);
        INFO(broken.to);
        check_refused(text, text.find(broken.wrong, text.find("\"num_hidden")), broken.message,
                      broken.hint);
      }
    }
  }
}

TEST_CASE("a long config that ends too early, or goes on behind its end", "[model]") {
  for (const std::size_t size : kSizes) {
    for (const Pad pad : {Pad::before, Pad::behind}) {
      INFO(size << (pad == Pad::before ? " before" : " behind"));
      std::string text = padded(size, pad);
      text.pop_back();
      check_refused(text, text.size(), "the input ends where ',' or '}' is expected",
                    "the file is not complete");
      text += "}\n]";
      check_refused(text, text.size() - 1, "text after the end of the document", "");
    }
  }
}

TEST_CASE("a key that is given twice in a long config", "[model]") {
  for (const std::size_t size : kSizes) {
    INFO(size);
    const std::string text = padded(size, Pad::before, kKeys + ",\n\"hidden_size\":64");
    check_refused(text, text.rfind("64}"), "the key 'hidden_size' is given twice",
                  "remove one of them");
  }
}

TEST_CASE("a key that comes twice inside a config is found where it comes again", "[model]") {
  const std::string text = "{\"hidden_size\":64,\n\"a\":[{\"hidden_size\":1,\"hidden_size\":2}]}";
  check_refused(text, text.find("2}"), "the key 'hidden_size' is given twice",
                "remove one of them");
}

TEST_CASE("a config with many objects in a list is read in one go", "[model]") {
  std::string keys = kKeys + ",\"a\":[";
  for (int i = 0; i < 300'000; ++i) keys += "{},";
  Notes notes;
  CHECK(parse("{" + keys + "{}]}", notes).hidden == 64);
}

TEST_CASE("a config that is too long is refused as that", "[model]") {
  const std::optional<Error> error = refused(padded(kMostModelBytes + 1, Pad::before));
  REQUIRE(error.has_value());
  CHECK(std::string(error->what()) ==
        "config.json: too large for a model's shape (16 MiB at most; lists of module names may be "
        "left out)");
  CHECK_FALSE(refused(padded(kMostModelBytes, Pad::behind)).has_value());
}

TEST_CASE("a long text that is no object", "[model]") {
  for (const std::size_t size : kSizes) {
    INFO(size);
    const std::string hint =
        "a config.json, or an object such as {\"layers\":32,\"hidden\":4096, ...}";
    const std::string blanks(size, '\n');
    check_refused("[" + padded(size, Pad::before) + "]", 0,
                  "expected a model's object, found an array", hint);
    check_refused("\"" + std::string(size, 'x') + "\"", 0,
                  "expected a model's object, found a string", hint);
    check_refused(blanks, blanks.size(), "expected a model's object, found nothing", hint);
    // What stands before the object counts for the place of a key.
    std::string keys = kKeys;
    keys.replace(keys.find("64"), 2, "[]");
    const std::string text = blanks + "  {" + keys + "}";
    check_refused(text, text.find("[]"), "expected a whole number above 0, found an array", "");
  }
}

}  // namespace mfu
