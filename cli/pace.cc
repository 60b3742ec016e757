#include "cli/pace.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/units.h"

namespace longhaul {
namespace {

// Of the slowest worker.
double step_seconds(const Case& config) {
  double slowest = 1;
  for (const double factor : config.workload.step_time_factors) slowest = std::max(slowest, factor);
  return config.workload.step_time.mean_s() * slowest;
}

// "3.54 M": three significant digits and a prefix.
std::string human_count(double count) {
  for (const auto& [scale, prefix] : {std::pair(1e12, " T"), {1e9, " G"}, {1e6, " M"}, {1e3, " k"}})
    if (count >= scale * 0.9995) return fmt::format("{:.3g}{}", count / scale, prefix);
  return fmt::format("{:.3g}", count);
}

}  // namespace

std::string pace_in_words(const Case& config) {
  const double step_s = step_seconds(config);
  if (step_s <= 0) return "";
  const double total_s = step_s * config.steps();
  std::string words = fmt::format("a step computes for {}", human_duration(step_s));
  if (config.workload.tokens > 0)
    words += fmt::format(": at most {} tokens/s",
                         human_count(static_cast<double>(config.workload.tokens) * config.replicas / step_s));
  words += fmt::format("; {} steps take at least {}", config.steps(), human_duration(total_s));
  if (config.workload.tokens > 0 || config.workload.accelerators > 1)
    words += fmt::format(", {} accelerator-hours",
                         human_count(total_s / 3600 * config.workload.accelerators * config.workers()));
  return words;
}

}  // namespace longhaul
