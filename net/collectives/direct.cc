// Direct all-reduce: each member reduces 1/n of the vector, all to all.
//
// The vector is cut into n parts, part i being bytes floor(iB/n) … floor((i+1)B/n), owned by member i. In the
// first round everyone sends its share of each part to the owner, in the second the owner sends the result to
// all. Each member sends 2(n−1)/n · B, as in a ring, but in two rounds; n(n−1) transfers run at once.
// Idle star, exact up to the rounding of parts: 2 · (latency + (n−1)/n · B / rate). In S slices, exact:
// latency + q + max(q, latency + q/S) with q = (n−1)/n · B / rate.
#include <algorithm>

#include "net/collectives/collective.h"

namespace longhaul {
namespace {

class Direct : public Collective {
 public:
  Direct()
      : Collective("direct", "all-reduce in two rounds, all to all: each member reduces 1/n of the vector",
                   Unit::kChunk) {}
  int rounds(const GroupExchange&) const override { return 2; }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    const bool reduces = index == 0;
    Round round;
    // Everyone begins with its successor, so that no owner is first in every list.
    for (int distance = 1; distance < exchange.members; ++distance) {
      const int peer = (member + distance) % exchange.members;
      const int sent = reduces ? peer : member, received = reduces ? member : peer;
      add_part(round.sends, peer, exchange.bytes, sent, exchange.members, reduces);
      add_part(round.receives, peer, exchange.bytes, received, exchange.members, reduces);
    }
    return round;
  }

  // Each part that is not empty is sent n − 1 times to its owner and n − 1 times back.
  Totals totals(const GroupExchange& exchange) const override {
    const std::int64_t n = exchange.members;
    return {2 * (n - 1) * std::min(exchange.bytes, n), 2 * (n - 1) * exchange.bytes};
  }
};

}  // namespace

const MakeCollective make_direct = make_collective<Direct>;

}  // namespace longhaul
