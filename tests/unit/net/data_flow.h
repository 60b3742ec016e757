// A collective run on sets of contributions: what a member holds of each byte is the set of members whose
// contribution went into it. Messages carry what their sender held when it entered the round. With slices
// every member walks through the rounds once a slice.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>
#include <vector>

#include "net/collectives/collective.h"
#include "net/collectives/slices.h"

namespace longhaul {

using Contributions = std::vector<std::multiset<int>>;  // by byte

struct InFlight {
  Message message;
  Contributions data;
};

// Each member's own contribution, over the whole vector.
inline std::vector<Contributions> own_vectors(const GroupExchange& exchange) {
  std::vector<Contributions> held;
  for (int member = 0; member < exchange.members; ++member)
    held.push_back(Contributions(static_cast<std::size_t>(exchange.bytes), {member}));
  return held;
}

class DataFlow {
 public:
  DataFlow(const Collective& collective, const GroupExchange& exchange, int slices = 1)
      : DataFlow(collective, exchange, own_vectors(exchange), slices) {}
  // `held`: what each member holds at first.
  DataFlow(const Collective& collective, const GroupExchange& exchange, std::vector<Contributions> held,
           int slices = 1)
      : collective_(collective), exchange_(exchange), slices_(slices), held_(std::move(held)) {
    round_.assign(held_.size() * static_cast<std::size_t>(slices), -1);
  }

  // False if the members wait for each other for ever. `last_first`: later slices are looked at first.
  bool run(bool last_first = false) {
    const int walks = slices_ * exchange_.members;
    for (int walk = 0; walk < walks; ++walk) enter(walk);
    for (bool moved = true; moved;) {
      moved = false;
      for (int i = 0; i < walks; ++i) moved = try_to_finish_round(last_first ? walks - 1 - i : i) || moved;
    }
    for (const int round : round_)
      if (round < collective_.rounds(exchange_)) return false;
    return true;
  }

  const Contributions& held(int member) const { return held_[static_cast<std::size_t>(member)]; }
  bool nothing_left() const {
    for (const auto& [ends, queue] : wires_)
      if (!queue.empty()) return false;
    return true;
  }

 private:
  // Walk s of member m is s · n + m.
  int member_of(int walk) const { return walk % exchange_.members; }
  int walk_beside(int walk, int peer) const { return walk - member_of(walk) + peer; }
  Round round_of(int walk) const {
    const Round whole = collective_.round(exchange_, member_of(walk), round_[static_cast<std::size_t>(walk)]);
    return slices_ == 1 ? whole : slice_of(whole, walk / exchange_.members, slices_);
  }

  void enter(int walk) {
    if (++round_[static_cast<std::size_t>(walk)] >= collective_.rounds(exchange_)) return;
    for (const Message& message : round_of(walk).sends) {
      const auto begin = held(member_of(walk)).begin() + message.offset;
      wires_[{walk, walk_beside(walk, message.peer)}].push_back(
          {message, Contributions(begin, begin + message.bytes)});
    }
  }

  bool try_to_finish_round(int walk) {
    if (round_[static_cast<std::size_t>(walk)] >= collective_.rounds(exchange_)) return false;
    const Round round = round_of(walk);
    for (const Message& expected : round.receives)
      if (wires_[{walk_beside(walk, expected.peer), walk}].empty()) return false;
    for (const Message& expected : round.receives) receive(walk, expected);
    enter(walk);
    return true;
  }

  void receive(int walk, const Message& expected) {
    std::deque<InFlight>& wire = wires_[{walk_beside(walk, expected.peer), walk}];
    const InFlight arrived = wire.front();
    wire.pop_front();
    EXPECT_EQ(arrived.message.offset, expected.offset);
    EXPECT_EQ(arrived.message.bytes, expected.bytes);
    EXPECT_EQ(arrived.message.reduces, expected.reduces);
    for (std::int64_t i = 0; i < expected.bytes; ++i) {
      std::multiset<int>& here =
          held_[static_cast<std::size_t>(member_of(walk))][static_cast<std::size_t>(expected.offset + i)];
      const std::multiset<int>& there = arrived.data[static_cast<std::size_t>(i)];
      if (!expected.reduces) here.clear();
      here.insert(there.begin(), there.end());
    }
  }

  const Collective& collective_;
  GroupExchange exchange_;
  int slices_;
  std::vector<Contributions> held_;
  std::vector<int> round_;                                     // by walk
  std::map<std::pair<int, int>, std::deque<InFlight>> wires_;  // by walks
};

// Each member holds the contributions of all, once each: of all bytes, or of its own part of so many.
inline void expect_sum(const DataFlow& flow, int members) {
  std::multiset<int> all;
  for (int member = 0; member < members; ++member) all.insert(member);
  for (int member = 0; member < members; ++member)
    for (const auto& contributions : flow.held(member)) ASSERT_EQ(contributions, all);
}
inline void expect_part_of_sum(const DataFlow& flow, int members, std::int64_t bytes) {
  std::multiset<int> all;
  for (int member = 0; member < members; ++member) all.insert(member);
  for (int member = 0; member < members; ++member)
    for (std::int64_t i = part_begin(bytes, member, members); i < part_begin(bytes, member + 1, members); ++i)
      EXPECT_EQ(flow.held(member)[static_cast<std::size_t>(i)], all);
}

}  // namespace longhaul
