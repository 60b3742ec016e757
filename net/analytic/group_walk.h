// One exchange of one group without a simulator: every member walks through the rounds of the collective, and
// each message takes a time of its own.
//
// When a member ends a round follows from its own times and those of the messages that it waits for, by
// maximum and sum; so the order in which members are walked does not matter, and no events are needed. As in
// the replay a message travels once both its ends have posted the exchange (or have come to the same round,
// where the collective wants that), and messages from one member to another arrive in the order of sending.
#pragma once

#include <cstdint>
#include <vector>

#include "net/analytic/busy_times.h"
#include "net/analytic/message_costs.h"
#include "net/collectives/collective.h"
#include "net/replay/sync_parts.h"

namespace longhaul {

class GroupWalk {
 public:
  struct Name {
    int step = 0, rule = 0, bucket = 0;
  };
  struct Times {
    std::int64_t posted_ns = 0, done_ns = 0, bytes_sent = 0;
    SyncParts parts;  // of the chain to done_ns
  };
  // Something that a message may have to wait for, and the chain that leads to it.
  struct Moment {
    std::int64_t time_ns = 0;
    SyncParts parts;
  };

  // The arguments must outlive it. `group`: replicas in the order of the group.
  GroupWalk(const Collective& collective, const GroupExchange& exchange, const std::vector<int>& group,
            Name name, MessageCosts& costs, BusyTimes& busy);

  // `posted`: from when on each member may send and receive. Chains count from `start_ns` on. Returns the
  // times by member.
  std::vector<Times> walk(const std::vector<Moment>& posted, std::int64_t start_ns);
  std::int64_t transfers() const { return transfers_; }

 private:
  struct Wire {  // messages from one peer
    int peer = 0;
    std::int64_t latest_ns = 0;    // arrival of the latest one
    std::vector<Moment> arrivals;  // that no round has used yet begin at `next`
    std::size_t next = 0;
    std::size_t claimed = 0;  // of them, while a round's messages are counted
  };
  struct Handed {  // a message that its sender handed over
    int from = 0, to = 0, number = 0, round = 0;
    std::int64_t bytes = 0;
    Moment since;
  };
  struct Member {
    int round = -1;
    int sent = 0;       // messages
    int held_back = 0;  // of them, whose receivers are not in their round yet
    Moment now;         // it entered the round
    Moment delivered;   // the last of its own messages was there
    Round messages;     // of this round
    std::vector<Wire> wires;
    std::vector<Handed> held;     // for it, until it is in their round
    std::vector<Moment> entered;  // by round, where senders wait for it
  };

  void enter_next_round(int index);
  void send_held(int index);
  bool end_round(int index);
  bool has_arrived(Member& member) const;
  void send(const Handed& message, const Moment& ready);
  SyncParts chain_after(const Moment& begin, const SyncParts& message, std::int64_t end_ns) const;
  static Wire& wire_from(Member& member, int peer);

  const Collective& collective_;
  const GroupExchange& exchange_;
  const std::vector<int>& group_;
  Name name_;
  MessageCosts& costs_;
  BusyTimes& busy_;
  int rounds_;
  bool awaits_receiver_;
  std::vector<Member> members_;
  std::vector<Moment> posted_;
  std::int64_t start_ns_ = 0;
  std::vector<Times> times_;
  std::vector<int> to_walk_;
  std::int64_t transfers_ = 0;
};

}  // namespace longhaul
