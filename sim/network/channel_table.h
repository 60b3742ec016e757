// The channels of a flow network (flow_channel.h): made when two replicas first send to each other, and
// numbered behind the flows of others. They are the flows of FairShares, by the same numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/index.h"
#include "core/scenario/case.h"
#include "net/sharing/fair_shares.h"
#include "net/tcp/connection.h"
#include "net/variation/variation.h"
#include "replay/network/network.h"
#include "replay/network/peer_map.h"
#include "sim/network/containers.h"
#include "sim/network/flow_channel.h"
#include "sim/network/instant_queue.h"

namespace longhaul {

// What varies in the flow fidelity: hands a Variation (net/variation/) to the sharing of links and to the
// channels, and says when the network has to be looked at for it.
//
// Changes are events only while something can move. When every sender stands in front of an outage only the
// outage's end is awaited, and not for ever: a replay in which no replica can continue must run out of events
// and report its deadlock.
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

class ChannelTable {
 public:
  // Where the network varies: the connection with its links' own rates and delays.
  struct Origin {
    ConnectionFacts facts;
    int source, target;
  };
  struct alignas(64) Slot {
    Slot(ConnectionFacts facts, const FlowChannel::Rules& rules, std::unique_ptr<CongestionReaction> reaction)
        : channel(std::move(facts), rules, std::move(reaction)) {}

    std::int64_t planned_ns = InstantQueue::kNever;  // when the channel has to be looked at
    std::int64_t event_ns = InstantQueue::kNever;    // its earliest event in the queue
    std::int64_t latest_arrival_ns = 0;
    // Of the latest transfer: the bytes of its last segment, and how long that takes (tail_s()).
    std::int64_t tail_bytes = 0;
    double tail_s = 0;
    std::unique_ptr<Origin> origin;  // null where nothing varies
    alignas(64) FlowChannel channel;
    ShortQueue<Network::Arrival> travelling;  // sent, not arrived
  };

  // All must outlive it.
  ChannelTable(const TcpSpec& tcp, const Topology& topology, FairShares& shares, std::uint64_t seed);

  // Before the first channel is made.
  void vary(const FlowVariation* variation);

  // The first channel of a pair, whose others follow it.
  int number_of(int source, int target);
  // One for all connections, or one each where signals tell them apart.
  int channels_a_pair() const { return a_pair_; }

  int first() const { return first_; }
  int end() const { return first_ + static_cast<int>(slots_.size()); }
  std::size_t size() const { return slots_.size(); }
  Slot& operator[](int number) { return slots_[as_index(number - first_)]; }
  // Asks the caches for the first `lines` of a channel that will be looked at soon.
  template <int lines>
  void prefetch(int number) const {
    if (number >= first_) slots_.prefetch<lines>(as_index(number - first_));
  }

  // bit/s on the wire that its sender may have.
  double cap(const FlowChannel& channel) const;
  // Seconds from its last byte to the arrival.
  double tail_s(Slot& slot, std::int64_t bytes) const;
  bool has_signals() const { return tcp_.queue == "fq_codel" || tcp_.loss > 0; }
  // Whether connections of a pair may differ, or something is drawn.
  bool are_single() const { return has_signals() || tcp_.congestion_control == "bbr"; }
  bool has_losses() const { return tcp_.loss > 0 || (variation_ && variation_->may_lose()); }
  // Of a packet on the way of the data, now.
  double loss_of(const ConnectionFacts& facts) const;

 private:
  int add(int source, int target);
  std::unique_ptr<CongestionReaction> make_reaction(const ConnectionFacts& facts, int source, int target,
                                                    int connection) const;

  const TcpSpec& tcp_;
  const Topology& topology_;
  FairShares& shares_;
  std::uint64_t seed_;
  const FlowVariation* variation_ = nullptr;
  int first_ = 0, a_pair_;
  StableArray<Slot> slots_;       // paths are referred to: they must not move
  std::vector<PeerMap> numbers_;  // by source, then target
};

}  // namespace longhaul
