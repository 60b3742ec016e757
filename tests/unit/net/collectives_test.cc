// Every collective is run on sets of contributions (data_flow.h).
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/plan/operations.h"
#include "net/collectives/collective.h"
#include "tests/support/idle_star.h"
#include "tests/support/said.h"
#include "tests/unit/net/data_flow.h"

namespace longhaul::collectives_test {

struct Shape {
  int members;
  std::int64_t bytes;
};

// Powers of two and not, fewer bytes than members, bytes that do not divide.
const Shape kShapes[] = {{2, 1},  {2, 10},  {3, 10}, {4, 16},  {5, 3},
                         {6, 13}, {7, 100}, {8, 64}, {12, 31}, {16, 5}};

// Every collective whose result is the sum, at everyone.
std::vector<std::string> averaging_collectives() {
  std::vector<std::string> names = all_reduce_collectives();
  names.insert(names.end(), {"pair", "root", "serial", "send"});
  return names;
}

TEST(Collectives, EveryMemberGetsEveryContributionExactlyOnce) {
  for (const std::string& name : averaging_collectives())
    for (const Shape& shape : kShapes) {
      SCOPED_TRACE(name + " of " + std::to_string(shape.members) + ", " + std::to_string(shape.bytes));
      DataFlow flow(find_collective(name), {shape.members, shape.bytes, 2});
      ASSERT_TRUE(flow.run());
      EXPECT_TRUE(flow.nothing_left());
      expect_sum(flow, shape.members);
    }
}

// Everyone ends with contribution j at the j-th place and holds only its own at first.
TEST(Collectives, AnAllGatherPutsAllContributionsSideBySide) {
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(std::to_string(shape.members) + ", " + std::to_string(shape.bytes));
    const auto bytes = static_cast<std::size_t>(shape.bytes), n = static_cast<std::size_t>(shape.members);
    std::vector<Contributions> own(n, Contributions(n * bytes)), all(n, Contributions(n * bytes));
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = j * bytes; i < (j + 1) * bytes; ++i) {
        own[j][i] = {static_cast<int>(j)};
        for (std::size_t member = 0; member < n; ++member) all[member][i] = {static_cast<int>(j)};
      }
    DataFlow flow(find_collective("all-gather"), {shape.members, shape.bytes, 1}, own);
    ASSERT_TRUE(flow.run());
    EXPECT_TRUE(flow.nothing_left());
    for (std::size_t member = 0; member < n; ++member)
      EXPECT_EQ(flow.held(static_cast<int>(member)), all[member]);
  }
}

TEST(Collectives, AReduceScatterLeavesEveryMemberItsPartOfTheSum) {
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(std::to_string(shape.members) + ", " + std::to_string(shape.bytes));
    DataFlow flow(find_collective("reduce-scatter"), {shape.members, shape.bytes, 1});
    ASSERT_TRUE(flow.run());
    EXPECT_TRUE(flow.nothing_left());
    expect_part_of_sum(flow, shape.members, shape.bytes);
  }
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
  DataFlow flow(send, exchange);
  ASSERT_TRUE(flow.run());
  EXPECT_TRUE(flow.nothing_left());
  const std::multiset<int> expected[] = {{0}, {0, 1, 3}, {1, 2}, {1, 3}};
  for (int member = 0; member < 4; ++member)
    for (const auto& contributions : flow.held(member)) EXPECT_EQ(contributions, expected[member]) << member;
  EXPECT_EQ(send.totals(exchange).transfers, 4);
  EXPECT_EQ(send.totals(exchange).bytes, 40);
  EXPECT_EQ(send.totals(sending(0, {{1}, {0}})).transfers, 0);
}

// Member j ends with part j of everyone's contribution, in the place of that contribution's part, and with
// nothing that is for another but what it had.
void expect_parts(const std::string& name, const GroupExchange& exchange) {
  SCOPED_TRACE(name + " of " + std::to_string(exchange.members) + ", " + std::to_string(exchange.bytes));
  const int n = exchange.members;
  const auto bytes = static_cast<std::size_t>(exchange.bytes), count = static_cast<std::size_t>(n);
  std::vector<Contributions> own(count, Contributions(count * bytes));
  for (std::size_t j = 0; j < count; ++j)
    for (std::size_t i = j * bytes; i < (j + 1) * bytes; ++i) own[j][i] = {static_cast<int>(j)};
  std::vector<Contributions> expected = own;
  for (int from = 0; from < n; ++from) {
    std::size_t at = static_cast<std::size_t>(from) * bytes;
    for (int to = 0; to < n; ++to) {
      const std::int64_t part = exchange.parts.empty()
                                    ? (to + 1) * exchange.bytes / n - to * exchange.bytes / n
                                    : exchange.parts[static_cast<std::size_t>(from * n + to)];
      for (std::int64_t i = 0; i < part; ++i) expected[static_cast<std::size_t>(to)][at++] = {from};
    }
  }
  DataFlow flow(find_collective(name), exchange, own);
  ASSERT_TRUE(flow.run());
  EXPECT_TRUE(flow.nothing_left());
  for (int member = 0; member < n; ++member)
    EXPECT_EQ(flow.held(member), expected[static_cast<std::size_t>(member)]) << member;
}

