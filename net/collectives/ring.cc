// Ring all-reduce: reduce-scatter, then all-gather, around the ring 0 → 1 → … → n − 1 → 0.
//
// The vector is cut into n chunks, chunk i being bytes floor(iB/n) … floor((i+1)B/n). In round k of the first
// n − 1 member m sends chunk m − k, added up so far, to its successor; in round k of the second n − 1 it
// passes on the finished chunk m + 1 − k. Each member sends about 2(n−1)/n · B. Idle star, exact up to the
// rounding of chunks: 2(n−1) · (latency + (B/n) / rate). In S slices, exact: latency + c / rate +
// (2(n−1) − 1) · max(c / rate, latency + (c/S) / rate) with c = B/n: a member begins a round when it has sent
// the one before, but not before the first slice of it has come.
#include "net/collectives/collective.h"

namespace longhaul {
namespace {

class Ring : public Collective {
 public:
  Ring()
      : Collective("ring", "all-reduce in 2(n-1) rounds of 1/n of the vector: least bytes, most latency",
                   Unit::kChunk, Shape::kRing) {}
  int rounds(const GroupExchange& exchange) const override { return 2 * (exchange.members - 1); }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    const int n = exchange.members;
    const bool reduces = index < n - 1;
    const int step = reduces ? index : index - (n - 1);
    const int sent = member - step + (reduces ? 0 : 1);
    Round round;
    add_chunk(round.sends, exchange, (member + 1) % n, sent, reduces);
    add_chunk(round.receives, exchange, (member + n - 1) % n, sent - 1, reduces);
    return round;
  }

  // The chunks of one round are all different: together the members send the vector once a round.
  Totals totals(const GroupExchange& exchange) const override {
    const std::int64_t n = exchange.members;
    return {rounds(exchange) * (exchange.bytes < n ? exchange.bytes : n), rounds(exchange) * exchange.bytes};
  }

 private:
  static void add_chunk(std::vector<Message>& messages, const GroupExchange& exchange, int peer, int chunk,
                        bool reduces) {
    const int n = exchange.members, index = (chunk % n + n) % n;
    const std::int64_t whole = exchange.bytes / n, left = exchange.bytes % n * index;
    // part_begin() of this chunk and of the next, with half the divisions: they are a twentieth of a long
    // ring.
    const std::int64_t begin = whole * index + left / n;
    const std::int64_t carry = left % n + exchange.bytes % n >= n ? 1 : 0;
    add_message(messages, peer, begin, begin + whole + carry, reduces);
  }
};

}  // namespace

const MakeCollective make_ring = make_collective<Ring>;

}  // namespace longhaul
