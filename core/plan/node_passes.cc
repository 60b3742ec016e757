#include "core/plan/node_passes.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/errors.h"
#include "core/base/index.h"

namespace longhaul {
namespace {

void check_tensor(const DeviceNodeSpec& node, const std::optional<ModelShape>& shape, std::int64_t tokens) {
  if (!shape)
    throw InputError("workload.node.parallelism", "found \"tensor\" beside workload.parameters",
                     "\"sharded\"; or give workload.model",
                     "a bare number of parameters has no layers whose activations would be summed");
  for (const auto& [name, size] : {std::pair("heads", shape->heads), std::pair("ffn", shape->ffn)})
    if (size % node.devices != 0)
      throw InputError("workload.node.devices",
                       fmt::format("found {} for a model with {} {}", node.devices, name, size),
                       fmt::format("a divisor of the model's {}", name),
                       "tensor parallelism gives each device as many heads and columns");
  if (tokens == 0)
    throw InputError("workload.tokens", "this key is missing", "an integer of at least 1",
                     "tokens per replica and step: their activations pass between the devices of a node");
}

}  // namespace

NodePasses::NodePasses(const DeviceNodeSpec& node, const PipelinePlan& plan,
                       const std::optional<ModelShape>& shape, std::int64_t tokens)
    : devices_(node.devices),
      overlap_(node.overlap),
      microbatches_(plan.microbatches),
      backward_(plan.backward) {
  const bool is_tensor = node.parallelism == NodeParallelism::kTensor;
  if (is_tensor) check_tensor(node, shape, tokens);
  const double b = bytes_per_parameter(node.wire), others = devices_ - 1;
  // Of `bytes` that the ring's devices send, each sends an equal part.
  const auto talk = [&](double bytes, double rounds) {
    return Talk{8 * bytes / devices_ / node.rate + rounds * node.delay_s, bytes};
  };
  for (const PipelinePart& part : plan.parts) {
    const int layers = part.end_layer - part.first_layer;
    shares_.push_back(part.share);
    const bool is_inner = met_.size() > 0 && static_cast<int>(met_.size()) + 1 < plan.part_count();
    met_.push_back(is_inner ? 1 - static_cast<double>(plan.skip) / (plan.part_count() - 2) : 1);
    if (is_tensor) {
      const double activations = static_cast<double>(tokens / plan.microbatches) * shape->hidden * b;
      forward_.push_back(talk(2. * layers * 2 * others * activations, 2. * layers * 2 * others));
      back_.push_back(forward_.back());
    } else {
      const double gathered = others * static_cast<double>(part.columns.size()) * b,
                   rounds = std::max(1, layers) * others;
      forward_.push_back(talk(gathered, rounds));
      back_.push_back(talk(2 * gathered, 2 * rounds));
    }
  }
}

NodePass NodePasses::pass(int part, bool is_forward, double one_device_s) const {
  if (!are_of_nodes()) return {one_device_s, 0, 0};
  const Talk& talk = (is_forward ? forward_ : back_)[as_index(part)];
  const double compute_s = one_device_s / devices_;
  const double exposed_s = talk.seconds - std::min(overlap_ * talk.seconds, compute_s);
  return {compute_s + exposed_s, exposed_s, talk.bytes};
}

NodePass NodePasses::step(double one_device_s) const {
  if (!are_of_nodes()) return {one_device_s, 0, 0};
  NodePass all;
  for (std::size_t part = 0; part < shares_.size(); ++part)
    for (const bool is_forward : {true, false}) {
      const double share = shares_[part] / microbatches_ * (is_forward ? 1 : backward_) / (1 + backward_);
      const NodePass node_pass = pass(static_cast<int>(part), is_forward, one_device_s * share);
      const double passes = microbatches_ * met_[part];
      all.seconds += passes * node_pass.seconds;
      all.exposed_s += passes * node_pass.exposed_s;
      all.bytes += passes * node_pass.bytes;
    }
  return all;
}

NodePasses node_passes(const Case& config) {
  const WorkloadSpec& workload = config.workload;
  if (!workload.node) return {};
  const PipelinePlan plan =
      pipeline_plan(config.pipeline, workload.model, workload.parameters, workload.tokens, workload.wire);
  return {*workload.node, plan, workload.model, workload.tokens};
}

}  // namespace longhaul
