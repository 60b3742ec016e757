// Hidden units that are dealt to the replicas anew in each round, and what passes from one owner to the next
// between two rounds. Drawn from (seed, round) alone, so that no message is needed to agree.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/hidden_units.h"

namespace longhaul {

// The owner of each unit of family `family` in round 0, 1, …: a uniformly random permutation π of the units,
// and π[p] belongs to replica (p + family) mod replicas. So all have equally many, but for one unit where
// `replicas` does not divide `count`; these go to other replicas in each family.
std::vector<int> unit_owners(std::uint64_t seed, int count, int family, int replicas, int round);

// The owner of each column of a row [parameters], kShared where it belongs to no unit.
constexpr int kShared = -1;
std::vector<int> column_owners(std::uint64_t seed, const std::vector<HiddenUnits>& families, int replicas,
                               int round, std::int64_t parameters);

// Columns whose owner is `from` in the round before and `to` in `round`: [from · replicas + to].
std::vector<std::int64_t> passed_columns(std::uint64_t seed, const std::vector<HiddenUnits>& families,
                                         int replicas, int round);

// Columns of the replica that owns most of them; the same in every round.
std::int64_t most_owned_columns(const std::vector<HiddenUnits>& families, int replicas);

}  // namespace longhaul
