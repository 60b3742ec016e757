// Tokens of each node's step where nodes compute at unlike speeds.
#pragma once

#include <cstdint>
#include <vector>

namespace longhaul {

// How many units each of `step_s.size()` nodes takes of `units` for each, at least one, so that the longest
// is as short as can be. `step_s`: that `units` take a node, above 0; a node's time is in proportion to its
// units. Nodes that are as fast differ by one at most, the first ones have more.
std::vector<std::int64_t> units_by_speed(const std::vector<double>& step_s, std::int64_t units);

// Batches are counted in these: a sequence for each accelerator of a node where tokens_per_step is a multiple
// of that, else a sequence, else a token.
std::int64_t unit_of_batches(std::int64_t tokens_per_step, std::int64_t context, int per_node);

}  // namespace longhaul
