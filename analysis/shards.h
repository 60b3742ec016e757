// The shards of one scenario taken together, as if it had been run in one.
//
// Run directories belong together if their manifests name the same scenario (hash) and different shards of
// the same split. Cases then stand in the order of the scenario and its claims are judged over all of them;
// while a shard is missing every claim is undecided.
#pragma once

#include <vector>

#include "analysis/run_directory.h"

namespace longhaul {

// Shards join the first of their run; a shard alone is marked as such.
void join_shards(std::vector<RunDirectory>& runs);

}  // namespace longhaul
