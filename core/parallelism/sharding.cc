// Weights in shards (ZeRO-3, arXiv 1910.02054; PyTorch FSDP, arXiv 2304.11277): each replica of a group keeps
// 1/n of them. A layer's weights are gathered in front of it, some layers ahead of the one that computes;
// behind its backward pass its gradients are scattered. As in PyTorch's FSDP2 no more than one layer's
// gradients are on their way: the compute behind the next layer awaits them. What belongs to no layer
// (embedding, last norm, output) is FSDP2's root module: gathered in front of each forward pass, kept for the
// backward pass, and scattered behind that (_fsdp_param_group.py).
#include <algorithm>
#include <vector>

#include "core/base/index.h"
#include "core/parallelism/layer_operations.h"

namespace longhaul {
namespace {

Node sharding_option() {
  return section("sharding",
                 {integer("forward_prefetch")
                      .at_least(0)
                      .at_most(64)
                      .by_default(2)
                      .in("layers")
                      .means("gathered ahead of the one that computes, in a forward pass; 0: each is "
                             "gathered when it is "
                             "needed. The default is what PyTorch's FSDP2 comes to"),
                  integer("backward_prefetch")
                      .at_least(0)
                      .at_most(64)
                      .by_default(1)
                      .in("layers")
                      .means("the same of a backward pass"),
                  boolean("reshard_after_forward")
                      .by_default(true)
                      .means("whether the backward pass gathers all layers again (ZeRO-3); else it still has "
                             "them (ZeRO-2)"),
                  choice("gather", {"all-gather", "all-gather-doubling"})
                      .by_default("all-gather")
                      .means("how the weights are gathered"),
                  choice("scatter", {"reduce-scatter", "reduce-scatter-halving", "reduce-scatter-pairwise"})
                      .by_default("reduce-scatter")
                      .means("how the gradients are scattered; in workload.wire, as the weights")})
      .means(
          "fully sharded data parallelism: each layer is gathered before its compute, its gradients are "
          "scattered behind it (ZeRO-3, arXiv 1910.02054; PyTorch FSDP, arXiv 2304.11277)");
}

struct ShardingSpec {
  int ahead = 2, ahead_back = 1;  // layers that are gathered ahead of the one that computes, by the pass
  bool reshards = true;           // after the forward pass, so that the backward pass gathers again
};

class ShardingOperations : public LayerOperations {
 public:
  ShardingOperations(const LayerContext& context, StepGraphBuilder& builder)
      : spec_{context.spec.options.at("forward_prefetch"), context.spec.options.at("backward_prefetch"),
              context.spec.options.at("reshard_after_forward")},
        parameters_(context.model.parameters),
        group_size_(context.spec.group_size),
        bytes_of_one_(bytes_per_parameter(context.model.wire)),
        gather_(builder.add({"gather", OperationKind::kAllGather, context.spec.options.at("gather")})),
        scatter_(
            builder.add({"scatter", OperationKind::kReduceScatter, context.spec.options.at("scatter")})) {
    std::int64_t left = parameters_;
    for (int layer = 0; layer < context.layers; ++layer) {
      layers_.push_back(context.model.shape
                            ? context.model.shape->layer_parameters(layer)
                            : parameters_ / context.layers + (layer < parameters_ % context.layers ? 1 : 0));
      left -= layers_.back();
    }
    root_ = left;
  }

  void before_layer(StepGraphBuilder& builder, const LayerPass& pass) override {
    const int place = place_of(pass);
    if (place == 0) begin(builder, pass);
    if (!gathers(pass)) return;
    const int last = std::min(place + (pass.is_forward ? spec_.ahead : spec_.ahead_back), count() - 1);
    for (; gathered_ <= last; ++gathered_) {
      const int task = builder.start_ahead(gather_, shard(layers_[as_index(layer_at(pass, gathered_))]));
      tasks_.push_back(task);
    }
    builder.await(tasks_[as_index(place)]);
  }

  void after_layer(StepGraphBuilder& builder, const LayerPass& pass) override {
    if (pass.is_forward) return;
    if (last_scatter_ >= 0) builder.await(last_scatter_);
    last_scatter_ = builder.start_ahead(scatter_, layers_[as_index(pass.layer)] * bytes_of_one_);
    if (pass.layer > 0) return;
    if (root_ > 0) last_scatter_ = builder.start_ahead(scatter_, root_ * bytes_of_one_);
  }

  HeldParameters held() const override { return {0, (parameters_ + group_size_ - 1) / group_size_}; }

 private:
  int count() const { return static_cast<int>(layers_.size()); }
  int layer_at(const LayerPass& pass, int place) const {
    return pass.is_forward ? place : count() - 1 - place;
  }
  int place_of(const LayerPass& pass) const { return layer_at(pass, pass.layer); }
  bool gathers(const LayerPass& pass) const { return pass.is_forward || spec_.reshards; }
  std::int64_t shard(std::int64_t parameters) const {
    return (parameters + group_size_ - 1) / group_size_ * bytes_of_one_;
  }

  void begin(StepGraphBuilder& builder, const LayerPass& pass) {
    tasks_.clear();
    gathered_ = 0;
    if (pass.is_forward && root_ > 0) builder.await(builder.start_ahead(gather_, shard(root_)));
  }

  const ShardingSpec spec_;
  const std::int64_t parameters_;
  const int group_size_;
  const std::int64_t bytes_of_one_;
  const int gather_, scatter_;
  std::vector<std::int64_t> layers_;  // parameters of each
  std::int64_t root_ = 0;             // and of no layer
  std::vector<int> tasks_;            // gathers of this pass, by place
  int gathered_ = 0;                  // of them
  int last_scatter_ = -1;             // -1: none yet
};

std::unique_ptr<LayerOperations> make_sharding(const LayerContext& context, StepGraphBuilder& builder) {
  return std::make_unique<ShardingOperations>(context, builder);
}

}  // namespace

ParallelKind sharding_kind() {
  return {"sharding", sharding_option, make_sharding};
}

}  // namespace longhaul
