// A method's plan where replicas have parts of the parameters (section `parallelism`).
#pragma once

#include "core/parallelism/layer_operations.h"
#include "core/plan/operations.h"
#include "methods/common/method.h"

namespace longhaul {

// What all replicas have is exchanged among everyone; a part is exchanged by its peers, the replicas of other
// groups that have the same part: hybrid sharding (PyTorch FSDP, arXiv 2304.11277, section 3.2.2). Each rule
// becomes two, of which the latter is called "NAME.shard"; one that would carry nothing, or has no peers, is
// left out.
//
// Throws InputError for a method whose operations cannot be cut so: that draws its groups, has quorums,
// merges, or exchanges parts of the model by itself.
OperationPlan with_shards(OperationPlan plan, const Case& config, const StepModel& model);

}  // namespace longhaul
