// Open MPI over TCP (pml ob1, btl tcp), read from its source at 4.1.4 and 5.0.10, measured at 4.1.4
// and 5.0.11.
//
// Algorithms: the fixed rules of coll/tuned, the same in both versions (ompi/mca/coll/tuned/
// coll_tuned_decision_fixed.c); by bytes of the vector for all-reduce, of one part for the others. Segments
// are off (size 0), which makes a "segmented ring" a plain one. A ring of fewer elements than members is
// recursive doubling instead. Elements are taken to be of 4 bytes. Not here: "non-overlapping" (128 members
// and more, small vectors) is a tree up and down; butterflies of reduce-scatter are halvings of the same
// bytes; a linear reduce-scatter of 8 and more members is a root's; what 32 and more members gather from
// neighbours is a ring.
//
// Messages (ompi/mca/pml/ob1, opal/mca/btl/tcp): up to btl_tcp_eager_limit, 64 KiB with its header, they
// leave at once. Above that a request goes first, without data, for the TCP BTL counts as one that can put;
// the receiver answers when it has posted the receive; the whole message follows in one piece. So three
// flights. A round is a blocking send beside a posted receive: it is over when what it receives has come and
// its own is with the kernel. An all-to-all is posted at once, without a limit. An answer waits behind data
// that its sender has begun on the same socket: where two partners come into a round one after another, their
// large messages take turns (seen in ss: results/reference/libraries/). There is one connection a
// pair, made at its first message: two round trips (opal/mca/btl/tcp/btl_tcp_endpoint.c).
#include "net/libraries/mpi.h"

namespace longhaul {
namespace open_mpi {
namespace {

constexpr std::int64_t kEagerLimit = 64 * 1024;
constexpr std::int64_t kElement = 4;
// The 1 KiB rows of results/reference/libraries/ take 3 to 5 ms a round longer than their path (eight ranks
// that look at their sockets in turn on two cores); 0.5 ms of it are the relay's.
constexpr double kWake_s = 3e-3;

const std::vector<AlgorithmRule>& all_reduce_rules() {
  static const std::vector<AlgorithmRule> rules = {{4, 8, "ring"},
                                                   {4, 4096, "recursive-doubling"},
                                                   {4, 8192, "ring"},
                                                   {4, 16384, "recursive-doubling"},
                                                   {4, 262144, "ring"},
                                                   {4, kAnySize, "halving-doubling-halves"},
                                                   {8, 16, "ring"},
                                                   {16, 8192, "recursive-doubling"},
                                                   {16, kAnySize, "halving-doubling-halves"},
                                                   {32, 64, "ring"},
                                                   {32, 4096, "recursive-doubling"},
                                                   {32, kAnySize, "halving-doubling-halves"},
                                                   {64, 128, "ring"},
                                                   {64, kAnySize, "halving-doubling-halves"},
                                                   {128, 262144, "recursive-doubling"},
                                                   {128, kAnySize, "halving-doubling-halves"},
                                                   {256, 131072, "tree"},
                                                   {256, 262144, "recursive-doubling"},
                                                   {256, kAnySize, "halving-doubling-halves"},
                                                   {512, 4096, "tree"},
                                                   {512, kAnySize, "halving-doubling-halves"},
                                                   {kAnySize, 2048, "tree"},
                                                   {kAnySize, 16384, "recursive-doubling"},
                                                   {kAnySize, kAnySize, "halving-doubling-halves"}};
  return rules;
}

// MPI_Reduce_scatter_block.
const std::vector<AlgorithmRule>& reduce_scatter_rules() {
  static const std::vector<AlgorithmRule> rules = {
      {4, 131072, "reduce-scatter-halving"},         {4, kAnySize, "reduce-scatter-root"},
      {8, 1048576, "reduce-scatter-halving"},        {8, kAnySize, "reduce-scatter-root"},
      {16, 524288, "reduce-scatter-halving"},        {16, 4194304, "reduce-scatter-root"},
      {32, 524288, "reduce-scatter-halving"},        {32, 2097152, "reduce-scatter-root"},
      {kAnySize, kAnySize, "reduce-scatter-halving"}};
  return rules;
}

const std::vector<AlgorithmRule>& all_gather_rules() {
  static const std::vector<AlgorithmRule> rules = {{32, kAnySize, "all-gather-doubling"},
                                                   {64, 1024, "all-gather-doubling"},
                                                   {kAnySize, 512, "all-gather-doubling"},
                                                   {kAnySize, kAnySize, "all-gather"}};
  return rules;
}

MessageRules message_rules() {
  MessageRules rules;
  rules.start = MessageStart::kRendezvous;
  rules.opens_late = true;
  rules.wake_s = kWake_s;
  rules.header_bytes = 8 + 14;  // mca_btl_tcp_hdr_t, match header
  rules.note_bytes = 8 + 32;    // the rendezvous header
  rules.eager_bytes =
      kEagerLimit - 64;  // the largest header goes off: pml_ob1_sendreq.h, sizeof(mca_pml_ob1_hdr_t)
  return rules;
}

Lowering lower(const LibraryCall& call) {
  const GroupExchange& exchange = call.exchange;
  const int n = exchange.members;
  const std::int64_t part = largest_part(exchange.bytes, n);
  Lowering lowering;
  lowering.rules = message_rules();
  switch (call.kind) {
    case OperationKind::kAllReduce: {
      const char* chosen = algorithm(all_reduce_rules(), n, exchange.bytes);
      if (exchange.bytes < n * kElement) chosen = "recursive-doubling";
      lowering.collective = &asked_or(call, find_collective(chosen));
      break;
    }
    case OperationKind::kReduceScatter:
      lowering.collective = &find_collective(algorithm(reduce_scatter_rules(), n, part));
      break;
    case OperationKind::kAllGather:
      lowering.collective = &find_collective(algorithm(all_gather_rules(), n, exchange.bytes));
      break;
    case OperationKind::kAllToAll: {
      const bool is_tiny = (n >= 16 && part < 512) || (n >= 64 && part < 1024);
      const bool is_paired =
          (n >= 4 && n < 8 && part >= 524288 && part < 1048576) || (n >= 64 && part >= 262144);
      lowering.collective = &find_collective(is_tiny ? "bruck" : "pairwise");
      lowering.rules.posted = is_tiny || is_paired ? 1 : 0;
      break;
    }
    default:
      lowering.collective = &find_collective(call.collective);
  }
  return lowering;
}

}  // namespace
}  // namespace open_mpi

Library open_mpi_library() {
  return {
      "open-mpi",
      "Open MPI over TCP: halving and doubling; each message above 64 KiB is a rendezvous of three flights",
      "4.1.4 and 5.0.11", 1, open_mpi::lower};
}

}  // namespace longhaul
