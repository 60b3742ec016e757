// The rounds of a ring whose messages are all equal, for a network that may skip some of them
// (Network::note_equal_round). When all members are in a round since one instant, its messages are all that
// is under way of the exchange. Their chains are then taken apart, into what led to a message and what the
// network adds to it. That is the same in every other round, and is added for rounds that are skipped.
#pragma once

#include <cstdint>
#include <vector>

#include "net/collectives/collective.h"
#include "replay/network/sync_parts.h"

namespace longhaul {

class EqualRounds {
 public:
  explicit EqualRounds(std::size_t members) : chains_(members), messages_(members) {}

  // Whether each member sends to its successor in each round, and all messages are of the same size.
  static bool are_in(const Collective& collective, const GroupExchange& exchange);

  // The network adds to `chain` of the member's latest message.
  void send(std::size_t member, SyncParts* chain) { chains_[member] = chain; }
  // A member has come to the round. True: all have, in this instant.
  bool enter(int round, std::int64_t now_ns);
  void take_apart(int round);
  bool is_next(int round) const { return round == apart_ + 1; }  // than the latest that was taken apart
  // The member's message with this chain has arrived; the next one may be under way.
  void arrive(std::size_t member, SyncParts& chain) {
    if (left_apart_ > 0) put_together(member, chain);
  }
  // The messages of a round that was taken apart, behind two others, are those of so many rounds later.
  void skip(int rounds);
  const SyncParts& led_to(std::size_t member) const { return messages_[member].led_to; }

 private:
  struct OwnMessage {
    SyncParts led_to, added, added_before;  // in the latest two rounds that were taken apart and are over
    bool is_apart = false;
  };

  void put_together(std::size_t member, SyncParts& chain);

  std::vector<SyncParts*> chains_;    // by sender, of its latest message
  std::vector<OwnMessage> messages_;  // by sender
  std::size_t left_apart_ = 0;
  int entered_ = -1, apart_ = -2;  // rounds
  std::int64_t entered_ns_ = 0;
  std::size_t count_ = 0;  // members that came to it then
};

}  // namespace longhaul
