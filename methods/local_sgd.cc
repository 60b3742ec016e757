// Local SGD (arXiv 1805.09767): H inner steps, then every replica goes on from the mean of all weights. The
// inner optimizer's state stays local.
#include "methods/common/waiting.h"

namespace longhaul {
namespace local_sgd {

std::vector<Node> options() {
  return joined({{inner_steps_option(50)}, quorum_options(), all_reduce_options()});
}

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  OperationRule rule = all_reduce_rule("average", "weights", method.options, model);
  rule.completion = completion_of(method.options);
  return {{rule}};
}

void check(const Case& config) {
  check_inner_steps(config);
  check_waiting(config);
}

}  // namespace local_sgd

Method local_sgd_method() {
  using namespace local_sgd;
  return Method("local-sgd", "mean of all weights every H steps (arXiv 1805.09767)", options(), plan, check,
                overlap_warnings);
}

}  // namespace longhaul
