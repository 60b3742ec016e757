#include "planner/node_batches.h"

#include <algorithm>
#include <cmath>

namespace longhaul {

std::vector<std::int64_t> units_by_speed(const std::vector<double>& step_s, std::int64_t units) {
  double speed = 0;
  for (const double seconds : step_s) speed += 1 / seconds;
  const std::int64_t all = units * static_cast<std::int64_t>(step_s.size());
  std::vector<std::int64_t> taken;
  std::int64_t left = all;
  for (const double seconds : step_s) {
    const double share = static_cast<double>(all) / (seconds * speed);
    taken.push_back(std::max<std::int64_t>(1, static_cast<std::int64_t>(std::floor(share))));
    left -= taken.back();
  }
  // The share of each has been cut to a whole number, or raised to one: what is over goes where it ends
  // soonest, what is missing comes from where it ends last.
  const auto time_of = [&](std::size_t i, std::int64_t more) {
    return step_s[i] * static_cast<double>(taken[i] + more);
  };
  for (; left > 0; --left) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < taken.size(); ++i)
      if (time_of(i, 1) < time_of(best, 1)) best = i;
    ++taken[best];
  }
  for (; left < 0; ++left) {
    std::size_t worst = taken.size();
    for (std::size_t i = 0; i < taken.size(); ++i)
      if (taken[i] > 1 && (worst == taken.size() || time_of(i, 0) >= time_of(worst, 0))) worst = i;
    --taken[worst];
  }
  return taken;
}

std::int64_t unit_of_batches(std::int64_t tokens_per_step, std::int64_t context, int per_node) {
  for (const std::int64_t unit : {context * per_node, context})
    if (unit > 0 && tokens_per_step % unit == 0) return unit;
  return 1;
}

}  // namespace longhaul
