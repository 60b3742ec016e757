// The option of slow replicas that take fewer steps: from a case to its counts, its trace and its training.
#include "methods/common/dynamic_steps.h"

#include <gtest/gtest.h>

#include "tests/support/said.h"
#include "tests/unit/methods/one_case.h"

namespace longhaul::dynamic_steps_test {

Case case_of(const Json& method, Json workload = Json::object()) {
  workload["parameters"] = 1000;
  return one_case(
      {{"replicas", 4}, {"methods", {method}}, {"workload", workload}, {"train", {{"steps", 16}}}});
}

const Json kPlain = {{"name", "delayed-nesterov"}, {"inner_steps", 8}},
           kDynamic = {{"name", "delayed-nesterov"}, {"inner_steps", 8}, {"dynamic_steps", true}},
           kFactors = {{"step_time_factors", {{"1", 2}, {"2-3", 4}}}};

TEST(DynamicStepsOption, CountsAreThoseOfTheStepTimes) {
  const Case config = case_of(kDynamic, kFactors);
  method_named("delayed-nesterov").check(config);
  EXPECT_EQ(warning_of(config), "");
  for (const OperationPlan& plan : {plan_of(config), trained_plan_of(config), trace_of(config).plan}) {
    EXPECT_EQ(plan.dynamic_steps.every, 8);
    EXPECT_EQ(plan.dynamic_steps.taken, (std::vector<int>{8, 4, 2, 2}));
  }
}

TEST(DynamicStepsOption, IsOffUnlessAskedFor) {
  EXPECT_FALSE(plan_of(case_of(kPlain, kFactors)).dynamic_steps.is_on());
  EXPECT_FALSE(plan_of(case_of({{"name", "ddp"}}, kFactors)).dynamic_steps.is_on());
  const Case alike = case_of(kDynamic);
  EXPECT_FALSE(plan_of(alike).dynamic_steps.is_on());
  EXPECT_SAYS(warning_of(alike), "changes nothing");
}

// Without the option a training shares its name with whatever the network and the step times are, and so it
// does where the option changes nothing.
TEST(DynamicStepsOption, TheTrainingKeyHoldsTheStepsThatAreTaken) {
  const std::string plain = training_key(case_of(kPlain));
  Json before = case_of(kPlain).resolved;
  before["method"].erase("dynamic_steps");
  EXPECT_EQ(training_key(parse_case(before)), plain) << "as it was before there was the option";
  EXPECT_EQ(training_key(case_of(kPlain, kFactors)), plain);
  EXPECT_EQ(training_key(case_of(kDynamic)), plain);
  const std::string dynamic = training_key(case_of(kDynamic, kFactors));
  EXPECT_NE(dynamic, plain);
  const auto with = [](double second) {
    return training_key(case_of(kDynamic, {{"step_time_factors", {{"1", second}, {"2-3", 4}}}}));
  };
  EXPECT_EQ(with(1.9), dynamic) << "4.2 steps are 4";
  EXPECT_NE(with(1.5), dynamic) << "5.3 steps are 5";
  Json slower = kFactors;
  slower["step_time"] = {{"constant", "3s"}};
  EXPECT_EQ(training_key(case_of(kDynamic, slower)), dynamic);
}

}  // namespace longhaul::dynamic_steps_test
