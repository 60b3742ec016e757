// The flow fidelity: transfers are fluids that share links max-min fairly (net/sharing/fair_shares.h), with
// TCP's window in front (flow_channel.h).
//
// Its events are its own, ordered by time, and the clock has one alarm for the next instant. A channel is
// looked at when something happens to it or its rate changes, and at no other time; all that happens in an
// instant is solved together.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/base/index.h"
#include "net/sharing/fair_shares.h"
#include "replay/flow/channel_table.h"
#include "replay/flow/flow_clock.h"
#include "replay/flow/flow_variation.h"
#include "replay/flow/instant_queue.h"
#include "replay/flow/steady_rounds.h"
#include "replay/network/network.h"

namespace longhaul {

class FlowNetwork : public Network {
 public:
  // `topology` and `clock` must outlive it; no other network may be on that clock. With a `reference`, in
  // tests, all flows are solved at every change.
  FlowNetwork(const TcpSpec& tcp, const Topology& topology, FlowClock& clock, std::uint64_t seed = 1,
              FairShares::Reference reference = nullptr);

  // Before anything is sent: the network changes with time.
  void vary(std::unique_ptr<Variation> variation);

  void send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts = nullptr) override;
  bool note_equal_round(EqualRound round) override;
  const std::vector<LinkLoad>& loads() override { return loads_.loads(); }

 private:
  using Slot = ChannelTable::Slot;

  // Sent, but something of it was lost and has not been sent again.
  struct Held {
    FlowChannel::Transmission transfer;
    int lost;  // packets of the channel, when all was sent
    std::int64_t sent_ns;
  };

  void send_part(int number, std::int64_t bytes, Arrival on_arrival, SyncParts* parts);
  void send_parts(int first, int count, std::int64_t bytes, Arrival on_arrival, SyncParts* parts);
  void touch(int number);
  void wake_at(std::int64_t time_ns);
  void wake();
  void pass_over_moved();
  void look_at(int number, std::int64_t now_ns);
  void arrive(int number, std::int64_t now_ns);
  void finish_transfers(int number, std::int64_t now_ns);
  void travel(int number, FlowChannel::Transmission transfer, std::int64_t now_ns);
  void release(int number, std::int64_t now_ns);
  void count(const FlowChannel& channel, std::int64_t bytes);
  void share_links(std::int64_t now_ns);
  void plan(int number, std::int64_t now_ns);
  void set_event(int number);
  void follow_variation(std::int64_t now_ns);
  void prefetch(const std::vector<int>& numbers, std::size_t after) const;
  std::int64_t next_wake_ns();

  TcpSpec tcp_;
  const Topology& topology_;
  FairShares::Reference reference_;
  FairShares shares_;
  ChannelTable channels_;
  std::unique_ptr<FlowVariation> variation_;        // null: nothing varies
  int sending_ = 0;                                 // channels that have data
  std::vector<char> is_touched_;                    // by channel, from the first
  std::unordered_map<int, std::deque<Held>> held_;  // by channel
  LinkLoads loads_;
  InstantQueue events_;  // 2 · channel: look at it; 2 · channel + 1: an arrival
  SteadyRounds steady_;
  std::vector<int> due_, touched_;
  FlowClock& clock_;
  std::int64_t wake_ns_ = InstantQueue::kNever;  // of the alarm that counts; others are void
  std::uint64_t instants_ = 0;
  bool is_awake_ = false;
};

}  // namespace longhaul
