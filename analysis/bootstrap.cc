#include "analysis/bootstrap.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "core/index.h"
#include "core/random.h"

namespace longhaul {
namespace {

constexpr std::uint64_t kSeed = 1;

std::vector<double> sorted_means(const std::vector<double>& values) {
  RandomStream stream(kSeed, Purpose::kBootstrap);
  std::vector<double> means(kResamples);
  for (double& one : means) {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += values[stream.below(values.size())];
    one = sum / static_cast<double>(values.size());
  }
  std::sort(means.begin(), means.end());
  return means;
}

// From the jackknife: for a mean, a sixth of the skewness over the root of n (Efron 1987, Eq. 6.6).
double acceleration(const std::vector<double>& values) {
  const double average = mean(values);
  double squares = 0, cubes = 0;
  for (const double value : values) {
    const double deviation = value - average;
    squares += deviation * deviation;
    cubes += deviation * deviation * deviation;
  }
  return cubes / (6 * std::pow(squares, 1.5));
}

}  // namespace

Interval bootstrap_interval(const std::vector<double>& values, double confidence) {
  const double average = mean(values);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (*most - *least <= 1e-12 * std::abs(average)) return {average, average};
  const std::vector<double> means = sorted_means(values);
  // Of means that tie with the sample's own half count as below it.
  const auto below = std::lower_bound(means.begin(), means.end(), average) - means.begin();
  const auto up_to = std::upper_bound(means.begin(), means.end(), average) - means.begin();
  const boost::math::normal normal;
  const double share =
      std::clamp(static_cast<double>(below + up_to) / 2 / kResamples, 0.5 / kResamples, 1 - 0.5 / kResamples);
  const double bias = boost::math::quantile(normal, share), a = acceleration(values);
  const auto end = [&](double probability) {
    const double z = bias + boost::math::quantile(normal, probability);
    const double moved = boost::math::cdf(normal, bias + z / (1 - a * z));
    const double rank = std::clamp(moved * (kResamples + 1) - 1, 0., kResamples - 1.);
    return means[as_index(std::lround(rank))];
  };
  return {end((1 - confidence) / 2), end((1 + confidence) / 2)};
}

}  // namespace longhaul
