// An optional value that most of its owners do not have: it lies on the heap, and where there is
// none it takes the room of a pointer. Copies are deep. What std::optional throws on, this does not
// check.
#pragma once

#include <memory>
#include <utility>

namespace mfu {

template <class T>
class Seldom {
 public:
  Seldom() = default;
  Seldom(T value) : value_(std::make_unique<T>(std::move(value))) {}  // NOLINT: as std::optional
  Seldom(const Seldom& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
  Seldom(Seldom&&) noexcept = default;
  Seldom& operator=(const Seldom& other) {
    if (this != &other) value_ = other ? std::make_unique<T>(*other) : nullptr;
    return *this;
  }
  Seldom& operator=(Seldom&&) noexcept = default;
  ~Seldom() = default;

  [[nodiscard]] bool has_value() const noexcept { return value_ != nullptr; }
  explicit operator bool() const noexcept { return has_value(); }
  [[nodiscard]] T& operator*() noexcept { return *value_; }
  [[nodiscard]] const T& operator*() const noexcept { return *value_; }
  [[nodiscard]] T* operator->() noexcept { return value_.get(); }
  [[nodiscard]] const T* operator->() const noexcept { return value_.get(); }
  [[nodiscard]] T value_or(T other) const { return value_ ? *value_ : std::move(other); }

  T& emplace() {
    value_ = std::make_unique<T>();
    return *value_;
  }
  void reset() noexcept { value_.reset(); }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace mfu
