#include "analysis/statistics.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/index.h"
#include "core/random.h"

namespace longhaul {
namespace {

double percentile_of_sorted(const std::vector<double>& sorted, double p) {
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double rank = p / 100 * static_cast<double>(sorted.size() - 1);
  const std::size_t below = as_index(rank);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (rank - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

double mean(const std::vector<double>& values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double percentile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  return percentile_of_sorted(values, p);
}

Distribution distribution(std::vector<double> values) {
  const double average =
      mean(values);  // before sorting: the sum must not depend on anything but the file's order
  std::sort(values.begin(), values.end());
  return {average, percentile_of_sorted(values, 50), percentile_of_sorted(values, 95), values.back()};
}

Interval t_interval(const std::vector<double>& values, double confidence) {
  const double average = mean(values), n = static_cast<double>(values.size());
  if (values.size() < 2) return {average, average};
  double squares = 0;
  for (double value : values) squares += (value - average) * (value - average);
  const boost::math::students_t t(n - 1);
  const double half = boost::math::quantile(t, 0.5 + confidence / 2) * std::sqrt(squares / (n - 1) / n);
  return {average - half, average + half};
}

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
