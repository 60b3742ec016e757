#include "core/plan/dynamic_steps.h"

#include <algorithm>
#include <cmath>

#include "core/base/index.h"

namespace longhaul {

std::int64_t DynamicSteps::taken_until(int replica, int step) const {
  if (!is_on()) return step;
  const std::int64_t in_a_round = taken[as_index(replica)];
  return step / every * in_a_round + step % every * in_a_round / every;
}

bool DynamicSteps::takes(int replica, int step) const {
  return !is_on() || taken_until(replica, step) > taken_until(replica, step - 1);
}

std::int64_t DynamicSteps::taken_by_all(int replicas, int step) const {
  std::int64_t sum = 0;
  for (int replica = 0; replica < replicas; ++replica) sum += taken_until(replica, step);
  return sum;
}

DynamicSteps dynamic_steps(int every, const std::vector<double>& times) {
  if (times.empty()) return {};
  const double fastest = *std::min_element(times.begin(), times.end());
  DynamicSteps steps{every, {}};
  for (const double time : times) {
    const double share = time > fastest ? every * (fastest / time) : every;
    steps.taken.push_back(std::max(1, static_cast<int>(std::floor(share * (1 + 1e-12)))));
  }
  const bool are_alike =
      std::all_of(steps.taken.begin(), steps.taken.end(), [every](int taken) { return taken == every; });
  return are_alike ? DynamicSteps{} : steps;
}

}  // namespace longhaul
