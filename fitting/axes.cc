#include "fitting/axes.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/base/index.h"

namespace longhaul {
namespace {

// Of the way to an end that leaves the valley, the largest first.
constexpr double kShares[] = {0.7, 0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05, 0.03, 0.02, 0.01};
constexpr double kRounding = 1.1;  // of replays, and of the information's differences

FitPoint part_of_way(const FitPoint& from, const FitPoint& to, double share) {
  FitPoint at = from;
  for (std::size_t k = 0; k < at.size(); ++k) at[k] += share * (to[k] - from[k]);
  return at;
}

// Along the axis until the box ends.
FitPoint end_in_the_box(const FitPoint& from, const Eigen::VectorXd& axis, double length) {
  double reach = length;
  for (std::size_t k = 0; k < from.size(); ++k) {
    const double move = axis[static_cast<Eigen::Index>(k)];
    const double room = move > 0 ? 1 - from[k] : from[k];
    if (std::abs(move) > 1e-9) reach = std::min(reach, room / std::abs(move));
  }
  FitPoint end = from;
  for (std::size_t k = 0; k < from.size(); ++k) end[k] += reach * axis[static_cast<Eigen::Index>(k)];
  return end;
}

}  // namespace

std::vector<std::pair<FitPoint, FitPoint>> axis_ends(
    const Eigen::MatrixXd& information, const FitMinimum& minimum, double far,
    const std::function<std::vector<double>(const std::vector<FitPoint>&)>& sums_at) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> axes(information);
  const double largest = axes.eigenvalues().maxCoeff();
  std::vector<FitPoint> ends;  // two of each axis
  for (Eigen::Index i = 0; i < axes.eigenvalues().size(); ++i) {
    const double length = far / std::sqrt(std::max(axes.eigenvalues()[i], 1e-12 * std::max(largest, 1e-12)));
    for (const int sign : {-1, 1})
      ends.push_back(end_in_the_box(minimum.at, sign * axes.eigenvectors().col(i), length));
  }
  const auto leaves = [&](double sum) { return sum - minimum.sum > kRounding * far * far; };
  const std::vector<double> sums = sums_at(ends);
  std::vector<FitPoint*> leaving;
  std::vector<FitPoint> shorter;
  for (std::size_t e = 0; e < ends.size(); ++e) {
    if (!leaves(sums[e])) continue;
    leaving.push_back(&ends[e]);
    for (const double share : kShares) shorter.push_back(part_of_way(minimum.at, ends[e], share));
  }
  const std::vector<double> of_shorter = shorter.empty() ? std::vector<double>() : sums_at(shorter);
  for (std::size_t l = 0; l < leaving.size(); ++l) {
    std::size_t taken = 0;
    while (taken + 1 < std::size(kShares) && leaves(of_shorter[l * std::size(kShares) + taken])) ++taken;
    *leaving[l] = shorter[l * std::size(kShares) + taken];
  }
  std::vector<std::pair<FitPoint, FitPoint>> pairs;
  for (std::size_t e = 0; e < ends.size(); e += 2) pairs.emplace_back(ends[e], ends[e + 1]);
  return pairs;
}

}  // namespace longhaul
