#include "replay/work/step_times.h"

#include <fmt/core.h>

#include <cstdint>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/random.h"

namespace longhaul {

StepTimes::StepTimes(const Case& config, const Trace& trace)
    : rule_(config.workload.step_time), factors_(config.workload.step_time_factors), trace_(trace) {
  if (rule_.kind != StepTime::Kind::kMeasured) return;
  const auto steps = as_index(trace.context.steps),
             workers = as_index(training_replicas(trace.plan, trace.context.replicas));
  bool is_complete = trace.measured_s.size() >= steps;
  for (const auto& step : trace.measured_s) is_complete = is_complete && step.size() == workers;
  if (!is_complete)
    throw InputError("compute_s", fmt::format("found measured times of {} steps", trace.measured_s.size()),
                     fmt::format("one line with a time of every replica for each of {} steps", steps),
                     "workload.step_time is measured: train first");
}

double StepTimes::seconds(int worker, int step) const {
  if (trace_.plan.takes_whole_batch) return whole_batch_s(step);
  const double drawn = drawn_s(worker, step);
  return factors_.empty() ? drawn : drawn * factors_[as_index(worker)];
}

// What was measured is of the whole batch.
double StepTimes::whole_batch_s(int step) const {
  const bool is_measured = rule_.kind == StepTime::Kind::kMeasured;
  const double one_s = drawn_s(0, step) / (is_measured ? trace_.context.replicas : 1);
  return one_s * whole_batch_steps(trace_.plan, factors_, trace_.context.replicas);
}

double StepTimes::drawn_s(int worker, int step) const {
  if (rule_.kind == StepTime::Kind::kConstant) return rule_.seconds;
  if (rule_.kind == StepTime::Kind::kMeasured)
    return trace_.measured_s[as_index(step - 1)][as_index(worker / trace_.plan.pipeline.stages)];
  RandomStream stream(trace_.context.seed, Purpose::kStepTime, static_cast<std::uint32_t>(worker),
                      static_cast<std::uint32_t>(step));
  return stream.lognormal(rule_.mu, rule_.sigma);
}

}  // namespace longhaul
