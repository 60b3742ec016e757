#include "analysis/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace longhaul::statistics_test {

// Rank p/100 · (n − 1): of 4 values the 95th percentile is at 2.85, between the third and the fourth.
TEST(Statistics, PercentileInterpolatesBetweenOrderStatistics) {
  EXPECT_DOUBLE_EQ(percentile({1, 1.5, 0.5, 1}, 95), 1 + 0.85 * 0.5);
  EXPECT_DOUBLE_EQ(percentile({1, 2, 3, 4, 5}, 50), 3);
  EXPECT_DOUBLE_EQ(percentile({7}, 95), 7);
  EXPECT_DOUBLE_EQ(percentile({2, 1}, 0), 1);
  EXPECT_DOUBLE_EQ(percentile({2, 1}, 100), 2);
}

TEST(Statistics, OfNothingIsNotANumber) {
  EXPECT_TRUE(std::isnan(mean({})));
  EXPECT_TRUE(std::isnan(percentile({}, 50)));
}

}  // namespace longhaul::statistics_test
