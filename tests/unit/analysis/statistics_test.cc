// Expected values of the significance: Student (1908), the extra hours of sleep of ten patients under two
// drugs, as R prints them (example(t.test)); Fisher's lady tasting tea; sample sizes from Cohen's and
// G*Power's tables.
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
  EXPECT_TRUE(std::isnan(percentile({}, 50)));
  EXPECT_TRUE(std::isnan(mean({})));
}

const std::vector<double> kDrug1 = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
const std::vector<double> kDrug2 = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};

TEST(Significance, PairedDifferenceIsStudents) {
  const Difference d = paired_difference(kDrug1, kDrug2);
  EXPECT_DOUBLE_EQ(d.mean, -1.58);
  EXPECT_NEAR(d.mean / d.error, -4.0621, 5e-5);
  EXPECT_EQ(d.freedom, 9);
  EXPECT_NEAR(d.p, 0.002833, 5e-7);
  EXPECT_NEAR(d.interval(0.95).low, -2.4598858, 5e-8);
  EXPECT_NEAR(d.interval(0.95).high, -0.7001142, 5e-8);
}

TEST(Significance, UnpairedDifferenceIsWelchs) {
  const Difference d = welch_difference(kDrug1, kDrug2);
  EXPECT_NEAR(d.mean / d.error, -1.8608, 5e-5);
  EXPECT_NEAR(d.freedom, 17.776, 5e-4);
  EXPECT_NEAR(d.p, 0.07939, 5e-6);
  EXPECT_NEAR(d.interval(0.95).low, -3.3654832, 5e-8);
  EXPECT_NEAR(d.interval(0.95).high, 0.2054832, 5e-8);
}

// A replay without chance gives the same for every seed: the difference is exact, and rounding is none.
TEST(Significance, WithoutScatterADifferenceIsExact) {
  const Difference d = paired_difference({2, 3, 4}, {1, 2, 3});
  EXPECT_EQ(d.p, 0);
  EXPECT_EQ(d.interval(0.95).low, 1);
  EXPECT_EQ(d.interval(0.95).high, 1);
  EXPECT_EQ(paired_difference({2, 3}, {2, 3}).p, 1);
  EXPECT_EQ(paired_difference({1e6 + 1e-9, 1e6 + 1e-9}, {1e6, 1e6}).p, 1);
  EXPECT_EQ(welch_difference({5, 5}, {4, 4, 4}).p, 0);
}

// Four cups with milk first, four with tea first, three of each told right: p = 34/70. All of five against
// none of five: two of the 252 tables are as unlikely.
TEST(Significance, FishersExactTestCountsTables) {
  EXPECT_NEAR(fisher_exact(3, 4, 1, 4), 34. / 70, 1e-12);
  EXPECT_NEAR(fisher_exact(5, 5, 0, 5), 2. / 252, 1e-12);
  EXPECT_EQ(fisher_exact(0, 5, 0, 5), 1);
  EXPECT_EQ(fisher_exact(3, 3, 5, 5), 1);
}

// By hand: 4 · 0.005, 3 · 0.01, 2 · 0.03 = 0.06 and then never less. Tested at 5 % / 4, / 3, / 2; the third
// is not rejected, so the fourth keeps its level.
TEST(Significance, HolmStepsDown) {
  const std::vector<Corrected> corrected = holm({0.01, 0.04, 0.03, 0.005}, 0.05);
  const double p[] = {0.03, 0.06, 0.06, 0.02}, level[] = {0.05 / 3, 0.05 / 2, 0.05 / 2, 0.05 / 4};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_DOUBLE_EQ(corrected.at(i).p, p[i]);
    EXPECT_DOUBLE_EQ(corrected.at(i).level, level[i]);
  }
  EXPECT_TRUE(holm({}, 0.05).empty());
}

// Two-sided at 5 % with a power of 80 %: 199 pairs for 0.2 standard deviations, 34 for 0.5, 15 for 0.8.
TEST(Significance, DetectableEffectsAreTheTables) {
  const std::pair<std::size_t, double> published[] = {{199, 0.2}, {34, 0.5}, {15, 0.8}};
  for (const auto& [pairs, effect] : published) {
    EXPECT_LE(detectable_effect(pairs, 0.05, 0.8), effect) << pairs;
    EXPECT_GT(detectable_effect(pairs - 1, 0.05, 0.8), effect) << pairs;
  }
  for (const auto& [pairs, effect] : published) EXPECT_EQ(pairs_needed(effect, 0.05, 0.8, 1000), pairs);
  // statsmodels 0.15.0, TTestPower: effect, level and the fewest pairs.
  EXPECT_EQ(pairs_needed(3, 0.05, 0.8, 1000), 4u);
  EXPECT_EQ(pairs_needed(3, 0.05 / 6, 0.8, 1000), 5u);
  EXPECT_EQ(pairs_needed(1, 0.005, 0.8, 1000), 18u);
  EXPECT_EQ(pairs_needed(0.1, 0.05, 0.8, 1000), 787u);
  EXPECT_EQ(pairs_needed(0.1, 0.05, 0.8, 786), 787u);  // so many do not
  EXPECT_EQ(pairs_needed(0, 0.05, 0.8, 1000), 1001u);
  EXPECT_EQ(pairs_needed(1e9, 0.05 / 6000, 0.8, 1000), 2u);
  EXPECT_TRUE(std::isinf(detectable_effect(1, 0.05, 0.8)));
  // Of two pairs t is Cauchy's: its limit is tan(π/2 (1 − level)), and the root of the chi-squared
  // quantile 1.2816. With thousands of comparisons that was an error of the library, not a large number.
  for (const double level : {5e-2 / 100000, 5e-2 / 6000}) {
    const double limit = std::tan(std::acos(-1.) / 2 * (1 - level));
    EXPECT_NEAR(detectable_effect(2, level, 0.8), limit * 1.2815516 / std::sqrt(2.), 1e-4 * limit);
  }
  // Both ways of it meet.
  const double below = 2 / std::acos(-1.) / 990, above = 2 / std::acos(-1.) / 1010;  // levels of such limits
  EXPECT_NEAR(detectable_effect(2, above, 0.8) / detectable_effect(2, below, 0.8), 1010. / 990, 1e-3);
}

}  // namespace longhaul::statistics_test
