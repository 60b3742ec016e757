// Who waits for whom, and what the tables say about it; also on a network with a dead connection, where the
// replay must end and say so. With drawn message times: on a mesh the replay is the analytic fidelity event
// by event, on a star it adds the sharing of links and nothing else.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/errors.h"
#include "net/collectives/collective.h"
#include "tests/support/said.h"
#include "tests/unit/sim/replays.h"

namespace longhaul::replay_test {

Trace fixed_pairs(int steps, std::vector<std::vector<int>> pairs) {
  Trace trace = single_exchange("pair", static_cast<int>(2 * pairs.size()), 1000, steps);
  for (auto& [key, groups] : trace.groups) groups = pairs;
  return trace;
}

TEST(Replay, APairWaitsOnlyForItsPartner) {
  Trace trace = fixed_pairs(2, {{3, 0}, {1, 2}});
  trace.measured_s = {{1, 1, 1, 10}, {1, 1, 1, 10}};
  const Replayed replayed = run_replay(measured(star_case(4, 1e9, 0.01)), trace);
  EXPECT_DOUBLE_EQ(replayed.row(1, 0).ready_s, 1);
  EXPECT_DOUBLE_EQ(replayed.row(1, 0).start_s, 10) << "its partner is the straggler";
  EXPECT_GT(replayed.row(1, 0).done_s, 10);
  EXPECT_DOUBLE_EQ(replayed.row(1, 1).start_s, 1);
  EXPECT_LT(replayed.row(1, 1).done_s, 1.1);
  EXPECT_LT(replayed.row(1, 2).done_s, 1.1);
  EXPECT_LT(replayed.row(2, 1).done_s, 2.2) << "its second step before the others end their first";
  // What a replica could have computed is idle: twice 9 s and the exchange, or the exchange.
  const Rows totals = rows_of(replayed, "replicas.csv");
  EXPECT_EQ(totals[0][1], "2") << "computed";
  EXPECT_NEAR(std::stod(totals[0][2]), replayed.row(2, 0).done_s - 2, 1e-9);
  EXPECT_NEAR(std::stod(totals[3][2]), replayed.row(2, 3).done_s - 20, 1e-9);
  // A message travels once both ends are ready, so a pair with a straggler takes as long as one without.
  for (const int replica : {0, 3})
    EXPECT_NEAR(replayed.row(1, replica).done_s - replayed.row(1, replica).start_s,
                replayed.row(1, 1).done_s - replayed.row(1, 1).start_s, 2e-9);
}

// Four replicas' steps one after the other; as fast as all, one of them; measured, what the one worker took.
TEST(Replay, OneMachineWithTheWholeBatchTakesSoManyTimesAsLong) {
  Trace trace;
  trace.context = {1, 4, 3, 1000};
  trace.plan.takes_whole_batch = true;
  Case config = star_case(4, 1e9, 0.01);
  config.workload.step_time = {StepTime::Kind::kConstant, 0.5};
  const auto ends_s = [&](bool is_as_fast_as_all) {
    trace.plan.is_as_fast_as_all = is_as_fast_as_all;
    return simulated_s(run_replay(config, trace));
  };
  EXPECT_DOUBLE_EQ(ends_s(false), 3 * 4 * 0.5);
  EXPECT_DOUBLE_EQ(ends_s(true), 3 * 0.5);
  // Of replicas of unequal speed: replica 0 by itself; or 4 batches by 2 + 1 + 1/2 + 1/4 of them a step.
  config.workload.step_time_factors = {0.5, 1, 2, 4};
  EXPECT_NEAR(ends_s(true), 3 * 0.5 * 4 / 3.75, 3e-9);
  EXPECT_DOUBLE_EQ(ends_s(false), 3 * 4 * 0.5 * 0.5);
  config.workload.step_time_factors.clear();
  config.workload.step_time.kind = StepTime::Kind::kMeasured;
  trace.measured_s = {{2}, {4}, {6}};
  EXPECT_DOUBLE_EQ(ends_s(true), 12 / 4.);
  EXPECT_DOUBLE_EQ(ends_s(false), 12);
}

TEST(Replay, RowsAreInTheOrderOfStepRuleReplica) {
  Case config = star_case(4, 1e8, 0.05);
  config.workload.step_time = {StepTime::Kind::kLognormal, 0, 0, 0.5};
  const Replayed replayed = exchanged(config, "pair", 100000, 20);
  ASSERT_EQ(replayed.exchanges.size(), 80u);
  for (std::size_t i = 0; i < 80; ++i) {
    EXPECT_EQ(replayed.exchanges[i].step, static_cast<int>(i / 4) + 1);
    EXPECT_EQ(replayed.exchanges[i].replica, static_cast<int>(i % 4));
  }
}

// Drawn step times, losses, and links that vary.
TEST(Replay, GivesTheSameBytesTwiceAndOthersWithAnotherSeed) {
  Case drawn = star_case(4, 1e8, 0.02), lossy = drawn, varied = drawn;
  drawn.workload.step_time = {StepTime::Kind::kLognormal, 0, 0, 0.5};
  lossy.network.tcp.loss = 1e-3;
  varied.network.variation.jitter = {0.3, 0.3, 0.05};
  varied.network.variation.background = {{"replica*-core", {}, "", "", 1, {}, {}, 0.1, 0.1}};
  for (const auto& [fidelity, tested] : {std::pair("flow", &drawn),
                                         {"packet", &drawn},
                                         {"flow", &lossy},
                                         {"packet", &lossy},
                                         {"flow", &varied}}) {
    Case config = *tested;
    config.network.fidelity = fidelity;
    Trace trace = single_exchange("ring", 4, 1000000, 3);
    const auto first = run_replay(config, trace).files;
    EXPECT_EQ(run_replay(config, trace).files, first) << fidelity;
    config.seed = trace.context.seed = 2;
    EXPECT_NE(run_replay(config, trace).files.at("exchanges.csv"), first.at("exchanges.csv"));
  }
}

// Without an exchange a clock is the sum of the draws; a factor scales one replica's and moves no other.
TEST(Replay, AStepTimeFactorSlowsOneReplicaAlone) {
  Case config = star_case(3, 1e8, 0.05);
  config.workload.step_time = {StepTime::Kind::kLognormal, 0, 0, 0.5};
  const Trace trace = make_trace({{rule_of("ring", 100)}}, {1, 3, 10, 1000});
  const auto clocks = [&] {
    std::vector<double> clocks;
    for (const auto& row : rows_of(run_replay(config, trace), "replicas.csv"))
      clocks.push_back(std::stod(row[1]));
    return clocks;
  };
  const std::vector<double> plain = clocks();
  config.workload.step_time_factors = {1, 2.5, 1};
  const std::vector<double> slowed = clocks();
  ASSERT_EQ(plain.size(), 3u);
  EXPECT_EQ(slowed[0], plain[0]);
  EXPECT_NEAR(slowed[1], 2.5 * plain[1], 1e-9);
  EXPECT_EQ(slowed[2], plain[2]);
}

TEST(Replay, ATraceOfAnotherCaseIsWrongInput) {
  EXPECT_THROW(run_replay(star_case(4, 1e8, 0.05), single_exchange("pair", 2, 1000)), InputError);
  EXPECT_THROW(run_replay(measured(star_case(2, 1e9, 0.01)), single_exchange("pair", 2, 1000)), InputError);
  Trace trace = fixed_pairs(1, {{0, 1}});
  trace.groups.begin()->second = {{0, 7}};
  EXPECT_THROW(run_replay(star_case(2, 1e8, 0.05), trace), InputError);
}

// Of a network that carries everything but what goes from `source` to `target`.
std::string error_of(const Trace& trace, int source, int target) {
  const NetworkMaker cut = [=](auto&&... arguments) {
    return std::make_unique<WatchedNetwork>(make_network(arguments...), [=](const Transmission& transfer) {
      return transfer.source != source || transfer.target != target;
    });
  };
  return said_by([&] { run_replay(star_case(trace.context.replicas, 1e8, 0.05), trace, cut); });
}

// A ring of three sends 0 → 1 → 2 → 0. Replica 1 never gets its first chunk and so never sends its second,
// which replica 2 waits for in its second round; replica 0 waits in its third for the third of replica 2.
TEST(Deadlock, OfARingSaysWhoWaitsForWhom) {
  const std::string error = error_of(single_exchange("ring", 3, 30000), 0, 1);
  EXPECT_SAYS(error, "ran out of events while exchanges are open (3 of 3 replicas wait)");
  EXPECT_SAYS(error, "exchange outer of step 1: replica 0 in round 3 waits for replica 2");
  EXPECT_SAYS(error, "exchange outer of step 1: replica 1 in round 1 waits for replica 0");
  EXPECT_SAYS(error, "exchange outer of step 1: replica 2 in round 2 waits for replica 1");
}

// The other pair goes on to its last step; whoever waits is named, and nobody else. Replica 2 has what it
// waited for, and goes on by a step.
TEST(Deadlock, OfAPairLeavesTheOtherPairAlone) {
  const std::string error = error_of(fixed_pairs(3, {{0, 1}, {2, 3}}), 2, 3);
  EXPECT_SAYS(error, "of step 1: replica 3 in round 1 waits for replica 2");
  EXPECT_SAYS(error, "exchange outer of step 2: replica 3 has not posted it");
  EXPECT_EQ(error.find("replica 0 "), std::string::npos) << error;
  EXPECT_EQ(error.find("replica 1 "), std::string::npos) << error;
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

void expect_same_tables(Case config, const Trace& trace, const std::string& what) {
  for (const bool barrier : {false, true}) {
    config.network.barrier = barrier;
    config.network.fidelity = "flow";
    const Replayed without_events = walked(config, trace), replayed = run_replay(config, trace);
    for (const char* table : {"exchanges.csv", "breakdown.csv", "steps.csv", "replicas.csv", "links.csv"})
      EXPECT_EQ(without_events.files.at(table), replayed.files.at(table))
          << what << ' ' << table << ' ' << barrier;
    EXPECT_EQ(sorted_lines(without_events.files.at("schedule.jsonl")),
              sorted_lines(replayed.files.at("schedule.jsonl")))
        << what;
    EXPECT_EQ(without_events.report["transfers"], replayed.report["transfers"]);
    EXPECT_EQ(without_events.report["simulated_s"], replayed.report["simulated_s"]);
  }
}

Case random_steps(int replicas, double mean_s, double std_s) {
  Case config = drawn_case(replicas, mean_s, std_s);
  config.workload.step_time.kind = StepTime::Kind::kLognormal;
  config.workload.step_time.sigma = 0.5;
  return config;
}

TEST(MessageTimes, ReplayAndAnalyticGiveTheSameTables) {
  for (const std::string& name : all_reduce_collectives()) {
    if (find_collective(name).needs_sites()) continue;
    expect_same_tables(random_steps(7, 0.3, 0.4), make_trace({{rule_of(name, 3)}}, {1, 7, 12, 10000}), name);
  }
  for (const std::string name : {"pair", "root", "serial"}) {
    OperationRule rule = rule_of(name, 2, 2);
    rule.payload = whole({"delta", "phi"}, Wire::kInt8);
    expect_same_tables(random_steps(8, 0.3, 0.4), make_trace({{rule}}, {1, 8, 12, 10000}), name);
  }
}

TEST(MessageTimes, OverlappedExchangesToo) {
  OperationRule outer = rule_of("pair", 2, 2), ahead = rule_of("pair", 2, 2);
  ahead.name = "ahead";
  ahead.overlap_steps = 2;
  const Trace trace = make_trace({{outer, ahead}}, {1, 8, 20, 10000});
  expect_same_tables(random_steps(8, 1, 1.5), trace, "late");
  expect_same_tables(random_steps(8, 0.01, 0.01), trace, "in time");
}

TEST(MessageTimes, ExchangesInARowAndBucketsToo) {
  OperationRule first = rule_of("halving-doubling", 2), second = rule_of("ring", 2);
  second.name = "second";
  second.overlap_backward = 0.7;
  second.buckets = 5;
  const Trace trace = make_trace({{first, second}}, {1, 6, 12, 10000});
  expect_same_tables(random_steps(6, 0.3, 0.4), trace, "longer than a step");
  expect_same_tables(random_steps(6, 0.01, 0.02), trace, "shorter");
}

// Replica 2 is ready 9 s after 0 and 1, whose messages in the ring are held back with the barrier.
TEST(Barrier, NothingTravelsBeforeAllAreReady) {
  Case config = measured(drawn_case(3, 20, 0));
  Trace trace = single_exchange("leaf-tree", 3, 3000);
  trace.measured_s = {{1, 1, 10}};
  for (const char* fidelity : {"flow", "analytic"}) {
    config.network.fidelity = fidelity;
    const Replayed replayed = run_replay(config, trace);
    EXPECT_DOUBLE_EQ(replayed.sync_time_s(), 4 * 20) << fidelity;
    EXPECT_DOUBLE_EQ(replayed.row(1, 0).ready_s, 1) << fidelity;
  }
}

// A parent's link carries the vectors of two children in the time of two.
TEST(MessageTimes, OnAStarTwoChildrenShareTheirParentsLink) {
  Case config = drawn_case(3, 1, 0);
  config.network.topology = star_spec(1e9, 1e9, 0);
  config.network.fidelity = "flow";
  EXPECT_NEAR(exchanged(config, "heap-tree", 1000).sync_time_s(), 4, 0.04);
  config.replicas = 2;
  EXPECT_NEAR(exchanged(config, "pair", 1000).sync_time_s(), 1, 0.01);
}

}  // namespace longhaul::replay_test
