#include "cli/work_plan.h"

#include <map>

#include "methods/common/registry.h"

namespace longhaul {

WorkPlan plan_work(const Scenario& scenario) {
  WorkPlan plan;
  std::map<std::string, std::size_t> training_of;
  for (const Case& config : scenario.cases) {
    plan.cases.push_back(&config);
    if (!config.train) continue;
    const std::string key = training_key(config);
    const auto [entry, is_new] = training_of.emplace(key, plan.trainings.size());
    if (is_new) plan.trainings.push_back({key, &config, {}});
    plan.trainings[entry->second].cases.push_back(&config);
  }
  return plan;
}

WorkPlan part_of(const WorkPlan& whole, const std::set<std::string>& names) {
  const auto named = [&](const std::vector<const Case*>& cases) {
    std::vector<const Case*> some;
    for (const Case* config : cases)
      if (names.count(config->name) > 0) some.push_back(config);
    return some;
  };
  WorkPlan part{{}, named(whole.cases)};
  for (const Training& training : whole.trainings)
    if (std::vector<const Case*> cases = named(training.cases); !cases.empty())
      part.trainings.push_back({training.key, training.example, std::move(cases)});
  return part;
}

}  // namespace longhaul
