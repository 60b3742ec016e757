#include "replay/step_times.h"

#include "core/errors.h"
#include "core/index.h"
#include "core/random.h"

namespace longhaul {

StepTimes::StepTimes(const Case& one, const Trace& trace)
    : rule_(one.workload.step_time), factors_(one.workload.step_time_factors), trace_(trace) {
  if (rule_.kind != StepTime::Kind::kMeasured) return;
  const auto steps = as_index(trace.context.steps);
  bool is_complete = trace.measured_s.size() >= steps;
  for (const auto& step : trace.measured_s)
    is_complete = is_complete && step.size() == as_index(trace.context.replicas);
  if (!is_complete)
    throw InputError("compute_s",
                     "found measured times of " + std::to_string(trace.measured_s.size()) + " steps",
                     "one line with a time of every replica for each of " + std::to_string(steps) + " steps",
                     "workload.step_time is measured: train first");
}

double StepTimes::seconds(int replica, int step) const {
  const double drawn = drawn_s(replica, step);
  return factors_.empty() ? drawn : drawn * factors_[as_index(replica)];
}

double StepTimes::drawn_s(int replica, int step) const {
  if (rule_.kind == StepTime::Kind::kConstant) return rule_.seconds;
  if (rule_.kind == StepTime::Kind::kMeasured)
    return trace_.measured_s[as_index(step - 1)][as_index(replica)];
  RandomStream stream(trace_.context.seed, Purpose::kStepTime, static_cast<std::uint32_t>(replica),
                      static_cast<std::uint32_t>(step));
  return stream.lognormal(rule_.mu, rule_.sigma);
}

}  // namespace longhaul
