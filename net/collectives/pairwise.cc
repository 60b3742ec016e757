// Pairwise all-to-all: every member has a part for each other one, and they meet two by two: in round r =
// 1 … n − 1 member m sends to m + r its part and receives from m − r. No member is ever sent to by two.
//
// Part j of member i's contribution is for member j; its own part stays. Idle star, exact where all parts are
// B/n: (n−1) · (latency + (B/n) / rate), each member sends (n−1)/n · B. Where they differ, a round takes at
// most what its largest part does.
#include "core/base/index.h"
#include "net/collectives/collective.h"

namespace longhaul {
namespace {

class Pairwise : public Collective {
 public:
  Pairwise()
      : Collective("pairwise",
                   "all-to-all, a part from each member to each other one, in n-1 rounds of one message; no "
                   "all-reduce",
                   Unit::kNone, Shape::kOther, Purpose::kAllToAll) {}
  int rounds(const GroupExchange& exchange) const override { return exchange.members - 1; }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    const int n = exchange.members, to = (member + index + 1) % n, from = (member + n - index - 1) % n;
    Round round;
    add_part_between(round.sends, exchange, to, member, to);
    add_part_between(round.receives, exchange, from, from, member);
    return round;
  }

  // Without the places of the parts, which cost a sum each.
  Totals totals(const GroupExchange& exchange) const override {
    Totals totals;
    const int n = exchange.members;
    for (int from = 0; from < n; ++from)
      for (int to = 0; to < n; ++to) {
        const std::int64_t bytes = exchange.parts.empty()
                                       ? part_between(exchange, from, to).bytes
                                       : exchange.parts[as_index(from * std::int64_t{n} + to)];
        if (from == to || bytes == 0) continue;
        ++totals.transfers;
        totals.bytes += bytes;
      }
    return totals;
  }
};

}  // namespace

const MakeCollective make_pairwise = make_collective<Pairwise>;

}  // namespace longhaul
