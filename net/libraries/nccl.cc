// NCCL between hosts of one GPU each, over TCP sockets: read from NVIDIA/nccl 2.30.7 (June 2026), not run.
//
// Two channels (graph/connect.cc doubles the one ring that the search finds), each with a connection of its
// own: interfaces of AWS and Google have more, others one (transport/net_socket.cc). A channel has a buffer
// of 4 MiB in 8 steps for what is under way (init.cc, include/device.h). Nothing is announced: what the
// receiver's buffers hold leaves at once.
//
// All-reduce by a ring, protocol Simple: the vector goes in loops of n chunks of 4 steps a channel, 2 MiB,
// one loop after another (device/all_reduce.h); a chunk is passed on in two slices. So no more than two
// slices of a channel are under way: a round takes max(2 s, L + s) with one way L and s of a slice of all
// channels, and over 100 ms round trip two channels carry at most some 500 Mb/s whatever the link has.
// Vectors of less than that many chunks are cut evenly. Protocol LL, for small vectors: chunks of 32 KiB,
// each byte of which is two on the wire. A tree, for small vectors among many: chunks of one step go up a
// double tree and down again.
//
// Which of them: the least of latency + bytes / rate as NCCL's own model has it (graph/tuning.cc). With one
// GPU a host a round counts 5 µs (LL) or 14 µs (Simple) there however far the hosts are, so between sites
// nearly everything is a ring, where a tree would take a fraction of the round trips. The interface's rate is
// taken for 10 Gb/s, as NCCL takes it where the system does not say. Compute capability 9, processors of
// Intel.
//
// All-gather and reduce-scatter: rings of the same loops. (The logarithmic PAT, on since 2.23 for one GPU a
// host, is not modelled.) Sends and group averages: chunks of 128 KiB (NCCL_P2P_NET_CHUNKSIZE).
#include <algorithm>
#include <cmath>

#include "net/library.h"

namespace longhaul {
namespace {

constexpr std::int64_t kNcclKiB = 1024;
constexpr int kChannels = 2;
constexpr std::int64_t kSimpleChunk = 2048 * kNcclKiB, kSimpleSlice = 1024 * kNcclKiB,
                       kLowLatencyChunk = 32 * kNcclKiB;

enum class Protocol { kLowLatency, kSimple };

// graph/tuning.cc, of one GPU a host: seconds that NCCL expects.
class TunerModel {
 public:
  explicit TunerModel(int ranks) : ranks_(ranks) {}

  double ring_s(Protocol protocol, double bytes) const {
    const bool is_simple = protocol == Protocol::kSimple;
    const double rounds = 2. * (ranks_ - 1);
    double latency_us =
        (is_simple ? 8.4 : 6.6) + rounds * (is_simple ? kSimpleRound_us : kLowLatencyRound_us);
    // Short vectors of protocol Simple are penalized (ncclTopoGetAlgoTime).
    if (is_simple && bytes / (kChannels * ranks_) >= 64) latency_us *= 1.4;
    const double rate = kInterface * (is_simple ? 1 : 0.5) * ranks_ / rounds;
    return 1e-6 * latency_us + bytes / rate;
  }

  double tree_s(Protocol protocol, double bytes) const {
    const bool is_simple = protocol == Protocol::kSimple;
    const double latency_us =
        (is_simple ? 8.4 : 6.8) +
        2 * std::floor(std::log2(ranks_)) * (is_simple ? kSimpleRound_us : kLowLatencyRound_us);
    double rate = kInterface * 0.92 * 0.85 / 2;
    if (!is_simple) rate /= 3.8;
    return 1e-6 * latency_us + bytes / (rate * correction(protocol, bytes));
  }

 private:
  static constexpr double kInterface = 1.2e9;  // bytes/s, the table's speed below 10 Gb/s
  static constexpr double kLowLatencyRound_us = 5, kSimpleRound_us = 14;

  // By powers of two from 64 B.
  static double correction(Protocol protocol, double bytes) {
    static constexpr double kLowLatency[24] = {1,  1,  1,  1,  .9, .8, .7, .7, .7, .7, .6, .5,
                                               .4, .4, .5, .6, .7, .8, .9, 1,  1,  1,  1,  1};
    static constexpr double kSimple[24] = {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
                                           .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9};
    const double log = std::floor(std::log2(bytes / 64));
    if (log < 0 || log >= 23) return 1;
    return (protocol == Protocol::kSimple ? kSimple : kLowLatency)[static_cast<int>(log)];
  }

  const int ranks_;
};

MessageRules at_once(int posted) {
  MessageRules rules;
  rules.start = MessageStart::kAtOnce;
  rules.posted = posted;
  rules.awaits_sends = false;
  return rules;
}

// Loops of at most `chunk` a member and channel, each passed on in two slices.
Lowering ring_of(const Collective& collective, std::int64_t unit, std::int64_t chunk) {
  Lowering lowering{&collective};
  lowering.loops = static_cast<int>(std::max<std::int64_t>(1, largest_part(unit, kChannels * chunk)));
  lowering.slices = unit / lowering.loops >= 2 ? 2 : 1;
  lowering.rules = at_once(lowering.slices);
  return lowering;
}

Lowering all_reduce(const LibraryCall& call) {
  const GroupExchange& exchange = call.exchange;
  const std::int64_t unit = largest_part(exchange.bytes, exchange.members);
  const auto bytes = static_cast<double>(exchange.bytes);
  const TunerModel model(exchange.members);
  const double times[] = {model.ring_s(Protocol::kSimple, bytes), model.ring_s(Protocol::kLowLatency, bytes),
                          model.tree_s(Protocol::kSimple, bytes), model.tree_s(Protocol::kLowLatency, bytes)};
  const auto best = std::min_element(std::begin(times), std::end(times)) - std::begin(times);
  if (best >= 2) {
    Lowering lowering{&find_collective("double-tree")};
    lowering.rules = at_once(1);
    return lowering;
  }
  if (best == 0) return ring_of(find_collective("ring"), unit, kSimpleChunk);
  Lowering lowering = ring_of(find_collective("ring"), unit, kLowLatencyChunk);
  lowering.slices = 1;
  lowering.rules = at_once(1);
  lowering.rules.wire_factor = 2;
  return lowering;
}

Lowering nccl_lowering(const LibraryCall& call) {
  const GroupExchange& exchange = call.exchange;
  const std::int64_t part = largest_part(exchange.bytes, exchange.members);
  switch (call.kind) {
    case OperationKind::kAllReduce:
      if (call.collective == kLibraryChoice) return all_reduce(call);
      if (call.collective == "ring") return ring_of(find_collective("ring"), part, kSimpleChunk);
      break;
    case OperationKind::kReduceScatter:
      return ring_of(find_collective(call.collective), part, kSimpleChunk);
    case OperationKind::kAllGather:
      return ring_of(find_collective(call.collective), exchange.bytes, kSimpleChunk);
    default:
      break;
  }
  Lowering lowering{&find_collective(call.collective)};
  lowering.rules = at_once(call.kind == OperationKind::kAllToAll ? 0 : 1);
  return lowering;
}

}  // namespace

Library nccl_library() {
  return {"nccl",
          "one GPU a host over sockets: rings in loops of 2 MiB a channel, of which two slices are under way",
          "2.30.7, from its source", kChannels, nccl_lowering, 0.1};  // the 24 figures of tc-cluster-*
}

}  // namespace longhaul
