// Tensor parallelism (Megatron-LM, arXiv 1909.08053, section 3): the products of a layer are cut by columns,
// then by rows, so that each half of a layer ends with a sum over the group, forward of what it makes and
// back of the gradient of what it got. All of a group compute the same tokens: those of all its replicas, 1/n
// of each layer each.
#include <fmt/core.h>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/parallelism/layer_operations.h"

namespace longhaul {
namespace {

Node tensor_option() {
  return section("tensor", {hidden_option(), choice("collective", {"ring", "halving-doubling",
                                                                   "recursive-doubling", "direct", "tree"})
                                                 .by_default("ring")
                                                 .means("how an all-reduce is lowered")})
      .means(
          "tensor parallelism: two all-reduces of the activations in each layer and pass (Megatron-LM, arXiv "
          "1909.08053)");
}

class TensorOperations : public LayerOperations {
 public:
  TensorOperations(const LayerContext& context, StepGraphBuilder& builder)
      : parameters_(context.model.parameters),
        group_size_(context.spec.group_size),
        sum_(builder.add({"sum", OperationKind::kAllReduce, context.spec.options.at("collective")})) {
    context.need_tokens();
    const std::int64_t hidden =
        context.width(context.spec.options.value("hidden", 0), "parallelism.tensor.hidden");
    bytes_ = context.whole_bytes(static_cast<double>(context.microbatch_tokens) * group_size_ *
                                     static_cast<double>(hidden) * bytes_per_parameter(context.model.wire),
                                 "workload.tokens");
    const std::optional<ModelShape>& shape = context.model.shape;
    if (shape && shape->heads % group_size_ != 0)
      throw InputError("parallelism.group_size",
                       fmt::format("found {} with {} attention heads", group_size_, shape->heads),
                       fmt::format("a divisor of {}", shape->heads),
                       "each replica of a group has as many heads");
  }

  void after_attention(StepGraphBuilder& builder, const LayerPass&) override {
    builder.exchange(sum_, bytes_);
  }
  void after_feed_forward(StepGraphBuilder& builder, const LayerPass&) override {
    builder.exchange(sum_, bytes_);
  }

  HeldParameters held() const override { return {0, (parameters_ + group_size_ - 1) / group_size_}; }

 private:
  const std::int64_t parameters_;
  const int group_size_, sum_;
  std::int64_t bytes_ = 0;
};

std::unique_ptr<LayerOperations> make_tensor(const LayerContext& context, StepGraphBuilder& builder) {
  return std::make_unique<TensorOperations>(context, builder);
}

}  // namespace

ParallelKind tensor_kind() {
  return {"tensor", tensor_option, make_tensor};
}

}  // namespace longhaul
