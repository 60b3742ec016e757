// Local SGD (arXiv 1805.09767): H inner steps, then every replica goes on from the mean of all weights. The
// inner optimizer's state stays local.
#include "methods/common/method.h"

namespace longhaul {
namespace {

std::vector<Node> options() {
  std::vector<Node> all = {inner_steps_option(50)};
  return with_all_reduce(std::move(all));
}

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  return {{all_reduce_rule("average", "weights", method.options, model)}};
}

}  // namespace

Method local_sgd_method() {
  return {"local-sgd",       "mean of all weights every H steps (arXiv 1805.09767)",
          options(),         plan,
          check_inner_steps, overlap_warnings};
}

}  // namespace longhaul
