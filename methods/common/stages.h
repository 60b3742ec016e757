// A method's plan where the model is in stages.
#pragma once

#include "core/plan/operations.h"
#include "core/plan/pipeline.h"
#include "methods/common/method.h"

namespace longhaul {

// The operations of a method where the model is in stages: each stage exchanges its own columns, among its
// replicas. Groups are drawn once for all stages, so that whole columns of workers are paired (NoLoCo, arXiv
// 2506.10911, section 3.2).
//
// Each rule becomes one of each stage that it has columns of, called "NAME.stageS". Its codec works on these
// columns: chunks, tiles and scales begin anew at each stage. Without stages the plan is as it was.
//
// Throws InputError for a method whose operations cannot be cut.
OperationPlan with_stages(OperationPlan plan, PipelinePlan pipeline, const PlannedModel& model);

}  // namespace longhaul
