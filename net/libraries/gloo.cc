// Gloo, as torch.distributed runs it on CPUs: measured with torch 2.15.0; read from pytorch/gloo of April
// 2026 (gloo/allreduce.cc, allgather.cc, alltoall.cc, transport/tcp/pair.cc).
//
// A message leaves its sender only after the receiver's announcement of it, a note of 48 bytes that the
// receiver sends when it posts the receive; so each message costs a whole round trip and not one way. Data
// has a header of 48 bytes. There is one connection between any two ranks, made when the group is.
//
// All-reduce: a ring at every size. Each of its n chunks is cut into S = max(2, ceil(B / (n · 1 MiB)))
// segments, of which two are under way: the receive of a segment is posted when the one two before it has
// come. The reduce-scatter ends before the all-gather begins. Idle star, one way L, s of a segment: about (n
// − 1) · S · max(2 s, 2 L + s) + min(2 s, 4 L). Among two the next announcement waits behind the data of the
// same connection, which the thread of the sockets sends before the program is awake: (n − 1) · S · (2 L + 2
// s). All-gather: a ring, each contribution in two halves, of which two are under way. Segments have whole
// numbers (gloo/allreduce.cc): of a vector with fewer numbers than segments the others are empty and not
// sent. So one number goes round in 2 (n − 1) hops, whose announcements are mostly there already.
// Reduce-scatter: torch 2.15 lets Gloo run an all-reduce of the whole vector and keeps a part of the result.
// All-to-all: everything is posted at once.
#include "net/libraries/gloo.h"

#include <algorithm>

namespace longhaul {
namespace {

constexpr std::int64_t kMostSegment = 1 << 20;  // gloo/allreduce.h, kMaxSegmentSize
// The 1 KiB rows of results/reference/libraries/ take 1.0 ms a round trip longer than their path; half of it
// is taken for the library, the rest for the relay between the namespaces.
constexpr double kWake_s = 5e-4;
constexpr int kWorkers = 2;  // torch's ProcessGroupGloo: threads of a group, each of which runs one operation

MessageRules announced(int posted) {
  MessageRules rules;
  rules.start = MessageStart::kAnnounced;
  rules.posted = posted;
  rules.header_bytes = rules.note_bytes = 48;  // transport/tcp/pair.h, the preamble
  rules.wake_s = kWake_s;
  return rules;
}

// What a vector of so many bytes is likely made of: float32, or two bytes each.
std::int64_t number_bytes(std::int64_t bytes) {
  return bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
}

int segments_of_ring(const GroupExchange& exchange) {
  return static_cast<int>(
      std::max<std::int64_t>(2, largest_part(exchange.bytes, exchange.members * kMostSegment)));
}

}  // namespace

Lowering gloo_lowering(const LibraryCall& call) {
  const GroupExchange& exchange = call.exchange;
  Lowering lowering;
  lowering.rules = announced(2);
  lowering.rules.number_bytes = number_bytes(exchange.bytes);
  switch (call.kind) {
    case OperationKind::kAllReduce:
    case OperationKind::kReduceScatter:
      lowering.collective = call.kind == OperationKind::kReduceScatter
                                ? &find_collective("ring")
                                : &asked_or(call, find_collective("ring"));
      if (lowering.collective->shape(exchange.members) == Collective::Shape::kRing) {
        lowering.slices = segments_of_ring(exchange);
        lowering.rules.drained_rounds = exchange.members - 1;
        return lowering;
      }
      break;
    case OperationKind::kAllGather:
      lowering.collective = &find_collective(call.collective);
      lowering.slices = 2;
      return lowering;
    case OperationKind::kAllToAll:
      lowering.collective = &find_collective(call.collective);
      lowering.rules.posted = 0;
      return lowering;
    default:
      lowering.collective = &find_collective(call.collective);
  }
  // Programs of others (sends of a method's own, an algorithm that the scenario asks for): a round at a time.
  lowering.rules.posted = 1;
  return lowering;
}

Library gloo_library() {
  return {"gloo",
          "torch.distributed on CPUs: rings whose every segment waits for its receiver's announcement",
          "torch 2.15.0",
          1,
          gloo_lowering,
          0.07,  // results/reference/libraries: cold calls
          kWorkers};
}

}  // namespace longhaul
