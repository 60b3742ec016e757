// Pipelined double binary tree all-reduce (Sanders, Speck, Träff, "Two-tree algorithms for full bandwidth
// broadcast, reduction and scan", Parallel Computing 35, 2009).
//
// Two binary trees over all members, each for one half of the vector. In the first the members with an odd
// number are inner nodes; the second is the same tree moved on by one member, so that every member is an
// inner node in at most one of them. A half is cut into C chunks of at most 512 KiB (a step of NCCL's buffers),
// but at most 256; as in NCCL a small vector is cut further, here into 8 chunks for each of ceil(log2 n) levels
// as long as they have 64 KiB. A chunk goes up as soon as both children's have arrived and been added. The root sends down
// when its whole half is complete, and from there on a chunk goes down as soon as it has arrived. With n = 3 it sends each chunk down at once.
//
// Why the root waits: an inner node has two connections each way while sums go up (in: two children; out: its
// parent and its parent as a leaf of the other tree), and two while results come down. Each of the phases then
// fills the links with B, which is the least for 2 · B. A root that turns chunks round at once mixes the two:
// the four connections share the links evenly, but not everybody has four, so that some wait while their links
// idle. That took 2.4 to 2.7 · B / rate (but 1.5 with n = 3, where it stays).
//
// A member sends up to 2 · B (up once and down twice as an inner node, up once as a leaf, B/2 each).
// Idle star, an upper bound for n > 2, with D levels of links in a tree (about log2 n) and chunks of c bytes:
// 2D · latency + 4 · (D + C − 1) · c / rate + (D − 1) · (latency / 2 + c / rate), which is 2 · B / rate, 5 · (D −
// 1) · c / rate for the filling of the pipelines, and latencies. n = 2, exact: 2 · latency + B / rate.
//
// Proof. (1) Up: at most two connections share a direction of a link, so that max-min fairness gives each at
// least rate/2, and a connection carries its chunks in their order. So without anything going down chunk i is h
// levels up after at most h · latency + (h + i) · 2c / rate, and all are at the roots after U = D · latency + (D +
// C − 1) · 2c / rate. (2) No root begins before latency + B / rate: in each tree some node has two children (n >
// 2), whose B comes over its one link. That is at most (D − 1) · (latency + 2c / rate) before U. (3) If one root
// begins earlier than the other, a third connection shares links with what still goes up: at most two going down
// from a member, or one to it. What takes rate/2 may take rate/3, half as long again, so that all are up after U
// + (D − 1) · (latency / 2 + c / rate). (4) Down: from then on at most two connections share a direction (to two
// children, from two parents), and chunk i is h levels down after h · latency + (h + i) · 2c / rate more. n = 3:
// a member has two peers, so that each connection has rate/2; the C chunks that go up on it are handed over at
// once and before the C that go down.
#pragma once

#include "net/collectives/collective.h"

namespace longhaul {

std::unique_ptr<Collective> make_double_tree();

}  // namespace longhaul
