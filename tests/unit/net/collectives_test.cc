// Every collective is run on sets of contributions: what a member holds of each byte is the set of members
// whose contribution went into it. Messages carry what their sender held when it entered the round. With
// slices every member walks through the rounds once a slice.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>

#include "core/base/index.h"
#include "core/plan/operations.h"
#include "net/collectives/collective.h"
#include "net/collectives/slices.h"
#include "tests/support/said.h"

namespace longhaul::collectives_test {

using Contributions = std::vector<std::multiset<int>>;  // by byte

struct InFlight {
  Message message;
  Contributions data;
};

// Walk s of member m is s · n + m.
struct DataFlow {
  const Collective& collective;
  const GroupExchange& exchange;
  int slices;
  std::vector<Contributions> held;                                                 // by member
  std::vector<int> rounds = std::vector<int>(held.size() * as_index(slices), -1);  // by walk
  std::map<std::pair<int, int>, std::deque<InFlight>> wires = {};                  // by walks

  // No member waits for ever, and no message is left over. `last_first`: later slices are looked at first.
  void run(bool last_first) {
    const int walks = slices * exchange.members;
    for (int walk = 0; walk < walks; ++walk) enter(walk);
    for (bool moved = true; moved;) {
      moved = false;
      for (int i = 0; i < walks; ++i) moved = try_to_finish_round(last_first ? walks - 1 - i : i) || moved;
    }
    for (const int round : rounds) EXPECT_EQ(round, collective.rounds(exchange));
    for (const auto& [ends, queue] : wires) EXPECT_TRUE(queue.empty());
  }

  Contributions& of(int walk) { return held[as_index(walk % exchange.members)]; }
  int walk_beside(int walk, int peer) const { return walk - walk % exchange.members + peer; }
  Round round_of(int walk) const {
    const Round whole = collective.round(exchange, walk % exchange.members, rounds[as_index(walk)]);
    return slices == 1 ? whole : slice_of(whole, walk / exchange.members, slices);
  }

  void enter(int walk) {
    if (++rounds[as_index(walk)] >= collective.rounds(exchange)) return;
    for (const Message& message : round_of(walk).sends) {
      const auto begin = of(walk).begin() + message.offset;
      wires[{walk, walk_beside(walk, message.peer)}].push_back(
          {message, Contributions(begin, begin + message.bytes)});
    }
  }

  bool try_to_finish_round(int walk) {
    if (rounds[as_index(walk)] >= collective.rounds(exchange)) return false;
    const Round round = round_of(walk);
    for (const Message& expected : round.receives)
      if (wires[{walk_beside(walk, expected.peer), walk}].empty()) return false;
    for (const Message& expected : round.receives) receive(walk, expected);
    enter(walk);
    return true;
  }

