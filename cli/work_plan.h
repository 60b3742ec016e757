// What a run has to do: the trainings, each once, and the cases.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/scenario/scenario.h"

namespace longhaul {

struct Training {
  std::string key;
  const Case* example = nullptr;  // the scenario's first case with this key; all others train the same
  std::vector<const Case*> cases;
};

struct WorkPlan {
  std::vector<Training> trainings;
  std::vector<const Case*> cases;  // in the order of the scenario
};

WorkPlan plan_work(const Scenario& scenario);

// What `names` of its cases need.
WorkPlan part_of(const WorkPlan& whole, const std::set<std::string>& names);

}  // namespace longhaul
