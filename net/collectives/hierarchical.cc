// Hierarchical all-reduce: inside each site a reduce to its leader, between the leaders a ring all-reduce,
// inside each site a broadcast.
//
// The leader of a site is its first member. With S sites in the group (GroupExchange::site_of; without any,
// everybody is at one site) there are 2S rounds: whole vectors to the leaders, 2(S−1) rounds of a ring of
// B/S, whole vectors back. Only the ring crosses between sites. A member sends B; the leader of a site of m
// sends (m−1) · B and about 2(S−1)/S · B. Idle star, exact up to the rounding of chunks for sites of equal
// size, else an upper bound, with m of the largest (rounds are blocking send-receives, so that no leader is
// slowed down by one that is ahead of it, and each phase ends no later than where all sites are the largest):
// 2(m−1) · B / rate + 2 · latency (if m > 1) + 2(S−1) · (latency + (B/S) / rate).
#include "core/base/index.h"
#include "core/base/ranges.h"
#include "net/collectives/collective.h"

namespace longhaul {
namespace {

int site_of(const GroupExchange& exchange, int member) {
  return exchange.site_of.empty() ? 0 : exchange.site_of[as_index(member)];
}

class Hierarchical : public Collective {
 public:
  Hierarchical()
      : Collective(
            "hierarchical",
            "all-reduce inside each site to a leader, as a ring between the leaders, and back; needs a "
            "topology with sites") {}
  bool needs_sites() const override { return true; }
  int rounds(const GroupExchange& exchange) const override {
    return 2 * static_cast<int>(leaders(exchange).size());
  }

  bool awaits_delivery() const override { return true; }
  bool awaits_receiver() const override { return true; }

  Round round(const GroupExchange& exchange, int member, int index) const override {
    const std::vector<int> all = leaders(exchange);
    const int last = 2 * static_cast<int>(all.size()) - 1;
    if (index == 0 || index == last) return inside(exchange, all, member, index == 0);
    return between(exchange, all, member, index - 1);
  }

  Totals totals(const GroupExchange& exchange) const override {
    const auto sites = static_cast<int>(leaders(exchange).size());
    const std::int64_t messages = 2 * (exchange.members - sites);
    Totals totals = sites > 1 ? ring_->totals({sites, exchange.bytes, exchange.tensors, {}}) : Totals{};
    totals.transfers += exchange.bytes > 0 ? messages : 0;
    totals.bytes += messages * exchange.bytes;
    return totals;
  }

 private:
  // The first member of each site, in the order of the members.
  static std::vector<int> leaders(const GroupExchange& exchange) {
    if (exchange.site_of.empty()) return {0};
    std::vector<int> found, known;
    for (int member = 0; member < exchange.members; ++member) {
      const int site = site_of(exchange, member);
      if (contains(known, site)) continue;
      known.push_back(site);
      found.push_back(member);
    }
    return found;
  }

  static Round inside(const GroupExchange& exchange, const std::vector<int>& leaders, int member,
                      bool reduces) {
    const int site = site_of(exchange, member);
    const int leader = *find_if(leaders, [&](int other) { return site_of(exchange, other) == site; });
    Round round;
    if (member != leader) {
      add_message(reduces ? round.sends : round.receives, leader, 0, exchange.bytes, reduces);
      return round;
    }
    for (int peer = 0; peer < exchange.members; ++peer)
      if (peer != leader && site_of(exchange, peer) == site)
        add_message(reduces ? round.receives : round.sends, peer, 0, exchange.bytes, reduces);
    return round;
  }

  Round between(const GroupExchange& exchange, const std::vector<int>& leaders, int member, int index) const {
    const auto found = std::find(leaders.begin(), leaders.end(), member);
    if (found == leaders.end()) return {};
    const GroupExchange ring{static_cast<int>(leaders.size()), exchange.bytes, exchange.tensors, {}};
    Round round = ring_->round(ring, static_cast<int>(found - leaders.begin()), index);
    for (auto* messages : {&round.sends, &round.receives})
      for (Message& message : *messages) message.peer = leaders[as_index(message.peer)];
    return round;
  }

  std::unique_ptr<Collective> ring_ = make_ring();
};

}  // namespace

const MakeCollective make_hierarchical = make_collective<Hierarchical>;

}  // namespace longhaul
