#include "planner/extrapolation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace longhaul::extrapolation_test {

OperationPlan plan_with(std::initializer_list<int> cadences, Grouping grouping = Grouping::kEveryone) {
  OperationPlan plan;
  for (const int every : cadences) {
    OperationRule rule;
    rule.every = every;
    rule.grouping = grouping;
    plan.rules.push_back(rule);
  }
  return plan;
}

Periods periods_with(std::initializer_list<int> cadences, Grouping grouping = Grouping::kEveryone) {
  return periods_of(plan_with(cadences, grouping), 4);
}

// Of periods of so many steps, of which the first `unlike` stand for none.
Periods every(int length, int unlike = 1) {
  Periods periods;
  periods.length = length;
  periods.settling = unlike * length;
  return periods;
}

Periods drawn_every(int length) {
  Periods periods = every(length);
  periods.drawn = {"partners"};
  return periods;
}

// Of one replica.
ReplayedClocks clocks_of(const std::vector<double>& clock_s, double end_s) {
  ReplayedClocks clocks{{}, end_s};
  for (const double clock : clock_s) clocks.of_periods.push_back({clock});
  return clocks;
}

TEST(Extrapolation, RepeatsAfterTheLeastCommonMultiple) {
  EXPECT_EQ(periods_with({}).length, 1);
  EXPECT_EQ(periods_with({100}).length, 100);
  EXPECT_EQ(periods_with({4, 6}).length, 12);
  OperationPlan across = plan_with({10}, Grouping::kTwoLevel);
  across.rules[0].across_every = 4;
  EXPECT_EQ(periods_of(across, 4).length, 40) << "of four exchanges one goes across sites";
  OperationPlan grid = plan_with({10}, Grouping::kGrid);
  grid.rules[0].group_size = 2;
  EXPECT_EQ(periods_of(grid, 8).length, 30) << "three dimensions of a cube, one after the other";
  EXPECT_FALSE(periods_of(grid, 8).is_drawn());
}

// The steps that are left out are whole periods: what is replayed ends as the whole ends.
TEST(Extrapolation, LeavesOutWholePeriods) {
  for (const int steps : {401, 450, 1000, 47684}) {
    const int replayed = steps_to_replay(periods_with({100}), steps);
    EXPECT_LE(replayed, steps);
    EXPECT_EQ((steps - replayed) % 100, 0) << steps;
    EXPECT_GE(replayed, 400) << steps;
  }
  EXPECT_EQ(steps_to_replay(periods_with({100}), 250), 250) << "all of them";
  EXPECT_EQ(steps_to_replay(periods_with({1}), 47684), 16);
}

TEST(Extrapolation, SettlesInWholePeriods) {
  EXPECT_EQ(steps_to_settle(periods_with({100}), 4, 47684), 16 * 100 + 84);
  EXPECT_EQ(steps_to_settle(periods_with({100}), 16, 47684), 64 * 100 + 84);
  EXPECT_EQ(steps_to_settle(periods_with({100}), 16, 5000), 5000);
}

// Where partners are drawn a hundred outer steps at least, and all of a small plan.
TEST(Extrapolation, ReplaysManyOuterStepsOfDrawnPartners) {
  for (const Grouping grouping : {Grouping::kRandom, Grouping::kSites, Grouping::kTargets}) {
    const OperationPlan plan = plan_with({100}, grouping);
    EXPECT_TRUE(periods_of(plan, 4).is_drawn());
    EXPECT_EQ(steps_to_replay(periods_of(plan, 1024), 47684), 100 * 100 + 84);
    EXPECT_EQ(steps_to_replay(periods_of(plan, 4), 47684), 47684);
  }
}

// 8 replicas of 4 stages with 16 micro-batches send 8 · 16 · 3 · 2 = 768 messages a step. With H = 50 that
// are 38,400 an outer step, of which 52 are 2 million; with H = 5 it is 520 and with H = 500 the least, 16.
TEST(Extrapolation, ReplaysFewerOuterStepsWhereStagesSend) {
  for (const auto& [every, outer_steps] : {std::pair(5, 520), std::pair(50, 52), std::pair(500, 16)}) {
    OperationPlan plan = plan_with({every}, Grouping::kRandom);
    EXPECT_EQ(periods_of(plan, 8).replays, 2500);
    plan.pipeline.stages = 4;
    plan.pipeline.microbatches = 16;
    plan.pipeline.parts.resize(4);
    EXPECT_EQ(periods_of(plan, 8).replays, outer_steps);
  }
}

