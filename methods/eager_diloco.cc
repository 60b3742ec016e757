// Eager updates (arXiv 2502.12996): DiLoCo whose all-reduce overlaps with the H inner steps of the next
// round. A replica takes its outer step with its own Δ of this round and with those of the others of the
// round before.
#include "core/base/errors.h"
#include "methods/common/late_updates.h"

namespace longhaul {
namespace eager_diloco {

std::vector<Node> options() {
  return with_outer_all_reduce(
      {inner_steps_option(100),
       integer("delay").at_least(0).at_most(1).by_default(1).in("rounds").means(
           "rounds by which the others' Δ are late; 0: none is, and this is diloco"),
       number("outer_lr").above(0).by_default(0.4).means("outer learning rate η"),
       number("outer_momentum").at_least(0).at_most(1).by_default(0.9).means("outer momentum μ (Nesterov)")});
}

// "first": an outer step with one's own Δ alone.
OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  return outer_plan(method.options, model, method.options.at("delay") == 1);
}

// What one's own Δ of the round before was is in the message that was sent, which EF21 does not hold.
void check(const Case& config) {
  const Json& options = config.method.options;
  if (options.at("error_feedback") == "ef21" && options.at("delay") == 1)
    throw InputError("method.error_feedback", "found \"ef21\" with delay 1", "none or classic");
}

// One's own Δ is not late.
std::vector<std::string> warnings(const Case& config) {
  if (config.method.options.at("delay") == 0) return {};
  return late_update_warnings(config, 1. / config.replicas);
}

}  // namespace eager_diloco

Method eager_diloco_method() {
  using namespace eager_diloco;
  return Method("eager-diloco", "DiLoCo with the others' outer gradients one round late (arXiv 2502.12996)",
                options(), plan, {check_inner_steps, check_compression, check}, {warnings}, keeps_outer_step);
}

}  // namespace longhaul
