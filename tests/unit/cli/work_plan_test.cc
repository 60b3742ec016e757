#include <gtest/gtest.h>

#include <set>

#include "cli/validated_scenario.h"
#include "cli/work_estimate.h"
#include "core/base/errors.h"

namespace longhaul::work_plan_test {

// One seed of the quickstart on two networks.
Scenario quickstart() {
  return validated_scenario(std::string(LONGHAUL_SOURCE_DIR) + "/scenarios/quickstart.json",
                            {"seeds=[1]", R"(sweep={"network.tcp.connections": [1, 8]})"});
}

TEST(WorkPlan, ATrainingForEachMethodAndACaseForEachNetwork) {
  const Scenario scenario = quickstart();
  const WorkPlan plan = plan_work(scenario);
  EXPECT_EQ(plan.trainings.size(), 3u);
  EXPECT_EQ(plan.cases.size(), 6u);
  for (const Training& training : plan.trainings) EXPECT_EQ(training.cases.size(), 2u);
}

TEST(WorkPlan, APartHasTheTrainingsOfItsCases) {
  const Scenario scenario = quickstart();
  const WorkPlan whole = plan_work(scenario), part = part_of(whole, {whole.trainings[1].cases[1]->name});
  ASSERT_EQ(part.cases.size(), 1u);
  ASSERT_EQ(part.trainings.size(), 1u);
  EXPECT_EQ(part.trainings[0].key, whole.trainings[1].key);
  EXPECT_EQ(part.trainings[0].cases, part.cases);
  // Which case trains what several share does not depend on the part: its case.json has the same bytes.
  EXPECT_EQ(part.trainings[0].example, whole.trainings[1].cases[0]);
}

TEST(Shard, ShardsAreAPartitionAndShareNoTraining) {
  const Scenario scenario = quickstart();
  const WorkPlan whole = plan_work(scenario);
  std::set<std::string> cases, trainings;
  std::size_t total_cases = 0, total_trainings = 0;
  for (const char* shard : {"1/2", "2/2"}) {
    const WorkPlan plan = part_of(whole, cases_of_shard(whole, shard));
    for (const Case* config : plan.cases) cases.insert(config->name);
    for (const Training& training : plan.trainings) trainings.insert(training.key);
    total_cases += plan.cases.size();
    total_trainings += plan.trainings.size();
  }
  EXPECT_EQ(cases.size(), 6u);
  EXPECT_EQ(total_cases, 6u);
  EXPECT_EQ(trainings.size(), total_trainings);
  std::size_t of_seven = 0;  // more than there are trainings: four are empty
  for (int i = 1; i <= 7; ++i) of_seven += !cases_of_shard(whole, std::to_string(i) + "/7").empty();
  EXPECT_EQ(of_seven, 3u);
}

// The longest first, each to the emptiest: 7 | 5; 4 to the second (9); the other 4 to the first (11); 3 to
// the second (12).
TEST(Shard, AreCutByCost) {
  EXPECT_EQ(shards_by_cost({4, 7, 3, 5, 4}, 2), (std::vector<int>{1, 0, 1, 1, 0}));
  EXPECT_EQ(shards_by_cost({1, 1, 1}, 2), (std::vector<int>{0, 1, 0})) << "alike: in their order";
  EXPECT_EQ(shards_by_cost({2, 9}, 1000000000), (std::vector<int>{1, 0}));
  EXPECT_EQ(shards_by_cost({}, 3), std::vector<int>());
}

// A training of 20,000 steps takes longer than three of at most 30 together.
TEST(Shard, AreCutByTheEstimates) {
  const Scenario scenario =
      validated_scenario(std::string(LONGHAUL_SOURCE_DIR) + "/scenarios/small.json",
                         {"methods=[{\"name\": \"ddp\"}]", R"(sweep={"train.steps": [10, 20000, 20, 30]})"});
  const WorkPlan whole = plan_work(scenario);
  EXPECT_EQ(cases_of_shard(whole, "1/2"), (std::set<std::string>{"ddp,train.steps=20000"}));
  EXPECT_EQ(cases_of_shard(whole, "2/2").size(), 3u);
}

TEST(Shard, IsIOfN) {
  const Scenario scenario = quickstart();
  for (const char* wrong : {"", "2", "0/3", "4/3", "a/b", "1/2/3", "-1/2"})
    EXPECT_THROW(cases_of_shard(plan_work(scenario), wrong), InputError) << wrong;
}

}  // namespace longhaul::work_plan_test
