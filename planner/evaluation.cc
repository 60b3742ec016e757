#include "planner/evaluation.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "planner/plan_request.h"
#include "planner/site_traffic.h"

namespace longhaul {
namespace {

// Times are sums of whole nanoseconds.
constexpr double kRounding = 1e-6;
constexpr double kBytesOfAGb = 1e9;

}  // namespace

int inner_steps_of(const Evaluation& evaluation) {
  return std::max(1, evaluation.candidate.inner_steps);
}

double Evaluation::low_s() const {
  const double alone_s = compute_s + bubble_s, network_s = std::max(0., total_s() - alone_s);
  const double low = total_s() - std::hypot(residual * network_s, fit_half_width_s) - time.half_width_s;
  return std::min(total_s(), std::max(alone_s, low));
}

double Evaluation::high_s() const {
  const double network_s = std::max(0., total_s() - compute_s - bubble_s);
  return total_s() + std::hypot(residual * network_s, fit_half_width_s) + time.half_width_s;
}

void price(const PlanRequest& plan, Evaluation& evaluation) {
  const double hours = evaluation.total_s() / 3600;
  evaluation.utilization = evaluation.total_s() > 0 ? evaluation.compute_s / evaluation.total_s() : 0;
  evaluation.compute_cost = hours * evaluation.price_per_hour;
  evaluation.egress_cost = 0;
  const SiteTraffic& traffic = evaluation.traffic;
  for (std::size_t i = 0; i < traffic.sites.size(); ++i)
    evaluation.egress_cost += traffic.leaving[i] / kBytesOfAGb * plan.egress.of(traffic.sites[i]);
}

void expect_possible(const Evaluation& evaluation) {
  const double low = evaluation.low_s(), total = evaluation.total_s(), high = evaluation.high_s();
  const double least = (1 - kRounding) * evaluation.compute_s;
  if (total >= least && low >= least && low <= total && total <= high && std::isfinite(high) &&
      evaluation.utilization <= 1 + kRounding)
    return;
  throw std::logic_error(fmt::format(
      "{}: a plan that cannot be: {} s ({} to {}) with {} s of compute, {} % of the time",
      evaluation.candidate.words, total, low, high, evaluation.compute_s, 100 * evaluation.utilization));
}

}  // namespace longhaul
