// Merges in closed form, on a star: a message of 100,000 bytes at 1 MB/s of payload and 0.1 s takes 0.2 s
// each way, none to and from replica 0, beside which the synchronizer is. A step takes 1 s times the
// replica's factor.
#include "replay/engine/synchronizer.h"

#include <gtest/gtest.h>

#include <limits>

#include "net/tcp/framing.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul::synchronizer_test {

constexpr double kMessage_s = 0.2;
constexpr std::int64_t kBytes = 100000;

struct Merging {
  int every = 4, steps = 9;
  Completion completion = {};
  int slack_steps = -1;
};

Trace trace_of(const Merging& merging, int replicas) {
  OperationRule rule = rule_of("parameter-server", merging.every);
  rule.kind = OperationKind::kMerge;
  rule.overlap_steps = 1;
  rule.completion = merging.completion;
  rule.slack_steps = merging.slack_steps;
  rule.answer = whole({"phi"}, Wire::kInt8);
  return make_trace({{rule}}, {1, replicas, merging.steps, kBytes});
}

Case merging_case(const std::vector<double>& factors) {
  Case config = star_case(static_cast<int>(factors.size()), 8e6 / payload_share(TcpSpec().segment), 0.2);
  config.workload.step_time_factors = factors;
  return config;
}

Replayed replayed(const Merging& merging, const Case& config) {
  return walked(config, trace_of(merging, config.replicas));
}

using Contributions = std::vector<std::vector<int>>;  // replica, posted after, taken up at the end of

struct Line {
  Contributions contributions;
  double done_s, start_s = -1;  // -1: not asked for
};

std::vector<Line> merges_of(const Replayed& result) {
  std::vector<Line> merges;
  for (const Json& json : schedule_of(result)) {
    EXPECT_EQ(json.at("merge"), merges.size());
    merges.push_back({json.at("contributions"), json.at("done_s"), json.at("start_s")});
  }
  return merges;
}

void expect_merges(const Replayed& result, const std::vector<Line>& expected) {
  const std::vector<Line> merges = merges_of(result);
  ASSERT_EQ(merges.size(), expected.size());
  for (std::size_t i = 0; i < merges.size(); ++i) {
    EXPECT_EQ(merges[i].contributions, expected[i].contributions) << i;
    EXPECT_NEAR(merges[i].done_s, expected[i].done_s, 1e-9) << i;
    if (expected[i].start_s >= 0) {
      EXPECT_NEAR(merges[i].start_s, expected[i].start_s, 1e-9) << i;
    }
  }
}

// Two fragments of three replicas, merged at the same time: what replica 0 sends back is of the merge that it
// was in, two answers each; it sends the synchronizer beside it nothing.
TEST(Synchronizer, AnswersAreSentForTheirMerge) {
  Trace trace = trace_of({}, 3);
  OperationRule second = trace.plan.rules[0];
  trace.plan.rules[0].name = "fragment-0";
  second.name = "fragment-1";
  const Replayed result =
      walked(merging_case({1, 1, 1}), make_trace({{trace.plan.rules[0], second}}, trace.context));
  int rows = 0;
  for (const ExchangeRecord& row : result.exchanges) {
    EXPECT_EQ(row.bytes, (row.replica == 0 ? 2 : 1) * kBytes) << row.step << " " << row.exchange;
    ++rows;
  }
  EXPECT_EQ(rows, 2 * 2 * 3);
}

