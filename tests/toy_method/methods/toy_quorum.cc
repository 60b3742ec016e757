// An outer step among those who are in time: an all-reduce that waits for a quorum and a grace time. In the
// programs of tests/toy_method alone, until a method of the product needs it.
#include "methods/common/method.h"

namespace longhaul {
namespace toy_quorum {

std::vector<Node> options() {
  return {
      inner_steps_option(8),
      integer("quorum").at_least(1).by_default(3).means("replicas that the outer step waits for"),
      number("grace_s").at_least(0).by_default(0.5).in("s").means("how long it waits for the others then"),
      number("outer_lr").above(0).by_default(0.7).means("outer learning rate")};
}

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  OperationRule rule;
  rule.name = "outer";
  rule.collective = "ring";
  rule.every = method.options.at("inner_steps");
  rule.completion = {method.options.at("quorum"), method.options.at("grace_s")};
  rule.payload = whole({"delta"}, model.wire);
  return {{rule}};
}

}  // namespace toy_quorum

Method toy_quorum_method() {
  using namespace toy_quorum;
  return {"toy-quorum",      "an outer step among those who are in time (a demonstration)",
          options(),         plan,
          check_inner_steps, no_warnings,
          keeps_slow_weights};
}

}  // namespace longhaul
