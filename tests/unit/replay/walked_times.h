// A slow reference for one exchange on the analytic network, without a clock and without events: when a
// member ends a round follows from its own times and those of the messages that it waits for, by maximum and
// sum, so the order in which members are walked does not matter.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "net/collectives/collective.h"
#include "replay/network/message_costs.h"

namespace longhaul {

class WalkedTimes {
 public:
  // `posted_ns`: by member, from when on it may send and receive.
  WalkedTimes(const Collective& collective, const GroupExchange& exchange, const std::vector<int>& group,
              const MessageKey& name, MessageCosts& costs, std::vector<std::int64_t> posted_ns)
      : collective_(collective),
        exchange_(exchange),
        group_(group),
        name_(name),
        costs_(costs),
        posted_ns_(std::move(posted_ns)),
        members_(group.size()) {
    for (std::size_t i = 0; i < members_.size(); ++i) enter(static_cast<int>(i), posted_ns_[i]);
    for (bool has_moved = true; has_moved;) {
      has_moved = false;
      for (std::size_t i = 0; i < members_.size(); ++i)
        while (end_round(static_cast<int>(i))) has_moved = true;
    }
  }

  // When the member was done; −1 if it never was.
  std::int64_t done_ns(int member) const {
    const Member& member_here = members_[static_cast<std::size_t>(member)];
    return member_here.entered_ns.size() == static_cast<std::size_t>(collective_.rounds(exchange_)) + 1
               ? member_here.entered_ns.back()
               : -1;
  }

 private:
  struct Sent {
    int to = 0, number = 0, round = 0;
    std::int64_t bytes = 0, arrival_ns = -1;  // −1: its receiver is not in that round yet
  };
  struct Member {
    std::vector<std::int64_t> entered_ns;  // by round; the last one is the end
    std::vector<Sent> sent;
    std::map<int, int> taken;  // messages used up, by peer
  };

  void enter(int index, std::int64_t now_ns) {
    Member& member = members_[static_cast<std::size_t>(index)];
    const int round = static_cast<int>(member.entered_ns.size());
    member.entered_ns.push_back(now_ns);
    if (round == collective_.rounds(exchange_)) return;
    for (const Message& message : collective_.round(exchange_, index, round).sends)
      member.sent.push_back({message.peer, static_cast<int>(member.sent.size()), round, message.bytes});
  }

  // Gives the messages of a member to one receiver their arrivals, in the order of sending.
  void follow(int from, int to) {
    Member& sender = members_[static_cast<std::size_t>(from)];
    const Member& receiver = members_[static_cast<std::size_t>(to)];
    std::int64_t latest_ns = 0;
    for (Sent& sent : sender.sent) {
      if (sent.to != to) continue;
      const auto round = static_cast<std::size_t>(sent.round);
      if (collective_.awaits_receiver() && receiver.entered_ns.size() <= round) return;
      const std::int64_t ready_ns = collective_.awaits_receiver() ? receiver.entered_ns[round]
                                                                  : posted_ns_[static_cast<std::size_t>(to)];
      MessageKey key = name_;
      key.sender = group_[static_cast<std::size_t>(from)];
      key.number = sent.number;
      const auto& way = costs_.way(key.sender, group_[static_cast<std::size_t>(to)]);
      const std::int64_t begin_ns = std::max(sender.entered_ns[round], ready_ns);
      sent.arrival_ns = latest_ns = std::max(latest_ns, begin_ns + costs_.time_ns(key, way, sent.bytes));
    }
  }

  bool end_round(int index) {
    Member& member = members_[static_cast<std::size_t>(index)];
    const int round = static_cast<int>(member.entered_ns.size()) - 1;
    if (round == collective_.rounds(exchange_)) return false;
    std::int64_t now_ns = member.entered_ns.back();
    std::map<int, int> taken = member.taken;
    for (const Message& message : collective_.round(exchange_, index, round).receives) {
      follow(message.peer, index);
      const std::int64_t arrival_ns = arrival(message.peer, index, taken[message.peer]++);
      if (arrival_ns < 0) return false;
      now_ns = std::max(now_ns, arrival_ns);
    }
    if (collective_.awaits_delivery())
      for (const Sent& sent : member.sent) {
        follow(index, sent.to);
        if (sent.round == round && sent.arrival_ns < 0) return false;
        if (sent.round == round) now_ns = std::max(now_ns, sent.arrival_ns);
      }
    member.taken = std::move(taken);
    enter(index, now_ns);
    return true;
  }

  // Of the message `number` from one member to another; −1: not known yet.
  std::int64_t arrival(int from, int to, int number) const {
    for (const Sent& sent : members_[static_cast<std::size_t>(from)].sent)
      if (sent.to == to && number-- == 0) return sent.arrival_ns;
    return -1;
  }

  const Collective& collective_;
  const GroupExchange& exchange_;
  const std::vector<int>& group_;
  MessageKey name_;
  MessageCosts& costs_;
  std::vector<std::int64_t> posted_ns_;
  std::vector<Member> members_;
};

}  // namespace longhaul