// Five members whose contributions are of up to 12 bytes; some have nothing for each other.
const GroupExchange kUneven = [] {
  GroupExchange exchange{5, 12, 1};
  exchange.parts = {2, 3, 0, 7, 0, 0, 1, 1, 0, 0, 4, 0, 2, 3, 3, 0, 9, 0, 0, 1, 2, 2, 2, 2, 4};
  return exchange;
}();

TEST(Collectives, AnAllToAllBringsEveryoneThePartsThatAreForIt) {
  for (const Shape& shape : kShapes) expect_parts("pairwise", {shape.members, shape.bytes, 1});
  expect_parts("pairwise", kUneven);
  // Without what stays: 10 + 1 + 10 + 10 + 8 bytes in 2 + 1 + 3 + 2 + 4 messages.
  EXPECT_EQ(find_collective("pairwise").totals(kUneven).bytes, 39);
  EXPECT_EQ(find_collective("pairwise").totals(kUneven).transfers, 12);
}

// Messages and bytes are those of all rounds.
void expect_totals(const Collective& collective, const GroupExchange& exchange) {
  Totals totals;
  for (int member = 0; member < exchange.members; ++member)
    for (int index = 0; index < collective.rounds(exchange); ++index)
      for (const Message& message : collective.round(exchange, member, index).sends) {
        ++totals.transfers;
        totals.bytes += message.bytes;
      }
  EXPECT_EQ(collective.totals(exchange).transfers, totals.transfers);
  EXPECT_EQ(collective.totals(exchange).bytes, totals.bytes);
}

