// Group average tensor by tensor: everybody sends its tensor to all others of the group and begins the next
// one when all of this one has arrived, its own included. With Δ and φ and n = 2 that is two message times in
// series, each the longer of the two directions: the 2 · max(t1, t2) that the NoLoCo paper counts for a pair
// (arXiv 2506.10911), where the symmetric exchange `pair` needs one.
//
// A member sends (n − 1) · B. Idle star, exact: tensors · latency + (n − 1) · B / rate.
#include <algorithm>

#include "net/collectives/collective.h"

namespace longhaul {
namespace {

class SerialPair : public Collective {
 public:
  SerialPair()
      : Collective(
            "serial",
            "group average tensor by tensor, each sent to all others of the group and awaited: the NoLoCo "
            "paper's two messages for a pair",
            Unit::kNone, Shape::kOther, Purpose::kAverage) {}
  int rounds(const GroupExchange& exchange) const override { return exchange.tensors; }
  bool awaits_delivery() const override { return true; }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    Round round;
    for (int peer = 0; peer < exchange.members; ++peer)
      if (peer != member)
        for (std::vector<Message>* messages : {&round.sends, &round.receives})
          add_part(*messages, peer, exchange.bytes, index, exchange.tensors, true);
    return round;
  }

  Totals totals(const GroupExchange& exchange) const override {
    const std::int64_t pairs = std::int64_t{exchange.members} * (exchange.members - 1);
    return {pairs * std::min<std::int64_t>(exchange.tensors, exchange.bytes), pairs * exchange.bytes};
  }
};

}  // namespace

const MakeCollective make_serial_pair = make_collective<SerialPair>;

}  // namespace longhaul
