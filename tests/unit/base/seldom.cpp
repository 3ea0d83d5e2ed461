#include "mfu/seldom.hpp"

#include <string>

#include "catch.hpp"

using namespace mfu;

TEST_CASE("a value that most do not have: copies are deep, none is a pointer's room", "[seldom]") {
  CHECK(sizeof(Seldom<std::string>) == sizeof(void*));
  Seldom<std::string> none;
  CHECK_FALSE(none.has_value());
  CHECK(none.value_or("other") == "other");
  Seldom<std::string> one(std::string("one"));
  Seldom<std::string> copy = one;
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
}
