// All-reduce data parallel training: g = mean of the gradients, one optimizer step, every step. FSDP in the
// NoLoCo paper's tables is, in its authors' code, this. With a quorum those whose gradients are late do
// without them, as synchronous SGD with backup workers does (arXiv 1604.00981).
#include "methods/common/waiting.h"

namespace longhaul {
namespace ddp {

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  OperationRule gradient{"gradient", OperationKind::kAllReduce, method.options.at("all_reduce")};
  gradient.before_optimizer = true;
  gradient.payload = whole({"gradient"}, model.wire);
  overlap(method.options, gradient);
  gradient.completion = fetched_completion_of(method.options);
  return {{gradient}};
}

}  // namespace ddp

Method ddp_method() {
  return Method("ddp", "all-reduce of the gradients every step", with_all_reduce(quorum_options(true)),
                ddp::plan, {check_exchanging, check_waiting}, {overlap_warnings});
}

}  // namespace longhaul
