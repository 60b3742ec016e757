// The order in which a ring visits sites: a travelling-salesman tour, by a heuristic where there are many.
//
// In a ring all-reduce of n members every chunk goes over 2(n − 1) hops one after another, and a hop sends
// 2(n − 1) chunks one after another. With hops that cost c_h = latency + sending and nothing shared, the mean
// over members of the time until a member is done is 2(n − 1) · Σ c_h / n where latency decides, and at least
// 2(n − 1) times the longest sending of a hop. ring_round_s() is the larger of the two for one round.
//
// Up to 8 members best_ring() is the best of all orders. Above that it makes tours by nearest neighbour from
// up to 44 starts, improves each by 2-opt and Or-opt (runs of up to three), for the costs and for their
// powers 2, 4, 8 and 16, which weigh a long hop more; where the longest sending decides, also with the hops
// above a bound forbidden, the bound by bisection. It takes the ring whose round is shortest, of these the
// one with the least mean of its hops, and blocks on equality. Replicas of a site are alike, so that at most
// three of a site are stops of their own (a ring may pass a site on its way out and again on its way back,
// which can spare it a slow way home); the others stand beside the first. Above 64 sites a site is one stop.
// Deterministic. Above 8 members it is a heuristic: on drawn networks of 9 the test allows 5 % from all
// permutations (net_test
// --gtest_filter='RankOrder.OptimizedRing*'). Not in it: links that several hops share, start-up of windows,
// unequal starts.
#pragma once

#include <vector>

namespace longhaul {

using CostMatrix = std::vector<std::vector<double>>;  // [stop][stop], symmetric, s

// What a chunk meets between two sites, and inside a site on the diagonal.
struct HopCosts {
  CostMatrix latency_s, sending_s;

  CostMatrix sum() const;
};

// A round of a ring whose members are at these sites, one after another.
double ring_round_s(const std::vector<int>& site_of_rank, const HopCosts& hops);

// For each rank its site. `places`: the number of replicas at each site.
std::vector<int> best_ring(const std::vector<int>& places, const HopCosts& hops);

// A short closed tour over all stops: the sum of `cost` between neighbours. Starts at stop 0.
std::vector<int> short_tour(const CostMatrix& cost);

}  // namespace longhaul
