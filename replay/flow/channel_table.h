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
#include "net/topology.h"
#include "replay/flow/containers.h"
#include "replay/flow/flow_channel.h"
#include "replay/flow/flow_variation.h"
#include "replay/flow/instant_queue.h"
#include "replay/network/network.h"
#include "replay/network/peer_map.h"

namespace longhaul {

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
    // Of the latest transfer: the bytes of its last segment, and of one before it; and tail_s().
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