// Outer steps of 10 s that get 0.1 s longer each, nothing drawn: after 12 of 100 the rest takes the mean of
// those behind the second, and the range has twice the change from the first five differences (10.2
// to 10.6: 10.4) to the last five (10.7 to 11.1: 10.9), 1 s in each of 88 periods, beside the spread.
TEST(Extrapolation, WhatMovesOneWayIsNoChance) {
  std::vector<double> clock_s = {10};
  for (int i = 1; i < 12; ++i) clock_s.push_back(clock_s.back() + 10 + 0.1 * i);
  const TrainingTime time = training_time(clocks_of(clock_s, clock_s.back()), every(5), 60, 500);
  EXPECT_FALSE(time.is_exact);
  EXPECT_NEAR(time.total_s, clock_s.back() + 88 * 10.65, 1e-9);
  EXPECT_GE(time.half_width_s, 88 * 1);
  EXPECT_LE(time.half_width_s, 88 * 1.5);
}

// Of two replicas each has the other one; "root" has one of the two as its root, drawn anew. On a ring the
// neighbours stay.
TEST(Extrapolation, TwoReplicasDrawNoPartners) {
  for (const Grouping grouping : {Grouping::kRandom, Grouping::kSites, Grouping::kTargets}) {
    OperationPlan plan = plan_with({100}, grouping);
    plan.rules[0].collective = "pair";
    EXPECT_FALSE(periods_of(plan, 2).is_drawn());
    EXPECT_TRUE(periods_of(plan, 3).is_drawn());
  }
  OperationPlan plan = plan_with({100}, Grouping::kRandom);
  plan.rules[0].collective = "root";
  EXPECT_TRUE(periods_of(plan, 2).is_drawn());
  plan = plan_with({100}, Grouping::kTargets);
  for (const auto& [graph, is_drawn] :
       {std::pair(TargetGraph::kOwn, true), std::pair(TargetGraph::kCycles, true),
        std::pair(TargetGraph::kRing, false)}) {
    plan.rules[0].target_graph = graph;
    EXPECT_EQ(periods_of(plan, 8).is_drawn(), is_drawn);
  }
}

// Clocks of 12, 22, 32 after periods of 5 steps, 36 at the end of 17: 10 periods of 10 s lead to 67 steps.
TEST(Extrapolation, IsExactWherePeriodsAreEqual) {
  const TrainingTime time = training_time(clocks_of({12, 22, 32}, 36), every(5), 17, 67);
  EXPECT_DOUBLE_EQ(time.total_s, 136);
  EXPECT_TRUE(time.is_exact);
  EXPECT_EQ(time.half_width_s, 0);
  EXPECT_EQ(time.outer_steps, 3);
  const TrainingTime whole = training_time(clocks_of({20, 28}, 31), every(5), 12, 12);
  EXPECT_EQ(whole.total_s, 31) << "its end";
  EXPECT_TRUE(whole.is_exact);
}

// Periods of 8, 12 and 10 s after the first: mean 10, standard deviation 2, and t(0.975, 2) = 4.3027. The
// mean of 3 stands for 100 that differ as much: √(100²/3 + 100) deviations.
TEST(Extrapolation, TakesTheMeanWherePeriodsDiffer) {
  const ReplayedClocks clocks = clocks_of({20, 28, 40, 50}, 50);
  const TrainingTime time = training_time(clocks, every(5), 20, 520);
  EXPECT_DOUBLE_EQ(time.total_s, 50 + 100 * 10);
  EXPECT_NEAR(time.half_width_s, 4.3027 * 2 * std::sqrt(100 * 100 / 3. + 100), 0.01);
  EXPECT_FALSE(time.is_exact);
  // Of other draws the four that were replayed differ too.
  EXPECT_NEAR(training_time(clocks, drawn_every(5), 20, 520).half_width_s,
              4.3027 * 2 * std::sqrt(100 * 100 / 3. + 104), 0.01);
  EXPECT_NEAR(training_time(clocks, drawn_every(5), 20, 20).half_width_s, 4.3027 * 2 * std::sqrt(4), 0.001)
      << "all steps were replayed, of this draw";
}