// Three of four. After four steps contributions are there at 4.0 s (replica 0, no message), 4.2, 5.0 and, of
// the slow one, 8.2 s. The first merge is made 0.3 s after the third, at 5.3 s; it is back at 5.5 s, so at
// the end of step 6 of the first two and of step 5 of the third. At 8.2 s the slow one is in the next merge,
// with contributions of step 8 of the first two; the third's, at 9.8 s, waits for the last of the slow
// one, 16.2 s, since nobody else comes.
TEST(Synchronizer, MergesWhatIsThereWhenTheGraceOfAQuorumIsOver) {
  const Replayed result = replayed({4, 9, {3, 0.3}}, merging_case({1, 1, 1.2, 2}));
  expect_merges(result, {{{{0, 4, 6}, {1, 4, 6}, {2, 4, 5}}, 5.3, 4.8},
                         {{{0, 8, 9}, {1, 8, 9}, {3, 4, 5}}, 8.5, 8},
                         {{{2, 8, 0}, {3, 8, 9}}, 16.2}});
  expect_row(result, 4, 0, 4, 4.8, 5.3);
  expect_row(result, 4, 1, 4, 4.8, 5.3 + kMessage_s);
  expect_row(result, 4, 2, 4.8, 4.8, 5.3 + kMessage_s);
  expect_row(result, 4, 3, 8, 8, 8.5 + kMessage_s);
  expect_row(result, 8, 2, 9.6, 9.6, 9.6);  // it ended before that came back
  // What replicas send is what arrives: contributions to replica 0, and from it an answer to each that
  // contributed. In all 4 + 3 rows of contributions, one of them replica 0's twice; answers to 1, 2, 1, 3 and
  // 2 and 3. The parts of every row add up to done − start: none, or the last contribution's way from then
  // on, the grace time, and the way back.
  std::vector<std::int64_t> sent(4);
  for (const ExchangeRecord& row : result.exchanges) sent[as_index(row.replica)] += row.bytes;
  EXPECT_EQ(sent, (std::vector<std::int64_t>{6 * kBytes, 2 * kBytes, 2 * kBytes, 2 * kBytes}));
  EXPECT_EQ(result.report["transfers"], 6 + 6);
  const std::vector<BreakdownRow> rows = breakdown_of(result);
  ASSERT_EQ(rows.size(), result.exchanges.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    EXPECT_NEAR(rows[i].total_s(), result.exchanges[i].done_s - result.exchanges[i].start_s, 1e-8) << i;
}

// No replica waits, however late the others are.
TEST(Synchronizer, NoReplicaWaits) {
  for (const Completion& completion : {Completion{3, 0.3}, Completion{}}) {
    const Replayed result = replayed({4, 9, completion}, merging_case({1, 1, 1.2, 2}));
    const double clocks[] = {9, 9, 10.8, 18};
    const Rows totals = rows_of(result, "replicas.csv");
    ASSERT_EQ(totals.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(std::stod(totals[i][3]), clocks[i], 1e-9);
    for (const ExchangeRecord& row : result.exchanges) EXPECT_LE(row.done_s, row.awaited_s);
  }
}

// All of two, of which one takes 2.5 s a step. What the first posted after step 2 is merged at 5.2 s, when
// the other's arrives: at step 4 it posts nothing, at step 6 with what it trained in four steps. After its
// last posting it is not waited for.
TEST(Synchronizer, WhoHasNothingBackPostsNothing) {
  const Replayed result = replayed({2, 9}, merging_case({1, 2.5}));
  expect_merges(result, {{{{0, 2, 6}, {1, 2, 3}}, 5.2},
                         {{{0, 6, 0}, {1, 4, 5}}, 10.2},
                         {{{1, 6, 7}}, 15.2},
                         {{{1, 8, 9}}, 20.2}});
  expect_row(result, 4, 0, 4, 4, 4);
  expect_row(result, 8, 0, 8, 8, 8);
  for (const int step : {4, 8}) EXPECT_EQ(result.row(step, 0).bytes % (2 * kBytes), 0) << "answers alone";
}

// Without slack all wait for all: replica 0 from the end of step 3 to 5.2 s, then a step, posts at 6.2 s, and
// from 7.2 s on for what the other posts at 10 s. The schedule is the one that follows from the plan. With a
// slack of a step replica 0 goes on to the end of step 4, 4 s, before it waits.
TEST(Synchronizer, WithoutSlackIsSynchronous) {
  const Replayed slack = replayed({4, 9, {}, 1}, merging_case({1, 2.5}));
  expect_row(slack, 4, 0, 4, 10, 10.2);
  EXPECT_NEAR(slack.row(4, 0).awaited_s, 6, 1e-9);
  const Merging merging{2, 9, {}, 0};
  const Replayed result = replayed(merging, merging_case({1, 2.5}));
  expect_row(result, 2, 0, 2, 5, 5.2);
  EXPECT_NEAR(result.row(2, 0).awaited_s, 3, 1e-9);
  expect_row(result, 4, 0, 6.2, 10, 10.2);
  EXPECT_NEAR(result.row(4, 0).awaited_s, 7.2, 1e-9);
  EXPECT_NEAR(result.row(2, 1).awaited_s, 7.5, 1e-9);
  const Trace trace = trace_of(merging, 2);
  EXPECT_FALSE(timing_matters(trace.plan));
  const Schedule expected = synchronous_merges(trace.plan, trace.context);
  const std::vector<Line> found = merges_of(result);
  ASSERT_EQ(found.size(), expected.merges.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    Contributions contributions;
    for (const Merge::Contribution& of : expected.merges[i].contributions)
      contributions.push_back({of.replica, of.post_step, of.taken_step});
    EXPECT_EQ(found[i].contributions, contributions);
  }
}

// A quorum of one. The first merge waits half a second, and passes by what comes at 5.0 s, a second after the
// first: the next one, of that, waits a second. Replica 0 comes at 8.0 s, three after that: it waits the
// median of both, two seconds, in which the other comes, at 9.8 s.
TEST(Synchronizer, AnAdaptiveGraceFollowsTheLags) {
  const Replayed result = replayed({4, 9, {1, 0, AdaptiveGrace{0, 64, 0, 0.5}}}, merging_case({1, 1.2}));
  expect_merges(result, {{{{0, 4, 5}}, 4.5}, {{{1, 4, 6}}, 6}, {{{0, 8, 0}, {1, 8, 9}}, 9.8}});
}

// The others know of a crash after `detect_s`; who is back goes on with what it has.
Case with_crashes(const std::vector<double>& factors, const std::vector<Fault>& crashes,
                  OnFailure on_failure = OnFailure::kRetry, double detect_s = 0.25) {
  Case config = merging_case(factors);
  config.faults = crashes;
  config.recovery.on_failure = on_failure;
  config.recovery.detect_s = detect_s;
  config.recovery.downloads_state = false;
  return config;
}

constexpr double kForEver_s = std::numeric_limits<double>::infinity();

// What replica 1 posts at 4.0 s is there at 4.2 s, or lost if it crashes at 4.1 s. The merge waits for the
// slow one, at 8.2 s. It is back for replica 0 at once, which has just posted nothing after step 8; for the
// slow one within its step 5.
TEST(SynchronizerWithCrashes, WhatHadArrivedIsMergedAndWhatHadNotIsLost) {
  const Replayed lost = replayed({4, 9}, with_crashes({1, 1, 2}, {crash_of(1, 4.1, kForEver_s)})),
                 merged = replayed({4, 9}, with_crashes({1, 1, 2}, {crash_of(1, 4.5, kForEver_s)}));
  expect_merges(lost, {{{{0, 4, 9}, {2, 4, 5}}, 8.2}, {{{2, 8, 9}}, 16.2}});
  expect_merges(merged, {{{{0, 4, 9}, {1, 4, 0}, {2, 4, 5}}, 8.2}, {{{2, 8, 9}}, 16.2}});
  for (const Replayed* result : {&lost, &merged}) {
    expect_row(*result, 4, 1, 4, 4, 4);  // it did not come back before it went
    EXPECT_EQ(result->row(4, 1).bytes, kBytes);
    EXPECT_EQ(result->report["transfers"], 3 + 2) << "contributions, and answers to the slow one";
    EXPECT_THROW(result->row(8, 1), std::out_of_range);
  }
  EXPECT_EQ(totals_of(lost, 1), (Cells{"0", "4.1"}));
  EXPECT_EQ(totals_of(merged, 1), (Cells{"4", "0.5"}));
}

// Replica 1 crashes before it has posted. Without slack replica 0 waits from 3.0 s on until that is known.
TEST(SynchronizerWithCrashes, WhoIsGoneIsWaitedForUntilThatIsKnown) {
  const Replayed result =
      replayed({2, 5, {}, 0}, with_crashes({1, 1}, {crash_of(1, 1.5, kForEver_s)}, OnFailure::kRetry, 2.25));
  EXPECT_EQ(merges_of(result).at(0).contributions, (Contributions{{0, 2, 3}}));
  expect_row(result, 2, 0, 2, 2, 3.75);
  EXPECT_NEAR(result.row(2, 0).awaited_s, 3, 1e-9);
  expect_row(result, 4, 0, 4.75, 4.75, 4.75);  // nobody else is waited for
  EXPECT_NEAR(simulated_s(result), 5.75, 1e-9);
}

// Back at 2.5 s it begins with step 3, where replica 0 is, and posts after step 4. Of three, what replica 2
// posted is on its way when replica 1 is back, in step 3: that merge is made when it arrives, and not when
// replica 1 posts after step 4.
TEST(SynchronizerWithCrashes, WhoIsBackIsWaitedForButNotByAMergeThatHasBegun) {
  const Replayed result = replayed({2, 6}, with_crashes({1, 1}, {crash_of(1, 1.5, 1)}));
  expect_merges(result, {{{{0, 2, 3}}, 2}, {{{0, 4, 5}, {1, 4, 5}}, 4.5 + kMessage_s}});
  const Replayed begun = replayed({2, 5}, with_crashes({1, 1, 1}, {crash_of(1, 1.5, 0.6)}));
  expect_merges(begun,
                {{{{0, 2, 3}, {2, 2, 3}}, 2.2}, {{{0, 4, 5}, {1, 4, 5}, {2, 4, 5}}, 4.1 + kMessage_s}});
}

// Replica 0 takes 10 s a step. What replica 1 posted after step 2 is in the open merge when it crashes, at
// 2.5 s. Back at 3.25 s it takes steps 3 and 4 and contributes again; then nothing more, since that is not
// back. Steps 1 and 2 and half of step 3 are lost; steps 5 to 9 are in its own model.
TEST(SynchronizerWithCrashes, TheNewerContributionTakesThePlaceOfTheOlder) {
  const Replayed result = replayed({2, 9}, with_crashes({10, 1}, {crash_of(1, 2.5, 0.75)}));
  EXPECT_EQ(merges_of(result).at(0).contributions, (Contributions{{0, 2, 3}, {1, 4, 0}}));
  EXPECT_NEAR(merges_of(result)[0].start_s, 20, 1e-9);
  expect_row(result, 2, 1, 2, 2, 2);
  EXPECT_EQ(totals_of(result, 1), (Cells{"7", "2.5"}));
}

// Where all wait, it sends again when it is back, at 5.1 s, and does its step 5 again. An answer that it
// should have had at 4.4 s is sent again, too: it crashes at 4.3 s.
TEST(SynchronizerWithCrashes, WhereAllWaitWhatWasLostIsSentAgain) {
  const Replayed result = replayed({4, 9}, with_crashes({1, 1}, {crash_of(1, 4.1, 1)}, OnFailure::kWait));
  const std::vector<Line> merges = merges_of(result);
  ASSERT_EQ(merges.size(), 2u);
  EXPECT_EQ(merges[0].contributions, (Contributions{{0, 4, 6}, {1, 4, 5}}));
  EXPECT_NEAR(merges[0].done_s, 5.1 + kMessage_s, 1e-9);
  EXPECT_EQ(result.row(4, 1).bytes, 2 * kBytes);
  EXPECT_NEAR(result.row(4, 1).awaited_s, 6.1, 1e-9);
  EXPECT_EQ(totals_of(result, 1), (Cells{"9", "0.1"}));
  const Replayed answered = replayed({4, 9}, with_crashes({1, 1}, {crash_of(1, 4.3, 1)}, OnFailure::kWait));
  EXPECT_EQ(merges_of(answered).at(0).contributions, (Contributions{{0, 4, 5}, {1, 4, 5}}));
  EXPECT_NEAR(merges_of(answered)[0].done_s, 4.2, 1e-9);
  EXPECT_NEAR(answered.row(4, 1).done_s, 5.3 + kMessage_s, 1e-9);
  EXPECT_EQ(answered.report["transfers"], 2 + 3);
}

}  // namespace longhaul::synchronizer_test
