// DiLoCoX (arXiv 2506.21263): DiLoCo whose outer gradients arrive a round late, so that the inner steps of a
// whole round hide them, and travel as low-rank factors of four bits with error feedback.
#include "methods/common/late_updates.h"

namespace longhaul {
namespace dilocox {

std::vector<Node> options() {
  const Json low_rank = {{"low_rank", {{"rank", 8}, {"factors", "int4"}}}};
  return with_outer_all_reduce(
      {inner_steps_option(100), number("outer_lr").above(0).by_default(0.2).means("outer learning rate η"),
       number("outer_momentum").at_least(0).at_most(1).by_default(0.9).means("outer momentum μ (Nesterov)")},
      {low_rank, "classic", 1});
}

// "first": all begin the next round where they began the first.
OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  return outer_plan(method.options, model, /*is_late=*/true);
}

std::vector<std::string> warnings(const Case& config) {
  return late_update_warnings(config, 0);
}

}  // namespace dilocox

Method dilocox_method() {
  using namespace dilocox;
  return Method("dilocox", "DiLoCo with low-rank outer gradients a round late (arXiv 2506.21263)", options(),
                plan, {check_inner_steps, check_compression}, {warnings}, keeps_outer_step);
}

}  // namespace longhaul
