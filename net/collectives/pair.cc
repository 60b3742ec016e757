// The average of a small group, as NoLoCo's paper describes it: two replicas send each other their whole
// contribution at once and both average; a larger group runs a ring among its members.
//
// n = 2: each sends B. Idle star, exact, in slices or not: latency + B / rate. n > 2: as ring.
#include "net/collectives/collective.h"

namespace longhaul {
namespace {

class PairAverage : public Collective {
 public:
  PairAverage()
      : Collective(
            "pair",
            "group average by one symmetric exchange of whole contributions; a ring within groups of more "
            "than two",
            Unit::kNone, Shape::kOther, Purpose::kAverage) {}
  Shape shape(int members) const override { return members > 2 ? Shape::kRing : Shape::kOther; }
  int rounds(const GroupExchange& exchange) const override {
    return exchange.members == 2 ? 1 : ring_->rounds(exchange);
  }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    if (exchange.members > 2) return ring_->round(exchange, member, index);
    Round round;
    add_message(round.sends, 1 - member, 0, exchange.bytes, true);
    add_message(round.receives, 1 - member, 0, exchange.bytes, true);
    return round;
  }

  Totals totals(const GroupExchange& exchange) const override {
    if (exchange.members > 2) return ring_->totals(exchange);
    return {exchange.bytes > 0 ? 2 : 0, 2 * exchange.bytes};
  }

  std::int64_t unit_bytes(const GroupExchange& exchange) const override {
    return exchange.members > 2 ? ring_->unit_bytes(exchange) : exchange.bytes;
  }

 private:
  std::unique_ptr<Collective> ring_ = make_ring();
};

}  // namespace

const MakeCollective make_pair_average = make_collective<PairAverage>;

}  // namespace longhaul
