// Nothing here knows what it carries: that this compiles is half of the test.
#include "boxed_carrier.hpp"

#include <utility>

namespace mfu::test {

Carrier copied(const Carrier& carrier) { return carrier; }
Carrier moved(Carrier& carrier) { return std::move(carrier); }
void assign(Carrier& to, const Carrier& from) { to = from; }
void drop(Carrier* carrier) { delete carrier; }
bool is_empty(const Carrier& carrier) { return carrier.hidden == std::nullopt && !carrier.hidden; }

}  // namespace mfu::test
