// Fully sharded data parallel training (ZeRO-3, arXiv 1910.02054): the numerics of ddp, but every replica
// keeps only its 1/N of the parameters. Each step gathers them for the forward pass and again for the
// backward pass, and scatters the sum of the gradients: 3(N−1)/N · P · b sent by each replica.
//
// The three follow each other at the end of the step, none overlaps with compute: the bytes are those of
// ZeRO-3, the times an upper bound (implementations gather ahead, layer by layer).
#include "methods/common/method.h"

namespace longhaul {
namespace fsdp {

OperationRule gather(const std::string& pass, Wire wire) {
  OperationRule rule{"gather-" + pass, OperationKind::kAllGather, "all-gather"};
  rule.before_optimizer = true;
  rule.payload = whole({"weights"}, wire);
  rule.sharded = true;
  return rule;
}

OperationPlan plan(const MethodSpec&, const PlannedModel& model) {
  OperationRule scatter{"scatter", OperationKind::kReduceScatter, "reduce-scatter"};
  scatter.before_optimizer = true;
  scatter.payload = whole({"gradient"}, model.wire);
  return {{gather("forward", model.wire), gather("backward", model.wire), scatter}};
}

}  // namespace fsdp

Method fsdp_method() {
  using namespace fsdp;
  return Method(
      "fsdp",
      "sharded data parallel (ZeRO-3, arXiv 1910.02054): numerics of ddp, 3(N-1)/N of the model sent "
      "every step",
      {}, plan, {check_exchanging});
}

}  // namespace longhaul
