// Ring all-gather: everyone ends up with the contributions of all, side by side. What methods with sparse or
// compressed messages exchange (contributions of different members cannot be added up on the way), and how
// ZeRO-3 collects its parameters.
//
// The result has n · B bytes, member j's contribution at jB … (j+1)B. In round k of n − 1 member m passes
// contribution m − k on to its successor. Each member sends (n−1) · B. Idle star, exact: (n−1) · (latency +
// B / rate). In S slices, exact: latency + B / rate + (n−2) · max(B / rate, latency + (B/S) / rate).
#include "net/collectives/collective.h"

namespace longhaul {
namespace {

class AllGather : public Collective {
 public:
  AllGather()
      : Collective("all-gather",
                   "everyone gets all contributions, around a ring in n-1 rounds; no all-reduce",
                   Unit::kVector, Shape::kRing, Purpose::kAllGather) {}
  int rounds(const GroupExchange& exchange) const override { return exchange.members - 1; }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    const int n = exchange.members;
    Round round;
    add_contribution(round.sends, exchange, (member + 1) % n, member - index);
    add_contribution(round.receives, exchange, (member + n - 1) % n, member - index - 1);
    return round;
  }

 private:
  std::int64_t vectors(const GroupExchange& exchange) const override {
    return std::int64_t{exchange.members} * (exchange.members - 1);
  }
  static void add_contribution(std::vector<Message>& messages, const GroupExchange& exchange, int peer,
                               int of) {
    const std::int64_t index = (of + exchange.members) % exchange.members;
    add_message(messages, peer, index * exchange.bytes, (index + 1) * exchange.bytes, false);
  }
};

}  // namespace

const MakeCollective make_all_gather = make_collective<AllGather>;

}  // namespace longhaul
