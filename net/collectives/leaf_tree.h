// All-reduce over an unpipelined complete binary tree whose leaves are the members: the tree of the NoLoCo
// paper's latency figure (arXiv 2506.10911, Fig. 5A), in which both children of a node really send.
//
// In level l the node at k covers the members [k · 2^l, (k + 1) · 2^l); a node with nothing on its right is
// its left child. The n − 1 nodes that add are known by the first member on their right, b = 1 … n − 1, and
// live at member (b + 1) mod n: each member has at most one, and none of its children is at the same member,
// so that 2(n − 1) messages of B bytes go up and as many come down. With two members there is no third, and
// one of them receives from the other and returns the sum.
//
// A member sends B as a leaf and up to 3 · B as a node (up, and down to two children).
// Idle star: 2 · ceil(log2 n) · (latency + 2 · B / rate), exact for n = 4, 8, 16, …, otherwise an upper bound
// (n = 2: 2 · (latency + B / rate)). On links of their own the 2 · B are B: with a message time of t and no
// spread 2 · t · log2 n.
//
// In S slices of s bytes the tree is pipelined. Idle star: exact for n = 2, 2 · latency + (S + 1) · s / rate;
// otherwise an upper bound, with D = ceil(log2 n): 2D · latency + (2S + 2D) · 6 s / rate. Proof as in tree.h,
// with two additions: a leaf hands over all its slices at once, and a node at the same member may stand behind
// them (S slices more, once, because they are all sent from the beginning on); and a parent may send two results
// a slice to one member, on one connection of three.
#pragma once

#include "net/collectives/collective.h"

namespace longhaul {

std::unique_ptr<Collective> make_leaf_tree();

}  // namespace longhaul
