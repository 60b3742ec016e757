// All methods there are. A new one is added here and in trainer/updates/registry.cc.
#pragma once

#include <vector>

#include "core/trace.h"
#include "methods/method.h"

namespace longhaul {

const std::vector<Method>& methods();
const Method& method_named(const std::string& name);  // a name that the scenario's check has let through

// One section a method, for scenario_options().
std::vector<Node> method_options();

ExchangePlan plan_of(const Case& one);
// `wire_bytes` and `parameters` of what the network carries (workload).
PlanContext plan_context(const Case& one);
Trace trace_of(const Case& one);

}  // namespace longhaul