  void receive(int walk, const Message& expected) {
    std::deque<InFlight>& wire = wires[{walk_beside(walk, expected.peer), walk}];
    const InFlight arrived = wire.front();
    wire.pop_front();
    EXPECT_EQ(arrived.message.offset, expected.offset);
    EXPECT_EQ(arrived.message.bytes, expected.bytes);
    EXPECT_EQ(arrived.message.reduces, expected.reduces);
    for (std::int64_t i = 0; i < expected.bytes; ++i) {
      std::multiset<int>& here = of(walk)[as_index(expected.offset + i)];
      const std::multiset<int>& there = arrived.data[as_index(i)];
      if (!expected.reduces) here.clear();
      here.insert(there.begin(), there.end());
    }
  }
};

std::string words_of(const std::string& name, const GroupExchange& exchange) {
  return name + " of " + std::to_string(exchange.members) + ", " + std::to_string(exchange.bytes);
}

// What members hold in the end.
std::vector<Contributions> end_of(const std::string& name, const GroupExchange& exchange,
                                  const std::vector<Contributions>& held, int slices = 1,
                                  bool last_first = false) {
  SCOPED_TRACE(words_of(name, exchange) + " in " + std::to_string(slices));
  DataFlow flow{find_collective(name), exchange, slices, held};
  flow.run(last_first);
  return flow.held;
}

// Each member's own contribution, over the whole vector.
std::vector<Contributions> own_vectors(const GroupExchange& exchange) {
  std::vector<Contributions> held;
  for (int member = 0; member < exchange.members; ++member)
    held.push_back(Contributions(as_index(exchange.bytes), {member}));
  return held;
}

// The same of vectors in which all contributions stand side by side.
std::vector<Contributions> own_places(const GroupExchange& exchange) {
  const std::size_t bytes = as_index(exchange.bytes), members = as_index(exchange.members);
  std::vector<Contributions> held(members, Contributions(members * bytes));
  for (std::size_t i = 0; i < members * bytes; ++i) held[i / bytes][i] = {static_cast<int>(i / bytes)};
  return held;
}

std::multiset<int> everyone(int members) {
  std::multiset<int> all;
  for (int member = 0; member < members; ++member) all.insert(member);
  return all;
}

// Each member holds the contributions of all, once each.
void expect_sum(const std::string& name, const GroupExchange& exchange, int slices = 1,
                bool last_first = false) {
  const Contributions all(as_index(exchange.bytes), everyone(exchange.members));
  for (const Contributions& held : end_of(name, exchange, own_vectors(exchange), slices, last_first))
    EXPECT_EQ(held, all) << words_of(name, exchange) << " in " << slices;
}

struct Shape {
  int members;
  std::int64_t bytes;
};

// Powers of two and not, fewer bytes than members, bytes that do not divide.
const Shape kShapes[] = {{2, 1},  {2, 10},  {3, 10}, {4, 16},  {5, 3},
                         {6, 13}, {7, 100}, {8, 64}, {12, 31}, {16, 5}};

// Of every collective whose result is the sum, at everyone; whole, and in slices where it may be cut.
TEST(Collectives, EveryMemberGetsEveryContributionExactlyOnce) {
  std::vector<std::string> names = all_reduce_collectives();
  names.insert(names.end(), {"pair", "root", "serial", "send", "halving-doubling-halves"});
  for (const std::string& name : names) {
    for (const Shape& shape : kShapes) expect_sum(name, {shape.members, shape.bytes, 2});
    if (find_collective(name).unit_bytes({4, 1000, 1}) == 0) continue;
    for (int members = 2; members <= 9; ++members)
      for (const int slices : {2, 3, 7})
        for (const bool last_first : {false, true}) expect_sum(name, {members, 53, 1}, slices, last_first);
  }
}

// Everyone ends with contribution j at the j-th place and holds only its own at first.
TEST(Collectives, AnAllGatherPutsAllContributionsSideBySide) {
  const auto check = [](const std::string& name, const GroupExchange& exchange, int slices) {
    const std::vector<Contributions> own = own_places(exchange);
    Contributions all(own[0].size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = own[i / as_index(exchange.bytes)][i];
    for (const Contributions& held : end_of(name, exchange, own, slices, slices > 1))
      EXPECT_EQ(held, all) << words_of(name, exchange);
  };
  for (const Shape& shape : kShapes)
    for (const char* name : {"all-gather", "all-gather-doubling"})
      check(name, {shape.members, shape.bytes, 1}, 1);
  check("all-gather", {5, 11, 1}, 3);
}

TEST(Collectives, AReduceScatterLeavesEveryMemberItsPartOfTheSum) {
  const auto check = [](const std::string& name, int members, std::int64_t bytes, int slices) {
    const GroupExchange exchange{members, bytes, 1};
    const auto end = end_of(name, exchange, own_vectors(exchange), slices, slices > 1);
    for (int j = 0; j < members; ++j)
      for (auto i = part_begin(bytes, j, members); i < part_begin(bytes, j + 1, members); ++i)
        EXPECT_EQ(end[as_index(j)][as_index(i)], everyone(members)) << words_of(name, exchange);
  };
  for (const Shape& shape : kShapes)
    for (const char* name :
         {"reduce-scatter", "reduce-scatter-halving", "reduce-scatter-pairwise", "reduce-scatter-root"})
      check(name, shape.members, shape.bytes, 1);
  for (const int members : {2, 3, 5, 8}) check("reduce-scatter", members, 53, 3);
}

GroupExchange sending(std::int64_t bytes, const std::vector<std::vector<int>>& targets) {
  GroupExchange exchange{static_cast<int>(targets.size()), bytes, 1};
  exchange.targets = targets;
  exchange.senders = senders_of(targets);
  return exchange;
}

// 0 and 3 send to 1, 1 to 2 and 3, 2 to nobody.
TEST(Collectives, TargetsGetWhatIsSentToThemAndNothingElse) {
  const GroupExchange exchange = sending(10, {{1}, {2, 3}, {}, {1}});
  const Collective& send = find_collective("send");
  std::vector<Contributions> expected;
  for (const std::multiset<int>& of : {std::multiset<int>{0}, {0, 1, 3}, {1, 2}, {1, 3}})
    expected.push_back(Contributions(10, of));
  EXPECT_EQ(end_of("send", exchange, own_vectors(exchange)), expected);
  EXPECT_EQ(send.totals(exchange).transfers, 4);
  EXPECT_EQ(send.totals(exchange).bytes, 40);
  EXPECT_EQ(send.totals(sending(0, {{1}, {0}})).transfers, 0);
}

// Member j ends with part j of everyone's contribution, in the place of that contribution's part, and with
// nothing that is for another but what it had, unless parts travel through others.
void expect_parts(const std::string& name, const GroupExchange& exchange, bool through_others = false) {
  const int n = exchange.members;
  const std::vector<Contributions> own = own_places(exchange);
  std::vector<Contributions> expected = own;
  for (int from = 0; from < n; ++from) {
    std::size_t at = as_index(from * exchange.bytes);
    for (int to = 0; to < n; ++to) {
      const std::int64_t part = exchange.parts.empty()
                                    ? (to + 1) * exchange.bytes / n - to * exchange.bytes / n
                                    : exchange.parts[as_index(from * n + to)];
      for (std::int64_t i = 0; i < part; ++i) expected[as_index(to)][at++] = {from};
    }
  }
  std::vector<Contributions> end = end_of(name, exchange, own);
  for (std::size_t member = 0; through_others && member < end.size(); ++member)
    for (std::size_t i = 0; i < end[member].size(); ++i)
      if (expected[member][i].empty()) end[member][i].clear();
  EXPECT_EQ(end, expected) << words_of(name, exchange);
}

TEST(Collectives, AnAllToAllBringsEveryoneThePartsThatAreForIt) {
  for (const Shape& shape : kShapes) {
    expect_parts("pairwise", {shape.members, shape.bytes, 1});
    expect_parts("bruck", {shape.members, shape.bytes, 1}, true);
  }
  // Five members whose contributions are of up to 12 bytes; some have nothing for each other.
  GroupExchange uneven{5, 12, 1};
  uneven.parts = {2, 3, 0, 7, 0, 0, 1, 1, 0, 0, 4, 0, 2, 3, 3, 0, 9, 0, 0, 1, 2, 2, 2, 2, 4};
  expect_parts("pairwise", uneven);
  expect_parts("bruck", uneven, true);
  // Without what stays: 10 + 1 + 10 + 10 + 8 bytes in 2 + 1 + 3 + 2 + 4 messages.
  EXPECT_EQ(find_collective("pairwise").totals(uneven).bytes, 39);
  EXPECT_EQ(find_collective("pairwise").totals(uneven).transfers, 12);
}

// Of all rounds.
std::vector<Message> sent_by(int member, const Collective& collective, const GroupExchange& exchange) {
  std::vector<Message> sent;
  for (int index = 0; index < collective.rounds(exchange); ++index)
    for (const Message& message : collective.round(exchange, member, index).sends) sent.push_back(message);
  return sent;
}

std::int64_t bytes_sent_by(int member, const Collective& collective, const GroupExchange& exchange) {
  std::int64_t total = 0;
  for (const Message& message : sent_by(member, collective, exchange)) total += message.bytes;
  return total;
}

// Messages and bytes are those of all rounds.
void expect_totals(const Collective& collective, const GroupExchange& exchange) {
  Totals totals;
  for (int member = 0; member < exchange.members; ++member) {
    for (int index = 0; index < collective.rounds(exchange); ++index) {
      const std::vector<Message> sends = collective.round(exchange, member, index).sends;
      std::set<int> peers;
      for (const Message& message : sends) peers.insert(message.peer);
      totals.transfers += static_cast<std::int64_t>(collective.joins_parts() ? peers.size() : sends.size());
    }
    totals.bytes += bytes_sent_by(member, collective, exchange);
  }
  EXPECT_EQ(collective.totals(exchange).transfers, totals.transfers) << words_of(collective.name(), exchange);
  EXPECT_EQ(collective.totals(exchange).bytes, totals.bytes) << words_of(collective.name(), exchange);
}

TEST(Collectives, TotalsAreTheSumOfAllRounds) {
  for (const auto& collective : collectives())
    for (const Shape& shape : kShapes) expect_totals(*collective, {shape.members, shape.bytes, 2});
}

// Member 0 of eight: parts that are 1, 3, 5 and 7 members away go to 1 together, then 2, 3, 6 and 7 to 2, and
// 4 to 7 to 4. Otherwise a member sends another one message a round; in leaf-tree, where a node's children
// may live at one member, each has its own.
TEST(Collectives, WhatGoesToOneMemberInARoundIsOneMessage) {
  const Collective& bruck = find_collective("bruck");
  for (const int index : {0, 1, 2}) {
    const Round whole = joined(bruck.round({8, 800, 1}, 0, index));
    ASSERT_EQ(whole.sends.size(), 1u);
    EXPECT_EQ(whole.sends[0].peer, 1 << index);
    EXPECT_EQ(whole.sends[0].bytes, 400);
    EXPECT_EQ(whole.receives.size(), 1u);
  }
  EXPECT_EQ(bruck.totals({8, 800, 1}).transfers, 8 * 3);
  for (const auto& collective : collectives())
    for (const Shape& shape : kShapes)
      for (int member = 0; member < shape.members; ++member) {
        if (collective->joins_parts() || collective->name() == "leaf-tree") continue;
        const GroupExchange exchange{shape.members, shape.bytes, 1};
        for (int index = 0; index < collective->rounds(exchange); ++index) {
          const Round round = collective->round(exchange, member, index);
          EXPECT_EQ(joined(round).sends.size(), round.sends.size()) << words_of(collective->name(), exchange);
        }
      }
}

// Sites of equal and unequal sizes, in blocks, scattered, and each member alone.
TEST(Collectives, SitesDoNotChangeWhatArrives) {
  for (const std::vector<int>& sites : {std::vector<int>{0, 0, 0, 1, 1, 1},
                                        {0, 1, 2, 0, 1, 2},
                                        {3, 3, 3, 3, 3, 7},
                                        {5, 4, 3, 2, 1, 0},
                                        {1, 1, 1, 1, 1, 1}}) {
    const GroupExchange exchange{6, 31, 1, sites};
    expect_sum("hierarchical", exchange);
    expect_totals(find_collective("hierarchical"), exchange);
  }
}

// Of several chunks a half: 2 MB are two halves of 8 chunks a level, or of 64 KiB.
TEST(Collectives, ChunksOfADoubleTreeAllArrive) {
  const Collective& tree = find_collective("double-tree");
  for (const int members : {2, 5, 8}) {
    const GroupExchange exchange{members, 2000000, 1};
    std::map<std::pair<int, int>, std::vector<std::int64_t>> sent, received;  // offsets by (from, to)
    for (int member = 0; member < members; ++member)
      for (int index = 0; index < tree.rounds(exchange); ++index) {
        const Round round = tree.round(exchange, member, index);
        for (const Message& message : round.sends) sent[{member, message.peer}].push_back(message.offset);
        for (const Message& message : round.receives)
          received[{message.peer, member}].push_back(message.offset);
      }
    EXPECT_EQ(sent, received) << members;
    const int chunks = members == 2 ? 8 : 16;
    EXPECT_EQ(tree.rounds(exchange), 3 * chunks);
    EXPECT_EQ(tree.totals(exchange).transfers, 2 * (members - 1) * 2 * chunks);
  }
  // As NCCL's buffers: 512 KiB a chunk, but at most 256 of them.
  EXPECT_EQ(tree.rounds({8, 100 << 20, 1}), 3 * 100);
  EXPECT_EQ(tree.rounds({8, std::int64_t{1} << 40, 1}), 3 * 256);
}

// What single members send, by hand. All but one chunk of a ring go round twice; half of that is a
// reduce-scatter, or an all-gather of its parts; of an all-to-all the own part stays.
// tree: 0 receives from 1 and 2 and sends the result to both; 2 has 3 below it. heap-tree: 0 has 1 and 2, 1
// has 3. leaf-tree: the node over 0 and 1 lives at 2, the one over 2 and 3 at 0, the root at 3; none at 1.
// halving-doubling: 2 · (1/2 + 1/4) of the vector; of 5 members 0 sends its vector to 1, which returns the
// result; in halves 1 sends half of its own and half of the sum, and 0 half of its own and the result.
// reduce-scatter-halving of 5: 0 sends all; 1 what is 3's and 4's, then 2's, then the result of 0; 3 what is
// 0's, 1's and 2's, then 4's. bruck: 1 and 3 members to go in the first round, 2 and 3 in the second.
// recursive-doubling: a vector a level, and the same fold. hierarchical,
// two sites of three: a leader sends two whole vectors back and, in a ring of two, two halves.
// To whom, of 8 members and of 6: seen in the kernel's counters of the sockets of MPICH 5.0.2 (4 MB; whole
// vectors for small ones) and, of 8, of Open MPI 5.0.11 too (findings/halving-doubling-nearest.sh).
TEST(Collectives, HalvingDoublingSendsMostToTheNearestAsMpiLibrariesDo) {
  const struct {
    const char* name;
    int member;
    std::vector<std::int64_t> to;  // eighths of the vector
  } expected[] = {{"halving-doubling", 0, {0, 8, 4, 0, 2, 0, 0, 0}},
                  {"halving-doubling", 1, {8, 0, 0, 4, 0, 2, 0, 0}},
                  {"halving-doubling", 3, {0, 4, 8, 0, 0, 0, 0, 2}},
                  {"halving-doubling", 7, {0, 0, 0, 2, 0, 4, 8, 0}},
                  {"halving-doubling", 0, {0, 8, 0, 0, 0, 0}},
                  {"halving-doubling", 1, {8, 0, 0, 8, 4, 0}},
                  {"halving-doubling", 2, {0, 0, 0, 8, 0, 0}},
                  {"halving-doubling", 3, {0, 8, 8, 0, 0, 4}},
                  {"halving-doubling", 4, {0, 4, 0, 0, 0, 8}},
                  {"halving-doubling-far", 0, {0, 2, 4, 0, 8, 0, 0, 0}},
                  {"halving-doubling-far", 5, {0, 8, 0, 0, 2, 0, 0, 4}},
                  {"halving-doubling-halves", 0, {0, 12, 8, 0, 4, 0}},
                  {"halving-doubling-halves", 1, {8, 0, 0, 0, 0, 0}},
                  {"halving-doubling-halves", 5, {0, 0, 4, 0, 8, 0}},
                  {"recursive-doubling", 0, {0, 8, 8, 0, 8, 0, 0, 0}},
                  {"recursive-doubling", 7, {0, 0, 0, 8, 0, 8, 8, 0}},
                  {"recursive-doubling", 0, {0, 8, 0, 0, 0, 0}},
                  {"recursive-doubling", 1, {8, 0, 0, 8, 8, 0}}};
  for (const auto& [name, member, to] : expected) {
    std::vector<std::int64_t> sent(to.size());
    for (const Message& message : sent_by(member, find_collective(name), {static_cast<int>(to.size()), 8, 1}))
      sent[as_index(message.peer)] += message.bytes;
    EXPECT_EQ(sent, to) << name << " of " << to.size() << ", member " << member;
  }
}

TEST(Collectives, EachMemberSendsWhatIsWorkedOutByHand) {
  const GroupExchange two_sites{6, 100, 1, {0, 0, 0, 1, 1, 1}};
  const struct {
    const char* name;
    GroupExchange exchange;
    std::vector<std::int64_t> by_member;  // of the first ones
  } expected[] = {{"ring", {4, 400, 1}, {600, 600, 600, 600}},
                  {"direct", {4, 400, 1}, {600, 600, 600, 600}},
                  {"reduce-scatter", {4, 400, 1}, {300, 300, 300, 300}},
                  {"reduce-scatter-halving", {4, 400, 1}, {300, 300, 300, 300}},
                  {"reduce-scatter-halving", {5, 400, 1}, {400, 320, 320, 320, 320}},
                  {"reduce-scatter-pairwise", {4, 400, 1}, {300, 300, 300, 300}},
                  {"reduce-scatter-root", {4, 400, 1}, {300, 400, 400, 400}},
                  {"all-gather", {4, 100, 1}, {300, 300, 300, 300}},
                  {"all-gather-doubling", {4, 100, 1}, {300, 300, 300, 300}},
                  {"all-gather-doubling", {5, 100, 1}, {400, 400, 400, 400, 400}},
                  {"bruck", {4, 400, 1}, {400, 400, 400, 400}},
                  {"pairwise", {4, 400, 1}, {300, 300, 300, 300}},
                  {"tree", {4, 100, 1}, {200, 100, 200, 100}},
                  {"heap-tree", {4, 100, 1}, {200, 200, 100, 100}},
                  {"leaf-tree", {4, 100, 1}, {400, 100, 400, 300}},
                  {"leaf-tree", {2, 100, 1}, {100}},
                  {"halving-doubling", {4, 400, 1}, {600, 600, 600, 600}},
                  {"halving-doubling", {5, 400, 1}, {400, 1000, 600, 600, 600}},
                  {"halving-doubling-far", {5, 400, 1}, {400, 1000, 600, 600, 600}},
                  {"halving-doubling-halves", {5, 400, 1}, {1200, 400, 600, 600, 600}},
                  {"recursive-doubling", {4, 400, 1}, {800, 800, 800, 800}},
                  {"recursive-doubling", {5, 400, 1}, {400, 1200, 800, 800, 800}},
                  {"parameter-server", {4, 100, 1}, {300, 100, 100, 100}},
                  {"hierarchical", two_sites, {300, 100, 100, 300, 100, 100}},
                  {"pair", {2, 100, 2}, {100, 100}},
                  {"root", {3, 100, 2}, {200, 100, 100}},
                  {"serial", {2, 100, 2}, {100, 100}},
                  {"serial", {3, 100, 2}, {200, 200, 200}}};
  for (const auto& [name, exchange, by_member] : expected)
    for (std::size_t member = 0; member < by_member.size(); ++member)
      EXPECT_EQ(bytes_sent_by(static_cast<int>(member), find_collective(name), exchange), by_member[member])
          << words_of(name, exchange) << ", member " << member;
  EXPECT_EQ(find_collective("pair").rounds({2, 100, 2}), 1);
  EXPECT_EQ(find_collective("tree").rounds({5, 100, 1}), 6) << "three levels there and back";
  EXPECT_EQ(find_collective("serial").rounds({2, 100, 2}), 2) << "delta, then phi";
  EXPECT_EQ(find_collective("root").rounds({2, 100, 2}), 4) << "delta there and back, phi there and back";
  const std::int64_t bytes = std::int64_t{1} << 55;
  EXPECT_EQ(part_begin(bytes, 1023, 1024), bytes / 1024 * 1023) << "does not overflow";
  EXPECT_EQ(part_begin(10, 2, 3), 6) << "floor(2 · 10 / 3)";
}

// In a double tree half of the vector up as a leaf; up and to at most two children as an inner node.
TEST(Collectives, NoMemberOfALeafTreeSendsToItselfOrIsAnInnerNodeOfBothDoubleTrees) {
  for (int members = 2; members <= 33; ++members)
    for (int member = 0; member < members; ++member) {
      for (const Message& message : sent_by(member, find_collective("leaf-tree"), {members, 100, 1}))
        EXPECT_NE(message.peer, member) << members;
      EXPECT_LE(bytes_sent_by(member, find_collective("double-tree"), {members, 400, 1}), 800) << members;
    }
}

TEST(Collectives, RegistryHasWhateverAPlanMayName) {
  for (const auto& collective : collectives())
    EXPECT_FALSE(collective->about().empty()) << collective->name();
  EXPECT_SAYS(refused_parts([] { find_collective("rinq"); }).hint, "\"ring\"");
  // core/ lists the names that a method may choose; what they are for is the collectives' own.
  const auto names_of = [](Collective::Purpose purpose) {
    std::vector<std::string> names;
    for (const auto& collective : collectives())
      if (collective->purpose() == purpose) names.push_back(collective->name());
    return names;
  };
  EXPECT_EQ(names_of(Collective::Purpose::kAllReduce), all_reduce_collectives());
  EXPECT_EQ(names_of(Collective::Purpose::kAllToAll), (std::vector<std::string>{"pairwise", "bruck"}));
}

}  // namespace longhaul::collectives_test
