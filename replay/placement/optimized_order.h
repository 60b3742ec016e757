// The places of workers that suit a case, for network.rank_order "optimized".
//
// What is minimized is an estimate from the paths between sites alone, where all of an exchange begin
// together and no two messages share a link: a message takes the one-way delay plus its bytes over what the
// connections carry on the path alone. Start-up of windows, shared links, overrides of some replicas,
// variation and unequal steps are not in it. docs/results/placement.md compares it with replays.
//
// Without stages it is the mean over replicas of the time of the largest average among everyone, with its
// codec, its columns and what it runs (an all-gather of what a top-k keeps), or of one of its operations
// where it is several; of a method without any of an all-reduce of the whole vector. Of a ring, and of
// exchanges without a choice of collective (fsdp; for NoLoCo's random pairs no order differs from another),
// it is ring_round_s() (net/site_tour.h) times its rounds: 2(n − 1), or n − 1 of an all-gather; of
// "hierarchical" that of the ring of the sites' leaders; of all others it is that of their rounds
// (cost_graph.h). With stages it is the time of a step (step_objective.h), and workers are placed: which
// stage of which replica stands where.
//
// Up to 8 workers (for the leaders: 8 sites) it is the least of all assignments. Above that
//   ring, hierarchical   a travelling-salesman tour (net/site_tour.h), or round robin if that is less
//   others               the best of: blocks along the shortest tour, cut at its longest hop, so that low
//                        levels stay inside a site and the next ones among near sites; blocks as written;
//                        round robin; the first two dealt out by reversed bits, which puts the partners of
//                        halving-doubling-far's large messages (n/2 ranks apart) at one site. From there
//                        pairs of sites change places while that helps, and then 2-opt (placement/search.h)
//   stages               2-opt from blocks, along the tour too, with replicas or stages together, and from
//                        round robin; the best end
// until a budget is spent. On equality the earlier one of these lists stays. By its own estimate the order is
// never worse than blocks or round robin. Deterministic, and the same for every seed.
#pragma once

#include <string>
#include <vector>

#include "core/plan/operations.h"
#include "core/scenario/case.h"
#include "net/topology.h"

namespace longhaul {

struct OptimizedOrder {
  std::vector<int> places;   // for each worker
  bool is_of_steps = false;  // what the seconds are of: a step; else one all-reduce
  double seconds = 0, blocks_s = 0, round_robin_s = 0;  // by the estimate
};

// The case with its replicas in blocks, without overrides of some replicas: their links would move with the
// order.
Case in_blocks(Case config);

// `plan`: that of the case; without rules an all-reduce of the whole vector.
OptimizedOrder optimized_order(const Case& config, const OperationPlan& plan);

// Of a case without stages: equal where network, replicas and this are, so is the order, whatever the method.
std::string ordered_exchange(const Case& config, const OperationPlan& plan);

// The case with the places of an order that is "optimized" filled in, where they are not yet; any other case
// as it is.
Case with_optimized_order(const Case& config, const OperationPlan& plan);

// build_topology() for every rank order of a case, the optimized one as well. Without a plan only of a case
// without stages, or whose places are filled in.
Topology placed_topology(const Case& config, const OperationPlan& plan = {});

// "placement: 0.41 s a step by its estimate; blocks 0.61 s, round-robin 1.02 s".
std::string gain_in_words(const OptimizedOrder& order);

// "0-3, 5" of ascending numbers.
std::string ranges_in_words(const std::vector<int>& numbers);

// Where the workers stand, site by site in the order of their first worker: "oregon: r0 s0-3, r1 s0; london:
// r1 s1-3" with stages, "oregon: 0-3, 5; london: 4" without. Of the first sites, where there are many.
std::string places_in_words(const Case& config, const std::vector<int>& places);

}  // namespace longhaul
