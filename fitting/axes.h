// How far off a fit's unknowns may be together: the ends of the axes of their covariance.
#pragma once

#include <Eigen/Dense>
#include <functional>
#include <utility>
#include <vector>

#include "fitting/least_squares.h"

namespace longhaul {

// Of `information` = J' W J at the minimum, in places of the ranges (0 to 1): an axis of (J' W J)⁻¹ is `far`
// long in its own deviations, far² being what the sum of squares may rise by. It ends at the box, or where
// the sum has risen so far: several unknowns that one observation decides together have a valley that is no
// straight line. `sums_at`: the sum of squares at each of some points.
std::vector<std::pair<FitPoint, FitPoint>> axis_ends(
    const Eigen::MatrixXd& information, const FitMinimum& minimum, double far,
    const std::function<std::vector<double>(const std::vector<FitPoint>&)>& sums_at);

}  // namespace longhaul
