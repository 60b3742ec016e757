// Operations that do not wait for everyone, in closed form: every message takes 0.3 s, so a ring of n members
// 2 (n − 1) · 0.3 s, and a step takes 1 s times the replica's factor. And the grace time that follows from
// lags.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "replay/lag_history.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul::quorum_test {

constexpr double kMessage_s = 0.3, kInfinity = std::numeric_limits<double>::infinity();

double ring_s(int members) {
  return 2 * (members - 1) * kMessage_s;
}

Replayed replayed(const Completion& completion, const std::vector<double>& factors, int steps = 1) {
  Case config = drawn_case(static_cast<int>(factors.size()), kMessage_s, 0, false);
  config.workload.step_time_factors = factors;
  OperationRule rule = rule_of("ring");
  rule.completion = completion;
  return walked(config, make_trace({{rule}}, {1, config.replicas, steps, 1000}));
}

// Three are ready after 1 s, the quorum's grace ends at 1.5 s, the fourth comes at 2 s: a ring of three.
TEST(Quorum, PassesByWhoComesAfterTheGraceTime) {
  const Replayed result = replayed({3, 0.5}, {1, 1, 2, 1});
  for (const int replica : {0, 1, 3}) {
    const ExchangeRecord& row = result.row(1, replica);
    EXPECT_NEAR(row.ready_s, 1, 1e-9);
    EXPECT_NEAR(row.start_s, 1.5, 1e-9);
    EXPECT_NEAR(row.done_s, 1.5 + ring_s(3), 1e-9);
    EXPECT_GT(row.bytes, 0);
  }
  const ExchangeRecord& late = result.row(1, 2);
  EXPECT_NEAR(late.ready_s, 2, 1e-9);
  EXPECT_NEAR(late.start_s, 2, 1e-9);
  EXPECT_NEAR(late.done_s, 2, 1e-9) << "it waits for nothing";
  EXPECT_EQ(late.bytes, 0);
  const std::vector<Json> schedule = schedule_of(result);
  ASSERT_EQ(schedule.size(), 1u);
  EXPECT_EQ(schedule[0]["group"], (std::vector<int>{0, 1, 3}));
}

// Steps in the model, seconds lost.
std::vector<std::string> totals_of(const Replayed& result, int replica) {
  return at(rows_of(result, "replicas.csv").at(static_cast<std::size_t>(replica)), {5, 6});
}

Completion fetched(int quorum, double grace_s) {
  return {quorum, grace_s, {}, true};
}

// As above, but who is late gets the result: the ring of three is over at 2.7 s, and one message later it has
// it. Its step is lost.
TEST(FetchedQuorum, WhoIsLateGetsTheResult) {
  const Replayed result = replayed(fetched(3, 0.5), {1, 1, 2, 1});
  for (const int replica : {0, 1, 3}) EXPECT_NEAR(result.row(1, replica).done_s, 2.7, 1e-9);
  const ExchangeRecord& late = result.row(1, 2);
  EXPECT_NEAR(late.ready_s, 2, 1e-9);
  EXPECT_NEAR(late.start_s, 2, 1e-9);
  EXPECT_NEAR(late.done_s, 2.7 + kMessage_s, 1e-9);
  std::int64_t bytes = 0;
  for (const ExchangeRecord& row : result.exchanges) bytes += row.bytes;
  EXPECT_EQ(bytes, 2 * 2 * 1000 + 1000) << "of a ring of three, and of the result";
  EXPECT_EQ(result.report["transfers"], 3 * 4 + 1);
  EXPECT_EQ(schedule_of(result).at(0)["group"], (std::vector<int>{0, 1, 3}));
  EXPECT_EQ(totals_of(result, 2), (std::vector<std::string>{"0", "2"}));
  EXPECT_EQ(totals_of(result, 0), (std::vector<std::string>{"1", "0"}));
}

