// MPICH over TCP (ch4:ucx), read from its source at 5.0.1 and UCX's at 1.20, measured with the wheel 5.0.2,
// whose UCX says that it is 1.20.1.
//
// Algorithms: maint/tuning/coll/mpir/generic.json. All-reduce: recursive doubling to 8 bytes and where there
// are fewer elements (of 4 bytes) than p = 2^floor(log2 n), else halving and doubling. Reduce-scatter:
// halving below 512 KiB of all, else pairwise. All-gather: by doubling below 512 KiB of all (80 KiB where n
// is no power of two), else a ring. All-to-all by the bytes of a part: of 8 and more members Bruck's to 256
// B; to 32 KiB all at once, 32 members at a time; else pairwise.
//
// Messages: eager to 2,431,207 bytes, above that a rendezvous: request, answer, and a "put" with a note
// behind it (UCX_PROTO_INFO=y with UCX_TLS=tcp on an interface that says 10 Gb/s; UCX works the limit out
// from what the interface says, not from the path). The request carries no data. A put over TCP is over for
// its sender when the receiver has said so (uct/tcp/tcp_ep.c): three flights for the receiver, a fourth for
// the sender. A round is MPIC_Sendrecv: over when both have come and gone. One connection a pair, made at the
// start.
#include "net/libraries/mpi.h"

namespace longhaul {
namespace mpich {
namespace {

constexpr std::int64_t kElement = 4;
// The 1 KiB rows of results/reference/libraries/ take 2 to 3 ms a round longer than their path (eight ranks
// that look at their sockets in turn on two cores); 0.5 ms of it are the relay's.
constexpr double kWake_s = 2e-3;

MessageRules message_rules() {
  MessageRules rules;
  rules.start = MessageStart::kRendezvous;
  rules.awaits_receipts = true;
  rules.wake_s = kWake_s;
  rules.header_bytes = 5 + 8;  // of TCP's active message, the tag
  rules.note_bytes = 64;
  rules.eager_bytes = 2431207;
  return rules;
}

const char* all_reduce(int members, std::int64_t bytes) {
  const bool is_small = bytes <= 8 || bytes < (kElement << floor_log2(members));
  return is_small ? "recursive-doubling" : "halving-doubling";
}

const char* all_gather(int members, std::int64_t all_bytes) {
  const std::int64_t limit = is_power_of_two(members) ? 524288 : 81920;
  return all_bytes < limit ? "all-gather-doubling" : "all-gather";
}

Lowering lower(const LibraryCall& call) {
  const GroupExchange& exchange = call.exchange;
  const int n = exchange.members;
  const std::int64_t part = largest_part(exchange.bytes, n);
  Lowering lowering;
  lowering.rules = message_rules();
  switch (call.kind) {
    case OperationKind::kAllReduce:
      lowering.collective = &asked_or(call, find_collective(all_reduce(n, exchange.bytes)));
      break;
    case OperationKind::kReduceScatter:
      lowering.collective =
          &find_collective(exchange.bytes < 524288 ? "reduce-scatter-halving" : "reduce-scatter-pairwise");
      break;
    case OperationKind::kAllGather:
      lowering.collective = &find_collective(all_gather(n, n * exchange.bytes));
      break;
    case OperationKind::kAllToAll: {
      const bool is_tiny = n >= 8 && part <= 256;
      lowering.collective = &find_collective(is_tiny ? "bruck" : "pairwise");
      lowering.rules.posted = !is_tiny && part <= 32768 ? 32 : 1;
      break;
    }
    default:
      lowering.collective = &find_collective(call.collective);
  }
  return lowering;
}

}  // namespace
}  // namespace mpich

Library mpich_library() {
  return {"mpich",
          "MPICH over TCP (UCX): halving and doubling; messages to 2.4 MB leave at once",
          "5.0.2 with UCX 1.20.1",
          1,
          mpich::lower,
          0.2};  // results/reference/libraries, all-reduces
}

}  // namespace longhaul
