// Dynamic local steps (DyLU of asynchronous local SGD, arXiv 2401.09135): of a round of H steps a
// slow replica takes fewer, so that all end it at about the same time. With v the steps a second that a
// replica could take, it takes floor(v / max v · H) of them, and one at least.
//
// All replicas count the same H step numbers a round. Of n steps the k-th has the number ceil(k · H / n) of
// the round: evenly spread, so that where n is not the least one, at no number is a replica's compute longer
// than that of the fastest, nor shorter by two steps of its own; and all take the last one. At the others a
// replica does nothing, which takes no time: it trains on no data, and its optimizer does not move.
#pragma once

#include <cstdint>
#include <vector>

namespace longhaul {

struct DynamicSteps {
  int every = 1;                // H
  std::vector<int> taken = {};  // of each round, by replica, 1 … H; empty: all replicas take all steps

  bool is_on() const { return !taken.empty(); }
  // Whether the replica takes this step; steps count from 1.
  bool takes(int replica, int step) const;
  // Of steps 1 … step, those that it takes; and the sum of these over all replicas.
  std::int64_t taken_until(int replica, int step) const;
  std::int64_t taken_by_all(int replicas, int step) const;
};

// Of replicas whose steps take these times (> 0, one a replica, in any unit; none: all alike). Off where each
// takes all steps. A quotient below a whole number by 1e-12 of itself is that number: times are written as
// decimal fractions.
DynamicSteps dynamic_steps(int every, const std::vector<double>& times);

}  // namespace longhaul
