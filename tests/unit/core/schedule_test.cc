// Who took part in an operation that does not wait for everyone, given to the operations of a plan.
#include "core/plan/schedule.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/base/errors.h"
#include "tests/support/traces.h"

namespace longhaul::schedule_test {

OperationPlan plan() {
  OperationRule quorum = rule_of("outer", "ring", 5);
  quorum.completion = {2, 0.5};
  return {{rule_of("all", "ring", 5), quorum}};
}

const PlanContext kContext{1, 4, 10, 100};

std::vector<Operation> posted_at(int step, const OperationPlan& of_method, const Schedule& schedule) {
  return followed(schedule, of_method, operations_at(of_method, kContext, step));
}

TEST(Schedule, GivesOperationsThatDoNotWaitForAllTheGroupsThatMet) {
  Schedule schedule;
  schedule.groups = {{{1, 5}, {{0, 2, 3}}}, {{1, 10}, {{1}}}};
  const OperationPlan of_method = plan();
  const auto posted = [&](int step) { return posted_at(step, of_method, schedule); };
  ASSERT_EQ(posted(5).size(), 2u);
  EXPECT_TRUE(posted(5)[0].groups.empty()) << "everyone, as planned";
  EXPECT_EQ(posted(5)[1].groups, (std::vector<std::vector<int>>{{0, 2, 3}}));
  EXPECT_EQ(posted(10)[1].groups, (std::vector<std::vector<int>>{{1}}));
}

// Of drawn groups who was left alone takes no step; where nobody met there is no operation.
TEST(Schedule, OfDrawnGroupsTheLoneAreLeftOut) {
  OperationPlan of_method = plan();
  of_method.rules[1].grouping = Grouping::kRandom;
  of_method.rules[1].group_size = 2;
  Schedule schedule;
  schedule.groups = {{{1, 5}, {{3}, {2, 0}}}, {{1, 10}, {{1}, {0}}}};
  const auto posted = [&](int step) { return posted_at(step, of_method, schedule); };
  ASSERT_EQ(posted(5).size(), 2u);
  EXPECT_EQ(posted(5)[1].groups, (std::vector<std::vector<int>>{{2, 0}}));
  ASSERT_EQ(posted(10).size(), 1u);
  EXPECT_EQ(posted(10)[0].rule->name, "all");
}

// Five replicas in pairs: the one that was drawn to sit out takes its step, unless it is gone. One that lost
// its partner takes none.
TEST(Schedule, WhoWasDrawnToSitOutTakesItsStep) {
  OperationPlan of_method = plan();
  of_method.rules = {of_method.rules[1]};
  of_method.rules[0].grouping = Grouping::kRandom;
  of_method.rules[0].group_size = 2;
  const PlanContext context{1, 5, 10, 100};
  using Groups = std::vector<std::vector<int>>;
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

TEST(Schedule, WithoutAnOperationOfThePlanIsRefused) {
  const OperationPlan of_method = plan();
  EXPECT_THROW(posted_at(5, of_method, {}), std::logic_error);
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

TEST(Merges, AreKeptByATrace) {
  OperationPlan waiting = merging_plan();
  waiting.rules[0].completion = {};
  waiting.rules[0].slack_steps = 1;
  for (const OperationPlan& of_method : {merging_plan(), waiting}) {
    const OperationRule read = read_back(make_trace(of_method, kLonger)).plan.rules.at(0);
    EXPECT_EQ(read.kind, OperationKind::kMerge);
    EXPECT_EQ(read.slack_steps, of_method.rules[0].slack_steps);
    EXPECT_EQ(read.completion.quorum, of_method.rules[0].completion.quorum);
    EXPECT_EQ(answer_bytes(read, 100), 400);
  }
}

TEST(Merges, OfABlockingRuleAreRefused) {
  OperationPlan blocking = merging_plan();
  blocking.rules[0].overlap_steps = 0;
  EXPECT_THROW(read_back(make_trace(blocking, kLonger)), InputError);
}

TEST(Merges, LetTimesDecideUnlessAllWaitForAll) {
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

// It travels in the trace, and a trace says so where it is impossible.
TEST(Completion, IsKeptByATrace) {
  const Trace read = read_back(make_trace(plan(), kContext));
  EXPECT_TRUE(read.plan.rules[0].completion.is_all());
  EXPECT_EQ(read.plan.rules[1].completion.quorum, 2);
  EXPECT_EQ(read.plan.rules[1].completion.grace_s, 0.5);
  EXPECT_TRUE(timing_matters(read.plan));
}

TEST(Completion, ItsAdaptiveGraceIsKeptByATrace) {
  for (const double start_s : {12.5, std::numeric_limits<double>::infinity()}) {
    OperationPlan adaptive = plan();
    adaptive.rules[1].completion = {1, 0, AdaptiveGrace{2.5, 32, 0.25, start_s}};
    const Completion completion = read_back(make_trace(adaptive, kContext)).plan.rules[1].completion;
    EXPECT_EQ(completion.quorum, 1);
    ASSERT_TRUE(completion.adaptive);
    EXPECT_EQ(completion.adaptive->mads, 2.5);
    EXPECT_EQ(completion.adaptive->window, 32);
    EXPECT_EQ(completion.adaptive->at_least_s, 0.25);
    EXPECT_EQ(completion.adaptive->start_s, start_s);
  }
}

TEST(Completion, AnEmptyWindowAndAQuorumOfNobodyAreRefused) {
  OperationPlan adaptive = plan();
  adaptive.rules[1].completion = {1, 0, AdaptiveGrace{2.5, 0, 0.25, 1}};
  EXPECT_THROW(read_back(make_trace(adaptive, kContext)), InputError);
  std::string wrong = text_of(make_trace(plan(), kContext));
  wrong.replace(wrong.find("\"quorum\":2"), 10, "\"quorum\":0");
  EXPECT_THROW(trace_from(wrong), InputError);
}

}  // namespace longhaul::schedule_test
