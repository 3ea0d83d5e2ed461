#include "mfu/boxed.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "boxed_carrier.hpp"
#include "catch.hpp"

using namespace mfu;

namespace mfu::test {

struct Hidden {
  std::string text;
  std::vector<int> numbers;
};

}  // namespace mfu::test

TEST_CASE("boxed: copies are deep, and none is a pointer's room", "[boxed]") {
  CHECK(sizeof(Boxed<std::string>) == sizeof(void*));
  Boxed<std::string> none;
  CHECK_FALSE(none.has_value());
  CHECK(none == std::nullopt);
  CHECK(none.value_or("other") == "other");
  Boxed<std::string> one(std::string("one"));
  CHECK(one != std::nullopt);
  Boxed<std::string> copy = one;
  *copy += " more";
  CHECK(*one == "one");
  CHECK(copy->size() == 8);
  one = copy;
  copy.reset();
  CHECK(*one == "one more");
  CHECK_FALSE(copy);
  one = none;
  CHECK_FALSE(one);
  CHECK(one.emplace().empty());
  CHECK(one.emplace(std::size_t{3}, 'x') == "xxx");
  one = std::string("assigned");
  CHECK(*one == "assigned");
  one = std::nullopt;
  CHECK_FALSE(one);
}

TEST_CASE("boxed: assignment to itself keeps the value, a move takes it", "[boxed]") {
  Boxed<std::string> one(std::string("a text that is too long to lie in the string itself"));
  const std::string* place = &*one;
  Boxed<std::string>& alias = one;
  one = alias;
  REQUIRE(one);
  CHECK(&*one == place);
  one = std::move(alias);
  REQUIRE(one);
  CHECK(&*one == place);

  Boxed<std::string> taken = std::move(one);
  CHECK_FALSE(one);  // NOLINT(bugprone-use-after-move): what a move leaves is defined
  CHECK(&*taken == place);
  one = std::move(taken);
  CHECK_FALSE(taken);  // NOLINT(bugprone-use-after-move)
  CHECK(&*one == place);
  one = *one + " and more";  // made from what it replaces
  CHECK(one->ends_with("and more"));
  one.emplace(*one);
  CHECK(one->ends_with("and more"));
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<Boxed<std::string>>);
  STATIC_REQUIRE(std::is_nothrow_move_assignable_v<Boxed<std::string>>);
}

TEST_CASE("boxed: what it holds is destroyed, once", "[boxed]") {
  const auto counted = std::make_shared<int>(0);
  {
    Boxed<std::shared_ptr<int>> one(counted);
    const Boxed<std::shared_ptr<int>> copy = one;
    CHECK(counted.use_count() == 3);
    one = copy;
    CHECK(counted.use_count() == 3);
    Boxed<std::shared_ptr<int>> taken = std::move(one);
    CHECK(counted.use_count() == 3);
    taken.emplace();
    CHECK(counted.use_count() == 2);
  }
  CHECK(counted.use_count() == 1);
}

TEST_CASE("boxed: copied, moved and destroyed where the type is only declared", "[boxed]") {
  using test::Carrier;
  using test::Hidden;
  Carrier carrier{7, Hidden{"hidden", {1, 2, 3}}};
  Carrier copy = test::copied(carrier);
  copy.hidden->numbers.push_back(4);
  CHECK(carrier.hidden->numbers.size() == 3);
  CHECK(copy.hidden->text == "hidden");

  const Carrier taken = test::moved(copy);
  CHECK(taken.seen == 7);
  CHECK(taken.hidden->numbers.size() == 4);
  CHECK(test::is_empty(copy));
  CHECK_FALSE(test::is_empty(taken));

  test::assign(carrier, taken);
  CHECK(carrier.hidden->numbers.size() == 4);
  test::assign(carrier, carrier);
  CHECK(carrier.hidden->numbers.size() == 4);
  test::assign(carrier, Carrier{});
  CHECK(test::is_empty(carrier));
  test::drop(new Carrier(taken));
}