// The ring of two is over at 2.1 s. Three who are late at 2 s: two get the result at 2.4 s, from one each,
// and the third from whoever has it first. One who comes at 5 s gets it at once.
TEST(FetchedQuorum, WhoHasTheResultPassesItOn) {
  const Replayed result = replayed(fetched(2, 0.5), {1, 1, 2, 2, 2});
  std::vector<double> done;
  for (const int replica : {2, 3, 4}) done.push_back(result.row(1, replica).done_s);
  std::sort(done.begin(), done.end());
  EXPECT_NEAR(done[0], 2.4, 1e-9);
  EXPECT_NEAR(done[1], 2.4, 1e-9);
  EXPECT_NEAR(done[2], 2.7, 1e-9);
  EXPECT_NEAR(replayed(fetched(2, 0.5), {1, 1, 5}).row(1, 2).done_s, 5.3, 1e-9);
}

// Of a ring of two that was over at 2.1 s, and of the result that one of them sends at 5 s, when both have
// gone on. Rows and totals say so.
TEST(FetchedQuorum, WhoHasGoneOnHasSentTheResultToo) {
  const Replayed result = replayed(fetched(2, 0.5), {1, 1, 5});
  std::int64_t rows = 0, totals = 0;
  for (const ExchangeRecord& row : result.exchanges) rows += row.bytes;
  for (const auto& row : rows_of(result, "replicas.csv")) totals += std::stoll(row.at(4));
  EXPECT_EQ(rows, 2 * 1000 + 1000);
  EXPECT_EQ(totals, 2 * 1000 + 1000);
}

// The first one, alone, is done when the grace is over; the other goes on from its result.
TEST(FetchedQuorum, OneAloneIsEnough) {
  const Replayed result = replayed(fetched(1, 0.5), {1, 3}, 2);
  EXPECT_NEAR(result.row(1, 0).done_s, 1.5, 1e-9);
  EXPECT_NEAR(result.row(1, 1).done_s, 3.3, 1e-9);
  EXPECT_NEAR(result.row(2, 0).done_s, 3, 1e-9);
  EXPECT_NEAR(result.row(2, 1).done_s, 6.6, 1e-9);
  EXPECT_EQ(totals_of(result, 1), (std::vector<std::string>{"0", "6"}));
}

// With an endless grace it is the operation of all.
TEST(FetchedQuorum, WithAnEndlessGraceNobodyIsLate) {
  const Replayed all = replayed({}, {1, 1, 2, 1}, 3),
                 endless = replayed(fetched(1, kInfinity), {1, 1, 2, 1}, 3);
  ASSERT_EQ(endless.exchanges.size(), all.exchanges.size());
  for (std::size_t i = 0; i < all.exchanges.size(); ++i) {
    EXPECT_EQ(endless.exchanges[i].bytes, all.exchanges[i].bytes);
    EXPECT_LE(endless.exchanges[i].ready_s, endless.exchanges[i].done_s);
  }
  for (int replica = 0; replica < 4; ++replica)
    EXPECT_EQ(totals_of(endless, replica), (std::vector<std::string>{"3", "0"}));
}

// 1.4 s is within the grace: the ring is of all four, and begins with the last.
TEST(Quorum, BeginsWithAllAsSoonAsAllAreReady) {
  const Replayed result = replayed({3, 0.5}, {1, 1, 1.4, 1});
  for (int replica = 0; replica < 4; ++replica) {
    EXPECT_NEAR(result.row(1, replica).start_s, 1.4, 1e-9);
    EXPECT_NEAR(result.row(1, replica).done_s, 1.4 + ring_s(4), 1e-9);
  }
  EXPECT_EQ(schedule_of(result)[0]["group"], (std::vector<int>{0, 1, 2, 3}));
}

