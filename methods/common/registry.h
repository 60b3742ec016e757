// All methods there are: a file of methods/ each, found by CMake (cmake/Methods.cmake).
#pragma once

#include <string>
#include <vector>

#include "core/plan/trace.h"
#include "core/scenario/case.h"
#include "methods/common/method.h"

namespace longhaul {

const std::vector<Method>& methods();
const Method& method_named(const std::string& name);  // a name that the scenario's check has let through

// One section a method, for scenario_options().
std::vector<Node> method_options();

PlannedModel planned_model(const ModelShape& shape, Wire wire);

std::vector<std::string> rows_kept_by(const MethodSpec& method);

// Of the model that the network carries (workload), and of the one that is trained, which may be a smaller
// stand-in for it.
// Of a case that another program has written: its method exists, and its options are all there and as they
// are declared. Throws InputError, with paths below "method".
void check_method_options(const Case& config);

OperationPlan plan_of(const Case& config);
OperationPlan trained_plan_of(const Case& config);
// As the trainer carries it out: where one worker takes the batches of all, it is one replica, and where
// replicas have data of their own the text is cut.
Case trained_case(Case config);
PlanContext plan_context(const Case& config);  // of the workload
Trace trace_of(const Case& config);

// Whether times decide who takes part in an operation, and with it the numerics of a training: then the
// replay comes first, and the training is of one case alone.
bool times_decide(const Case& config);

// The name of a training: cases that train the same bits share one, so that a sweep over networks trains
// once. METHOD and a hash of all that the numerics depend on. Network, step times and options that are
// declared timing_only (core/base/options.h) are not in it: which collective, which pattern of messages, what
// overlaps.
std::string training_key(const Case& config);

}  // namespace longhaul
