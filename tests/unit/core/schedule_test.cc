// Who took part in an operation that does not wait for everyone, given to the operations of a plan.
#include "core/plan/schedule.h"

#include <gtest/gtest.h>

#include "tests/support/traces.h"

namespace longhaul::schedule_test {

using Groups = std::vector<std::vector<int>>;

OperationPlan plan() {
  OperationRule quorum = rule_of("outer", "ring", 5);
  quorum.completion = {2, 0.5};
  return {{rule_of("all", "ring", 5), quorum}};
}

const PlanContext kContext{1, 4, 10, 100};

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

const PlanContext kLonger{1, 4, 20, 100};

TEST(Schedule, OfSynchronousMergesFollowsFromThePlan) {
  const Schedule schedule = synchronous_merges(merging_plan(), kLonger);
  ASSERT_EQ(schedule.merges.size(), 3u) << "after 5, 10 and 15 steps; after 20 nothing would come back";
  for (int number = 0; number < 3; ++number) {
    const Merge& merge = schedule.merges[static_cast<std::size_t>(number)];
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

}  // namespace longhaul::schedule_test
