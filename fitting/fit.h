// A scenario's unknowns from observations: replays at many values of them, the least sum of squares of the
// logarithms (observed over predicted), and how far each may be off.
//
// Repeats of one thing differ by chance; different things also by what the model does not have. Which of the
// two the intervals have to bear, the test for lack of fit says (Draper and Smith, Applied Regression
// Analysis, chapter 2): where what is left of the means is more than chance explains, each different thing is
// one observation, however often it was repeated. Intervals are profiles: the ends are where the least sum
// with an unknown held is worse by t² times the variance (Bates and Watts 1988, Nonlinear Regression Analysis
// and Its Applications, chapter 6). With as many unknowns as things and no repeats nothing is left over that
// could tell how far off the scenario is: what published figures are off stands for the variance.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checks/unknown.h"
#include "core/base/options.h"
#include "core/base/words.h"
#include "core/scenario/case.h"
#include "fitting/observations.h"

namespace longhaul {

constexpr double kFitConfidence = 0.9;
// Of the logarithm of predicted over measured: 68 of 100 figures that others measured are within 15 %
// (docs/validation/real-runs.md), and 68 % of a normal distribution are within one standard deviation.
constexpr double kPublishedDeviation = 0.14;

struct FitTools {
  // All cases of a scenario as it is written, checked as `longhaul check` does. Throws InputError.
  std::function<std::vector<Case>(const Json& scenario)> cases;
  // Carries all out, some at a time; `phase` is what the user sees. Throws what one of them has thrown.
  std::function<void(const std::vector<std::function<void()>>& tasks, const std::string& phase)> run_all;
  // The record of a case that is replayed with its tables. It is called from several threads.
  std::function<Json(const Case& config)> record;
};

// Where the variance comes from.
enum class FitSpread {
  kRepeats,      // all observations are told apart by chance alone
  kDifferences,  // what is different differs by more than its repeats do: each counts once
  kPublished,    // too few observations: what published figures are off (kPublishedDeviation)
};

// As fit.json and a fitted scenario write it.
template <>
struct Words<FitSpread> {
  static constexpr Word<FitSpread> all[] = {{FitSpread::kRepeats, "repeats"},
                                            {FitSpread::kDifferences, "differences"},
                                            {FitSpread::kPublished, "published"}};
};

// How much a time differs by chance, in its logarithm.
struct FitVariance {
  FitSpread spread = FitSpread::kPublished;
  double deviation = 0;  // standard
  int freedom = 0;       // degrees of freedom of that; 0: it is known

  // Two-sided at kFitConfidence, in deviations.
  double quantile() const;
  // Of half the range of the mean of `count` more observations, but for the fit's share: what differs by
  // chance, and the model's own error (a standard deviation) where that is known.
  double squares_of_one_more(std::size_t count, const std::optional<double>& model) const;
};

struct FittedValue {
  Unknown unknown;
  double value = 0, low = 0, high = 0;  // SI units
  bool is_bounded_below = false, is_bounded_above = false;
  std::vector<double> others_low = {}, others_high = {};  // all unknowns at these ends
};

// One thing that was observed, beside what is predicted.
struct FitResidual {
  std::string what;
  bool is_time = true;                 // seconds
  std::size_t count = 0;               // observations of it
  double observed = 0, predicted = 0;  // geometric mean of the observations
  double low = 0, high = 0;            // of what would be observed, at kFitConfidence; 0: none
  bool is_fitted = true;

  bool is_inside() const { return observed >= low && observed <= high; }
};

// One of the values that choices may have, with the numbers found for it.
struct FittedChoice {
  Json values = Json::object();  // {path: value}
  double spread = 0;             // root mean square of the logarithms that are left
  bool is_possible = true;       // its likelihood is at least a tenth of the best one's
};

struct FitResult {
  std::vector<FittedChoice> choices;   // best first; one without values where there is no choice
  std::vector<FittedValue> values;     // with the best choices
  std::vector<FitResidual> residuals;  // fitted first, then what is only predicted
  FitVariance variance;
  std::size_t observations = 0, things = 0, replays = 0;
  // Ends of the principal axes of the unknowns' covariance, a pair each, as values of all unknowns: what any
  // prediction is off because of the fit is the root of the sum of squares of half the differences.
  std::vector<std::pair<std::vector<double>, std::vector<double>>> axes;
  std::vector<std::string> words;  // for people: what is not told apart, what does not fit
};

// `scenario` as written, with its values as starting points. Throws InputError, RunError, Interrupted.
FitResult fit(const Json& scenario, std::vector<Unknown> unknowns, const Observations& observations,
              const FitTools& tools);

// A scenario beside observations. Of a fitted one the ranges have the fit's share, and what it was fitted to,
// which its section `fit` tells by its content, is no prediction.
FitResult verify(const Json& scenario, const Observations& observations, const FitTools& tools);

}  // namespace longhaul
