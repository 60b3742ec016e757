// Prime Intellect's PCCL, read from its source of May 2025 (commit 7815195, ccoip/src/cpp/reduce.cpp); not
// measured.
//
// An all-reduce is a ring of n chunks in 2 (n − 1) rounds. A round hands its chunk to the kernel in pieces of
// 64 MiB, with 24 bytes before each, and waits for the chunk from the other side; a packet is passed on when
// all of it has come. So nothing is pipelined from round to round. An operation uses one of the pool of
// connections of a pair; only operations that run beside each other use several. Not here: the votes at the
// master before and after each operation, a round trip to it each; it is no member.
#include "net/library.h"

namespace longhaul {
namespace pccl {
namespace {

Lowering lower(const LibraryCall& call) {
  Lowering lowering;
  lowering.collective = &asked_or(call, find_collective("ring"));
  lowering.rules.start = MessageStart::kAtOnce;
  lowering.rules.header_bytes = 24;  // length, tag, counter
  return lowering;
}

}  // namespace
}  // namespace pccl

Library pccl_library() {
  return {"pccl", "Prime Intellect's PCCL: a ring of whole chunks, one round after another",
          "commit 7815195 of May 2025, read", 1, pccl::lower};
}

}  // namespace longhaul
