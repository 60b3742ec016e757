// Bruck's all-to-all: log2(n) rounds in which parts travel on through others, as MPI libraries do with tiny
// parts (MPICH 5.0.1, alltoall_intra_brucks.c; Open MPI 4.1.4, coll_base_alltoall.c). Bruck et al.,
// "Efficient algorithms for all-to-all communications in multiport message-passing systems", 1997.
//
// A part that has d members to go, d = to − from mod n, moves by 2^k in round k if bit k of d is set: in
// round k member m sends m + 2^k all parts that it holds with that bit, in one message.
//
// Idle star, exact where all parts are B/n: ceil(log2 n) · latency + D · (B/n) / rate, D the bits that are
// set in 1 … n − 1.
#include "net/collectives/collective.h"

namespace longhaul {
namespace {

class Bruck : public Collective {
 public:
  Bruck()
      : Collective("bruck",
                   "all-to-all in log2(n) rounds, in which parts travel through others: least latency, more "
                   "bytes; no all-reduce",
                   Unit::kNone, Shape::kOther, Purpose::kAllToAll) {}
  int rounds(const GroupExchange& exchange) const override { return ceil_log2(exchange.members); }
  bool awaits_delivery() const override { return true; }
  bool awaits_receiver() const override { return true; }
  bool joins_parts() const override { return true; }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    const int n = exchange.members, bit = 1 << index;
    Round round;
    add_parts(round.sends, exchange, (member + bit) % n, member, bit);
    const int from = (member + n - bit % n) % n;
    add_parts(round.receives, exchange, from, from, bit);
    return round;
  }

 private:
  // What `holder` sends when parts move by `bit`: they have moved by the smaller bits of their distance.
  static void add_parts(std::vector<Message>& messages, const GroupExchange& exchange, int peer, int holder,
                        int bit) {
    const int n = exchange.members;
    for (int distance = bit; distance < n; ++distance) {
      if ((distance & bit) == 0) continue;
      const int from = (holder + n - (distance & (bit - 1))) % n;
      add_part_between(messages, exchange, peer, from, (from + distance) % n);
    }
  }
};

}  // namespace

const MakeCollective make_bruck = make_collective<Bruck>;

}  // namespace longhaul
