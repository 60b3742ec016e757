// What a scenario predicts of each thing that was observed, at any values of its unknowns.
#pragma once

#include <string>
#include <vector>

#include "fitting/fit.h"
#include "fitting/least_squares.h"

namespace longhaul {

// An exchange or a row of the observations.
struct ObservedThing {
  std::string what;
  const ObservedExchange* exchange = nullptr;  // null: a row
  const ObservedRow* row = nullptr;
  bool is_fitted = true;
  std::vector<ObservedTime> times;

  double count() const;   // of all that the times are means of
  double mean() const;    // of the logarithms
  double within() const;  // sum of squares about it, of one value: with a degree less than times
};

// Without observations that are far off the others of their thing, which `notes` then name: beyond ten times
// the median deviation, of five at least.
std::vector<ObservedThing> things_of(const Observations& observations, std::vector<std::string>& notes);

// The numbers among the unknowns; what has choices has one value at a time.
std::vector<Unknown> numbers_of(const std::vector<Unknown>& unknowns);

class Predictions {
 public:
  // All must outlive it. `cases`: of the scenario; `chosen`: {path: value} of those unknowns that are
  // choices.
  Predictions(const Json& scenario, const std::vector<Case>& cases, const std::vector<Unknown>& numbers,
              Json chosen, const FitTools& tools)
      : scenario_(scenario), cases_(cases), numbers_(numbers), chosen_(std::move(chosen)), tools_(tools) {}

  // Logarithms: [point][thing]. Throws InputError where a thing cannot be predicted, RunError.
  std::vector<std::vector<double>> at(const std::vector<FitPoint>& points,
                                      const std::vector<const ObservedThing*>& things);

  // Standard deviation of the logarithm that the network model's error is, of the case that predicts the
  // thing; none where that is not known.
  std::optional<double> model_deviation(const FitPoint& point, const ObservedThing& thing);

  std::size_t replays() const { return replays_; }

 private:
  // Those that predict the thing at each point: one a seed for a row.
  std::vector<std::vector<Case>> cases_at(const std::vector<FitPoint>& points,
                                          const ObservedThing& thing) const;
  Json reduced_scenario(const ObservedThing& thing, std::string& label) const;

  const Json& scenario_;
  const std::vector<Case>& cases_;
  const std::vector<Unknown>& numbers_;
  const Json chosen_;
  const FitTools& tools_;
  std::size_t replays_ = 0;
};

}  // namespace longhaul
