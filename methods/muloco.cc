// MuLoCo (arXiv 2505.23725): DiLoCo whose inner optimizer is Muon. Its operations are DiLoCo's; the defaults
// are the paper's, more frequent outer steps with less momentum.
#include "methods/common/waiting.h"

namespace longhaul {
namespace muloco {

std::vector<Node> options() {
  return joined(
      {{inner_steps_option(30), number("outer_lr").above(0).by_default(0.7).means("outer learning rate η"),
        number("outer_momentum").at_least(0).at_most(1).by_default(0.6).means("outer momentum μ"),
        boolean("nesterov").by_default(true).means("true: Nesterov look-ahead; false: heavy-ball")},
       quorum_options(true),
       all_reduce_options()});
}

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  OperationRule outer = all_reduce_rule("outer", "delta", method.options, model);
  outer.completion = fetched_completion_of(method.options);
  return {{outer}};
}

}  // namespace muloco

Method muloco_method() {
  using namespace muloco;
  return Method("muloco", "DiLoCo with Muon as its inner optimizer (arXiv 2505.23725)", options(), plan,
                {check_inner_steps, check_waiting}, {overlap_warnings}, keeps_outer_step, {{"name", "muon"}});
}

}  // namespace longhaul
