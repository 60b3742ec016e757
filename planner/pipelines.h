// The stages that a plan's models may be cut into.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "planner/plan_request.h"

namespace longhaul {

// Which stages a plan's models are cut into, as `pipeline` of a scenario says it: what candidates.pipelines
// names, or, where the model does not fit on a node, the smallest numbers of stages that divide the nodes and
// on which it fits. Null: the whole model on each node. Throws InputError where it fits on no number of
// stages.
std::vector<Json> pipelines_of(const PlanRequest& plan);

int stages_of(const Json& pipeline);

// "4 stages, microbatches 32, schedule gpipe".
std::string pipeline_in_words(const Json& pipeline);

}  // namespace longhaul
