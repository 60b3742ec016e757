#include "analysis/statistics.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/index.h"

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

}  // namespace longhaul
