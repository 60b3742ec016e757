// The group average of the NoLoCo authors' code: each tensor goes to the first member of the group and its
// average comes back, one tensor after the other. With two tensors (Δ and φ) and n = 2 that is four messages
// in series, where a symmetric exchange needs one.
//
// A member other than the root sends B, the root (n−1) · B.
// Idle star, exact: 2 · tensors · latency + 2(n−1) · B / rate; the root's link carries everything.
#include "net/collectives/collective.h"

namespace longhaul {
namespace {

class Root : public Collective {
 public:
  Root()
      : Collective("root",
                   "group average at one member, tensor by tensor there and back (the NoLoCo authors' code)",
                   Unit::kNone, Shape::kOther, Purpose::kAverage) {}
  int rounds(const GroupExchange& exchange) const override { return 2 * exchange.tensors; }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    const bool reduces = index % 2 == 0;
    const int tensor = index / 2;
    Round round;
    if (member > 0) {
      add_part(reduces ? round.sends : round.receives, 0, exchange.bytes, tensor, exchange.tensors, reduces);
    } else {
      for (int peer = 1; peer < exchange.members; ++peer)
        add_part(reduces ? round.receives : round.sends, peer, exchange.bytes, tensor, exchange.tensors,
                 reduces);
    }
    return round;
  }
};

}  // namespace

const MakeCollective make_root = make_collective<Root>;

}  // namespace longhaul
