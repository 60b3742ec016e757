// DeMo (arXiv 2411.19870): every replica keeps a momentum of its own; in each step the largest coefficients
// of its cosine transform, tile by tile, are taken out of it and sent to all others, and everyone steps along
// the signs of their mean.
#include "methods/common/compression.h"

namespace longhaul {
namespace demo {

std::vector<Node> options() {
  const Json dct = {{"dct_top_k", {{"tile", 64}, {"kept", 32}, {"numbers", "wire"}}}};
  return joined({{mean_of_option()}, compression_options({dct, "classic", 0.999})});
}

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  OperationRule rule{"momentum", OperationKind::kAllGather, "all-gather"};
  rule.before_optimizer = true;
  rule.payload = whole({"gradient"}, model.wire);
  compress(method.options, model, rule);
  return {{rule}};
}

}  // namespace demo

Method demo_method() {
  using namespace demo;
  return Method("demo", "the largest cosine coefficients of the momentum every step (arXiv 2411.19870)",
                options(), plan, {check_exchanging, check_compression, check_mean_of, check_own_optimizer});
}

}  // namespace longhaul
