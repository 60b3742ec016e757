// How many hidden units there may be in all layers together: they are dealt one by one in each round, which
// of so many takes a second. A model of 405 billion parameters has 7 million.
#pragma once

#include <cstdint>

namespace longhaul {

constexpr std::int64_t kMostUnits = 1 << 24;

}  // namespace longhaul