// Sites of equal and unequal sizes, in blocks, scattered, and each member alone.
TEST(Collectives, SitesDoNotChangeWhatArrives) {
  const Collective& collective = find_collective("hierarchical");
  for (const std::vector<int>& sites : {std::vector<int>{0, 0, 0, 1, 1, 1},
                                        {0, 1, 2, 0, 1, 2},
                                        {3, 3, 3, 3, 3, 7},
                                        {5, 4, 3, 2, 1, 0},
                                        {1, 1, 1, 1, 1, 1}}) {
    const GroupExchange exchange{6, 31, 1, sites};
    DataFlow flow(collective, exchange);
    ASSERT_TRUE(flow.run());
    EXPECT_TRUE(flow.nothing_left());
    expect_sum(flow, 6);
    expect_totals(collective, exchange);
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
}

TEST(Collectives, TotalsAreTheSumOfAllRounds) {
  for (const auto& collective : collectives())
    for (const Shape& shape : kShapes) {
      SCOPED_TRACE(collective->name() + " of " + std::to_string(shape.members) + ", " +
                   std::to_string(shape.bytes));
      expect_totals(*collective, {shape.members, shape.bytes, 2});
    }
}

std::int64_t sent(const std::string& name, const GroupExchange& exchange, int member) {
  const Collective& collective = find_collective(name);
  std::int64_t total = 0;
  for (int index = 0; index < collective.rounds(exchange); ++index)
    for (const Message& message : collective.round(exchange, member, index).sends) total += message.bytes;
  return total;
}

// What single members send, by hand. All but one chunk of a ring go round twice; half of that is a
// reduce-scatter, or an all-gather of its parts; of an all-to-all the own part stays.
// tree: 0 receives from 1 and 2 and sends the result to both; 2 has 3 below it. heap-tree: 0 has 1 and 2, 1
// has 3. leaf-tree: the node over 0 and 1 lives at 2, the one over 2 and 3 at 0, the root at 3; none at 1.
// halving-doubling: 2 · (1/2 + 1/4) of the vector; of 5 members 0 also returns the result to 4. hierarchical,
// two sites of three: a leader sends two whole vectors back and, in a ring of two, two halves.
TEST(Collectives, EachMemberSendsWhatIsWorkedOutByHand) {
  const GroupExchange two_sites{6, 100, 1, {0, 0, 0, 1, 1, 1}};
  const struct {
    const char* name;
    GroupExchange exchange;
    std::vector<std::int64_t> by_member;  // of the first ones
  } expected[] = {{"ring", {4, 400, 1}, {600, 600, 600, 600}},
                  {"direct", {4, 400, 1}, {600, 600, 600, 600}},
                  {"reduce-scatter", {4, 400, 1}, {300, 300, 300, 300}},
                  {"all-gather", {4, 100, 1}, {300, 300, 300, 300}},
                  {"pairwise", {4, 400, 1}, {300, 300, 300, 300}},
                  {"tree", {4, 100, 1}, {200, 100, 200, 100}},
                  {"heap-tree", {4, 100, 1}, {200, 200, 100, 100}},
                  {"leaf-tree", {4, 100, 1}, {400, 100, 400, 300}},
                  {"leaf-tree", {2, 100, 1}, {100}},
                  {"halving-doubling", {4, 400, 1}, {600, 600, 600, 600}},
                  {"halving-doubling", {5, 400, 1}, {1000, 600, 600, 600, 400}},
                  {"parameter-server", {4, 100, 1}, {300, 100, 100, 100}},
                  {"hierarchical", two_sites, {300, 100, 100, 300, 100, 100}},
                  {"pair", {2, 100, 2}, {100, 100}},
                  {"root", {3, 100, 2}, {200, 100, 100}},
                  {"serial", {2, 100, 2}, {100, 100}},
                  {"serial", {3, 100, 2}, {200, 200, 200}}};
  for (const auto& [name, exchange, by_member] : expected)
    for (std::size_t member = 0; member < by_member.size(); ++member)
      EXPECT_EQ(sent(name, exchange, static_cast<int>(member)), by_member[member])
          << name << " of " << exchange.members << ", member " << member;
  EXPECT_EQ(find_collective("pair").rounds({2, 100, 2}), 1);
  EXPECT_EQ(find_collective("serial").rounds({2, 100, 2}), 2) << "delta, then phi";
  EXPECT_EQ(find_collective("root").rounds({2, 100, 2}), 4) << "delta there and back, phi there and back";
}

TEST(Collectives, NoMemberOfALeafTreeSendsToItself) {
  const Collective& tree = find_collective("leaf-tree");
  for (int members = 2; members <= 33; ++members)
    for (int member = 0; member < members; ++member)
      for (int index = 0; index < tree.rounds({members, 100, 1}); ++index)
        for (const Message& message : tree.round({members, 100, 1}, member, index).sends)
          EXPECT_NE(message.peer, member) << members;
}

// Half of the vector up as a leaf; up and to at most two children as an inner node.
TEST(Collectives, NobodyIsAnInnerNodeOfBothTrees) {
  for (int members = 2; members <= 33; ++members)
    for (int member = 0; member < members; ++member)
      EXPECT_LE(sent("double-tree", {members, 400, 1}, member), 800) << members << ' ' << member;
}

// What replays hold to a bound, or not at all: L = 0.1 s, 1000 bytes at 10,000 bytes/s, 0.1 s for the whole
// vector. The others: tests/unit/sim/idle_star_test.cc.
TEST(Collectives, BoundsOfAnIdleStar) {
  const auto cost = [](const std::string& name, int members) {
    return idle_star_s(name, {members, 1000, 2}, 0.1, 1e4);
  };
  EXPECT_DOUBLE_EQ(cost("tree", 5), 6 * 0.2);
  EXPECT_DOUBLE_EQ(cost("double-tree", 7), 4 * 0.1 + 4 * 2 * 0.05 + 0.05 + 0.05)
      << "two levels, one chunk a half";
  EXPECT_DOUBLE_EQ(cost("serial", 2), 2 * 0.1 + 0.1);
  EXPECT_DOUBLE_EQ(cost("heap-tree", 8), 6 * 0.3);
}

// 512 KiB a chunk, but at most 256 of them.
TEST(Collectives, ALargeDoubleTreeHasStepsOfNcclsBuffers) {
  const Collective& tree = find_collective("double-tree");
  EXPECT_EQ(tree.rounds({8, 100 << 20, 1, {}}), 3 * 100);
  EXPECT_EQ(tree.rounds({8, std::int64_t{1} << 40, 1, {}}), 3 * 256);
}

TEST(Collectives, RegistryHasWhateverAPlanMayName) {
  std::vector<std::string> names = averaging_collectives();
  names.push_back("pairwise");
  for (const std::string& name : names) {
    EXPECT_EQ(find_collective(name).name(), name);
    EXPECT_FALSE(find_collective(name).about().empty());
  }
  const InputError error = thrown_by([&] { find_collective("rinq"); });
  EXPECT_SAYS(error.parts().hint, "\"ring\"");
}

TEST(Collectives, PartsOfLargeVectorsDoNotOverflow) {
  const std::int64_t bytes = std::int64_t{1} << 55;
  EXPECT_EQ(part_begin(bytes, 1023, 1024), bytes / 1024 * 1023);
  EXPECT_EQ(part_begin(10, 2, 3), 6) << "floor(2 · 10 / 3)";
}

// core/ lists the names that a method may choose; what they are for is the collectives' own.
TEST(Collectives, TheChoicesOfAMethodAreThoseOfTheirPurpose) {
  const auto names_of = [](Collective::Purpose purpose) {
    std::vector<std::string> names;
    for (const auto& collective : collectives())
      if (collective->purpose() == purpose) names.push_back(collective->name());
    return names;
  };
  EXPECT_EQ(names_of(Collective::Purpose::kAllReduce), all_reduce_collectives());
  EXPECT_EQ(names_of(Collective::Purpose::kAllToAll), std::vector<std::string>{"pairwise"});
}

}  // namespace longhaul::collectives_test
