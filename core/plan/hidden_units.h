// Hidden units: what the width of a network consists of. A unit is a hidden column of a feed-forward part:
// its rows of gate and up, its column of down. A unit whose columns are all zero adds nothing to what the
// network computes, and nothing flows back through it: the gradient of its columns is exactly zero.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/model_shape.h"

namespace longhaul {

// The columns of unit u in one matrix: offset + u · stride + k · row_stride + [0, width), k = 0 … rows − 1.
// The units of a family fill the matrix.
struct UnitColumns {
  std::int64_t offset = 0, stride = 0, rows = 1, row_stride = 0, width = 0;
};

inline bool operator==(const UnitColumns& a, const UnitColumns& b) {
  return a.offset == b.offset && a.stride == b.stride && a.rows == b.rows && a.row_stride == b.row_stride &&
         a.width == b.width;
}

// Units of one layer that can take each other's place.
struct HiddenUnits {
  int count = 0;
  std::vector<UnitColumns> matrices;

  std::int64_t columns() const;  // of one unit
};

inline bool operator==(const HiddenUnits& a, const HiddenUnits& b) {
  return a.count == b.count && a.matrices == b.matrices;
}

// In all layers together: units are dealt one by one in each round, which of so many takes a second. A model
// of 405 billion parameters has 7 million.
constexpr std::int64_t kMostUnits = 1 << 24;

// One family a layer, in the order of the layers. The layout must be a decoder's (parameter_layout).
std::vector<HiddenUnits> ffn_units(const std::vector<Parameter>& layout);

// Behind what is there; ranges that touch become one, and an empty one is left out.
void append(Columns& columns, const ColumnRange& range);

// All columns of these units, and of a row [parameters] the others.
Columns columns_of(const std::vector<HiddenUnits>& families);
Columns other_columns(const Columns& columns, std::int64_t parameters);

// Units that are dealt to the replicas anew in each round, and what passes from one owner to the next between
// two rounds. Drawn from (seed, round) alone, so that no message is needed to agree.

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
