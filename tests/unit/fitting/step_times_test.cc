// Intervals of step times, by hand and from tables of Student's t and chi squared.
#include "fitting/step_times.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "checks/validated_scenario.h"
#include "tests/support/said.h"

namespace longhaul::step_times_test {

std::vector<Unknown> unknowns(const Json& of) {
  return unknowns_of({{"fit", {{"unknown", of}}}}, scenario_declaration());
}
std::vector<ObservedTime> steps(const std::vector<double>& seconds, double count = 1) {
  std::vector<ObservedTime> steps;
  for (const double one : seconds) steps.push_back({one, count});
  return steps;
}

const Json kSeconds = {{"from", "1ms"}, {"to", "100s"}};

// 1, 2, 3, 6: mean 3, standard deviation √(14/3), t of 3 degrees at 95 % 2.353363.
TEST(StepTimes, OfAConstantAreTheMeanAndStudentsInterval) {
  std::vector<Unknown> open = unknowns({{"workload.step_time.constant", kSeconds}});
  const std::vector<FittedValue> found = values_from_steps(open, steps({1, 2, 3, 6}));
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
  const std::vector<FittedValue> found = values_from_steps(open, steps({1, std::exp(1.), std::exp(2.)}));
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

// Means of ten steps each: 2 and 4 have a squared deviation of 2, so one step has 20, with a degree of
// freedom; the mean of all twenty 1. Of the lognormal with mean 3 and variance 20 sigma² is ln(1 + 20/9), mu
// ln 3 less half of it. t of one degree 6.313752; chi squared 3.841459 at 95 %.
TEST(StepTimes, OfMeansAreThoseOfOneStep) {
  const auto found_of = [](const std::vector<ObservedTime>& observed) {
    std::vector<Unknown> open = unknowns({{"workload.step_time.constant", kSeconds},
                                          {"workload.step_time.lognormal.sigma", {{"from", 0}, {"to", 90}}},
                                          {"workload.step_time.lognormal.mu", {{"from", -99}, {"to", 99}}},
                                          {"workload.step_time.lognormal.mean", kSeconds}});
    return values_from_steps(open, observed);
  };
  const std::vector<FittedValue> found = found_of(steps({2, 4}, 10));
  ASSERT_EQ(found.size(), 4u);
  EXPECT_NEAR(found[0].value, 3, 1e-12);
  EXPECT_NEAR(found[0].high, 3 + 6.313752, 1e-5);
  const double variance = std::log(1 + 20. / 9);
  EXPECT_NEAR(found[1].value, std::sqrt(variance), 1e-12);
  EXPECT_NEAR(found[1].low, std::sqrt(variance / 3.841459), 1e-6);
  EXPECT_NEAR(found[2].value, std::log(3) - variance / 2, 1e-12);
  EXPECT_NEAR(found[3].value, 3, 1e-12);
  EXPECT_NEAR(found[3].high, 3 * std::exp(6.313752 / 3), 1e-3);
  EXPECT_NEAR(found_of({{2, 1}, {4, 3}})[0].value, 3.5, 1e-12);
}

// 4000 drawn steps of a lognormal, as a log that says the mean of every ten has them: sigma 0.4 is found
// again, where the means' own is 0.13.
TEST(StepTimes, SigmaOfALogOfMeansIsThatOfAStep) {
  std::mt19937_64 engine(7);
  std::lognormal_distribution<double> draw(0, 0.4);
  std::vector<ObservedTime> log;
  for (int i = 0; i < 400; ++i) {
    double all = 0;
    for (int k = 0; k < 10; ++k) all += draw(engine);
    log.push_back({all / 10, 10});
  }
  std::vector<Unknown> open = unknowns({{"workload.step_time.lognormal.sigma", {{"from", 0}, {"to", 9}}},
                                        {"workload.step_time.lognormal.mu", {{"from", -9}, {"to", 9}}}});
  const std::vector<FittedValue> found = values_from_steps(open, log);
  EXPECT_NEAR(found[0].value, 0.4, 0.04);
  EXPECT_NEAR(found[1].value, 0, 0.03);
}

// 0.1 and 3 s: Student's interval of two goes below nothing; it ends where the range does.
TEST(StepTimes, StayInTheirRange) {
  std::vector<Unknown> open = unknowns({{"workload.step_time.constant", kSeconds}});
  const FittedValue found = values_from_steps(open, steps({0.1, 3}))[0];
  EXPECT_NEAR(found.value, 1.55, 1e-12);
  EXPECT_EQ(found.low, 1e-3);
  EXPECT_FALSE(found.is_bounded_below);
  EXPECT_TRUE(found.is_bounded_above);
  open = unknowns({{"workload.step_time.constant", {{"from", "1ms"}, {"to", "1s"}}}});
  EXPECT_SAYS(said_by([&] { values_from_steps(open, steps({2, 2.1})); }), "the steps come to 2.05 s");
}

TEST(StepTimes, WithoutObservationsStayOpen) {
  std::vector<Unknown> open = unknowns({{"workload.step_time.constant", kSeconds}});
  EXPECT_TRUE(values_from_steps(open, steps({})).empty());
  EXPECT_EQ(open.size(), 1u);
  EXPECT_SAYS(said_by([&] { values_from_steps(open, steps({1})); }), "at least two");
}

}  // namespace longhaul::step_times_test
