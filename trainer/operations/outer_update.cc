#include "trainer/operations/outer_update.h"

#include <algorithm>

namespace longhaul {

void start_slow_weights(Replicas& replicas) {
  Arena& arena = replicas.arena;
  replicas.backend.for_each(arena.held().size(), [&](int at) {
    const int replica = arena.held().first + at;
    const float* weights = arena.row(Slot::kWeights, replica);
    std::copy(weights, weights + arena.parameters(), arena.row(Slot::kSlowWeights, replica));
  });
}

}  // namespace longhaul
