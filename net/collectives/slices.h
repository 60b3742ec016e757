// Slices: how the messages of a collective are cut, so that a member passes a slice on as soon as it has
// arrived while it still receives the next one.
//
// The program of a collective is walked once for each slice: walk k carries slice k of every message, in its
// own rounds. The walks know of each other by the connections alone, on which they queue in the order in
// which they hand over. That is the data dependence where all messages carry whole units (a chunk of a ring,
// the vector of a tree): slice k of a unit depends on nothing but slices k (Collective::unit_bytes).
// Collectives that halve what they carry or await one message before the next (halving-doubling,
// recursive-doubling, hierarchical, root, serial) and double-tree, which has chunks of its own, stay as they
// are.
//
// A sliced tree is a pipelined tree: it does not wait until its messages are delivered.
#pragma once

#include "core/scenario/case.h"
#include "net/collectives/collective.h"

namespace longhaul {

// Into how many slices each message of the exchange is cut, at least 1.
//   kBytes  equal slices of at most so many bytes.
//   kNccl   ring, and all-gather and reduce-scatter around one: 1 MiB; trees: 512 KiB; others, single sends
//           of NCCL's: 128 KiB.
//   kGloo   the same rings: at most 1 MiB, at least two; all others whole.
// Where these figures come from: docs/reference/collectives.md.
int slice_count(const SliceSpec& spec, const Collective& collective, const GroupExchange& exchange);

// Slice `index` of `count` of every message of the round; empty ones are left out.
Round slice_of(const Round& round, int index, int count);

// Throws InputError where an exchange would be cut into more slices than a replay can follow.
void check_slices(const SliceSpec& spec, const Collective& collective, const GroupExchange& exchange);

}  // namespace longhaul
