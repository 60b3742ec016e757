// How long the members of an operation wait for each other, as a method's options. Where weights are averaged
// one that was passed by goes on with its own: it is pulled back at its next operation. Where Δ or gradients
// are averaged it would stay away for ever: it gets the result (Completion::fetches).
#pragma once

#include <vector>

#include "methods/common/method.h"

namespace longhaul {

// `grace`: the first of a group waits so long for the others.
Node grace_option();
// `quorum` and `grace`: everyone waits until so many are there, and so long after that. With
// `late_ones_fetch` whoever is later gets the result.
std::vector<Node> quorum_options(bool late_ones_fetch = false);

// `quorum` and `grace` of merges (OperationKind::kMerge), and `slack`.
std::vector<Node> merge_options();

// Of these options; all wait for all with quorum "all" and with grace "unlimited".
Completion completion_of(const Json& options);
// Of quorum_options(true).
Completion fetched_completion_of(const Json& options);

// Throws InputError: with stages, where replicas are several workers; for a quorum above the replicas; for a
// grace without a quorum where there could be one, and for a quorum with overlap_backward.
void check_waiting(const Case& config);

}  // namespace longhaul
