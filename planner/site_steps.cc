#include "planner/site_steps.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/index.h"
#include "core/base/ranges.h"
#include "methods/common/dynamic_steps.h"
#include "methods/common/registry.h"
#include "planner/evaluation.h"
#include "planner/plan_request.h"
#include "planner/site_traffic.h"
#include "replay/placement/optimized_order.h"

namespace longhaul {

void give_steps_to_ranks(const PlanRequest& plan, const std::function<Case(const Json&)>& validated,
                         Evaluation& evaluation) {
  const Case& config = evaluation.config;
  const Topology topology = placed_topology(config, plan_of(config));
  const std::vector<std::string> names = site_names(topology);
  Json& scenario = evaluation.candidate.scenario;
  Json& factors = scenario["workload"]["step_time_factors"] = Json::object();
  for (int rank = 0; rank < config.workers(); ++rank) {
    const std::string& name = names[as_index(topology.site_of()[as_index(rank)])];
    const auto site = find_if(plan.sites, [&](const PlannedSite& one) { return one.name == name; });
    if (site->step_s < plan.step_s) factors[std::to_string(rank)] = site->step_s / plan.step_s;
  }
  if (!config.network.rank_order.places.empty())
    scenario["network"]["rank_order"] = config.network.rank_order.places;
  evaluation.config = validated(scenario);
  const DynamicSteps dynamic = dynamic_steps_of(evaluation.config);
  if (!dynamic.is_on()) return;
  const auto taken = static_cast<double>(std::accumulate(dynamic.taken.begin(), dynamic.taken.end(), 0));
  scenario["workload"].erase("total_tokens");
  scenario["workload"]["steps"] =
      static_cast<int>(std::ceil(static_cast<double>(evaluation.candidate.tokens) * dynamic.every /
                                 (taken * static_cast<double>(plan.tokens_per_step))));
  evaluation.config = validated(scenario);
}

double computed_steps(const Case& config, int rank) {
  const std::vector<double>& factors = config.workload.step_time_factors;
  const double factor = factors.empty() ? 1 : factors[as_index(rank)];
  const PipelinePlan pipeline = plan_of(config).pipeline;
  if (pipeline.has_stages())
    return config.steps() * factor * pipeline.stages * pipeline.share_of(rank % pipeline.stages);
  return factor * static_cast<double>(dynamic_steps_of(config).taken_until(rank, config.steps()));
}

double longest_compute(const Case& config) {
  const int stages = config.pipeline.stages;
  double longest = 0;
  for (int replica = 0; replica < config.replicas; ++replica) {
    double sum = 0;
    for (int stage = 0; stage < stages; ++stage) sum += computed_steps(config, replica * stages + stage);
    longest = std::max(longest, sum / stages);
  }
  return longest;
}

}  // namespace longhaul
