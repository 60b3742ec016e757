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
  double mean = 0, deviation = 0, error = 0;  // of the values, and of their mean
  double freedom = 0;
};

Spread spread_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  Spread spread{mean(values)};
  for (const double value : values) spread.deviation += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(spread.deviation / (count - 1));
  spread.error = spread.deviation / std::sqrt(count);
  spread.freedom = count - 1;
  return spread;
}

double student(double freedom) {
  return boost::math::quantile(
      boost::math::complement(boost::math::students_t(freedom), (1 - kFitConfidence) / 2));
}

FittedValue value_of(const Unknown& unknown, const Spread& seconds, const Spread& logarithms) {
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
                                           const std::vector<double>& compute_s) {
  const std::string prefix = "workload.step_time.";
  const auto is_of_steps = [&](const Unknown& unknown) {
    const std::vector<std::string> known = {"constant", "lognormal.mean", "lognormal.mu", "lognormal.sigma"};
    return !unknown.is_choice() && unknown.path().rfind(prefix, 0) == 0 &&
           contains(known, unknown.path().substr(prefix.size()));
  };
  std::vector<FittedValue> found;
  if (compute_s.empty() || none_of(unknowns, is_of_steps)) return found;
  if (compute_s.size() < 2)
    throw InputError("steps", "found one step whose compute is known", "at least two",
                     "their spread is asked for");
  std::vector<double> logarithms;
  for (const double seconds : compute_s) logarithms.push_back(std::log(seconds));
  const Spread seconds = spread_of(compute_s), of_logarithms = spread_of(logarithms);
  for (const Unknown& unknown : unknowns)
    if (is_of_steps(unknown)) found.push_back(value_of(unknown, seconds, of_logarithms));
  drop_if(unknowns, is_of_steps);
  return found;
}

}  // namespace longhaul
