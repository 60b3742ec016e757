// Who took part in an operation that does not wait for everyone, given to the operations of a plan; who is
// gone for which steps, and what those that come back begin with; who takes which steps of a round.
#include "core/plan/schedule.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/index.h"
#include "core/plan/absences.h"
#include "core/plan/dynamic_steps.h"
#include "tests/support/traces.h"

namespace longhaul::schedule_test {

using Groups = std::vector<std::vector<int>>;

OperationPlan plan() {
  OperationRule quorum = rule_of("outer", "ring", 5);
  quorum.completion = {2, 0.5};
  return {{rule_of("all", "ring", 5), quorum}};
}

const PlanContext kContext{1, 4, 20, 100};

OperationPlan in_pairs() {
  OperationPlan pairs = plan();
  pairs.rules[1].grouping = Grouping::kRandom;
  pairs.rules[1].group_size = 2;
  return pairs;
}

std::vector<Operation> posted_at(int step, const OperationPlan& of_method, const Schedule& schedule) {
  return followed(schedule, of_method, operations_at(of_method, kContext, step));
}

TEST(Schedule, GivesOperationsThatDoNotWaitForAllTheGroupsThatMet) {
  Schedule schedule;
  schedule.groups = {{{1, 5}, {{0, 2, 3}}}, {{1, 10}, {{1}}}};
  const OperationPlan of_method = plan();
  const auto at_5 = posted_at(5, of_method, schedule);
  ASSERT_EQ(at_5.size(), 2u);
  EXPECT_TRUE(at_5[0].groups.empty()) << "everyone, as planned";
  EXPECT_EQ(at_5[1].groups, (Groups{{0, 2, 3}}));
  EXPECT_EQ(posted_at(10, of_method, schedule).at(1).groups, (Groups{{1}}));
  EXPECT_THROW(posted_at(5, of_method, {}), std::logic_error) << "an operation of the plan is missing";
}

// Of drawn groups who was left alone takes no step; where nobody met there is no operation.
TEST(Schedule, OfDrawnGroupsTheLoneAreLeftOut) {
  const OperationPlan of_method = in_pairs();
  Schedule schedule;
  schedule.groups = {{{1, 5}, {{3}, {2, 0}}}, {{1, 10}, {{1}, {0}}}};
  EXPECT_EQ(posted_at(5, of_method, schedule).at(1).groups, (Groups{{2, 0}}));
  const auto at_10 = posted_at(10, of_method, schedule);
  ASSERT_EQ(at_10.size(), 1u);
  EXPECT_EQ(at_10[0].rule->name, "all");
}

// Five replicas in pairs: the one that was drawn to sit out takes its step, unless it is gone. One that lost
// its partner takes none.
TEST(Schedule, WhoWasDrawnToSitOutTakesItsStep) {
  const OperationPlan of_method{{in_pairs().rules[1]}};
  const PlanContext context{1, 5, 10, 100};
  const Groups drawn = random_groups(1, 5, 2, 5);
  const int alone = drawn[2][0], other = drawn[1][0];
  const auto groups_in = [&](const Groups& met, std::vector<Absence> absences = {}) {
    Schedule schedule;
    schedule.has_all = true;
    schedule.groups[{0, 5}] = met;
    if (!absences.empty()) schedule.absences = Absences(std::move(absences), context, false);
    const auto posted = followed(schedule, of_method, operations_at(of_method, context, 5));
    return posted.empty() ? Groups() : posted[0].groups;
  };
  EXPECT_EQ(groups_in({drawn[0], drawn[1]}), (Groups{drawn[0], drawn[1], {alone}}));
  EXPECT_EQ(groups_in({drawn[0], {other}}), (Groups{drawn[0], {alone}})) << "passed by";
  EXPECT_EQ(groups_in({drawn[0]}, {{alone, 4, 3, -1, 0, 0}}), Groups{drawn[0]}) << "gone";
  EXPECT_EQ(groups_in({}), Groups{{alone}}) << "no other met";
}

// Merges every five steps, two steps late.
OperationPlan merging_plan() {
  OperationRule rule = rule_of("fragment-0", "parameter-server", 5);
  rule.kind = OperationKind::kMerge;
  rule.answer = whole({"phi"}, Wire::kFp32);
  rule.overlap_steps = 2;
  rule.completion = {3, 0.5};
  return {{rule}};
}

TEST(Schedule, OfSynchronousMergesFollowsFromThePlan) {
  const Schedule schedule = synchronous_merges(merging_plan(), kContext);
  ASSERT_EQ(schedule.merges.size(), 3u) << "after 5, 10 and 15 steps; after 20 nothing would come back";
  for (int number = 0; number < 3; ++number) {
    const Merge& merge = schedule.merges[as_index(number)];
    EXPECT_EQ(merge.number, number);
    ASSERT_EQ(merge.contributions.size(), 4u);
    for (const Merge::Contribution& contribution : merge.contributions) {
      EXPECT_EQ(contribution.post_step, 5 * (number + 1));
      EXPECT_EQ(contribution.taken_step, contribution.post_step + 2);
    }
  }
}

TEST(Times, DecideUnlessAllWaitForAll) {
  EXPECT_TRUE(timing_matters(plan()));
  OperationPlan of_method = merging_plan();
  EXPECT_TRUE(timing_matters(of_method));
  of_method.rules[0].completion = {};
  EXPECT_TRUE(timing_matters(of_method)) << "no replica waits";
  of_method.rules[0].slack_steps = 1;
  EXPECT_TRUE(timing_matters(of_method));
  of_method.rules[0].slack_steps = 0;
  EXPECT_FALSE(timing_matters(of_method));
}

TEST(Merges, AreNotPostedWhereTheyWouldComeBackTooLate) {
  OperationRule rule = merging_plan().rules[0];
  EXPECT_EQ(last_post_step(rule, 20), 15);
  EXPECT_EQ(last_post_step(rule, 22), 20);
  EXPECT_EQ(last_post_step(rule, 6), 0);
  rule.phase = 3;
  EXPECT_EQ(last_post_step(rule, 20), 18);
  EXPECT_EQ(last_post_step(rule, 4), 0);
}

// Replica, left_step, ended_step, source, copied_step, first_step.
Absences absences(const std::vector<Absence>& rows, bool listeners_inherit = true) {
  return Absences(rows, kContext, listeners_inherit);
}

TEST(Absences, NobodyIsGoneWithoutAny) {
  for (const Absences& nobody : {Absences(), absences({})}) {
    EXPECT_TRUE(nobody.computes(3, 20));
    EXPECT_TRUE(nobody.ends(3, 20));
    EXPECT_EQ(nobody.contributor(3, 5, 10), 3);
  }
}

// It went in the exchange of step 4, which it had computed, and is back for step 9.
TEST(Absences, AStepIsComputedOrEndedToo) {
  const Absences gone = absences({{2, 5, 3, 0, 8, 9}});
  for (const int step : {1, 4, 9, 20}) EXPECT_TRUE(gone.computes(2, step)) << step;
  for (const int step : {5, 8}) EXPECT_FALSE(gone.computes(2, step)) << step;
  for (const int step : {1, 3, 9, 20}) EXPECT_TRUE(gone.ends(2, step)) << step;
  for (const int step : {4, 5, 8}) EXPECT_FALSE(gone.ends(2, step)) << step;
  EXPECT_TRUE(gone.computes(1, 5)) << "another";
  const Absences for_good = absences({{0, 5, 4, -1, 0, 0}});
  EXPECT_TRUE(for_good.ends(0, 4));
  for (const int step : {5, 20}) EXPECT_FALSE(for_good.computes(0, step)) << step;
  EXPECT_TRUE(for_good.copies().empty());
}

// Only the last step can be taken twice: its numbers are those of the first time.
TEST(Absences, WhoWentInTheLastExchangeHasComputedItsStep) {
  const Absences gone = absences({{0, 21, 19, 1, 19, 20}, {0, 20, 19, 1, 19, 20}});
  EXPECT_TRUE(gone.computes(0, 20));
  EXPECT_FALSE(gone.ends(0, 20));
  EXPECT_TRUE(gone.copies().empty());
}

TEST(Absences, RowsAreCopiedOnceTheOldOnesAreNotNeeded) {
  const Absences gone = absences({{1, 9, 8, 0, 4, 9}, {2, 5, 4, 1, 11, 12}, {3, 5, 4, -1, 0, 7}});
  ASSERT_EQ(gone.copies().size(), 2u) << "one begins with its own";
  EXPECT_EQ(gone.copies()[0].copied_step, 4);
  EXPECT_EQ(gone.copies()[0].step, 8) << "it was ahead of its source";
  EXPECT_EQ(gone.copies()[1].step, 11);
  EXPECT_EQ(gone.copies()[1].source_returns, 1u) << "it is what 1 had when it was back";
}

// Posted at step 6, due at 10. Replica 1 was away from 7 to 8 and has what 0 had after 8. Replica 2 copied 1
// after that, 3 copied 0 as it was before.
TEST(Absences, WhoComesBackInheritsWhatItsSourceHadSent) {
  const std::vector<Absence> rows = {{1, 7, 6, 0, 8, 9}, {2, 7, 6, 1, 9, 10}, {3, 7, 6, 0, 5, 8}};
  const Absences gone = absences(rows);
  EXPECT_EQ(gone.contributor(0, 6, 10), 0);
  EXPECT_EQ(gone.contributor(1, 6, 10), 0);
  EXPECT_EQ(gone.contributor(2, 6, 10), 0) << "by way of 1";
  EXPECT_EQ(gone.contributor(3, 6, 10), -1) << "that was sent later";
  EXPECT_EQ(gone.contributor(1, 9, 12), 1) << "posted when it was back";
  EXPECT_EQ(absences(rows, false).contributor(1, 6, 10), -1) << "of pairs, the other gets the result";
  EXPECT_EQ(absences({{1, 5, 4, -1, 0, 8}}).contributor(1, 6, 10), -1) << "it posted nothing";
  EXPECT_EQ(absences({{1, 7, 6, -1, 0, 8}}).contributor(1, 6, 10), 1) << "back with its own state";
}

// With absences every operation is as the schedule has it, sends too.
TEST(Absences, OperationsAreAmongThoseWhoWereThere) {
  OperationRule everyone = rule_of("outer", "ring", 5, "weights"), sends = everyone;
  sends.kind = OperationKind::kSend;
  sends.grouping = Grouping::kTargets;
  sends.group_size = 3;  // to all others
  const OperationPlan plan{{everyone, sends}};
  Schedule schedule;
  schedule.has_all = true;
  schedule.groups[{0, 5}] = {{0, 2, 3}};
  schedule.groups[{0, 10}] = {{}};  // it failed
  schedule.groups[{1, 5}] = {{0, 2, 3}};
  const std::vector<Operation> posted = posted_at(5, plan, schedule);
  EXPECT_EQ(posted.at(0).groups, (Groups{{0, 2, 3}}));
  const Groups& targets = posted.at(1).targets;
  EXPECT_TRUE(targets[1].empty());
  EXPECT_EQ(std::set<int>(targets[0].begin(), targets[0].end()), (std::set<int>{2, 3}));
  EXPECT_TRUE(posted_at(10, plan, schedule).empty()) << "nobody";
}

using Counts = std::vector<int>;

TEST(DynamicSteps, AreTheShareOfTheFastestThatFitsIn) {
  EXPECT_EQ(dynamic_steps(8, {1, 2, 4}).taken, (Counts{8, 4, 2}));
  EXPECT_EQ(dynamic_steps(50, {2.5, 1, 1.2, 3}).taken, (Counts{20, 50, 41, 16})) << "41.67 and 16.67 are cut";
  EXPECT_EQ(dynamic_steps(20, {3, 1.5, 2}).taken, (Counts{10, 20, 15})) << "of the fastest there is";
  EXPECT_EQ(dynamic_steps(4, {1, 100}).taken, (Counts{4, 1})) << "one at least";
  EXPECT_EQ(dynamic_steps(1, {1, 2}).taken, Counts{}) << "of one step nobody takes less";
  // 0.7 · 6 / 2.1 is 2, and 1.9999999999999996 in floating point; 0.1 · 30 / 0.3 is 10.
  EXPECT_EQ(dynamic_steps(6, {0.7, 2.1}).taken, (Counts{6, 2}));
  EXPECT_EQ(dynamic_steps(30, {0.3, 0.1}).taken, (Counts{10, 30}));
  for (int most = 1; most <= 200; ++most)
    for (int tenths = 1; tenths <= 60; ++tenths) {
      const DynamicSteps steps = dynamic_steps(most, {0.1, tenths / 10.});
      EXPECT_EQ(steps.is_on() ? steps.taken[1] : most, std::max(1, most / tenths)) << most << " " << tenths;
    }
  const int billion = 1000000000;
  EXPECT_EQ(dynamic_steps(billion, {1, 1.5}).taken, (Counts{billion, 666666666}));
}

TEST(DynamicSteps, AreOffWhereAllTakeAll) {
  for (const std::vector<double>& factors :
       std::vector<std::vector<double>>{{}, {3, 3, 3}, {0, 0}, {1, 1.000000000000001}})
    EXPECT_FALSE(dynamic_steps(20, factors).is_on());
  const DynamicSteps off;
  EXPECT_TRUE(off.takes(7, 3));
  EXPECT_EQ(off.taken_until(7, 12), 12);
  EXPECT_EQ(off.taken_by_all(3, 12), 36);
}

// Of H = 8: all; 2, 4, 6, 8; 4, 8; of three the steps ceil(8/3), ceil(16/3) and 8.
TEST(DynamicSteps, AreSpreadOverTheRound) {
  const DynamicSteps steps{8, {8, 4, 2, 3}};
  const std::vector<Counts> expected = {{1, 2, 3, 4, 5, 6, 7, 8}, {2, 4, 6, 8}, {4, 8}, {3, 6, 8}};
  for (int replica = 0; replica < 4; ++replica)
    for (const int round : {0, 1, 5}) {
      Counts taken;
      for (int number = 1; number <= 8; ++number)
        if (steps.takes(replica, round * 8 + number)) taken.push_back(number);
      EXPECT_EQ(taken, expected[as_index(replica)]) << round;
    }
  EXPECT_EQ(steps.taken_until(3, 0), 0);
  EXPECT_EQ(steps.taken_until(3, 8 + 5), 3 + 1);
  EXPECT_EQ(steps.taken_until(2, 3 * 8 + 7), 3 * 2 + 1);
  EXPECT_EQ(steps.taken_by_all(4, 12), (8 + 4) + (4 + 2) + (2 + 1) + (3 + 1));
  const int most = 1000000000;  // 2^30 · 2^30 does not fit an int
  const DynamicSteps long_rounds{most, {most, 999999999}};
  EXPECT_EQ(long_rounds.taken_until(1, most), 999999999);
  EXPECT_FALSE(long_rounds.takes(1, 1));
  EXPECT_TRUE(long_rounds.takes(1, most));
}

TEST(DynamicSteps, StandInTheTrace) {
  OperationPlan plan{{rule_of("outer", "ring", 8)}};
  const auto written = [&] { return text_of(make_trace(plan, {1, 3, 16, 1000})); };
  EXPECT_EQ(written().find("dynamic"), std::string::npos) << "a trace without them is as it was";
  plan.dynamic_steps = {8, {8, 4, 2}};
  const Trace read = trace_from(written());
  EXPECT_EQ(read.plan.dynamic_steps.every, 8);
  EXPECT_EQ(read.plan.dynamic_steps.taken, (Counts{8, 4, 2}));
}

}  // namespace longhaul::schedule_test
