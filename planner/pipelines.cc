#include "planner/pipelines.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/errors.h"
#include "core/base/units.h"
#include "planner/memory_need.h"
#include "planner/plan_request.h"

namespace longhaul {
namespace {

constexpr int kMostMicrobatches = 8;      // for each stage, where the plan does not say it
constexpr std::size_t kMostOfStages = 2;  // numbers of stages, likewise

Json with_stages_filled_in(const PlanRequest& plan, Json pipeline, int stages) {
  pipeline["stages"] = stages;
  if (pipeline.contains("microbatches")) return pipeline;
  std::int64_t each = kMostMicrobatches;
  if (plan.model) each = std::clamp<std::int64_t>(plan.tokens_per_step / plan.model->context, 1, each);
  while (plan.tokens_per_step % each != 0) --each;
  pipeline["microbatches"] = each * stages;
  return pipeline;
}

MemoryNeed need_in_stages(const PlanRequest& plan, const Json& pipeline) {
  const std::int64_t tokens = plan.tokens_per_step * stages_of(pipeline);
  const PipelineSpec spec = parse_pipeline({{"pipeline", resolve(pipeline_options(), pipeline, "pipeline")}});
  return memory_need(plan, pipeline_plan(spec, plan.model, plan.parameters, tokens, Wire::kBf16), tokens, 0);
}

// The smallest numbers of stages on which the model fits, with two replicas at least; of the objects the
// first that fits.
std::vector<Json> in_stages_that_fit(const PlanRequest& plan, const std::vector<Json>& objects) {
  std::vector<Json> fitting;
  std::string why_not;
  for (int stages = 2; stages <= plan.nodes / 2 && fitting.size() < kMostOfStages; ++stages) {
    if (plan.nodes % stages != 0) continue;
    for (const Json& pipeline : objects) {
      const Json filled = with_stages_filled_in(plan, pipeline, stages);
      try {
        const MemoryNeed need = need_in_stages(plan, filled);
        if (!need.fits()) {
          why_not = fmt::format("in {} stages: {}", stages, memory_in_words(need));
          continue;
        }
        fitting.push_back(filled);
        break;
      } catch (const InputError& error) {
        if (why_not.empty())
          why_not = fmt::format("in {} stages: {}: {}", stages, error.parts().path, error.parts().found);
      }
    }
  }
  if (!fitting.empty()) return fitting;
  const MemoryNeed alone = need_in_stages(plan, Json::object());
  std::string found =
      alone.fits() ? "" : fmt::format("no candidate fits: on one node {}; ", memory_in_words(alone));
  found +=
      why_not.empty() ? fmt::format("no number of stages gives {} nodes two replicas", plan.nodes) : why_not;
  throw InputError(
      why_not.empty() ? "nodes" : "accelerator", found,
      "more memory or accelerators a node (per_node), more nodes, or a smaller model",
      plan.model
          ? ""
          : "parameters alone cannot be cut: give model, or candidates.pipelines with bytes_per_token");
}

}  // namespace

std::vector<Json> pipelines_of(const PlanRequest& plan) {
  const Json given = member(plan.candidates, "pipelines");
  if (given.is_null()) {
    if (need_in_stages(plan, Json::object()).fits()) return {Json()};
    std::vector<Json> objects = {Json::object()};
    if (plan.model) objects.insert(objects.begin(), Json{{"cut", "cost"}});
    return in_stages_that_fit(plan, objects);
  }
  std::vector<Json> all;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Json& pipeline = given[i];
    const int stages = stages_of(pipeline);
    if (plan.nodes % stages != 0)
      throw InputError(element_path("candidates.pipelines", i) + ".stages",
                       fmt::format("found {} with {} nodes", stages, plan.nodes), "a divisor of them");
    if (!pipeline.contains("stages"))
      for (Json& filled : in_stages_that_fit(plan, {pipeline})) all.push_back(std::move(filled));
    else
      all.push_back(stages == 1 ? Json() : with_stages_filled_in(plan, pipeline, stages));
  }
  return all;
}

int stages_of(const Json& pipeline) {
  return pipeline.is_null() ? 1 : pipeline.value("stages", 1);
}

std::string pipeline_in_words(const Json& pipeline) {
  std::string words = fmt::format("{} stages", plain(pipeline["stages"]));
  for (const auto& [key, value] : pipeline.items())
    if (key != "stages") words += fmt::format(", {} {}", key, plain(value));
  return words;
}

}  // namespace longhaul
