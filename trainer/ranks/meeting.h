// How ranks that know nothing but a store become connected: each listens on a port of its own, says in the
// store where, waits for all others, and connects to those before it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "trainer/ranks/rank_environment.h"
#include "trainer/ranks/rank_store.h"
#include "trainer/ranks/socket.h"

namespace longhaul {

constexpr int kChannels = 2;  // a connection each: kLockstep, kAhead

// Another process has the number of this rank.
class RankTaken : public RunError {
 public:
  using RunError::RunError;
};

// By rank and channel; those of the rank itself are not open.
using Sockets = std::vector<std::array<Socket, kChannels>>;

// Both ends tell each other the token of this training, which rank 0 draws, who they are and how they order
// bytes; a connection that says something else, or nothing, is closed.
// Throws RunError that names the ranks which did not come within `patience_s`, that are not reachable, or
// that failed meanwhile, with what they said; RankTaken; and Interrupted.
Sockets meet(RankStore& store, const RankEnvironment& environment, int patience_s);

}  // namespace longhaul
