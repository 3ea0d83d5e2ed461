// A carrier of something that only tests/unit/base/boxed.cpp knows.
#pragma once

#include "mfu/boxed.hpp"

namespace mfu::test {

struct Hidden;

struct Carrier {
  int seen = 0;
  Boxed<Hidden> hidden;
};

// These are compiled where Hidden is not known.
Carrier copied(const Carrier& carrier);
Carrier moved(Carrier& carrier);
void assign(Carrier& to, const Carrier& from);
void drop(Carrier* carrier);
bool is_empty(const Carrier& carrier);

}  // namespace mfu::test
