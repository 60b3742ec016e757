// Rates drawn from log-normal distributions, held against the distribution's closed form.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "net/topologies/registry.h"
#include "net/topology.h"
#include "tests/unit/net/cases.h"

namespace longhaul::homes_test {

constexpr int kMany = 4000;
constexpr double kStandardErrors = 4;

Case homes_case(int replicas, double floor = 1) {
  Case config = star_case(replicas, 0, 0);
  config.network.topology = {"homes",
                             {{"up", {{"median", "22.6Mbps"}, {"sigma", 1.65}}},
                              {"down", {{"median", "193.7Mbps"}, {"sigma", 0.55}}},
                              {"floor", bps(floor)},
                              {"rtt", "14ms"}}};
  return config;
}

std::vector<double> rates(const Topology& topology, bool is_up) {
  std::vector<double> all;
  for (const Link& link : topology.links()) all.push_back(is_up ? link.rate_forward : link.rate_backward);
  return all;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::vector<double> logarithms(std::vector<double> values) {
  for (double& value : values) value = std::log(value);
  return values;
}

double covariance(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = mean(a), mean_b = mean(b);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - mean_a) * (b[i] - mean_b);
  return sum / static_cast<double>(a.size());
}

// The logarithms are normal with mean ln(median) and deviation sigma; a sample median of a normal deviates by
// sqrt(π/2) · sigma / sqrt(n).
TEST(Homes, RatesHaveTheMedianAndTheSigmaAskedFor) {
  const Topology topology = build_topology(homes_case(kMany));
  const double root = std::sqrt(kMany);
  for (const auto& [is_up, median, sigma] : {std::tuple{true, 22.6e6, 1.65}, {false, 193.7e6, 0.55}}) {
    std::vector<double> logs = logarithms(rates(topology, is_up));
    EXPECT_NEAR(mean(logs), std::log(median), kStandardErrors * sigma / root);
    EXPECT_NEAR(std::sqrt(covariance(logs, logs)), sigma, kStandardErrors * sigma / std::sqrt(2. * kMany));
    std::nth_element(logs.begin(), logs.begin() + kMany / 2, logs.end());
    EXPECT_NEAR(logs[kMany / 2], std::log(median), kStandardErrors * std::sqrt(M_PI / 2) * sigma / root);
  }
}

TEST(Homes, UpAndDownAreIndependent) {
  const Topology topology = build_topology(homes_case(kMany));
  const std::vector<double> up = logarithms(rates(topology, true)), down = logarithms(rates(topology, false));
  EXPECT_NEAR(covariance(up, down) / (1.65 * 0.55), 0, kStandardErrors / std::sqrt(kMany));
}

// A floor at the median holds half of the homes.
TEST(Homes, NothingIsBelowTheFloor) {
  const std::vector<double> up = rates(build_topology(homes_case(kMany, 22.6e6)), true);
  EXPECT_DOUBLE_EQ(*std::min_element(up.begin(), up.end()), 22.6e6);
  const double held = static_cast<double>(std::count(up.begin(), up.end(), 22.6e6));
  EXPECT_NEAR(held / kMany, 0.5, kStandardErrors * 0.5 / std::sqrt(kMany));
}

TEST(Homes, OneMoreReplicaChangesNoOther) {
  const Topology eight = build_topology(homes_case(8)), nine = build_topology(homes_case(9));
  for (LinkDirection direction = 0; direction < 16; ++direction)
    EXPECT_EQ(eight.rate(direction), nine.rate(direction));
}

TEST(Homes, AnotherSeedDrawsOthers) {
  Case config = homes_case(8);
  const std::vector<double> first = rates(build_topology(config), true);
  config.seed = 2;
  const std::vector<double> second = rates(build_topology(config), true);
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_NE(first[i], second[i]);
}

// A speed test shows the access link alone, there and back: two homes are 2 · 14 ms apart.
TEST(Homes, TheRoundTripIsToTheCore) {
  const Topology topology = build_topology(homes_case(3));
  EXPECT_DOUBLE_EQ(topology.rtt_s(0, 3), 0.014);
  EXPECT_DOUBLE_EQ(topology.rtt_s(0, 2), 0.028);
  EXPECT_TRUE(topology.site_of().empty());
}

}  // namespace longhaul::homes_test
