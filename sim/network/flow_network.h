// The flow fidelity: transfers are fluids that share links max-min fairly (net/sharing/fair_shares.h), with
// TCP's window in front (flow_channel.h).
//
// Its events are its own, ordered by time, and ns-3 has one event for the next instant. A channel is looked
// at when something happens to it or its rate changes, and at no other time; all that happens in an instant
// is solved together.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/base/index.h"
#include "net/sharing/fair_shares.h"
#include "replay/network/network.h"
#include "replay/network/peer_map.h"
#include "sim/network/clock.h"
#include "sim/network/containers.h"
#include "sim/network/flow_channel.h"
#include "sim/network/flow_variation.h"
#include "sim/network/instant_queue.h"

namespace longhaul {

class FlowNetwork : public Network {
 public:
  // kWhole solves all flows at every change: the slow reference of the tests.
  enum class Solving { kTouched, kWhole };

  // `topology` must outlive it.
  FlowNetwork(const TcpSpec& tcp, const Topology& topology, Solving solving = Solving::kTouched,
              std::uint64_t seed = 1);

  // Before anything is sent: the network changes with time.
  void vary(std::unique_ptr<Variation> variation);

  void send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts = nullptr) override;
  bool note_equal_round(EqualRound round) override;
  const std::vector<LinkLoad>& loads() override { return loads_.loads(); }

 private:
  // Where the network varies: the connection with its links' own rates and delays.
  struct Origin {
    ConnectionFacts facts;
    int source, target;
  };
  // Sent, but something of it was lost and has not been sent again.
  struct Held {
    FlowChannel::Transmission transfer;
    int lost;  // packets of the channel, when all was sent
    std::int64_t sent_ns;
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
    ShortQueue<Arrival> travelling;  // sent, not arrived
  };

  // The end of the instant in which an equal round began: two with the same state go on alike.
  struct Moment {
    std::int64_t time_ns = 0;
    std::vector<double> state;
    LinkLoads loads;
    std::uint64_t events = 0;
  };

  Slot& slot(int number) { return slots_[as_index(number - first_slot_)]; }
  int number_of(int source, int target);
  int add_slots(int source, int target);
  bool has_losses() const { return tcp_.loss > 0 || (variation_ && variation_->may_lose()); }
  double loss_of(const ConnectionFacts& facts) const;
  std::unique_ptr<CongestionReaction> make_reaction(const ConnectionFacts& facts, int source, int target,
                                                    int connection) const;
  void send_part(int number, std::int64_t bytes, Arrival on_arrival, SyncParts* parts);
  void send_parts(int first, int count, std::int64_t bytes, Arrival on_arrival, SyncParts* parts);
  void touch(int number);
  double channel_s(std::int64_t time_ns) const { return static_cast<double>(time_ns - origin_ns_) / 1e9; }
  bool is_alone(const EqualRound& round) const;
  void follow_equal_round(std::int64_t now_ns);
  Moment present_moment(std::int64_t now_ns);
  void skip_rounds(const EqualRound& round);
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
  double cap(const FlowChannel& channel) const;
  double tail_s(Slot& slot, std::int64_t bytes) const;
  void prefetch(const std::vector<int>& numbers, std::size_t after) const;
  std::int64_t next_wake_ns();

  TcpSpec tcp_;
  const Topology& topology_;
  Solving solving_;
  std::uint64_t seed_;
  int slots_a_pair_;   // one for all connections, or one each where signals tell them apart
  FairShares shares_;  // flows have the numbers of the slots
  std::unique_ptr<FlowVariation> variation_;        // null: nothing varies
  int first_slot_ = 0;                              // flows before it are traffic of others
  int sending_ = 0;                                 // channels that have data
  StableArray<Slot> slots_;                         // paths are referred to: they must not move
  std::vector<char> is_touched_;                    // by slot
  std::vector<PeerMap> numbers_;                    // by source, then target
  std::unordered_map<int, std::deque<Held>> held_;  // by slot
  LinkLoads loads_;
  InstantQueue events_;  // 2 · slot: look at it; 2 · slot + 1: an arrival
  std::vector<int> due_, touched_;
  Alarm alarm_;
  std::int64_t wake_ns_ = InstantQueue::kNever;  // of the ns-3 event; others are void
  std::uint64_t instants_ = 0;
  std::int64_t origin_ns_ = 0;             // of the channels' times
  std::optional<EqualRound> equal_round_;  // that began in this instant
  std::deque<Moment> moments_;             // of those before it, at most two
  bool is_awake_ = false;
};

}  // namespace longhaul
