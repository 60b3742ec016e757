#include "methods/common/registry.h"

#include <stdexcept>

#include "core/errors.h"
#include "core/scenario_options.h"

namespace longhaul {

const Method& method_named(const std::string& name) {
  for (const Method& method : methods())
    if (method.name == name) return method;
  throw std::logic_error("no method " + name);
}

std::vector<Node> method_options() {
  std::vector<Node> sections;
  for (const Method& method : methods()) {
    std::vector<Node> options = common_method_options();
    options.insert(options.end(), method.options.begin(), method.options.end());
    sections.push_back(section(method.name, std::move(options)).means(method.about));
  }
  return sections;
}

OperationPlan plan_of(const Case& one) {
  const WorkloadSpec& workload = one.workload;
  PlannedModel model{workload.parameters, {}, workload.wire};
  if (workload.model) model.layers = layer_columns(*workload.model);
  return method_named(one.method.name).plan(one.method, model);
}

OperationPlan trained_plan_of(const Case& one) {
  const ModelShape& shape = one.train->model;
  return method_named(one.method.name)
      .plan(one.method, {shape.parameters(), layer_columns(shape), one.workload.wire});
}

PlanContext plan_context(const Case& one) {
  if (needs_sites(plan_of(one)) && static_cast<int>(one.site_of.size()) != one.replicas)
    throw InputError("sites",
                     "found " + std::to_string(one.site_of.size()) + " sites of " +
                         std::to_string(one.replicas) + " replicas",
                     "the site of every replica, for groups by sites", "longhaul run writes it");
  return {one.seed, one.replicas, one.steps(), one.workload.parameters, one.site_of};
}

Trace trace_of(const Case& one) {
  Trace trace = make_trace(plan_of(one), plan_context(one));
  trace.evaluate_every = one.train ? one.train->evaluate_every : 0;
  return trace;
}

}  // namespace longhaul
