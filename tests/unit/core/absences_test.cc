// Who is gone for which steps, and what replicas that come back begin with: rows written by hand.
#include "core/plan/absences.h"

#include <gtest/gtest.h>

#include <set>

#include "core/plan/schedule.h"
#include "tests/support/traces.h"

namespace longhaul::absences_test {

const PlanContext kContext{1, 4, 20, 100};

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
  const auto posted = [&](int step) { return followed(schedule, plan, operations_at(plan, kContext, step)); };
  EXPECT_EQ(posted(5).at(0).groups, (std::vector<std::vector<int>>{{0, 2, 3}}));
  const std::vector<std::vector<int>> targets = posted(5).at(1).targets;
  EXPECT_TRUE(targets[1].empty());
  EXPECT_EQ(std::set<int>(targets[0].begin(), targets[0].end()), (std::set<int>{2, 3}));
  EXPECT_TRUE(posted(10).empty()) << "nobody";
}

}  // namespace longhaul::absences_test
