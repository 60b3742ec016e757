// All-reduce data parallel training: g = mean of the gradients, one optimizer step, every step. FSDP in the
// NoLoCo paper's tables is, in its authors' code, this.
#include "methods/common/method.h"

namespace longhaul {
namespace ddp {

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  OperationRule gradient;
  gradient.name = "gradient";
  gradient.collective = method.options.at("all_reduce");
  gradient.before_optimizer = true;
  gradient.payload = whole({"gradient"}, model.wire);
  overlap(method.options, gradient);
  return {{gradient}};
}

}  // namespace ddp

Method ddp_method() {
  using namespace ddp;
  return {
      "ddp",           "all-reduce of the gradients every step", all_reduce_options(), plan, check_exchanging,
      overlap_warnings};
}

}  // namespace longhaul
