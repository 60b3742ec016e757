// Pairwise reduce-scatter: member m ends up with part m of the sum. In round r = 1 … n − 1 it sends member m
// + r that one's part of its own contribution, and gets its own part of member m − r's: MPICH 5.0.1 for large
// vectors (reduce_scatter_block_intra_pairwise.c).
//
// Each member sends (n−1)/n · B. Idle star, exact up to the rounding of parts: (n−1) · (latency + (B/n) /
// rate).
#include "net/collectives/collective.h"

namespace longhaul {
namespace {

class ReduceScatterPairwise : public Collective {
 public:
  ReduceScatterPairwise()
      : Collective("reduce-scatter-pairwise",
                   "each member gets the sum of its 1/n of the vector, from each other one its part; no "
                   "all-reduce",
                   Unit::kNone, Shape::kOther, Purpose::kReduceScatter) {}
  int rounds(const GroupExchange& exchange) const override { return exchange.members - 1; }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    const int n = exchange.members, to = (member + index + 1) % n, from = (member + n - index - 1) % n;
    Round round;
    add_part(round.sends, to, exchange.bytes, to, n, true);
    add_part(round.receives, from, exchange.bytes, member, n, true);
    return round;
  }
};

}  // namespace

const MakeCollective make_reduce_scatter_pairwise = make_collective<ReduceScatterPairwise>;

}  // namespace longhaul
