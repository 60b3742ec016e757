// Intervals of step times, by hand and from tables of Student's t and chi squared.
#include "fitting/step_times.h"

#include <gtest/gtest.h>

#include <cmath>

#include "checks/validated_scenario.h"
#include "tests/support/said.h"

namespace longhaul::step_times_test {

std::vector<Unknown> unknowns(const Json& of) {
  return unknowns_of({{"fit", {{"unknown", of}}}}, scenario_declaration());
}
const Json kSeconds = {{"from", "1ms"}, {"to", "100s"}};

// 1, 2, 3, 6: mean 3, standard deviation √(14/3), t of 3 degrees at 95 % 2.353363.
TEST(StepTimes, OfAConstantAreTheMeanAndStudentsInterval) {
  std::vector<Unknown> open = unknowns({{"workload.step_time.constant", kSeconds}});
  const std::vector<FittedValue> found = values_from_steps(open, {1, 2, 3, 6});
  EXPECT_TRUE(open.empty());
  ASSERT_EQ(found.size(), 1u);
  const double half = 2.353363 * std::sqrt(14. / 3) / 2;
  EXPECT_NEAR(found[0].value, 3, 1e-12);
  EXPECT_NEAR(found[0].low, 3 - half, 1e-5);
  EXPECT_NEAR(found[0].high, 3 + half, 1e-5);
}

// Logarithms 0, 1, 2: mean 1, deviation 1; chi squared of 2 degrees: 0.102587 and 5.991465 at 5 and 95 %,
// t 2.919986.
TEST(StepTimes, OfALognormalHaveItsThreeIntervals) {
  std::vector<Unknown> open = unknowns({{"workload.step_time.lognormal.sigma", {{"from", 0}, {"to", 9}}},
                                        {"workload.step_time.lognormal.mu", {{"from", -9}, {"to", 9}}},
                                        {"workload.step_time.lognormal.mean", kSeconds},
                                        {"network.topology.star.rtt", {{"from", "1ms"}, {"to", "1s"}}}});
  const std::vector<FittedValue> found = values_from_steps(open, {1, std::exp(1.), std::exp(2.)});
  ASSERT_EQ(open.size(), 1u);
  EXPECT_EQ(open[0].path(), "network.topology.star.rtt");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_NEAR(found[0].value, 1, 1e-12);
  EXPECT_NEAR(found[0].low, std::sqrt(2 / 5.991465), 1e-5);
  EXPECT_NEAR(found[0].high, std::sqrt(2 / 0.102587), 1e-4);
  EXPECT_NEAR(found[1].value, 1, 1e-12);
  EXPECT_NEAR(found[1].high, 1 + 2.919986 / std::sqrt(3.), 1e-5);
  EXPECT_NEAR(found[2].value, std::exp(1.5), 1e-9);
  EXPECT_NEAR(found[2].low, std::exp(1.5 - 2.919986 * std::sqrt(1. / 3 + 1. / 4)), 1e-5);
}

// 0.1 and 3 s: Student's interval of two goes below nothing; it ends where the range does.
TEST(StepTimes, StayInTheirRange) {
  std::vector<Unknown> open = unknowns({{"workload.step_time.constant", kSeconds}});
  const FittedValue found = values_from_steps(open, {0.1, 3})[0];
  EXPECT_NEAR(found.value, 1.55, 1e-12);
  EXPECT_EQ(found.low, 1e-3);
  EXPECT_FALSE(found.is_bounded_below);
  EXPECT_TRUE(found.is_bounded_above);
  open = unknowns({{"workload.step_time.constant", {{"from", "1ms"}, {"to", "1s"}}}});
  EXPECT_SAYS(said_by([&] { values_from_steps(open, {2, 2.1}); }), "the steps come to 2.05 s");
}

TEST(StepTimes, WithoutObservationsStayOpen) {
  std::vector<Unknown> open = unknowns({{"workload.step_time.constant", kSeconds}});
  EXPECT_TRUE(values_from_steps(open, {}).empty());
  EXPECT_EQ(open.size(), 1u);
  EXPECT_SAYS(said_by([&] { values_from_steps(open, {1}); }), "at least two");
}

}  // namespace longhaul::step_times_test
