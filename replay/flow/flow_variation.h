// What varies in the flow fidelity: hands a Variation (net/variation/) to the sharing of links and to the
// channels, and says when the network has to be looked at for it.
//
// Changes are events only while something can move. When every sender stands in front of an outage only the
// outage's end is awaited, and not for ever: a replay in which no replica can continue must run out of events
// and report its deadlock.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/scenario/case.h"
#include "net/sharing/fair_shares.h"
#include "net/tcp/connection.h"
#include "net/topology.h"
#include "net/variation/variation.h"

namespace longhaul {

class FlowVariation {
 public:
  static constexpr std::int64_t kNever = Variation::kNever;

  // Adds the traffic of others to `shares`, whose flows must be none so far. All three must outlive it.
  FlowVariation(std::unique_ptr<Variation> variation, const Topology& topology, const TcpSpec& tcp,
                FairShares& shares);

  // Flows of others: the numbers below this one.
  int cross_flows() const { return static_cast<int>(variation_->cross_flows().size()); }

  // Whether something has changed since the latest advance_to().
  bool is_due(std::int64_t now_ns) const { return next_change_ns_ <= now_ns; }
  void advance_to(std::int64_t now_ns);
  // Whether the latest advance_to() changed a link that the connection uses.
  bool concerns(const ConnectionFacts& facts) const;

  // The connection as its links are now.
  ConnectionFacts present(const ConnectionFacts& own, int source, int target) const;
  // The largest rate of its sender, bit/s on the wire, when the window allows `rate_limit`: acknowledgements
  // that do not come back stop it.
  double cap(const ConnectionFacts& facts, double rate_limit) const;
  double tail_s(const ConnectionFacts& facts, std::int64_t bytes) const;
  // What faults lose on the links of its data, now; whether they ever do.
  std::vector<double> losses(const ConnectionFacts& facts) const;
  bool may_lose() const { return variation_->may_lose(); }

  // When the network has to be looked at for the next change. `is_moving`: whether some transfer has an event
  // to come; if not, all that are under way wait for outages to end.
  std::int64_t next_wake_ns(bool is_moving);

 private:
  void share();

  std::unique_ptr<Variation> variation_;
  const Topology& topology_;
  const TcpSpec& tcp_;
  FairShares& shares_;
  std::vector<bool> is_changed_;  // by direction
  std::int64_t next_change_ns_ = 0;
  int ends_in_vain_ = 0;
};

}  // namespace longhaul
