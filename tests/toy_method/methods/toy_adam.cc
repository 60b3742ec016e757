// The method of docs/howto/add-a-method.md, with a table of its own: DiLoCo with Adam as its outer optimizer.
// It is in the programs of tests/toy_method alone, to show what a method needs and to hold that it is enough.
#include "methods/common/waiting.h"

namespace longhaul {
namespace toy_adam {

std::vector<Node> options() {
  return joined(
      {{inner_steps_option(10), number("outer_lr").above(0).by_default(0.1).means("outer learning rate"),
        number("beta1").at_least(0).at_most(0.999).by_default(0.9).means("decay of the first moment"),
        number("beta2").at_least(0).at_most(0.9999).by_default(0.95).means("decay of the second moment")},
       quorum_options(true),
       all_reduce_options()});
}

std::vector<std::string> keeps(const Json&) {
  return {kSlowWeightsRow, kOuterMomentumRow, "outer_squares"};
}

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  OperationRule outer = all_reduce_rule("outer", "delta", method.options, model);
  outer.completion = fetched_completion_of(method.options);
  return {{outer}};
}

}  // namespace toy_adam

Method toy_adam_method() {
  using namespace toy_adam;
  return Method("toy-adam", "DiLoCo with outer Adam (a demonstration)", options(), plan,
                {check_inner_steps, check_waiting}, {overlap_warnings}, keeps);
}

}  // namespace longhaul
