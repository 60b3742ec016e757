#include "analysis/statistics.h"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/hypergeometric.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "core/base/index.h"

namespace longhaul {
namespace {

using boost::math::students_t;

double percentile_of_sorted(const std::vector<double>& sorted, double p) {
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double rank = p / 100 * static_cast<double>(sorted.size() - 1);
  const std::size_t below = as_index(rank);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (rank - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double squares_about(const std::vector<double>& values, double average) {
  double sum = 0;
  for (const double value : values) sum += (value - average) * (value - average);
  return sum;
}

// Against so far a limit the mean's own scatter is nothing beside that of its estimated error, whose square
// is a chi-squared variable over its degrees of freedom; of the noncentral t there is no value that far out.
constexpr double kFarOut = 1000;

// Below this share of the values a difference, or its scatter, is the rounding of a sum.
constexpr double kRounding = 1e-9;

double largest(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (const auto* values : {&a, &b})
    for (const double value : *values) most = std::max(most, std::abs(value));
  return most;
}

// Where nothing scatters the difference is exact.
Difference tested(double mean, double error, double freedom, double scale) {
  if (std::abs(mean) <= kRounding * scale && error <= kRounding * scale) return {0, 0, freedom, 1};
  if (error <= kRounding * scale) return {mean, 0, freedom, 0};
  const double p = 2 * boost::math::cdf(boost::math::complement(students_t(freedom), std::abs(mean) / error));
  return {mean, error, freedom, p};
}

// Whether a t test of `pairs` finds such an effect with probability `power`.
bool is_found(std::size_t pairs, double effect, double level, double power) {
  const double n = static_cast<double>(pairs), shift = effect * std::sqrt(n);
  const double critical = boost::math::quantile(boost::math::complement(students_t(n - 1), level / 2));
  if (critical > kFarOut || shift > kFarOut) return detectable_effect(pairs, level, power) <= effect;
  const boost::math::non_central_t alternative(n - 1, shift);
  return boost::math::cdf(boost::math::complement(alternative, critical)) >= power;
}

}  // namespace

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.);
}

double mean(const std::vector<double>& values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double percentile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  return percentile_of_sorted(values, p);
}

Distribution distribution(std::vector<double> values) {
  const double average = mean(values);  // before sorting: the sum depends on the order of the file alone
  std::sort(values.begin(), values.end());
  return {average, percentile_of_sorted(values, 50), percentile_of_sorted(values, 95), values.back()};
}

Interval t_interval(const std::vector<double>& values, double confidence) {
  const double average = mean(values), n = static_cast<double>(values.size());
  if (values.size() < 2) return {average, average};
  const double error = std::sqrt(squares_about(values, average) / (n - 1) / n);
  const double half = boost::math::quantile(students_t(n - 1), 0.5 + confidence / 2) * error;
  return {average - half, average + half};
}

Interval Difference::interval(double confidence) const {
  if (error == 0) return {mean, mean};
  const double t = boost::math::quantile(boost::math::complement(students_t(freedom), (1 - confidence) / 2));
  return {mean - t * error, mean + t * error};
}

Difference paired_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size() || a.size() < 2) throw std::logic_error("pairs are two or more");
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  const double n = static_cast<double>(a.size()), average = mean(differences);
  return tested(average, std::sqrt(squares_about(differences, average) / (n - 1) / n), n - 1, largest(a, b));
}

Difference welch_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < 2 || b.size() < 2) throw std::logic_error("a scatter needs two values or more");
  const double n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  const double va = squares_about(a, mean(a)) / (n - 1) / n, vb = squares_about(b, mean(b)) / (m - 1) / m;
  const double scatter = va + vb;
  const double freedom =
      scatter > 0 ? scatter * scatter / (va * va / (n - 1) + vb * vb / (m - 1)) : n + m - 2;
  return tested(mean(a) - mean(b), std::sqrt(scatter), freedom, largest(a, b));
}

double fisher_exact(unsigned successes_a, unsigned a, unsigned successes_b, unsigned b) {
  if (successes_a > a || successes_b > b) throw std::logic_error("more successes than trials");
  const unsigned successes = successes_a + successes_b;
  if (successes == 0 || successes == a + b) return 1;
  const boost::math::hypergeometric tables(successes, a, a + b);
  const double observed = boost::math::pdf(tables, successes_a);
  double p = 0;
  const unsigned fewest = successes > b ? successes - b : 0;
  for (unsigned k = fewest; k <= std::min(successes, a); ++k) {
    const double likelihood = boost::math::pdf(tables, k);
    if (likelihood <= observed * (1 + 1e-7)) p += likelihood;  // R's slack, for tables that are as likely
  }
  return std::min(1., p);
}

std::vector<Corrected> holm(const std::vector<double>& p, double level) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return p[i] < p[j]; });
  std::vector<Corrected> corrected(p.size());
  double adjusted = 0, tested_at = 0;
  bool rejecting = true;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const double left = static_cast<double>(p.size() - k);
    adjusted = std::max(adjusted, std::min(1., left * p[order[k]]));
    if (rejecting) tested_at = level / left;
    rejecting = rejecting && adjusted <= level;
    corrected[order[k]] = {adjusted, tested_at};
  }
  return corrected;
}

double detectable_effect(std::size_t pairs, double level, double power) {
  if (pairs < 2) return std::numeric_limits<double>::infinity();
  const double n = static_cast<double>(pairs);
  const double critical = boost::math::quantile(boost::math::complement(students_t(n - 1), level / 2));
  if (critical > kFarOut)
    return critical * std::sqrt(boost::math::quantile(boost::math::chi_squared(n - 1), power) / (n - 1) / n);
  // The power grows with the effect; the other tail is negligible at any power worth asking for.
  double low = 0, high = 2 * critical + 10;
  while (high - low > 1e-6 * high) {
    const double middle = (low + high) / 2;
    const boost::math::non_central_t alternative(n - 1, middle);
    (boost::math::cdf(boost::math::complement(alternative, critical)) < power ? low : high) = middle;
  }
  return high / std::sqrt(n);
}

std::size_t pairs_needed(double effect, double level, double power, std::size_t most) {
  if (!(effect > 0)) return most + 1;
  const boost::math::normal normal;
  const double z = boost::math::quantile(boost::math::complement(normal, level / 2)) +
                   boost::math::quantile(normal, power);
  // So many a known spread needs. An estimated one needs more, so the count begins here.
  const double least = z * z / (effect * effect);
  if (!(least <= static_cast<double>(most))) return most + 1;
  std::size_t pairs = std::max<std::size_t>(2, as_index(least));
  while (pairs <= most && !is_found(pairs, effect, level, power)) ++pairs;
  return pairs;
}

}  // namespace longhaul
