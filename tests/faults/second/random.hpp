// Random numbers that are the same everywhere: the standard library's distributions are not.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <vector>

namespace second {

inline std::uint64_t scrambled(std::uint64_t value) {  // splitmix64's output function
  value += 0x9E3779B97F4A7C15ULL;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBULL;
  return value ^ (value >> 31U);
}

inline double unit_of(std::uint64_t bits) { return static_cast<double>(bits >> 11U) * 0x1.0p-53; }

// A stream that is drawn from in order: for what a job is.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(scrambled(seed ^ 0x5EC0D5EC0DULL)) {}

  std::uint64_t bits() { return scrambled(state_ += 0x9E3779B97F4A7C15ULL); }
  double unit() { return unit_of(bits()); }  // [0, 1)
  double uniform(double low, double high) { return low + (high - low) * unit(); }
  double log_uniform(double low, double high) {
    return std::exp(uniform(std::log(low), std::log(high)));
  }
  bool chance(double probability) { return unit() < probability; }
  int below(int limit) {
    return static_cast<int>(bits() % static_cast<std::uint64_t>(limit < 1 ? 1 : limit));
  }
  int between(int low, int high) { return low + below(high - low + 1); }  // both ends included
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - unit()));
    return radius * std::cos(6.283185307179586 * unit());
  }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<int>(values.size()))];
  }
  // `count` of 0..limit-1, ascending.
  std::vector<int> some_of(int limit, int count) {
    std::vector<int> all(static_cast<std::size_t>(limit));
    std::iota(all.begin(), all.end(), 0);
    std::vector<int> picked;
    for (int left = count, value = 0; value < limit && left > 0; ++value) {
      if (below(limit - value) < left) {
        picked.push_back(value);
        --left;
      }
    }
    return picked;
  }

 private:
  std::uint64_t state_;
};

// Noise that is looked up, not drawn: the fault-free twin of a job has the same at every place,
// whatever else the two do.
class Noise {
 public:
  Noise(std::uint64_t seed, std::uint64_t what) : key_(scrambled(seed) ^ scrambled(what * 7919)) {}

  double unit(int a, int b, int c = 0) const {
    const auto word = [](int value) {
      return static_cast<std::uint64_t>(static_cast<std::uint32_t>(value));
    };
    return unit_of(scrambled(scrambled(key_ ^ (word(a) << 32U) ^ word(b)) ^ word(c)));
  }
  // Near enough to a normal: the sum of four uniforms, with its thin tails beyond 3 deviations.
  double normal(int a, int b, int c = 0) const {
    const double sum =
        unit(a, b, 4 * c) + unit(a, b, 4 * c + 1) + unit(a, b, 4 * c + 2) + unit(a, b, 4 * c + 3);
    return (sum - 2.0) * 1.7320508075688772;
  }

 private:
  std::uint64_t key_;
};

}  // namespace second
