#include "core/parallelism/layer_operations.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "core/base/errors.h"

namespace longhaul {
namespace {

LayerContext context_of(const ParallelismSpec& spec, const StepModel& model) {
  LayerContext context{spec, model, spec.layers, model.tokens / spec.microbatches};
  if (model.shape && spec.layers > 0 && spec.layers != model.shape->layers)
    throw InputError("parallelism.layers",
                     fmt::format("found {} with a model of {} layers", spec.layers, model.shape->layers),
                     "the layers of workload.model, or no such key");
  if (model.shape) context.layers = model.shape->layers;
  if (context.layers == 0)
    throw InputError("parallelism.layers", "this key is missing", "an integer of at least 1",
                     "only the number of parameters is known; or give workload.model");
  if (model.parameters < context.layers)
    throw InputError("parallelism.layers",
                     fmt::format("found {} with {} parameters", context.layers, model.parameters),
                     fmt::format("at most {}", model.parameters));
  if (model.tokens % spec.microbatches != 0)
    throw InputError("parallelism.microbatches",
                     fmt::format("found {} for {} tokens a step", spec.microbatches, model.tokens),
                     "a divisor of the tokens of a replica's step");
  return context;
}

std::unique_ptr<LayerOperations> operations_of(const LayerContext& context, StepGraphBuilder& builder) {
  return find_named(context.spec.kind, parallel_kinds(), &ParallelKind::name, "parallelism")
      .make(context, builder);
}

// One pass of a micro-batch. `share`: of the step, of one layer.
void go_through(const LayerContext& context, bool is_forward, double share, LayerOperations& operations,
                StepGraphBuilder& builder) {
  const double attention = share * context.spec.attention, feed_forward = share - attention;
  for (int i = 0; i < context.layers; ++i) {
    const LayerPass pass{is_forward ? i : context.layers - 1 - i, is_forward};
    const auto attend = [&] {
      builder.compute(attention);
      operations.after_attention(builder, pass);
    };
    operations.before_layer(builder, pass);
    if (is_forward) attend();
    operations.before_feed_forward(builder, pass);
    if (feed_forward > 0) builder.compute(feed_forward);
    operations.after_feed_forward(builder, pass);
    if (!is_forward) attend();
    operations.after_layer(builder, pass);
  }
}

}  // namespace

Node hidden_option() {
  return integer("hidden").at_least(1).in("numbers").means(
      "width of a token's activations; default that of workload.model");
}

int StepGraphBuilder::add(StepCollective collective) {
  graph_.collectives.push_back(std::move(collective));
  return static_cast<int>(graph_.collectives.size()) - 1;
}

int StepGraphBuilder::append(StepTask task) {
  graph_.tasks.push_back(std::move(task));
  return static_cast<int>(graph_.tasks.size()) - 1;
}

void StepGraphBuilder::compute(double share) {
  last_compute_ = append({-1, share, 0, std::exchange(awaited_, {})});
}

int StepGraphBuilder::start_ahead(int collective, std::int64_t bytes) {
  return append(
      {collective, 0, bytes, last_compute_ < 0 ? std::vector<int>() : std::vector<int>{last_compute_}});
}

int StepGraphBuilder::start(int collective, std::int64_t bytes) {
  const int task = start_ahead(collective, bytes);
  std::vector<int>& after = graph_.tasks.back().after;
  after.insert(after.end(), awaited_.begin(), awaited_.end());
  return task;
}

std::int64_t LayerContext::width(int written, const char* path) const {
  if (model.shape && written > 0 && written != model.shape->hidden)
    throw InputError(path, fmt::format("found {} with a model of width {}", written, model.shape->hidden),
                     "the width of workload.model, or no such key");
  if (written > 0) return written;
  if (model.shape) return model.shape->hidden;
  throw InputError(path, "this key is missing", "an integer of at least 1",
                   "only the number of parameters is known; or give workload.model");
}

void LayerContext::need_tokens() const {
  if (microbatch_tokens > 0) return;
  throw InputError("workload.tokens", "this key is missing", "an integer of at least 1",
                   fmt::format("parallelism.{} exchanges the activations of so many tokens", spec.kind));
}

std::int64_t LayerContext::whole_bytes(double bytes, const char* path) const {
  constexpr double kMost = 1e15;
  if (bytes >= 0.5 && bytes <= kMost) return std::llround(bytes);
  throw InputError(path, fmt::format("makes {:.6g} bytes that a replica contributes at a time", bytes),
                   fmt::format("1 to {:.0e}", kMost));
}

StepGraph step_graph_of(const ParallelismSpec& spec, const StepModel& model) {
  if (!spec.is_on()) return {};
  const LayerContext context = context_of(spec, model);
  constexpr double kTasksOfLayer = 8;  // as many as any kind has
  if (kTasksOfLayer * context.layers * spec.microbatches > static_cast<double>(kMostStepTasks))
    throw InputError("parallelism.microbatches",
                     fmt::format("found {} of a model of {} layers", spec.microbatches, context.layers),
                     fmt::format("at most {:.0f} of so many layers",
                                 static_cast<double>(kMostStepTasks) / kTasksOfLayer / context.layers));
  StepGraphBuilder builder;
  const std::unique_ptr<LayerOperations> operations = operations_of(context, builder);
  const double forward = 1 / (1 + spec.backward) / spec.microbatches / context.layers;
  for (int microbatch = 0; microbatch < spec.microbatches; ++microbatch) {
    go_through(context, true, forward, *operations, builder);
    go_through(context, false, spec.backward * forward, *operations, builder);
  }
  StepGraph graph = builder.take();
  graph.grouping = spec.groups == ParallelGroups::kConsecutive ? Grouping::kConsecutive : Grouping::kStrided;
  graph.group_size = spec.group_size;
  check_bytes(graph, "parallelism");
  return graph;
}

HeldParameters held_parameters(const ParallelismSpec& spec, const StepModel& model) {
  if (!spec.is_on()) return {model.parameters, 0};
  StepGraphBuilder builder;
  return operations_of(context_of(spec, model), builder)->held();
}

}  // namespace longhaul
