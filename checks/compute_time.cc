#include "checks/compute_time.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/limits.h"
#include "core/base/units.h"

namespace longhaul {

double longest_compute_s(const Case& config, const OperationPlan& plan) {
  const PipelinePlan& pipeline = plan.pipeline;
  if (pipeline.has_stages() && (pipeline.is_partial() || pipeline.routing == MicrobatchRouting::kThroughput))
    return 0;
  const std::vector<double>& factors = config.workload.step_time_factors;
  double longest =
      plan.takes_whole_batch ? whole_batch_steps(plan, factors, config.replicas) * config.steps() : 0;
  for (int worker = 0; worker < config.workers() && !plan.takes_whole_batch; ++worker) {
    const double factor = factors.empty() ? 1 : factors[as_index(worker)],
                 share = pipeline.has_stages() ? pipeline.share_of(worker % pipeline.stages) : 1;
    const auto steps =
        static_cast<double>(plan.dynamic_steps.taken_until(worker / pipeline.stages, config.steps()));
    longest = std::max(longest, factor * share * steps);
  }
  return longest * config.workload.step_time.mean_s();
}

void check_compute_time(const Case& config, const OperationPlan& plan) {
  const double total_s = longest_compute_s(config, plan);
  if (total_s <= kLongestRun_s) return;
  throw InputError(config.train ? "train.steps" : "workload.steps",
                   fmt::format("found {} steps of {} each, {} of compute", config.steps(),
                               human_duration(total_s / config.steps()), human_duration(total_s)),
                   "at most " + human_duration(kLongestRun_s) + " of simulated time",
                   "see workload.step_time, and the unit of a peak: FLOP/s");
}

}  // namespace longhaul
