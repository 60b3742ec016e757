// Systems of a few flows, solved by hand.
#include <gtest/gtest.h>

#include "tests/support/max_min_rates.h"

namespace longhaul::max_min_test {

using Links = std::vector<LinkDirection>;

// The long flow crosses both links of 1, a short one each: all get 1/2. Capping the first short flow at 0.2
// leaves the long one held by the other link.
TEST(MaxMin, ALongFlowGetsTheLeastOfItsLinks) {
  const Links both = {0, 1}, first = {0}, second = {1};
  auto rates = max_min_rates({1, 1}, {{&both}, {&first}, {&second}}, 0);
  for (const double rate : rates) EXPECT_DOUBLE_EQ(rate, 0.5);
  rates = max_min_rates({1, 1}, {{&both}, {&first, nullptr, 1, 0.2}, {&second}}, 0);
  EXPECT_DOUBLE_EQ(rates[0], 0.5);
  EXPECT_DOUBLE_EQ(rates[1], 0.2);
  EXPECT_DOUBLE_EQ(rates[2], 0.5);
}

// Bertsekas and Gallager's example in spirit: links of 1 and 3; three flows on the first get 1/3, the flow
// alone on the second takes what is left, 3 − 1/3.
TEST(MaxMin, WhatABottleneckLeavesGoesToOthers) {
  const Links first = {0}, both = {0, 1}, second = {1};
  const auto rates = max_min_rates({1, 3}, {{&first}, {&first}, {&both}, {&second}}, 0);
  EXPECT_DOUBLE_EQ(rates[0], 1. / 3);
  EXPECT_DOUBLE_EQ(rates[2], 1. / 3);
  EXPECT_DOUBLE_EQ(rates[3], 3 - 1. / 3);
}

// Four connections weigh four times as much as one.
TEST(MaxMin, SharesFollowWeights) {
  const Links shared = {0};
  const auto rates = max_min_rates({10}, {{&shared, nullptr, 4}, {&shared, nullptr, 1}}, 0);
  EXPECT_DOUBLE_EQ(rates[0], 8);
  EXPECT_DOUBLE_EQ(rates[1], 2);
}

TEST(MaxMin, UnlimitedLinksDoNotLimit) {
  const Links path = {0, 1};
  const auto rates = max_min_rates({kUnlimited, 7}, {{&path}}, 0);
  EXPECT_DOUBLE_EQ(rates[0], 7);
}

// Both directions busy: x + a·x = 1, so x = 1 / (1 + a). One direction alone keeps the whole link.
TEST(MaxMin, AcknowledgementsTakeTheirPartOfTheWayBack) {
  const Links there = {0}, back = {1};
  const double ack_share = 0.03;
  auto rates = max_min_rates({1, 1}, {{&there, &back}, {&back, &there}}, ack_share);
  EXPECT_NEAR(rates[0], 1 / 1.03, 1e-9);
  EXPECT_NEAR(rates[1], 1 / 1.03, 1e-9);
  rates = max_min_rates({1, 1}, {{&there, &back}}, ack_share);
  EXPECT_DOUBLE_EQ(rates[0], 1);
}

// An uplink of 20 and a downlink of 200: d = 200 − a·u, u = 20 − a·d. With a = 0.03: u = (20 − 6) / (1 −
// 0.0009).
TEST(MaxMin, AsymmetricAccessPaysForTheAcknowledgementsOfTheFastSide) {
  const Links up = {0}, down = {1};
  const auto rates = max_min_rates({20, 200}, {{&up, &down}, {&down, &up}}, 0.03);
  EXPECT_NEAR(rates[0], 14 / (1 - 0.0009), 1e-6);
  EXPECT_NEAR(rates[1], 200 - 0.03 * rates[0], 1e-6);
}

}  // namespace longhaul::max_min_test
