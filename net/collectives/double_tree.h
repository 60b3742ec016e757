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
// Idle star, an upper bound, with D levels of links in a tree (about log2 n) and chunks of c bytes:
// 2D · latency + 6 · (D + C − 1) · c / rate, which is 2D · latency + 3 · B / rate and 6(D − 1) · c / rate for
// the filling of the pipeline. The replay measures 1.0 (n = 2) to 2.6 · B / rate.
//
// Proof. (1) A member has at most four neighbours: two children and a parent in the tree in which it is an
// inner node, a parent in the other. So at most four connections share a direction of its link, and max-min
// fairness gives each of them at least rate/4. (2) What goes up is never behind what comes down in the queue
// of a connection: a connection carries both only from a leaf of one tree to its parent there which is its
// child in the other, and a leaf hands over all that goes up at once, first of all. (3) So a link of a tree
// needs at most 4c / rate for a chunk that is its turn: chunk i has come up h levels after at most h ·
// latency + (h + i) · 4c / rate, and all are at the roots after U = D · latency + (D + C − 1) · 4c / rate.
// (4) From then on nothing goes up: at most two connections share a direction of a link (to two children,
// from two parents), each has at least rate/2, and nobody waits but for the chunk from above. So chunk i is
// down h levels after U + h · latency + (h + i) · 2c / rate.
#pragma once

#include "net/collectives/collective.h"

namespace longhaul {

std::unique_ptr<Collective> make_double_tree();

}  // namespace longhaul
