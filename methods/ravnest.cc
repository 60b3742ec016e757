// Ravnest (arXiv 2401.01728): clusters of devices. Inside a cluster the model is cut into stages that never
// wait for each other (zero-bubble asynchronous model parallelism), so that updates are late; between
// clusters weights are averaged every H steps. A cluster is a replica here.
//
// Lateness, as in its authors' code, which keeps a version of a stage's weights for each micro-batch under
// way: with S stages, stage s = 0 … S − 1 has taken S − 1 − s updates between the forward pass of a
// micro-batch and its update, and the backward pass uses the weights of the forward pass (PipeDream's weight
// stashing, arXiv 1806.03377).
#include <fmt/core.h>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "methods/common/method.h"

namespace longhaul {
namespace ravnest {

constexpr int kMostDelay = 64;

std::vector<Node> options() {
  return with_all_reduce(
      {inner_steps_option(50),
       integer("stages")
           .at_least(1)
           .at_most(kMostDelay + 1)
           .by_default(3)
           .means("devices of a cluster, each with consecutive layers (S); with delay stages"),
       either("delay", {choice("", {"stages"}), integer("").at_least(0).at_most(kMostDelay)})
           .by_default("stages")
           .in("steps")
           .means("updates that a stage has taken between the forward pass of a batch and the update with "
                  "its gradient; stages: the first stage stages - 1, the last none; a number: all stages so "
                  "many")});
}

std::vector<GradientDelay> delays(const Json& options, const PlannedModel& model) {
  if (options.at("delay").is_number()) return {{options["delay"], {{0, model.parameters}}}};
  const int stages = options.at("stages");
  const std::vector<Columns> parts = fragments(model, stages, FragmentPattern::kConsecutive);
  std::vector<GradientDelay> all;
  for (int stage = 0; stage < stages; ++stage) all.push_back({stages - 1 - stage, parts[as_index(stage)]});
  return all;
}

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  OperationPlan plan{{all_reduce_rule("average", "weights", method.options, model)}};
  plan.delays = delays(method.options, model);
  return plan;
}

// Row i has the gradient of the last step that leaves i when divided by the longest delay.
std::vector<std::string> keeps(const Json& options) {
  const int most =
      options.at("delay").is_number() ? options["delay"].get<int>() : options.at("stages").get<int>() - 1;
  std::vector<std::string> rows;
  for (int i = 0; i < most; ++i) rows.push_back(fmt::format("late_gradient_{}", i));
  return rows;
}

void check_stages(const Case& config, const ModelShape& model) {
  const int stages = config.method.options.at("stages");
  if (config.method.options.at("delay") == "stages" && stages > model.layers)
    throw InputError("method.stages", fmt::format("found {} with a model of {} layers", stages, model.layers),
                     fmt::format("at most {}", model.layers), "each stage has a layer at least");
}

void check(const Case& config) {
  if (config.pipeline.has_stages())
    throw InputError("pipeline.stages",
                     fmt::format("found {} with method \"{}\"", config.pipeline.stages, config.method.label),
                     "1",
                     "a replica is a cluster, whose stages are the method's own; workload.step_time says "
                     "what a step of it takes");
  if (config.train) check_stages(config, config.train->model);
  if (config.workload.model) check_stages(config, *config.workload.model);
}

}  // namespace ravnest

Method ravnest_method() {
  using namespace ravnest;
  return Method("ravnest",
                "stages with late updates inside clusters, averages between them (arXiv 2401.01728)",
                options(), plan, {check_inner_steps, check_own_optimizer, check}, {overlap_warnings}, keeps);
}

}  // namespace longhaul
