#include "planner/memory_need.h"

#include <fmt/core.h>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/ranges.h"
#include "core/base/units.h"
#include "methods/common/registry.h"
#include "planner/plan_request.h"

namespace longhaul {
namespace {

// The most that have passed a worker forward and not yet back, in layers of a micro-batch.
int layers_under_way(const PipelinePlan& pipeline, int stage) {
  int now = 0, most = 0;
  for (const PipelineTask& task : tasks_of_stage(pipeline, stage)) {
    const PipelinePart& part = pipeline.parts[as_index(task.part)];
    now += (task.is_forward ? 1 : -1) * (part.end_layer - part.first_layer);
    most = std::max(most, now);
  }
  return most;
}

MemoryNeed need_of_stage(const NodeHardware& hardware, const PlanRequest& plan, const PipelinePlan& pipeline,
                         int stage, std::int64_t tokens, double rows) {
  double each = 0;
  for (const ColumnRange& range : pipeline.columns_of(stage))
    each += static_cast<double>(range.size()) / hardware.per_node;
  MemoryNeed need;
  need.weights = 6 * each;
  need.gradients = 4 * each;
  need.optimizer = 8 * each;
  need.outer_state = 4 * rows * each;
  need.available = hardware.memory;
  if (pipeline.has_stages()) need.where = fmt::format(" in stage {}", stage);
  if (!plan.model) return need;
  const double of_one = pipeline.has_stages()
                            ? static_cast<double>(tokens) / pipeline.microbatches / hardware.per_node
                            : plan.model->context;
  const int layers = layers_under_way(pipeline, stage);
  need.activations = (2. * layers + 34) * of_one * plan.model->hidden;
  need.kept_activations = 34. * layers * of_one * plan.model->hidden;
  return need;
}

MemoryNeed need_of(const NodeHardware& hardware, const PlanRequest& plan, const PipelinePlan& pipeline,
                   std::int64_t tokens, double rows) {
  MemoryNeed most;
  std::vector<double> of_stages;
  for (int stage = 0; stage < pipeline.stages; ++stage) {
    const MemoryNeed need = need_of_stage(hardware, plan, pipeline, stage, tokens, rows);
    of_stages.push_back(need.with_outer_state() + need.activations);
    if (of_stages.back() > most.with_outer_state() + most.activations) most = need;
  }
  if (pipeline.has_stages()) most.of_stages = of_stages;
  return most;
}

}  // namespace

MemoryNeed memory_need(const PlanRequest& plan, const PipelinePlan& pipeline, std::int64_t tokens,
                       double rows) {
  if (plan.sites.empty()) return need_of(plan.hardware, plan, pipeline, tokens, rows);
  MemoryNeed tightest;
  for (const PlannedSite& site : plan.sites) {
    MemoryNeed need = need_of(hardware_at(plan, site), plan, pipeline, tokens, rows);
    if (site.hardware) need.where += " at " + site.name;
    if (tightest.with_outer_state() == 0 || need.share() > tightest.share()) tightest = need;
  }
  return tightest;
}

MemoryNeed memory_need(const PlanRequest& plan, const Case& config) {
  const OperationPlan outer = plan_of(config);
  const double elsewhere =
      has_servers(outer) ? 1 - 1. / config.replicas : 0;  // each is the server of its own part
  return memory_need(plan, outer.pipeline, config.workload.tokens,
                     static_cast<double>(kept_rows(outer).size()) - elsewhere);
}

std::string memory_in_words(const MemoryNeed& need) {
  std::string words =
      fmt::format("weights {}, gradients {}, optimizer {}, the method's outer state {}: {} an accelerator",
                  human_bytes(need.weights), human_bytes(need.gradients), human_bytes(need.optimizer),
                  human_bytes(need.outer_state), human_bytes(need.with_outer_state()));
  if (need.available > 0) words += fmt::format(" of {}", human_bytes(need.available));
  words += need.where;
  if (need.activations > 0)
    words += fmt::format(
        "; activations of {}, computed again layer by layer, take {} more ({} where they are kept)",
        need.of_stages.empty() ? "one sequence" : "what is under way", human_bytes(need.activations),
        human_bytes(need.kept_activations));
  else
    words += "; activations are not in it";
  if (!need.fits())
    words += ": it does not fit";
  else if (need.needs_host())
    words += ": it fits with the outer state in the host's memory";
  if (need.of_stages.empty()) return words;
  return words + "; by stage, with these: " + join(each_of(need.of_stages, human_bytes));
}

}  // namespace longhaul
