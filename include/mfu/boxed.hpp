// An optional value on the heap: the interface of std::optional, and the room of a pointer where
// there is no value. Copies are deep. What std::optional throws on, this does not check.
//
// It can be copied, moved, assigned and destroyed where T is only declared: how that is done lies
// beside the value, put there by code that knew T. So a struct can be public while what it carries
// is not. A value is put in, and looked at, where T is known.
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

namespace mfu {

template <class T>
class Boxed {
 public:
  Boxed() noexcept = default;
  Boxed(std::nullopt_t) noexcept {}  // NOLINT(google-explicit-constructor): as std::optional
  template <class U>
  requires std::same_as<std::remove_cvref_t<U>, T> Boxed(
      U&& value) {  // NOLINT(google-explicit-constructor): as std::optional
    emplace(std::forward<U>(value));
  }
  Boxed(const Boxed& other)
      : box_(other.box_ == nullptr ? nullptr : other.box_->clone(*other.box_)) {}
  Boxed(Boxed&& other) noexcept : box_(std::exchange(other.box_, nullptr)) {}
  Boxed& operator=(const Boxed& other) {
    if (this != &other) Boxed(other).swap(*this);
    return *this;
  }
  Boxed& operator=(Boxed&& other) noexcept {
    Boxed(std::move(other)).swap(*this);
    return *this;
  }
  ~Boxed() { reset(); }

  [[nodiscard]] bool has_value() const noexcept { return box_ != nullptr; }
  explicit operator bool() const noexcept { return has_value(); }
  [[nodiscard]] T& operator*() noexcept { return static_cast<Held*>(box_)->value; }
  [[nodiscard]] const T& operator*() const noexcept {
    return static_cast<const Held*>(box_)->value;
  }
  [[nodiscard]] T* operator->() noexcept { return &**this; }
  [[nodiscard]] const T* operator->() const noexcept { return &**this; }
  [[nodiscard]] T value_or(T other) const { return has_value() ? **this : std::move(other); }

  template <class... Arguments>
  T& emplace(Arguments&&... arguments) {
    Box* made = new Held(std::forward<Arguments>(arguments)...);
    reset();
    box_ = made;
    return **this;
  }
  void reset() noexcept {
    if (box_ != nullptr) box_->destroy(std::exchange(box_, nullptr));
  }
  void swap(Boxed& other) noexcept { std::swap(box_, other.box_); }

  friend bool operator==(const Boxed& boxed, std::nullopt_t) noexcept { return !boxed.has_value(); }

 private:
  struct Box {
    Box* (*clone)(const Box&);
    void (*destroy)(Box*) noexcept;
  };
  // Of a type of its own, so that it is only looked into where T is known.
  struct Held : Box {
    template <class... Arguments>
    explicit Held(Arguments&&... arguments)
        : Box{[](const Box& box) -> Box* { return new Held(static_cast<const Held&>(box).value); },
              [](Box* box) noexcept { delete static_cast<Held*>(box); }},
          value(std::forward<Arguments>(arguments)...) {}
    T value;
  };

  Box* box_ = nullptr;
};

}  // namespace mfu
