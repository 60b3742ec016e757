// One exchange of one group without a simulator, where messages are cut into slices or pushed before their
// receiver has posted: GroupWalk's model, in the order of time.
//
// Messages of different connections still do not know of each other. Those of one connection leave one after
// another, each for bytes / rate, in the order in which they are handed over: otherwise cutting a message
// would be sending its slices at once. What waits in this order is known only in the order of time, so that
// arrivals are taken from a queue.
#pragma once

#include <cstdint>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "net/analytic/group_walk.h"

namespace longhaul {

class SlicedWalk {
 public:
  struct Rules {
    int slices = 1;
    double eager_bytes = 0;  // from one member to another that has not posted
  };
  using Moment = GroupWalk::Moment;
  using Times = GroupWalk::Times;

  // Whether the exchange is for this walk. One that awaits its receiver pushes nothing.
  static bool is_for(const Rules& rules, const Collective& collective) {
    return rules.slices > 1 || (rules.eager_bytes > 0 && !collective.awaits_receiver());
  }

  // The arguments must outlive it. Messages draw no times.
  SlicedWalk(const Collective& collective, const GroupExchange& exchange, const std::vector<int>& group,
             const Rules& rules, MessageCosts& costs, BusyTimes& busy);

  // As GroupWalk::walk().
  std::vector<Times> walk(const std::vector<Moment>& posted, std::int64_t start_ns);
  std::int64_t transfers() const { return transfers_; }

 private:
  struct Event {  // a member posts (from < 0), or a message arrives at a walk
    Moment moment;
    std::int64_t number = 0;  // of two at the same time the earlier one first
    int from = -1, to = 0;    // walks; walk s of member m is s · n + m
    bool operator>(const Event& other) const {
      return std::pair(moment.time_ns, number) > std::pair(other.moment.time_ns, other.number);
    }
  };
  struct Walk {
    int round = -1;
    std::vector<std::pair<int, int>> surplus;  // by peer: arrived, less awaited so far
    int missing = 0, undelivered = 0;
    Moment now;
  };
  struct Connection {
    std::int64_t free_ns = 0;  // has sent what was handed over
    double pushed = 0;         // bytes, before the receiver posted
  };

  int members() const { return static_cast<int>(group_.size()); }
  int owner_of(int walk) const { return walk % members(); }
  Walk& at(int walk) { return walks_[static_cast<std::size_t>(walk)]; }
  static int& surplus_of(Walk& walk, int peer);
  void post(int member, const Moment& moment);
  void advance(int walk, const Moment& moment);
  void enter_next_round(int walk);
  void send(int from, const Message& message);

  const Collective& collective_;
  const GroupExchange& exchange_;
  const std::vector<int>& group_;
  Rules rules_;
  MessageCosts& costs_;
  BusyTimes& busy_;
  int rounds_;
  bool awaits_delivery_;
  std::vector<Walk> walks_;
  std::vector<Moment> posted_;
  std::vector<Times> times_;
  std::map<std::pair<int, int>, Connection> connections_;  // by their ends
  std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events_;
  std::int64_t start_ns_ = 0, transfers_ = 0, numbers_ = 0;
};

}  // namespace longhaul
