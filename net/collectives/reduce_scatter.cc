// Ring reduce-scatter: member m ends up with part m of the sum of all contributions. The first half of a ring
// all-reduce, and how ZeRO-3 reduces its gradients.
//
// Part i is bytes floor(iB/n) … floor((i+1)B/n). In round k of n − 1 member m sends part m − 1 − k, added up
// so far, to its successor. Each member sends about (n−1)/n · B. Idle star, exact up to the rounding of
// parts: (n−1) · (latency + (B/n) / rate). In S slices, exact: latency + c / rate + (n−2) · max(c / rate,
// latency + (c/S) / rate) with c = B/n.
#include <algorithm>

#include "net/collectives/collective.h"

namespace longhaul {
namespace {

class ReduceScatter : public Collective {
 public:
  ReduceScatter()
      : Collective(
            "reduce-scatter",
            "each member gets the sum of its 1/n of the vector, around a ring in n-1 rounds; no all-reduce",
            Unit::kChunk, Shape::kRing, Purpose::kReduceScatter) {}
  int rounds(const GroupExchange& exchange) const override { return exchange.members - 1; }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    const int n = exchange.members;
    Round round;
    const int sent = (member + n - 1 - index) % n, received = (member + 2 * n - 2 - index) % n;
    add_part(round.sends, (member + 1) % n, exchange.bytes, sent, n, true);
    add_part(round.receives, (member + n - 1) % n, exchange.bytes, received, n, true);
    return round;
  }

  // The parts of one round are all different: together the members send the vector once a round.
  Totals totals(const GroupExchange& exchange) const override {
    const std::int64_t n = exchange.members;
    return {rounds(exchange) * std::min(exchange.bytes, n), rounds(exchange) * exchange.bytes};
  }
};

}  // namespace

const MakeCollective make_reduce_scatter = make_collective<ReduceScatter>;

}  // namespace longhaul
