// Which rows of the arena a process holds: the ranks hold blocks of equal size, in their order.
#pragma once

#include "trainer/ranks/ranks.h"

namespace longhaul {

// Replicas first … end - 1.
struct RowBlock {
  int first = 0, end = 0;

  int size() const { return end - first; }
  bool contains(int replica) const { return replica >= first && replica < end; }
};

// Of `replicas`, which the number of ranks divides.
inline RowBlock block_of(const Ranks& ranks, int replicas) {
  const int size = replicas / ranks.size();
  return {ranks.rank() * size, (ranks.rank() + 1) * size};
}

// The rank that holds `replica`.
inline int holder_of(const Ranks& ranks, int replicas, int replica) {
  return replica / (replicas / ranks.size());
}

}  // namespace longhaul
