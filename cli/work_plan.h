// What a run has to do: the trainings, each once, and the cases.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/scenario.h"

namespace longhaul {

struct Shard {
  int index = 1, count = 1;  // 1 … count
};

// "2/5"; throws InputError.
Shard parse_shard(const std::string& text);

struct Training {
  std::string key;
  const Case* example = nullptr;  // the first case with this key; all others train the same
  std::vector<const Case*> cases;
};

struct WorkPlan {
  std::vector<Training> trainings;
  std::vector<const Case*> cases;  // in the order of the scenario
};

// The part of the scenario that belongs to `shard`. Cases that share a training stay together, so that no
// training is made twice; the groups are dealt round, so that without training it is every n-th case.
WorkPlan plan_work(const Scenario& scenario, const Shard& shard);

}  // namespace longhaul