// Replica 0 has met no slow one for two periods: the latest clock moves by 10 s, and then by 10 s.
TEST(Extrapolation, IsNotExactWhereTheLatestClockMovesEvenlyByChance) {
  const ReplayedClocks clocks{{{100, 60}, {110, 95}, {120, 120}}, 120};
  const TrainingTime time = training_time(clocks, every(5), 15, 515);
  EXPECT_FALSE(time.is_exact);
  // The mean of both moves by 22.5 and 17.5 s, and the latest is 20, 7.5 and 0 s ahead of it.
  EXPECT_DOUBLE_EQ(time.total_s, 120 + 100 * 20 + 27.5 / 3);
}

// Stages of a pipeline: the latest clock, that of the first stage, moves by 10 s a period. The last stage
// still settles, by 8 and 9 s, so that the mean of both moves by 9 and 9.5.
TEST(Extrapolation, FollowsTheLatestClockWhileOthersSettle) {
  const ReplayedClocks clocks{{{100, 90}, {110, 98}, {120, 107}}, 120};
  const TrainingTime time = training_time(clocks, every(5), 15, 515);
  EXPECT_DOUBLE_EQ(time.total_s, 120 + 100 * 10);
  EXPECT_FALSE(time.is_exact);
}

// Equal periods may be chance too where partners are drawn.
TEST(Extrapolation, IsNeverExactWhereSomethingIsDrawn) {
  const ReplayedClocks even{{{10, 10}, {20, 20}, {30, 30}, {40, 40}}, 40};
  EXPECT_TRUE(training_time(even, every(5), 20, 40).is_exact);
  EXPECT_FALSE(training_time(even, drawn_every(5), 20, 40).is_exact);
  EXPECT_FALSE(training_time(even, drawn_every(5), 20, 20).is_exact);
  EXPECT_DOUBLE_EQ(training_time(even, drawn_every(5), 20, 40).total_s, 80);
}

// Replicas that exchange nothing, of 1 and 3 s a step: the slow one decides, though another may be ahead.
TEST(Extrapolation, FollowsTheSlowestWhereReplicasDoNotWait) {
  Periods periods = periods_with({});
  const ReplayedClocks clocks{{{101, 3}, {102, 6}, {103, 9}}, 103};
  const TrainingTime time = training_time(clocks, periods, 3, 1003);
  EXPECT_DOUBLE_EQ(time.total_s, 9 + 1000 * 3);
  EXPECT_TRUE(time.is_exact);
}

// What chance decides besides partners: all of it is named, and nothing else.
TEST(Extrapolation, NamesWhatIsDrawn) {
  Case config;
  config.replicas = 4;
  const OperationPlan plan = plan_with({100});
  const auto drawn = [&] { return periods_of(config, plan).drawn; };
  EXPECT_TRUE(drawn().empty());
  config.network.variation.background.emplace_back();
  EXPECT_TRUE(drawn().empty()) << "others who are always there";
  config.network.variation.background[0].on_s = 3;
  config.workload.step_time.kind = StepTime::Kind::kLognormal;
  config.network.message_time = MessageTimeSpec{1, 0.5};
  config.network.fidelity = "flow";
  config.network.tcp.loss = 1e-3;
  EXPECT_EQ(drawn(), (std::vector<std::string>{"step times", "times of messages", "lost packets",
                                               "the network's changes with time"}));
}

// A warm-up of 12 steps is three periods of 5: four more are replayed, and those three stand for none.
TEST(Extrapolation, ReplaysWhatComesAfterAWarmUp) {
  OperationPlan plan = plan_with({5, 1});
  plan.rules[1].last_step = 12;
  const Periods periods = periods_of(plan, 4);
  EXPECT_EQ(periods.settling, 12);
  EXPECT_EQ(periods.unlike(), 3);
  EXPECT_EQ(steps_to_replay(periods_with({5}), 1003), 23);
  EXPECT_EQ(steps_to_replay(periods, 1003), 33);
  EXPECT_EQ(steps_to_screen(periods, 1003), 23);
  const TrainingTime time =
      training_time(clocks_of({90, 180, 230, 240, 251, 260}, 260), every(5, 3), 30, 130);
  EXPECT_DOUBLE_EQ(time.total_s, 260 + 20 * 10);
  EXPECT_FALSE(time.is_exact);
}

}  // namespace longhaul::extrapolation_test
