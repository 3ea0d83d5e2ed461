// Replays the stored inputs and mutations of them, the same ones every time.
//
//   mfu_fuzz CORPUS [MUTATIONS-PER-INPUT]
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "statistics/robust.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::string_view kPieces[] = {"{",
                                        "}",
                                        "[",
                                        "]",
                                        ",",
                                        ":",
                                        "\"",
                                        "\\",
                                        "\n",
                                        "null",
                                        "NaN",
                                        "-",
                                        "1e9",
                                        "1e999",
                                        "-1",
                                        "0",
                                        "\0",
                                        "\xFF",
                                        "true",
                                        "\\ud800",
                                        "\"rank\":",
                                        "\"step\":1",
                                        "\"wait\":[1,2]",
                                        "9999999999999999999",
                                        "\"compute\":",
                                        "\"comm_by_group\":{}"};

std::string mutated(std::string text, mfu::Random& random) {
  const std::size_t changes = 1 + random.below(4);
  for (std::size_t i = 0; i < changes; ++i) {
    const std::size_t at = random.below(text.size() + 1);
    const std::size_t length = std::min(random.below(12), text.size() - at);
    switch (random.below(6)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, kPieces[random.below(std::size(kPieces))]);
        break;
      case 2:
        text.replace(at, length, kPieces[random.below(std::size(kPieces))]);
        break;
      case 3:
        if (at < text.size()) text[at] = static_cast<char>(random.below(256));
        break;
      case 4:
        text.insert(random.below(text.size() + 1), text.substr(at, random.below(80)));
        break;
      default:
        if (random.below(4) == 0) text.resize(at);
    }
  }
  return text;
}

void run(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: mfu_fuzz CORPUS [MUTATIONS-PER-INPUT]\n", stderr);
    return 2;
  }
  const long mutations = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 2000;
  std::vector<std::filesystem::path> inputs;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1]))
    inputs.push_back(entry.path());
  std::sort(inputs.begin(), inputs.end());
  mfu::Random random(20240613);
  for (const std::filesystem::path& input : inputs) {
    std::ifstream file(input, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    run(text);
    for (long i = 0; i < mutations; ++i) run(mutated(text, random));
  }
  std::printf("%zu inputs, %ld mutations of each\n", inputs.size(), mutations);
  return inputs.empty() ? 1 : 0;
}
