// The order of ranks that suits a case's all-reduce, for network.rank_order "optimized". A heuristic.
//
// What is minimized is an estimate of the mean over replicas of the time of one all-reduce (one bucket) when
// all begin together and no two messages share a link: a message takes the one-way delay plus its bytes over
// what the connections carry on the path alone. Start-up of windows, shared links, overrides, variation and
// unequal steps are not in it.
//
// ring, hierarchical and exchanges without a choice of collective (fsdp; for NoLoCo's random pairs no order
// differs from another): a travelling-salesman tour over the sites (net/site_tour.h).
//
// All others: the estimate runs the collective on the network of fidelity analytic for these orders: blocks
// along the shortest tour, cut at its longest hop, so that low levels stay inside a site and the next ones
// among near sites; blocks as written; round robin; the first two dealt out by reversed bits, which puts the
// partners of halving-doubling's large messages (they are n/2 ranks apart) at one site. From the best of them
// pairs of sites change places while that helps, until 300,000 messages were walked in all. On equality the
// earlier one of this list stays. By its own estimate the order is never worse than blocks or round robin.
#pragma once

#include <vector>

#include "core/case.h"
#include "net/topology.h"

namespace longhaul {

// For each rank its place. `blocks`: the network with the replicas in blocks.
std::vector<int> optimized_places(const Case& one, const Topology& blocks);

// The case with the list of these places instead of "optimized".
Case with_optimized_order(const Case& one);

// build_topology() for every rank order of a case, the optimized one as well.
Topology placed_topology(const Case& one);

}  // namespace longhaul
