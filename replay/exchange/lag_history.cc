#include "replay/exchange/lag_history.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/base/index.h"

namespace longhaul {

double median(std::vector<double> values) {
  if (values.empty()) throw std::logic_error("median of no values");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double median_absolute_deviation(std::vector<double> values) {
  const double middle = median(values);
  for (double& value : values) value = std::abs(value - middle);
  return median(std::move(values));
}

std::int64_t LagHistory::add(std::vector<double> lags_s) {
  operations_.push_back(std::move(lags_s));
  if (operations_.size() > as_index(window_)) operations_.pop_front();
  return begun_++;
}

void LagHistory::add_late(std::int64_t number, double lag_s) {
  const std::int64_t oldest = begun_ - static_cast<std::int64_t>(operations_.size());
  if (number >= oldest) operations_[as_index(number - oldest)].push_back(lag_s);
}

double LagHistory::grace_s(const AdaptiveGrace& adaptive) const {
  std::vector<double> lags_s;
  for (const std::vector<double>& of_one : operations_)
    lags_s.insert(lags_s.end(), of_one.begin(), of_one.end());
  if (lags_s.empty()) return adaptive.start_s;
  const double spread_s = median_absolute_deviation(lags_s);
  return std::max(adaptive.at_least_s, median(std::move(lags_s)) + adaptive.mads * spread_s);
}

}  // namespace longhaul
