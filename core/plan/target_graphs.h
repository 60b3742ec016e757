// Graphs along whose edges replicas send to each other (TargetGraph): by replica its neighbours, who have it
// as a neighbour too. All replicas have equally many, so that with one weight for all edges the mean over
// replicas is kept.
#pragma once

#include <cstdint>
#include <vector>

namespace longhaul {

// The ring 0, 1, … N − 1 of at least 3 replicas: the one before, then the one behind.
std::vector<std::vector<int>> ring_targets(int replicas);

// `cycles`, 1 or 2, through all replicas, drawn from (seed, step): of each in turn the one before and the one
// behind. Two cycles have no edge in common: the second one is drawn until it has none, about e² = 7 times
// where replicas are many and at most about 20 times in the mean where they are few. More than 2 · cycles
// replicas. One cycle of an even number is the union of two perfect matchings.
std::vector<std::vector<int>> cycle_targets(std::uint64_t seed, int replicas, int cycles, int step);

}  // namespace longhaul
