// The order of ranks: which place, and so which site, each replica takes.
//
// Rank r is replica r everywhere (collectives, step times, factors, tables, trainer); the order decides only
// at which site replica r stands. Places are counted site by site in the order of the placement, so that
// place p of "blocks" is replica p. Collectives go by rank: a ring in blocks crosses each way between two
// sites once, a ring in another order may cross one at every hop.
#pragma once

#include <cstdint>
#include <vector>

#include "core/case.h"
#include "net/placement.h"

namespace longhaul {

// For each rank its place.
//
// blocks: the identity. round-robin: one place of each site in turn, in the order of the sites, passing over
// sites that are full. random: a permutation drawn from the seed, on a stream of its own. A list: as it is.
// Not for kOptimized, which needs the network's paths (replay/optimized_order.h).
std::vector<int> places_of_ranks(const RankOrderSpec& order, const Placement& placement, std::uint64_t seed);

// The round robin over sites with so many places each.
std::vector<int> round_robin_places(const std::vector<int>& places_at);

}  // namespace longhaul
