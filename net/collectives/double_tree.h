// Pipelined double binary tree all-reduce (Sanders, Speck, Träff, "Two-tree algorithms for full bandwidth
// broadcast, reduction and scan", Parallel Computing 35, 2009).
//
// Two binary trees over all members, each for one half of the vector. In the first the members with an odd
// number are inner nodes; the second is the same tree moved on by one member, so that every member is an
// inner node in at most one of them. A half is cut into C chunks of at most 1 MiB, but at most 64: C =
// min(64, ceil(B/2 / 1 MiB)), for large vectors 64 chunks of B/128. A chunk goes up as soon as both
// children's have arrived and been added, and comes down from the root as soon as it is complete there.
//
// A member sends up to 2 · B (up once and down twice as an inner node, up once as a leaf, B/2 each).
// Idle star, an upper bound, with D levels of links in a tree (about log2 n):
// 2D · (latency + 2 · chunk / rate) + 3 · B / rate. On the way up an inner node receives B/2 from each of two
// children, and these may be busy with what they send as leaves, B/2, first; the way down is the same
// backwards. With both trees perfectly interleaved it would be 2 · B / rate; the replay measures about 2.5.
#pragma once

#include "net/collectives/collective.h"

namespace longhaul {

std::unique_ptr<Collective> make_double_tree();

}  // namespace longhaul
