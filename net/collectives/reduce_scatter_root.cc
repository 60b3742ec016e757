// Reduce, then scatter: all send their vectors to member 0, one after another from the last, and it sends
// each its part of the sum, as Open MPI 4.1.4 does with large vectors among few
// (coll_base_reduce_scatter_block.c, basic_linear; coll_base_reduce.c and coll_base_scatter.c, linear).
//
// Member 0 sends (n−1)/n · B, the others B. Idle star, exact up to the rounding of parts:
// 2 latency + (n−1) · (1 + 1/n) · B/rate.
#include "net/collectives/collective.h"

namespace longhaul {
namespace {

class ReduceScatterRoot : public Collective {
 public:
  ReduceScatterRoot()
      : Collective("reduce-scatter-root",
                   "each member gets the sum of its 1/n of the vector from the first one, which has all "
                   "vectors; no all-reduce",
                   Unit::kNone, Shape::kOther, Purpose::kReduceScatter) {}
  int rounds(const GroupExchange& exchange) const override { return 2 * (exchange.members - 1); }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    const int n = exchange.members;
    const bool reduces = index < n - 1;
    const int other = reduces ? n - 1 - index : index - (n - 1) + 1;
    Round round;
    if (member != 0 && member != other) return round;
    const int peer = member == 0 ? other : 0;
    std::vector<Message>& messages = reduces == (member != 0) ? round.sends : round.receives;
    if (reduces)
      add_message(messages, peer, 0, exchange.bytes, true);
    else
      add_part(messages, peer, exchange.bytes, other, n, false);
    return round;
  }
};

}  // namespace

const MakeCollective make_reduce_scatter_root = make_collective<ReduceScatterRoot>;

}  // namespace longhaul
