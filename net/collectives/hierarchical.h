// Hierarchical all-reduce: inside each site a reduce to its leader, between the leaders a ring all-reduce,
// inside each site a broadcast.
//
// The leader of a site is its first member. With S sites in the group (GroupExchange::site_of; without any,
// everybody is at one site) there are 2S rounds: whole vectors to the leaders, 2(S−1) rounds of a ring of
// B/S, whole vectors back. Only the ring crosses between sites. A member sends B; the leader of a site of m
// sends (m−1) · B and about 2(S−1)/S · B. Idle star, exact up to the rounding of chunks for sites of equal
// size, else an upper bound, with m of the largest (rounds are blocking send-receives, so that no leader is
// slowed down by one that is ahead of it, and each phase ends no later than where all sites are the largest):
// 2(m−1) · B / rate + 2 · latency (if m > 1) + 2(S−1) · (latency + (B/S) / rate).
#pragma once

#include "net/collectives/collective.h"

namespace longhaul {

std::unique_ptr<Collective> make_hierarchical();

}  // namespace longhaul
