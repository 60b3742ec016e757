// The grace time that follows from lags, worked out by hand.
#include "replay/lag_history.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace longhaul::lag_history_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Median, IsTheOneInTheMiddleOrTheMeanOfTwo) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 2}), 2);
  EXPECT_EQ(median({9, 1, 2, 4}), 3);
  EXPECT_EQ(median({5, 5, 1, 5}), 5);
  EXPECT_THROW(median({}), std::logic_error);
}

// Of 1, 1, 2, 2, 4, 6, 9 the median is 2, and the deviations are 1, 1, 0, 0, 2, 4, 7: their median is 1.
TEST(MedianAbsoluteDeviation, HasNoFactor) {
  EXPECT_EQ(median_absolute_deviation({1, 1, 2, 2, 4, 6, 9}), 1);
  EXPECT_EQ(median_absolute_deviation({4}), 0);
}

TEST(LagHistory, StartsWithTheStart) {
  LagHistory history(8);
  EXPECT_EQ(history.grace_s({3, 8, 0, 12.5}), 12.5);
  EXPECT_EQ(history.grace_s({3, 8, 0, kInfinity}), kInfinity);
  history.add({});
  EXPECT_EQ(history.grace_s({3, 8, 0, 12.5}), 12.5) << "one who met nobody tells nothing";
}

// 1, 2, 4 and 1, 2, 6, 9 are the lags above: 2 + 3 · 1.
TEST(LagHistory, WaitsForMedianAndDeviations) {
  LagHistory history(8);
  history.add({1, 2, 4});
  history.add({2, 1, 9, 6});
  EXPECT_EQ(history.grace_s({3, 8, 0, kInfinity}), 5);
  EXPECT_EQ(history.grace_s({0, 8, 0, kInfinity}), 2);
  EXPECT_EQ(history.grace_s({3, 8, 7.5, kInfinity}), 7.5) << "at least so long";
}

// Of the last two operations: 3 and 5, 7. Median 5, deviations 2, 0, 2.
TEST(LagHistory, ForgetsWhatHasLeftTheWindow) {
  LagHistory history(2);
  const std::int64_t first = history.add({100, 200});
  history.add({3});
  history.add({5, 7});
  EXPECT_EQ(history.grace_s({1, 2, 0, kInfinity}), 7);
  history.add_late(first, 1000);
  EXPECT_EQ(history.grace_s({1, 2, 0, kInfinity}), 7);
}

// One that was passed by is ready 11 s late, after the next operation: 1, 3, 11. Median 3, deviations 2,
// 0, 8.
TEST(LagHistory, CountsTheLateOnceTheyAreKnown) {
  LagHistory history(2);
  const std::int64_t first = history.add({1});
  history.add({3});
  EXPECT_EQ(history.grace_s({1, 2, 0, kInfinity}), 3) << "1 and 3: median 2, deviations 1 and 1";
  history.add_late(first, 11);
  EXPECT_EQ(history.grace_s({1, 2, 0, kInfinity}), 5);
}

}  // namespace longhaul::lag_history_test
