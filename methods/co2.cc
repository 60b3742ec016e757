// CO2 (arXiv 2401.16265): the all-reduce of a round overlaps with the inner steps of the next one, and the
// outer step, with momentum, uses it a round late: less of it the further the anchor has moved meanwhile.
#include "methods/common/late_updates.h"

namespace longhaul {
namespace co2 {

std::vector<Node> options() {
  return with_outer_all_reduce(
      {inner_steps_option(48),
       integer("delay").at_least(0).at_most(1).by_default(1).in("rounds").means(
           "rounds by which the mean of all Δ is late; 0: it is not, and this is SlowMo (arXiv 1910.00643)"),
       number("outer_lr").above(0).by_default(1).means("outer learning rate η"),
       number("outer_momentum").at_least(0).at_most(1).by_default(0.2).means("outer momentum μ"),
       number("gap_penalty")
           .at_least(0)
           .by_default(1)
           .means("weight λ of the staleness gap, by which a late Δ is divided: 1 + λ·(how far φ has moved "
                  "since)/‖Δ‖; 0: it is not divided"),
       number("outer_clip")
           .at_least(0)
           .by_default(1)
           .means("largest magnitude of a column of the outer momentum; 0: any")});
}

bool is_late(const Json& options) {
  return options.at("delay") == 1;
}

// "first": all begin the next round where they began the first.
OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  return outer_plan(method.options, model, is_late(method.options));
}

// With the penalty the recursion is not linear, and the rates that it bears are larger (docs/methods.md).
std::vector<std::string> warnings(const Case& config) {
  const Json& options = config.method.options;
  if (!is_late(options) || options.at("gap_penalty") > 0) return {};
  return late_update_warnings(config, 0, late_heavy_ball_lr_bound(options.at("outer_momentum")));
}

}  // namespace co2

Method co2_method() {
  using namespace co2;
  return Method("co2", "outer steps with momentum, a round late and damped by staleness (arXiv 2401.16265)",
                options(), plan, {check_inner_steps, check_compression}, {warnings}, keeps_outer_step);
}

}  // namespace longhaul