// A deadline of 0.3 s after the first: those at 1 and 1.2 s are in time, those at 1.5 and 2 s not.
TEST(Quorum, OfOneIsADeadlineAfterTheFirst) {
  const Replayed result = replayed({1, 0.3}, {1.2, 1.5, 1, 2});
  EXPECT_NEAR(result.row(1, 0).done_s, 1.3 + ring_s(2), 1e-9);
  EXPECT_NEAR(result.row(1, 2).done_s, 1.3 + ring_s(2), 1e-9);
  EXPECT_NEAR(result.row(1, 1).done_s, 1.5, 1e-9);
  EXPECT_NEAR(result.row(1, 3).done_s, 2, 1e-9);
}

// Alone at the deadline: nothing is sent, and the step goes on at once.
TEST(Quorum, OneWhoIsAloneExchangesWithNobody) {
  const Replayed result = replayed({1, 0.25}, {1, 3});
  EXPECT_NEAR(result.row(1, 0).done_s, 1.25, 1e-9);
  EXPECT_EQ(result.row(1, 0).bytes, 0);
  EXPECT_NEAR(result.row(1, 1).done_s, 3, 1e-9);
  EXPECT_EQ(schedule_of(result)[0]["group"], (std::vector<int>{0}));
}

// Without grace, three of four decide at once; the slow one is a step behind after each step of its own, and
// takes part in none.
TEST(Quorum, TheSlowOneIsPassedByAtEveryStep) {
  const Replayed result = replayed({3, 0}, {1, 1, 1, 4}, 3);
  for (int step = 1; step <= 3; ++step) {
    EXPECT_NEAR(result.row(step, 0).done_s, step * (1 + ring_s(3)), 1e-9);
    EXPECT_NEAR(result.row(step, 3).done_s, step * 4, 1e-9);
  }
  const std::vector<Json> schedule = schedule_of(result);
  ASSERT_EQ(schedule.size(), 3u);
  for (const Json& row : schedule) EXPECT_EQ(row["group"], (std::vector<int>{0, 1, 2}));
}

// Median + 3 MAD of the lags, and all of them while there are none. Step 1: all wait for the last, at 1.9 s;
// lags 0.1, 0.2, 0.9, so median 0.2, MAD 0.1. Step 2 waits for 0.5 s and passes the fourth by, which is ready
// 0.9 s after the first: the same three lags again, and the same 0.5 s. Since it did not exchange, at step 3
// it is ready in time.
TEST(Quorum, AnAdaptiveGraceFollowsTheLags) {
  const Replayed result = replayed({1, 0, AdaptiveGrace{3, 64, 0, kInfinity}}, {1, 1.1, 1.2, 1.9}, 3);
  const double first = 1.9 + ring_s(4), second = first + 1 + 0.5 + ring_s(3);
  for (int replica = 0; replica < 4; ++replica) EXPECT_NEAR(result.row(1, replica).done_s, first, 1e-9);
  for (int replica = 0; replica < 3; ++replica) EXPECT_NEAR(result.row(2, replica).done_s, second, 1e-9);
  EXPECT_NEAR(result.row(2, 3).done_s, first + 1.9, 1e-9);
  for (int replica = 0; replica < 4; ++replica)
    EXPECT_NEAR(result.row(3, replica).done_s, second + 1.2 + ring_s(4), 1e-9);
  const std::vector<Json> schedule = schedule_of(result);
  ASSERT_EQ(schedule.size(), 3u);
  EXPECT_EQ(schedule[0]["group"], (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(schedule[1]["group"], (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(schedule[2]["group"], (std::vector<int>{0, 1, 2, 3}));
}

// A lag counts from when the quorum was there: of the third member on, 0.1 and 0.6 s after the second one.
// Median 0.35, MAD 0.25: at step 2 it waits from then for 0.4 s with 0.2 MADs, and for 0.65 s, so for
// all, with 1.2.
TEST(Quorum, LagsCountFromTheQuorum) {
  for (const double mads : {0.2, 1.2}) {
    const Replayed result = replayed({2, 0, AdaptiveGrace{mads, 64, 0, kInfinity}}, {1, 1.5, 1.6, 2.1}, 2);
    const double first = 2.1 + ring_s(4);
    const double expected = mads < 1 ? first + 1.5 + 0.4 + ring_s(3) : first + 2.1 + ring_s(4);
    EXPECT_NEAR(result.row(2, 0).done_s, expected, 1e-9) << mads;
  }
}

// 0.3 s to begin with: the fourth, 0.9 s after the first, is passed by at once.
TEST(Quorum, AnAdaptiveGraceMayStartWithATime) {
  const Replayed result = replayed({1, 0, AdaptiveGrace{3, 64, 0, 0.3}}, {1, 1.1, 1.2, 1.9});
  EXPECT_NEAR(result.row(1, 0).done_s, 1.3 + ring_s(3), 1e-9);
  EXPECT_NEAR(result.row(1, 3).done_s, 1.9, 1e-9);
}

TEST(Median, IsTheOneInTheMiddleOrTheMeanOfTwo) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 2}), 2);
  EXPECT_EQ(median({9, 1, 2, 4}), 3);
  EXPECT_EQ(median({5, 5, 1, 5}), 5);
  EXPECT_THROW(median({}), std::logic_error);
}

