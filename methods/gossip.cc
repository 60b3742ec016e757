// Gossip averaging: every H steps each replica goes on from the mean of the weights of its group, pairs that
// are drawn anew each time (randomized gossip, Boyd et al. 2006; AD-PSGD, arXiv 1710.06952, averages pairs
// after each step). NoLoCo is this with slow weights and a momentum.
#include "methods/common/waiting.h"

namespace longhaul {
namespace gossip {

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  OperationRule rule{"average", OperationKind::kGroupAverage, "pair", method.options.at("inner_steps")};
  rule.grouping = Grouping::kRandom;
  rule.group_size = method.options.at("group_size");
  rule.completion = completion_of(method.options);
  rule.payload = whole({"weights"}, model.wire);
  return {{rule}};
}

}  // namespace gossip

Method gossip_method() {
  return Method("gossip", "mean of the weights of random pairs every H steps",
                {inner_steps_option(50), group_size_option(), grace_option()}, gossip::plan,
                {check_inner_steps, check_group_size, check_waiting});
}

}  // namespace longhaul
