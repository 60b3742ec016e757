// Against ordinary least squares in closed form, and against draws whose truth is known.
#include "fitting/least_squares.h"

#include <gtest/gtest.h>

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <random>

#include "core/base/index.h"

namespace longhaul::least_squares_test {

PredictAll each(const std::function<std::vector<double>(const FitPoint&)>& predict) {
  return [predict](const std::vector<FitPoint>& points) {
    std::vector<std::vector<double>> all;
    for (const FitPoint& point : points) all.push_back(predict(point));
    return all;
  };
}

double student95(int freedom) {
  return boost::math::quantile(boost::math::students_t(freedom), 0.95);
}

// y = a + b x on x = 0, 1, 2, 3 with y = .2, .5, .5, .8: the textbook's b = Σ(x − x̄)(y − ȳ)/Σ(x − x̄)² = .9/5,
// a = ȳ − b x̄ = .5 − .27, residual sum .18 − .9²/5 = .018; standard errors s/√5 and s √(1/4 + 1.5²/5).
TEST(LeastSquares, OfALineIsTheTextbooks) {
  const std::vector<double> x = {0, 1, 2, 3};
  LeastSquares squares(2, {0.2, 0.5, 0.5, 0.8}, {1, 1, 1, 1}, each([&](const FitPoint& at) {
                         std::vector<double> y;
                         for (const double one : x) y.push_back(at[0] + at[1] * one);
                         return y;
                       }));
  FitMinimum found = squares.minimum({0.5, 0.5});
  EXPECT_NEAR(found.at[0], 0.23, 1e-5);
  EXPECT_NEAR(found.at[1], 0.18, 1e-5);
  EXPECT_NEAR(found.sum, 0.018, 1e-9);
  const double variance = 0.018 / 2, far = student95(2) * std::sqrt(variance);
  const std::vector<Profile> profiles =
      squares.profiles(found, [&](const FitMinimum& at) { return at.sum + far * far; });
  const double half_b = student95(2) * std::sqrt(variance / 5);
  EXPECT_NEAR(profiles[1].high.at[1], 0.18 + half_b, 0.02 * half_b);
  EXPECT_NEAR(profiles[1].low.at[1], 0.18 - half_b, 0.02 * half_b);
  const double half_a = student95(2) * std::sqrt(variance * (0.25 + 1.5 * 1.5 / 5));
  EXPECT_NEAR(profiles[0].high.at[0], 0.23 + half_a, 0.02 * half_a);
  EXPECT_FALSE(profiles[0].low.is_bounded);  // 0.23 − 0.2318 is below the range's end
  EXPECT_TRUE(profiles[0].high.is_bounded && profiles[1].low.is_bounded && profiles[1].high.is_bounded);
  // With one of them held the other moves by −Σx/Σx² or −x̄ of it.
  EXPECT_NEAR(profiles[0].high.at[1] - 0.18, -(profiles[0].high.at[0] - 0.23) * 6 / 14, 1e-3);
}

// Latency and bytes over rate, in logarithms, as an exchange: intervals of 90 % hold the truth in 85 to 95 %
// of 200 draws.
TEST(LeastSquares, IntervalsHoldTheTruthAsOftenAsTheySay) {
  const std::vector<double> bytes = {1e3, 1e5, 1e6, 1e7, 1e8};
  const auto predict = [&](const FitPoint& at) {
    const double latency_s = 1e-3 * std::pow(1e3, at[0]), rate = 1e6 * std::pow(1e4, at[1]);
    std::vector<double> logarithms;
    for (const double one : bytes) logarithms.push_back(std::log(latency_s + one / rate));
    return logarithms;
  };
  const FitPoint truth = {0.6, 0.45};
  constexpr int kDraws = 200, kRepeats = 3;
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise(0, 0.05);
  std::vector<int> holds(2);
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<double> means;
    double within = 0;
    for (const double expected : predict(truth)) {
      std::vector<double> repeats;
      for (int i = 0; i < kRepeats; ++i) repeats.push_back(expected + noise(random));
      means.push_back(mean(repeats));
      for (const double one : repeats) within += (one - means.back()) * (one - means.back());
    }
    LeastSquares squares(2, means, std::vector<double>(5, kRepeats), each(predict));
    FitMinimum found = squares.minimum({0.5, 0.5});
    const int freedom = 5 * kRepeats - 2;
    const std::vector<Profile> profiles = squares.profiles(found, [&](const FitMinimum& at) {
      return at.sum + std::pow(student95(freedom), 2) * (at.sum + within) / freedom;
    });
    for (std::size_t k = 0; k < 2; ++k)
      holds[k] += profiles[k].low.at[k] <= truth[k] && truth[k] <= profiles[k].high.at[k] ? 1 : 0;
  }
  for (const int count : holds) {
    EXPECT_GE(count, 170);
    EXPECT_LE(count, 190);
  }
}

// Where only the sum of two counts, neither end of either is in sight, and the others move against it.
TEST(LeastSquares, SeesThatTwoAreNotToldApart) {
  LeastSquares squares(2, {1, 1.01}, {1, 1},
                       each([](const FitPoint& at) { return std::vector<double>(2, at[0] + at[1]); }));
  FitMinimum found = squares.minimum({0.2, 0.2});
  EXPECT_NEAR(found.at[0] + found.at[1], 1.005, 1e-6);
  for (const Profile& profile : squares.profiles(found, [](const FitMinimum& at) { return at.sum + 1e-3; })) {
    EXPECT_NEAR(profile.high.at[0] + profile.high.at[1], 1.005, 0.05);
    EXPECT_NEAR(std::abs(profile.high.at[0] - profile.low.at[0]), 1, 0.05);
  }
}

// Two valleys, the nearer one not so deep: the start does not decide.
TEST(LeastSquares, FindsTheDeeperValley) {
  LeastSquares squares(1, {0, 0}, {1, 1}, each([](const FitPoint& at) {
                         const double wave = std::cos(4 * M_PI * at[0]);  // least at 1/4 and 3/4
                         return std::vector<double>{1 + wave, 0.5 * (at[0] - 0.75)};
                       }));
  EXPECT_NEAR(squares.minimum({0.2}).at[0], 0.75, 1e-3);
}

TEST(LeastSquares, StaysInItsRange) {
  LeastSquares squares(1, {2}, {1}, each([](const FitPoint& at) { return at; }));
  FitMinimum found = squares.minimum({0.5});
  EXPECT_EQ(found.at[0], 1);
  const std::vector<Profile> profiles =
      squares.profiles(found, [](const FitMinimum& at) { return at.sum + 0.44; });
  EXPECT_FALSE(profiles[0].high.is_bounded);
  EXPECT_NEAR(profiles[0].low.at[0], 0.8, 0.01);  // (2 − 0.8)² = 1 + 0.44
}

}  // namespace longhaul::least_squares_test
