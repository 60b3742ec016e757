// All-to-all in one round: every member hands all its parts to the network at once.
//
// Part j of member i's contribution is for member j; its own part stays. n(n−1) transfers run at once. Idle
// star, exact where all parts are B/n: latency + (n−1)/n · B / rate. Where they differ, at most what it takes
// if all were as large as the largest: each has at least 1/(n−1) of a link.
#include <algorithm>

#include "net/collectives/collective.h"

namespace longhaul {
namespace {

class AllToAll : public Collective {
 public:
  std::string name() const override { return "all-to-all"; }
  std::string about() const override {
    return "a part from each member to each other one, all in one round; no all-reduce";
  }
  Purpose purpose() const override { return Purpose::kAllToAll; }
  int rounds(const GroupExchange&) const override { return 1; }

  Round round(const GroupExchange& exchange, int member, int) const override {
    Round round;
    // Everyone begins with its successor, so that no member is first in every list.
    for (int distance = 1; distance < exchange.members; ++distance) {
      const int peer = (member + distance) % exchange.members;
      add_part_between(round.sends, exchange, peer, member, peer);
      add_part_between(round.receives, exchange, peer, peer, member);
    }
    return round;
  }

  Totals totals(const GroupExchange& exchange) const override { return totals_of_parts(exchange); }

  double idle_star_s(const GroupExchange& exchange, double latency_s, double bytes_per_s) const override {
    const int n = exchange.members;
    double largest = static_cast<double>(exchange.bytes) / n;
    if (!exchange.parts.empty()) largest = 0;
    for (int from = 0; from < n && !exchange.parts.empty(); ++from)
      for (int to = 0; to < n; ++to)
        if (from != to)
          largest = std::max(largest, static_cast<double>(part_between(exchange, from, to).bytes));
    return latency_s + (n - 1) * largest / bytes_per_s;
  }
};

}  // namespace

std::unique_ptr<Collective> make_all_to_all() {
  return std::make_unique<AllToAll>();
}

}  // namespace longhaul
