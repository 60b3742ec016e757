// How long the members of an operation wait for each other, as a method's options. Only for methods whose
// replicas come together again by themselves: they average weights, so that one that was passed by is pulled
// back at its next operation. Where Δ or gradients are averaged it would stay away for ever.
#pragma once

#include <vector>

#include "methods/common/method.h"

namespace longhaul {

// `grace`: the first of a group waits so long for the others.
Node grace_option();
// `quorum` and `grace`: everyone waits until so many are there, and so long after that.
std::vector<Node> quorum_options();

// `quorum` and `grace` of merges (OperationKind::kMerge), and `slack`.
std::vector<Node> merge_options();

// Of these options; all wait for all with quorum "all" and with grace "unlimited".
Completion completion_of(const Json& options);

// Throws InputError: with stages, where replicas are several workers; for a quorum above the replicas.
void check_waiting(const Case& one);

}  // namespace longhaul
