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

namespace longhaul {

class GroupWalk {
 public:
  struct Name {
    int step = 0, rule = 0, bucket = 0;
  };
  struct Times {
    std::int64_t posted_ns = 0, done_ns = 0, bytes_sent = 0;
  };

  // The arguments must outlive it. `group`: replicas in the order of the group.
  GroupWalk(const Collective& collective, const GroupExchange& exchange, const std::vector<int>& group,
            Name name, MessageCosts& costs, BusyTimes& busy);

  // `posted_ns`: from when on each member may send and receive. Returns the times by member.
  std::vector<Times> walk(const std::vector<std::int64_t>& posted_ns);
  std::int64_t transfers() const { return transfers_; }

 private:
  struct Wire {  // messages from one peer
    int peer = 0;
    std::int64_t latest_ns = 0;          // arrival of the latest one
    std::vector<std::int64_t> arrivals;  // that no round has used yet begin at `next`
    std::size_t next = 0;
    std::size_t claimed = 0;  // of them, while a round's messages are counted
  };
  struct Handed {  // a message that its sender handed over
    int from = 0, to = 0, number = 0, round = 0;
    std::int64_t bytes = 0, since_ns = 0;
  };
  struct Member {
    int round = -1;
    int sent = 0;                   // messages
    int held_back = 0;              // of them, whose receivers are not in their round yet
    std::int64_t now_ns = 0;        // it entered the round
    std::int64_t delivered_ns = 0;  // the last of its own messages was there
    Round messages;                 // of this round
    std::vector<Wire> wires;
    std::vector<Handed> held;              // for it, until it is in their round
    std::vector<std::int64_t> entered_ns;  // by round, where senders wait for it
  };

  void enter_next_round(int index);
  void send_held(int index);
  bool end_round(int index);
  bool has_arrived(Member& member) const;
  void send(const Handed& message, std::int64_t ready_ns);
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
  std::vector<Times> times_;
  std::vector<int> to_walk_;
  std::int64_t transfers_ = 0;
};

}  // namespace longhaul
