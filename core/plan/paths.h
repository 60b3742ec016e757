// Which way each micro-batch goes through the parts of the model: what it meets there, in which order, and at
// which replica.
//
// With pipeline.skip or pipeline.reorder a micro-batch leaves parts out, or takes neighbours in the other
// order (SkipPipe, arXiv 2502.19913). A part that is left out adds nothing to the stream of activations; one
// that is taken in its neighbour's place works there as it would at home. The first and the last part are
// never left out, nor taken at another place.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "core/plan/pipeline.h"

namespace longhaul {

// What a micro-batch meets at one place of the model.
struct Stop {
  int replica = 0;  // whose part; -1: none
  int part = 0;     // which one; the place's own but where neighbours are swapped
  bool is_there() const { return replica >= 0; }
};

inline bool operator==(const Stop& a, const Stop& b) {
  return a.replica == b.replica && a.part == b.part;
}
inline bool operator<(const Stop& a, const Stop& b) {
  return std::make_pair(a.replica, a.part) < std::make_pair(b.replica, b.part);
}

// By place: as many as the model has parts. Taken from front to back, and by the backward pass the other way.
using Route = std::vector<Stop>;

// The paths of micro-batch `microbatch` of each replica's batch at `step`, by replica. paths[home][0] is part
// 0 of `home`. No two of them meet the same part of the same replica; without pipeline.skip they meet all.
//
// kThroughput: those of kStraight; the replay chooses other replicas, whose weights are the same.
//
// kRandom: at the hop from part p to p + 1 replica r's goes on to next[r], `next` a permutation drawn from
// (seed, step, microbatch, p). Those that leave part p + 1 out are dealt out there too.
std::vector<Route> paths_of(const PipelinePlan& plan, std::uint64_t seed, int replicas, int step,
                            int microbatch);

// That of one replica, with every routing but kRandom.
Route straight_path(const PipelinePlan& plan, std::uint64_t seed, int step, int microbatch, int home);

// The next place behind `place` (forward), or the next one before it, where something is there; -1: none.
int next_place(const Route& path, int place, bool is_forward);

// From which part to which activations may pass.
std::set<std::pair<int, int>> hops_of(const PipelinePlan& plan);

// What each micro-batch meets at each place, -1 for nothing, with pipeline.paths "scheduled": one after
// another takes the way on which it would be through the forward passes first, at workers that are at work
// for those before it, did messages take no time; of ways that are as fast the one through parts that had
// less to do. Every part between the first and the last is met by as many micro-batches, or one more.
// SkipPipe's constraints; its conflict-based search, which knows the links too, is not what this is.
//
// `forward`: by part, what a forward pass takes; a backward pass takes twice as long. Of the model nothing
// else is known, so that a model that is trained goes the ways of the one whose times are replayed.
std::vector<std::vector<int>> scheduled_orders(const PipelinePlan& plan, const std::vector<double>& forward);

}  // namespace longhaul
