// A library that nobody has: it writes a quarter of a second before each operation, takes a ring for every
// all-reduce, whatever its size, and sends each chunk in cards of at most 1000 bytes, two on their way.
#include "net/library.h"

namespace longhaul {
namespace {

Lowering postcards_lowering(const LibraryCall& call) {
  Lowering lowering{&asked_or(call, find_collective("ring"))};
  const std::int64_t unit = lowering.collective->unit_bytes(call.exchange);
  lowering.slices = static_cast<int>(largest_part(unit, 1000));
  lowering.rules.start = MessageStart::kAtOnce;
  lowering.rules.posted = 2;
  lowering.rules.operation_s = 0.25;
  return lowering;
}

}  // namespace

Library postcards_library() {
  return {"postcards", "cards of 1000 bytes, two on their way", "none", 3, postcards_lowering};
}

}  // namespace longhaul
