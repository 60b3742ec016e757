// An exchange in the network of library "plain": every member walks through the rounds of the collective.
//
// A message travels once both its ends are ready: a payload of megabytes does not fit into the buffers of a
// receiver that has not posted its receive. An eager sender pushes so many bytes before that; the rest
// travels as above. A member whose peers are ready does not wait for the rest of the group.
//
// Where messages are cut (net/collectives/slices.h) a member has a walk for each slice. A member is done when
// all its walks are.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "replay/exchange/equal_rounds.h"
#include "replay/exchange/exchange_run.h"
#include "replay/network/peer_map.h"

namespace longhaul {

class RoundsRun : public ExchangeRun {
 public:
  RoundsRun(const ExchangeContext& context, ExchangeOrder order, MemberDone on_member_done);

 private:
  void start(std::size_t index, const SyncParts& chain) override;
  Waiting waiting(std::size_t member) const override;
  void take_back_unsent() override;

  struct Held {
    std::size_t from, to;  // walks
    int number;
    std::int64_t bytes;
    int round;  // of the receiver in which it may travel
  };
  struct alignas(64) UnderWay {
    SyncParts chain;                 // that led to it, and what the network adds
    std::uint32_t from = 0, to = 0;  // walks
    bool is_counted = false;         // it began when chains counted already
  };
  // Walk s of member m has the number s · n + m, so that without slices walks are members.
  struct Walk {
    SyncParts chain;      // that led to the round it is in
    int round = -1;       // -1: not started
    PeerMap surplus;      // messages of a peer that arrived, less those that rounds so far have awaited
    int missing = 0;      // of this round
    int undelivered = 0;  // of its own messages of this round
    bool is_over = false;
  };
  struct Member {
    std::vector<Held> held;  // for it, until it is ready
    int sent = 0;            // messages, held ones included
    int walks_left = 0;
  };

  std::size_t owner_of(std::size_t walk) const { return slices_ == 1 ? walk : walk % members_.size(); }
  Round round_of(std::size_t walk, int index) const;
  void enter_next_round(std::size_t index);
  void hand_over(std::size_t from, const Message& message);
  std::int64_t push(std::size_t from, std::size_t to, int number, std::int64_t bytes);
  void send_held(std::size_t index);
  void advance(std::size_t index, const SyncParts& chain);
  void send(std::size_t from, std::size_t to, int number, std::int64_t bytes, const SyncParts& chain);
  UnderWay* new_message();
  void find_last_peers();
  bool is_answered_by_target(std::size_t from, std::size_t to) const;
  void arrive(UnderWay* message);
  void note_equal_round(int round);
  void skip(int rounds);

  const Collective& collective_;
  const int rounds_, slices_;
  const bool awaits_delivery_, awaits_receiver_, is_in_turn_;
  std::vector<Member> members_;
  std::vector<Walk> walks_;
  std::size_t unstarted_;                // walks
  std::vector<std::size_t> last_peers_;  // by member: who ends its last round, itself if not known
  std::map<std::pair<std::size_t, std::size_t>, double> pushed_;  // bytes, from one member to another
  std::optional<EqualRounds> equal_;  // none where they are not, or somebody has to see each
  std::deque<UnderWay> messages_;     // under way, or free
  std::vector<UnderWay*> free_;
};

}  // namespace longhaul
