// All-gather by doubling, as MPI libraries gather small vectors (Open MPI 4.1.4, coll_base_allgather.c;
// MPICH 5.0.1, allgather_intra_recursive_doubling.c and allgather_intra_brucks.c).
//
// The result has n · B bytes, member j's contribution at jB … (j+1)B. Where n is a power of two, member m
// exchanges with m xor 2^k in round k all that it has, 2^k contributions (recursive doubling). Otherwise it
// sends them to m − 2^k and gets as many from m + 2^k, in the last round only those that are missing (Bruck).
//
// Each member sends (n−1) · B. Idle star, exact: ceil(log2 n) · latency + (n−1) · B/rate.
#include <algorithm>

#include "net/collectives/collective.h"

namespace longhaul {
namespace {

class AllGatherDoubling : public Collective {
 public:
  AllGatherDoubling()
      : Collective(
            "all-gather-doubling",
            "everyone gets all contributions, in log2(n) rounds that double what one has; no all-reduce",
            Unit::kNone, Shape::kOther, Purpose::kAllGather) {}
  int rounds(const GroupExchange& exchange) const override { return ceil_log2(exchange.members); }
  bool awaits_delivery() const override { return true; }
  bool awaits_receiver() const override { return true; }
  bool joins_parts() const override { return true; }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    const int n = exchange.members, distance = 1 << index;
    Round round;
    if ((n & (n - 1)) == 0) {
      const int peer = member ^ distance;
      add_contributions(round.sends, exchange, peer, member & ~(distance - 1), distance);
      add_contributions(round.receives, exchange, peer, peer & ~(distance - 1), distance);
      return round;
    }
    const int count = std::min(distance, n - distance), from = (member + distance) % n;
    add_contributions(round.sends, exchange, (member + n - distance) % n, member, count);
    add_contributions(round.receives, exchange, from, from, count);
    return round;
  }

 private:
  // `count` of them from the one of member `first` on; two parts where they go beyond the last member's.
  static void add_contributions(std::vector<Message>& messages, const GroupExchange& exchange, int peer,
                                int first, int count) {
    const int n = exchange.members, before = std::min(count, n - first);
    add_message(messages, peer, first * exchange.bytes, (first + before) * exchange.bytes, false);
    add_message(messages, peer, 0, (count - before) * exchange.bytes, false);
  }
};

}  // namespace

const MakeCollective make_all_gather_doubling = make_collective<AllGatherDoubling>;

}  // namespace longhaul
