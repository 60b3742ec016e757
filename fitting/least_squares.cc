#include "fitting/least_squares.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/index.h"

namespace longhaul {
namespace {

constexpr double kDifference = 0.002;  // of the range, either side
constexpr int kMostSteps = 40;
constexpr int kStarts = 3;

// The digits of `index` in `base`, mirrored at the point (Halton 1960).
double halton(int index, int base) {
  double value = 0, place = 1;
  for (; index > 0; index /= base) {
    place /= base;
    value += place * (index % base);
  }
  return value;
}

FitPoint clipped(FitPoint point) {
  for (double& value : point) value = std::clamp(value, 0., 1.);
  return point;
}

Eigen::VectorXd as_vector(const std::vector<double>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

}  // namespace

LeastSquares::LeastSquares(std::size_t unknowns, std::vector<double> observed, std::vector<double> weights,
                           PredictAll predict)
    : unknowns_(unknowns),
      observed_(std::move(observed)),
      weights_(std::move(weights)),
      predict_(std::move(predict)) {}

void LeastSquares::evaluate(const std::vector<FitPoint>& points) {
  std::vector<FitPoint> open;
  for (const FitPoint& point : points)
    if (known_.count(point) == 0 && std::find(open.begin(), open.end(), point) == open.end())
      open.push_back(point);
  if (open.empty()) return;
  std::vector<std::vector<double>> predicted = predict_(open);
  for (std::size_t i = 0; i < open.size(); ++i) known_[open[i]] = std::move(predicted[i]);
}

const std::vector<double>& LeastSquares::at(const FitPoint& point) {
  evaluate({point});
  return known_.at(point);
}

double LeastSquares::sum_at(const FitPoint& point) {
  const std::vector<double>& predicted = at(point);
  double sum = 0;
  for (std::size_t i = 0; i < observed_.size(); ++i)
    sum += weights_[i] * (observed_[i] - predicted[i]) * (observed_[i] - predicted[i]);
  return sum;
}

std::vector<FitPoint> LeastSquares::spread_points() const {
  constexpr int kPrimes[] = {2, 3, 5, 7, 11, 13, 17, 19};
  const int count = 8 * static_cast<int>(unknowns_);
  std::vector<FitPoint> points;
  for (int i = 1; i <= count; ++i) {
    FitPoint point;
    for (std::size_t k = 0; k < unknowns_; ++k) point.push_back(halton(i, kPrimes[k % std::size(kPrimes)]));
    points.push_back(point);
  }
  return points;
}

// Of the unknown that is held it is 0.
Eigen::MatrixXd LeastSquares::derivatives(const FitPoint& point, int held) {
  std::vector<FitPoint> around;
  for (std::size_t k = 0; k < unknowns_; ++k)
    for (const int sign : {-1, 1}) {
      FitPoint beside = point;
      beside[k] = std::clamp(point[k] + sign * kDifference, 0., 1.);
      around.push_back(beside);
    }
  std::vector<FitPoint> wanted = around;
  if (held >= 0)
    wanted.erase(wanted.begin() + 2 * static_cast<std::ptrdiff_t>(held),
                 wanted.begin() + 2 * static_cast<std::ptrdiff_t>(held) + 2);
  evaluate(wanted);
  Eigen::MatrixXd jacobian = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(observed_.size()),
                                                   static_cast<Eigen::Index>(unknowns_));
  for (std::size_t k = 0; k < unknowns_; ++k) {
    if (static_cast<int>(k) == held) continue;
    const FitPoint &below = around[2 * k], &above = around[2 * k + 1];
    jacobian.col(static_cast<Eigen::Index>(k)) =
        (as_vector(known_.at(above)) - as_vector(known_.at(below))) / (above[k] - below[k]);
  }
  return jacobian;
}

// Levenberg and Marquardt's method (Marquardt 1963), several dampings at a time; unknowns that stand at the
// end of their range and would leave it stay.
FitMinimum LeastSquares::descend(FitPoint start, int held) {
  FitPoint point = clipped(std::move(start));
  double sum = sum_at(point), damping = 1e-3;
  Eigen::MatrixXd jacobian;
  for (int step = 0; step < kMostSteps; ++step) {
    jacobian = derivatives(point, held);
    const Eigen::VectorXd weights = as_vector(weights_), left = as_vector(observed_) - as_vector(at(point));
    const Eigen::VectorXd slope = jacobian.transpose() * weights.cwiseProduct(left);
    Eigen::MatrixXd curvature = jacobian.transpose() * weights.asDiagonal() * jacobian;
    const double largest = curvature.diagonal().maxCoeff();
    if (!(largest > 0)) break;
    std::vector<bool> stays(unknowns_);
    for (std::size_t k = 0; k < unknowns_; ++k) {
      const auto column = static_cast<Eigen::Index>(k);
      stays[k] = static_cast<int>(k) == held || (point[k] <= 0 && slope[column] < 0) ||
                 (point[k] >= 1 && slope[column] > 0);
    }
    std::vector<FitPoint> tries;
    std::vector<double> dampings;
    for (const double factor : {0.1, 1., 10., 100., 1000.}) {
      Eigen::MatrixXd damped = curvature;
      Eigen::VectorXd towards = slope;
      for (std::size_t k = 0; k < unknowns_; ++k) {
        const auto column = static_cast<Eigen::Index>(k);
        damped(column, column) += damping * factor * std::max(curvature(column, column), 1e-9 * largest);
        if (!stays[k]) continue;
        damped.row(column).setZero();
        damped.col(column).setZero();
        damped(column, column) = 1;
        towards[column] = 0;
      }
      const Eigen::VectorXd move = damped.ldlt().solve(towards);
      FitPoint next = point;
      for (std::size_t k = 0; k < unknowns_; ++k) next[k] += move[static_cast<Eigen::Index>(k)];
      tries.push_back(clipped(next));
      dampings.push_back(damping * factor);
    }
    evaluate(tries);
    std::size_t best = 0;
    for (std::size_t i = 1; i < tries.size(); ++i)
      if (sum_at(tries[i]) < sum_at(tries[best])) best = i;
    const double gain = sum - sum_at(tries[best]);
    if (!(gain > 0)) {
      if (damping > 1e6) break;
      damping *= 1e4;
      continue;
    }
    point = tries[best];
    sum -= gain;
    damping = std::clamp(dampings[best], 1e-9, 1e9);
    if (gain < 1e-7 * sum || sum < 1e-18) break;
  }
  return {point, at(point), sum_at(point), held < 0 ? derivatives(point, held) : jacobian};
}

FitMinimum LeastSquares::minimum(const FitPoint& start) {
  std::vector<FitPoint> points = spread_points();
  points.push_back(clipped(start));
  evaluate(points);
  std::sort(points.begin(), points.end(),
            [&](const FitPoint& a, const FitPoint& b) { return sum_at(a) < sum_at(b); });
  FitMinimum best = descend(points[0], -1);
  for (int i = 1; i < kStarts; ++i) {
    FitMinimum other = descend(points[as_index(i)], -1);
    if (other.sum < best.sum) best = std::move(other);
  }
  return best;
}

Eigen::MatrixXd LeastSquares::information(const FitMinimum& minimum) const {
  return minimum.jacobian.transpose() * as_vector(weights_).asDiagonal() * minimum.jacobian;
}

// The first guess is that of a parabola; then outwards until the sum is above `most`, and inwards by the
// regula falsi of its root (the excess of a parabola is a straight line in the root).
ProfileEnd LeastSquares::end_of(const FitMinimum& found, std::size_t unknown, int sign, double most) {
  const auto held = static_cast<int>(unknown);
  const double room = sign > 0 ? 1 - found.at[unknown] : found.at[unknown];
  const Eigen::MatrixXd information = this->information(found);
  const Eigen::MatrixXd inverse = information.completeOrthogonalDecomposition().pseudoInverse();
  const auto diagonal = static_cast<Eigen::Index>(unknown);
  const double variance = inverse(diagonal, diagonal) * (most - found.sum);
  double reach = variance > 0 ? std::sqrt(variance) : 0.1;
  reach = std::clamp(reach, 1e-5, 1.);
  FitPoint warm = found.at;
  const auto least_at = [&](double distance) {
    FitPoint from = warm;
    from[unknown] = found.at[unknown] + sign * distance;
    FitMinimum there =
        unknowns_ == 1 ? FitMinimum{clipped(from), {}, sum_at(clipped(from)), {}} : descend(from, held);
    if (may_restart_ && there.sum < found.sum - 0.01 * (most - found.sum)) {
      lower_ = there.at;
      throw IsBetter();
    }
    warm = there.at;
    return there;
  };
  if (room < 1e-9) return {found.at, false};
  double inside = 0, outside = std::min(reach, room), excess_inside = 0;
  const double rise = std::sqrt(most - found.sum);
  FitMinimum there = least_at(outside);
  const auto root = [&](double sum) { return std::sqrt(std::max(0., sum - found.sum)); };
  while (there.sum < most) {
    if (outside >= room) return {there.at, false};
    inside = outside;
    excess_inside = root(there.sum);
    outside = std::min(room, 2 * outside);
    there = least_at(outside);
  }
  double excess_outside = root(there.sum);
  constexpr double kClose = 0.01;  // of the reach
  for (int i = 0; i < 12 && outside - inside > kClose * outside; ++i) {
    const double share = std::clamp((rise - excess_inside) / (excess_outside - excess_inside), 0.05, 0.95);
    const double middle = inside + share * (outside - inside);
    FitMinimum between = least_at(middle);
    if (std::abs(root(between.sum) - rise) < kClose * rise) return {between.at, true};
    if (between.sum < most) {
      inside = middle;
      excess_inside = root(between.sum);
    } else {
      outside = middle;
      excess_outside = root(between.sum);
      there = std::move(between);
    }
  }
  return {there.at, true};
}

std::vector<Profile> LeastSquares::profiles(FitMinimum& found,
                                            const std::function<double(const FitMinimum&)>& most_of) {
  constexpr int kTries = 5;
  for (int tries = 0;; ++tries) {
    may_restart_ = tries < kTries;
    try {
      std::vector<Profile> profiles;
      for (std::size_t k = 0; k < unknowns_; ++k)
        profiles.push_back({end_of(found, k, -1, most_of(found)), end_of(found, k, 1, most_of(found))});
      return profiles;
    } catch (const IsBetter&) {
      found = descend(lower_, -1);
    }
  }
}

}  // namespace longhaul
