// Weighted nonlinear least squares inside a box, and profile intervals of its unknowns.
//
// What is predicted comes from replays: it costs time, many points are had at once by several threads, and it
// has small steps where TCP takes a round trip more. So derivatives are differences over 0.4 per cent of an
// unknown's range, and a minimum is looked for from several starts.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "analysis/statistics.h"

namespace longhaul {

// Unknowns as the minimizer sees them: each from 0 to 1, its range.
using FitPoint = std::vector<double>;

// Of each point all that was observed, as it would be: a number each, none of them infinite.
using PredictAll = std::function<std::vector<std::vector<double>>(const std::vector<FitPoint>& points)>;

struct FitMinimum {
  FitPoint at;
  std::vector<double> predicted;
  double sum = 0;            // of weight · (observed − predicted)²
  Eigen::MatrixXd jacobian;  // d predicted / d at: a row an observation, a column an unknown
};

// One end of the profile of an unknown.
struct ProfileEnd {
  FitPoint at;              // all unknowns there: the others are as good as they can be with this one
  bool is_bounded = false;  // false: the range ends before the fit is so much worse
};

struct Profile {
  ProfileEnd low, high;
};

class LeastSquares {
 public:
  // `observed` and `weights` have one number for each that is predicted; weights are above 0.
  LeastSquares(std::size_t unknowns, std::vector<double> observed, std::vector<double> weights,
               PredictAll predict);

  // From `start` and from the best of some points spread over the box (Halton's).
  FitMinimum minimum(const FitPoint& start);

  // For each unknown the interval in which the least sum with that unknown held is at most `most`. Where a
  // lower sum than that of `found` turns up, `found` becomes that, and all is done again with `most_of` it.
  std::vector<Profile> profiles(FitMinimum& found, const std::function<double(const FitMinimum&)>& most_of);

  // J' W J at a minimum: the inverse of the covariance of the unknowns, in units of the variance.
  Eigen::MatrixXd information(const FitMinimum& minimum) const;

  std::size_t evaluations() const { return known_.size(); }

 private:
  struct IsBetter {};  // thrown by a profile that found a lower sum

  const std::vector<double>& at(const FitPoint& point);
  void evaluate(const std::vector<FitPoint>& points);
  double sum_at(const FitPoint& point);
  FitMinimum descend(FitPoint start, int held);
  Eigen::MatrixXd derivatives(const FitPoint& point, int held);
  ProfileEnd end_of(const FitMinimum& found, std::size_t unknown, int sign, double most);
  std::vector<FitPoint> spread_points() const;

  const std::size_t unknowns_;
  const std::vector<double> observed_, weights_;
  const PredictAll predict_;
  std::map<FitPoint, std::vector<double>> known_;
  FitPoint lower_;           // where IsBetter was found
  bool may_restart_ = true;  // after some lower sums the one at hand is taken
};

}  // namespace longhaul