// Of 1, 1, 2, 2, 4, 6, 9 the median is 2, and the deviations are 1, 1, 0, 0, 2, 4, 7: their median is 1.
TEST(MedianAbsoluteDeviation, HasNoFactor) {
  EXPECT_EQ(median_absolute_deviation({1, 1, 2, 2, 4, 6, 9}), 1);
  EXPECT_EQ(median_absolute_deviation({4}), 0);
}

TEST(LagHistory, StartsWithTheStart) {
  LagHistory history(8);
  EXPECT_EQ(history.grace_s({3, 8, 0, 12.5}), 12.5);
  EXPECT_EQ(history.grace_s({3, 8, 0, kInfinity}), kInfinity);
  history.add({});
  EXPECT_EQ(history.grace_s({3, 8, 0, 12.5}), 12.5) << "one who met nobody tells nothing";
}

// 1, 2, 4 and 1, 2, 6, 9 are the lags above: 2 + 3 · 1.
TEST(LagHistory, WaitsForMedianAndDeviations) {
  LagHistory history(8);
  history.add({1, 2, 4});
  history.add({2, 1, 9, 6});
  EXPECT_EQ(history.grace_s({3, 8, 0, kInfinity}), 5);
  EXPECT_EQ(history.grace_s({0, 8, 0, kInfinity}), 2);
  EXPECT_EQ(history.grace_s({3, 8, 7.5, kInfinity}), 7.5) << "at least so long";
}

// Of the last two operations: 3 and 5, 7. Median 5, deviations 2, 0, 2.
TEST(LagHistory, ForgetsWhatHasLeftTheWindow) {
  LagHistory history(2);
  const std::int64_t first = history.add({100, 200});
  history.add({3});
  history.add({5, 7});
  EXPECT_EQ(history.grace_s({1, 2, 0, kInfinity}), 7);
  history.add_late(first, 1000);
  EXPECT_EQ(history.grace_s({1, 2, 0, kInfinity}), 7);
}

// One that was passed by is ready 11 s late, after the next operation: 1, 3, 11. Median 3, deviations 2,
// 0, 8.
TEST(LagHistory, CountsTheLateOnceTheyAreKnown) {
  LagHistory history(2);
  const std::int64_t first = history.add({1});
  history.add({3});
  EXPECT_EQ(history.grace_s({1, 2, 0, kInfinity}), 3) << "1 and 3: median 2, deviations 1 and 1";
  history.add_late(first, 11);
  EXPECT_EQ(history.grace_s({1, 2, 0, kInfinity}), 5);
}

}  // namespace longhaul::quorum_test
