// SparseLoCo (arXiv 2508.15706): H inner steps, then every replica sends the largest columns of its outer
// gradient and of what it left out before, in two bits each, to all others; the outer step has no momentum.
#include "methods/common/compression.h"

namespace longhaul {
namespace sparseloco {

std::vector<Node> options() {
  const Json top_k = {{"top_k", {{"chunk", 4096}, {"kept", 64}, {"numbers", "two_bit"}}}};
  return joined(
      {{inner_steps_option(30), number("outer_lr").above(0).by_default(1.0).means("outer learning rate η"),
        mean_of_option()},
       compression_options({top_k, "classic", 0.95})});
}

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  OperationRule rule{"outer", OperationKind::kAllGather, "all-gather", method.options.at("inner_steps")};
  rule.payload = whole({"delta"}, model.wire);
  compress(method.options, model, rule);
  return {{rule}};
}

}  // namespace sparseloco

Method sparseloco_method() {
  using namespace sparseloco;
  return Method("sparseloco", "the largest columns of the outer gradients every H steps (arXiv 2508.15706)",
                options(), plan, {check_inner_steps, check_compression, check_mean_of}, {},
                keeps_slow_weights);
}

}  // namespace longhaul
