// hivemind, as its averagers run it: measured at 1.1.12; hivemind/averaging/allreduce.py and partition.py.
//
// Each of n peers reduces an n-th of the vector, in parts of 512 KiB. A peer sends all parts to all others at
// once, in their order, and waits for nothing. A reducer that has part k of all peers returns it to all.
// Everything between two peers shares one connection of the libp2p daemon. Not here: the time to find a
// group, and shares that follow a bandwidth that peers declare (docs/libraries.md).
#include <algorithm>

#include "net/library.h"

namespace longhaul {
namespace hivemind {
namespace {

constexpr std::int64_t kPart = 512 * 1024;

Lowering lower(const LibraryCall& call) {
  Lowering lowering;
  lowering.collective = &asked_or(call, find_collective("direct"));
  lowering.rules.start = MessageStart::kAtOnce;
  lowering.rules.awaits_sends = false;
  if (lowering.collective->name() == "direct") {
    const std::int64_t share = largest_part(call.exchange.bytes, call.exchange.members);
    lowering.slices = static_cast<int>(std::max<std::int64_t>(1, largest_part(share, kPart)));
    // A part goes back when it has come from all, which is `slices` steps later.
    lowering.rules.posted = lowering.slices;
  }
  return lowering;
}

}  // namespace
}  // namespace hivemind

Library hivemind_library() {
  return {"hivemind", "hivemind's averagers: each peer reduces its share in parts of 512 KiB, all at once",
          "1.1.12", 1, hivemind::lower};
}

}  // namespace longhaul
