// Steps of nodes that compute for longer at one site than at another.
#include <cmath>
#include <numeric>

#include "core/base/index.h"
#include "core/base/ranges.h"
#include "methods/common/dynamic_steps.h"
#include "methods/common/registry.h"
#include "planner/search.h"
#include "replay/optimized_order.h"

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

double taken_share(const Case& config, std::size_t rank) {
  const DynamicSteps dynamic = dynamic_steps_of(config);
  return dynamic.is_on() ? static_cast<double>(dynamic.taken[rank]) / dynamic.every : 1;
}

double longest_share(const Case& config) {
  const std::vector<double>& factors = config.workload.step_time_factors;
  double longest = factors.empty() ? 1 : 0;
  for (std::size_t rank = 0; rank < factors.size(); ++rank)
    longest = std::max(longest, factors[rank] * taken_share(config, rank));
  return longest;
}

}  // namespace longhaul
