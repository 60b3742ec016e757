#include "cli/work_plan.h"

#include <gtest/gtest.h>

#include <set>

#include "cli/validated_scenario.h"
#include "core/base/errors.h"

namespace longhaul {
namespace {

// One seed of the quickstart on two networks.
Scenario quickstart() {
  return validated_scenario(std::string(LONGHAUL_SOURCE_DIR) + "/scenarios/quickstart.json",
                            {"seeds=[1]", R"(sweep={"network.tcp.connections": [1, 8]})"});
}

TEST(WorkPlan, ATrainingForEachMethodAndACaseForEachNetwork) {
  const Scenario scenario = quickstart();
  const WorkPlan plan = plan_work(scenario, {});
  EXPECT_EQ(plan.trainings.size(), 3u);
  EXPECT_EQ(plan.cases.size(), 6u);
  for (const Training& training : plan.trainings) EXPECT_EQ(training.cases.size(), 2u);
}

TEST(WorkPlan, ShardsAreAPartitionAndShareNoTraining) {
  const Scenario scenario = quickstart();
  std::set<std::string> cases, trainings;
  std::size_t total_cases = 0, total_trainings = 0;
  for (int index = 1; index <= 2; ++index) {
    const WorkPlan plan = plan_work(scenario, {index, 2});
    for (const Case* config : plan.cases) cases.insert(config->name);
    for (const Training& training : plan.trainings) trainings.insert(training.key);
    total_cases += plan.cases.size();
    total_trainings += plan.trainings.size();
  }
  EXPECT_EQ(cases.size(), 6u);
  EXPECT_EQ(total_cases, 6u);
  EXPECT_EQ(trainings.size(), total_trainings);
}

TEST(Shard, IsIOfN) {
  EXPECT_EQ(parse_shard("2/5").index, 2);
  EXPECT_EQ(parse_shard("2/5").count, 5);
  for (const char* wrong : {"", "2", "0/3", "4/3", "a/b", "1/2/3", "-1/2"})
    EXPECT_THROW(parse_shard(wrong), InputError) << wrong;
}

}  // namespace
}  // namespace longhaul
