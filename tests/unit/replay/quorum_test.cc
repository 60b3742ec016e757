// Operations that do not wait for everyone, in closed form: every message takes 0.3 s, so a ring of n members
// 2 (n − 1) · 0.3 s, and a step takes 1 s times the replica's factor.
#include <gtest/gtest.h>

#include "replay/replay.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul {
namespace {

constexpr double kMessage_s = 0.3;

double ring_s(int members) {
  return 2 * (members - 1) * kMessage_s;
}

Replayed replayed(const Completion& completion, const std::vector<double>& factors, int steps = 1) {
  Case one = drawn_case(static_cast<int>(factors.size()), kMessage_s, 0);
  one.network.barrier = false;
  one.workload.step_time.seconds = 1;
  one.workload.step_time_factors = factors;
  OperationRule rule = rule_of("ring");
  rule.completion = completion;
  return run_with(analytic_replay, one, make_trace({{rule}}, {1, one.replicas, steps, 1000}));
}

std::vector<Json> schedule_of(const Replayed& result) {
  std::istringstream lines(result.files.at("schedule.jsonl"));
  std::vector<Json> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(Json::parse(line));
  rows.erase(rows.begin());
  return rows;
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

}  // namespace
}  // namespace longhaul
