#include <gtest/gtest.h>

#include "analysis/statistics.h"

namespace longhaul::bootstrap_test {

// k ones among n: the mean of a resample is Binomial(n, k/n)/n, so BCa's ends are quantiles of that. With n
// 16 and k 3: z0 = Φ⁻¹(P(X < 3) + P(X = 3)/2) = 0.027, a = (13 (3/16)² ... )/(6 ...^1.5) = 0.063, and the
// probabilities move from 0.025 and 0.975 to 0.0519 and 0.9917. P(X = 0) = 0.036, P(X ≤ 6) = 0.981, P(X ≤ 7)
// = 0.995: the ends are 1/16 and 7/16, where plain percentiles would be 0 and 6/16.
TEST(Bootstrap, IsBiasCorrectedAndAccelerated) {
  std::vector<double> values(16, 0.);
  for (std::size_t i = 0; i < 3; ++i) values[i] = 1;
  const Interval interval = bootstrap_interval(values, 0.95);
  EXPECT_DOUBLE_EQ(interval.low, 1. / 16);
  EXPECT_DOUBLE_EQ(interval.high, 7. / 16);
}

// Five of ten: symmetric, so nothing moves; P(X ≤ 1) = 0.011, P(X ≤ 2) = 0.055.
TEST(Bootstrap, OfASymmetricSampleIsThePercentileInterval) {
  const Interval interval = bootstrap_interval({0, 1, 0, 1, 0, 1, 0, 1, 0, 1}, 0.95);
  EXPECT_DOUBLE_EQ(interval.low, 0.2);
  EXPECT_DOUBLE_EQ(interval.high, 0.8);
}

TEST(Bootstrap, IsTheSameEachTimeAndMovesWithTheUnit) {
  const std::vector<double> values = {2.1, 2.4, 2.2, 2.9, 2.3, 2.2, 2.6, 2.5, 2.0, 2.4};
  std::vector<double> other;
  for (const double value : values) other.push_back(1024 * value);
  const Interval interval = bootstrap_interval(values, 0.95), again = bootstrap_interval(values, 0.95),
                 scaled = bootstrap_interval(other, 0.95);
  EXPECT_EQ(interval.low, again.low);
  EXPECT_EQ(interval.high, again.high);
  EXPECT_DOUBLE_EQ(scaled.low, 1024 * interval.low);
  EXPECT_DOUBLE_EQ(scaled.high, 1024 * interval.high);
}

TEST(Bootstrap, OfEqualValuesIsTheValue) {
  const Interval interval = bootstrap_interval(std::vector<double>(10, 3.5), 0.95);
  EXPECT_EQ(interval.low, 3.5);
  EXPECT_EQ(interval.high, 3.5);
}

}  // namespace longhaul::bootstrap_test
