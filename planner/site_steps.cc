#include "planner/site_steps.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/index.h"
#include "core/base/ranges.h"
#include "core/base/units.h"
#include "methods/common/dynamic_steps.h"
#include "methods/common/registry.h"
#include "planner/evaluation.h"
#include "planner/node_batches.h"
#include "planner/plan_request.h"
#include "planner/site_traffic.h"
#include "replay/placement/optimized_order.h"

namespace longhaul {
namespace {

// Of each rank's step with the plan's batch the one with its own.
void share_batches(const PlanRequest& plan, std::vector<double>& step_s, Evaluation& evaluation) {
  const std::int64_t unit = unit_of_batches(plan.tokens_per_step, plan.model ? plan.model->context : 0,
                                            plan.hardware.per_node),
                     units = plan.tokens_per_step / unit;
  const std::vector<std::int64_t> taken = units_by_speed(step_s, units);
  evaluation.step_s = 0;
  for (std::size_t rank = 0; rank < step_s.size(); ++rank) {
    evaluation.node_tokens.push_back(taken[rank] * unit);
    step_s[rank] *= static_cast<double>(taken[rank]) / static_cast<double>(units);
    evaluation.step_s = std::max(evaluation.step_s, step_s[rank]);
  }
}

}  // namespace

void give_steps_to_ranks(const PlanRequest& plan, const std::function<Case(const Json&)>& validated,
                         Evaluation& evaluation) {
  const Case& config = evaluation.config;
  const Topology topology = placed_topology(config, plan_of(config));
  const std::vector<std::string> names = site_names(topology);
  Json& scenario = evaluation.candidate.scenario;
  std::vector<double> step_s;  // by rank
  for (int rank = 0; rank < config.workers(); ++rank) {
    const std::string& name = names[as_index(topology.site_of()[as_index(rank)])];
    step_s.push_back(find_if(plan.sites, [&](const PlannedSite& one) { return one.name == name; })->step_s);
  }
  if (evaluation.candidate.has_batches_by_speed) {
    share_batches(plan, step_s, evaluation);
    scenario["workload"]["step_time"] = {{"constant", format_number(evaluation.step_s) + "s"}};
  }
  Json& factors = scenario["workload"]["step_time_factors"] = Json::object();
  for (std::size_t rank = 0; rank < step_s.size(); ++rank)
    if (step_s[rank] < evaluation.step_s) factors[std::to_string(rank)] = step_s[rank] / evaluation.step_s;
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
  const OperationPlan plan = plan_of(config);
  if (plan.takes_whole_batch)
    return whole_batch_steps(plan, config.workload.step_time_factors, config.replicas) * config.steps();
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
