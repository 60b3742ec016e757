// What an operation gives its participants, and who they are.
#pragma once

#include "core/base/words.h"

namespace longhaul {

enum class Grouping {
  kEveryone,  // one group of all replicas
  kRandom,    // disjoint groups of `group_size`, drawn anew for each outer step from the seed; those that are
              // left over, fewer than `group_size`, sit out: each is a group of one
  kSites,     // the same, inside a site but at every `across_every`-th outer step across sites
  kTwoLevel,  // all of a site; at every `across_every`-th outer step all replicas
  kGrid,      // replicas that differ in one digit only, written with the base `group_size`: in the last digit
              // at the first outer step, in the one before it at the next, and round again
  kConsecutive,  // groups of `group_size` neighbours
  kStrided,      // groups of `group_size` replicas that are as far apart as there are groups
  kTargets,  // everyone is one group, in which each sends to `group_size` others that it draws anew for each
             // outer step (Epidemic Learning, arXiv 2310.01972), so that some get more and some less, or
             // nothing
};
template <>
struct Words<Grouping> {
  static constexpr Word<Grouping> all[] = {{Grouping::kEveryone, "everyone"},
                                           {Grouping::kRandom, "random"},
                                           {Grouping::kSites, "sites"},
                                           {Grouping::kTwoLevel, "two-level"},
                                           {Grouping::kGrid, "grid"},
                                           {Grouping::kTargets, "targets"},
                                           {Grouping::kConsecutive, "consecutive"},
                                           {Grouping::kStrided, "strided"}};
};

// Whom replicas send to, of a grouping with targets. But for kOwn each edge carries a message either way.
enum class TargetGraph {
  kOwn,     // `group_size` others, which each replica draws for itself
  kRing,    // both neighbours on the ring 0, 1, … N − 1
  kCycles,  // both neighbours on each of `group_size`/2 cycles through all replicas, drawn anew for each
            // outer step; no two have an edge in common
};
template <>
struct Words<TargetGraph> {
  static constexpr Word<TargetGraph> all[] = {
      {TargetGraph::kOwn, "own"}, {TargetGraph::kRing, "ring"}, {TargetGraph::kCycles, "cycles"}};
};

// What every participant gets.
enum class OperationKind {
  kAllReduce,      // the mean of all contributions
  kGroupAverage,   // the same of a small group, and the contributions themselves
  kAllGather,      // all contributions
  kReduceScatter,  // its part of their mean
  kSend,           // the mean of its own and those that were sent to it; of a grouping with targets
  kAllToAll,       // of each contribution the part that is for it: the units that become its own
  kMerge,          // the model that a synchronizer keeps, after a step with contributions as they come
};
template <>
struct Words<OperationKind> {
  static constexpr Word<OperationKind> all[] = {{OperationKind::kAllReduce, "all-reduce"},
                                                {OperationKind::kGroupAverage, "group-average"},
                                                {OperationKind::kAllGather, "all-gather"},
                                                {OperationKind::kReduceScatter, "reduce-scatter"},
                                                {OperationKind::kSend, "send"},
                                                {OperationKind::kAllToAll, "all-to-all"},
                                                {OperationKind::kMerge, "merge"}};
};

}  // namespace longhaul
