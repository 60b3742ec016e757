// What a trace says of its steps and workers, without drawing or copying groups.
#pragma once

#include <vector>

#include "core/plan/operations.h"
#include "core/plan/trace.h"

namespace longhaul {

// All there are: every stage of every replica.
int worker_count(const Trace& trace);

// Of a group of replicas the workers that carry out its operation.
std::vector<int> workers_of(const OperationPlan& plan, const OperationRule& rule, std::vector<int> group);

// The first of `step`, step + 1, … at which an operation is posted or awaited, or one behind the last step.
int next_exchange(const Trace& trace, int step);

// Whether buckets are released before the end of the step's compute.
bool releases_during_compute(const Trace& trace, int step);

}  // namespace longhaul
