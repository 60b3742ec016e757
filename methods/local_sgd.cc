// Local SGD (arXiv 1805.09767): H inner steps, then every replica goes on from the mean of all weights. The
// inner optimizer's state stays local.
#include "methods/common/waiting.h"

namespace longhaul {
namespace local_sgd {

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  OperationRule rule = all_reduce_rule("average", "weights", method.options, model);
  rule.completion = completion_of(method.options);
  return {{rule}};
}

}  // namespace local_sgd

Method local_sgd_method() {
  return Method("local-sgd", "mean of all weights every H steps (arXiv 1805.09767)",
                joined({{inner_steps_option(50)}, quorum_options(), all_reduce_options()}), local_sgd::plan,
                {check_inner_steps, check_waiting}, {overlap_warnings});
}

}  // namespace longhaul
