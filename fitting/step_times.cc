#include "fitting/step_times.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "analysis/statistics.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/ranges.h"

namespace longhaul {
namespace {

struct Spread {
  double mean = 0, deviation = 0, error = 0;  // of one value, and of the mean
  double freedom = 0;
};

// Of values that are means of `counts` each: such a mean's variance is that of one value over its count, so
// weights that are the counts give the least variance, and the weighted squares estimate that of one value.
Spread spread_of(const std::vector<double>& values, const std::vector<double>& counts) {
  const double all = sum(counts);
  Spread spread;
  for (std::size_t i = 0; i < values.size(); ++i) spread.mean += counts[i] / all * values[i];
  for (std::size_t i = 0; i < values.size(); ++i)
    spread.deviation += counts[i] * (values[i] - spread.mean) * (values[i] - spread.mean);
  spread.freedom = static_cast<double>(values.size()) - 1;
  spread.deviation = std::sqrt(spread.deviation / spread.freedom);
  spread.error = spread.deviation / std::sqrt(all);
  return spread;
}

// Of the logarithm, from the values themselves, where these are means and have no logarithms of single ones:
// a lognormal's variance over its squared mean is exp(sigma²) - 1, and mu is ln(mean) - sigma²/2.
Spread of_logarithm(const Spread& seconds) {
  Spread spread;
  const double share = seconds.deviation / seconds.mean, variance = std::log1p(share * share);
  spread.deviation = std::sqrt(variance);
  spread.mean = std::log(seconds.mean) - variance / 2;
  const double of_mean = seconds.error / seconds.mean;
  spread.error = std::sqrt(of_mean * of_mean + variance * variance / (2 * seconds.freedom));
  spread.freedom = seconds.freedom;
  return spread;
}

double student(double freedom) {
  return boost::math::quantile(
      boost::math::complement(boost::math::students_t(freedom), (1 - kFitConfidence) / 2));
}

FittedValue value_of(const Unknown& unknown, const Spread& seconds, const Spread& logarithms,
                     bool are_means) {
  FittedValue found{unknown};
  const auto set = [&](double value, double low, double high) {
    if (value < unknown.low() || value > unknown.high())
      throw InputError(
          "fit.unknown.\"" + unknown.path() + "\"",
          fmt::format("found the range {} to {}, but the steps come to {}", unknown.for_people(unknown.low()),
                      unknown.for_people(unknown.high()), unknown.for_people(value)),
          "a range that holds it");
    found.value = value;
    found.low = std::max(low, unknown.low());
    found.high = std::min(high, unknown.high());
    found.is_bounded_below = low >= unknown.low();
    found.is_bounded_above = high <= unknown.high();
  };
  const std::string key = unknown.path().substr(unknown.path().rfind('.') + 1);
  const double t = student(seconds.freedom);
  if (key == "constant") {
    set(seconds.mean, seconds.mean - t * seconds.error, seconds.mean + t * seconds.error);
  } else if (key == "mu") {
    set(logarithms.mean, logarithms.mean - t * logarithms.error, logarithms.mean + t * logarithms.error);
  } else if (key == "sigma") {
    const boost::math::chi_squared of_variance(logarithms.freedom);
    const double tail = (1 - kFitConfidence) / 2,
                 sum = logarithms.freedom * logarithms.deviation * logarithms.deviation;
    set(logarithms.deviation,
        std::sqrt(sum / boost::math::quantile(boost::math::complement(of_variance, tail))),
        std::sqrt(sum / boost::math::quantile(of_variance, tail)));
  } else if (are_means) {
    const double error = seconds.error / seconds.mean;
    set(seconds.mean, seconds.mean * std::exp(-t * error), seconds.mean * std::exp(t * error));
  } else {
    const double variance = logarithms.deviation * logarithms.deviation,
                 centre = logarithms.mean + variance / 2;
    const double error =
        std::sqrt(logarithms.error * logarithms.error + variance * variance / (2 * logarithms.freedom));
    set(std::exp(centre), std::exp(centre - t * error), std::exp(centre + t * error));
  }
  return found;
}

}  // namespace

std::vector<FittedValue> values_from_steps(std::vector<Unknown>& unknowns,
                                           const std::vector<ObservedTime>& steps) {
  const std::string prefix = "workload.step_time.";
  const auto is_of_steps = [&](const Unknown& unknown) {
    const std::vector<std::string> known = {"constant", "lognormal.mean", "lognormal.mu", "lognormal.sigma"};
    return !unknown.is_choice() && unknown.path().rfind(prefix, 0) == 0 &&
           contains(known, unknown.path().substr(prefix.size()));
  };
  std::vector<FittedValue> found;
  if (steps.empty() || none_of(unknowns, is_of_steps)) return found;
  if (steps.size() < 2)
    throw InputError("steps", "found one step whose compute is known", "at least two",
                     "their spread is asked for");
  const std::vector<double> values = each_of(steps, [](const ObservedTime&step) { return step.seconds; }),
                            counts = each_of(steps, [](const ObservedTime&step) { return step.count; }),
                            logarithms = each_of(values, [](double value) { return std::log(value); });
  const bool are_means = any_of(counts, [](double count) { return count > 1; });
  const Spread seconds = spread_of(values, counts),
               of_logarithms = are_means ? of_logarithm(seconds) : spread_of(logarithms, counts);
  for (const Unknown& unknown : unknowns)
    if (is_of_steps(unknown)) found.push_back(value_of(unknown, seconds, of_logarithms, are_means));
  drop_if(unknowns, is_of_steps);
  return found;
}

}  // namespace longhaul
