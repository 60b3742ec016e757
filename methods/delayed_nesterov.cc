// Delayed Nesterov (asynchronous local SGD, arXiv 2401.09135, algorithm 3): a server takes a plain gradient
// step with each Δ that arrives, and a step of its momentum with every N-th. Here all replicas arrive
// together, so N is a number of rounds. They take H steps each, or with dynamic local steps (DyLU)
// as many as fit into the time of the fastest.
#include "methods/common/dynamic_steps.h"
#include "methods/common/method.h"

namespace longhaul {
namespace delayed_nesterov {

std::vector<Node> options() {
  return with_all_reduce(
      {inner_steps_option(50), number("outer_lr").above(0).by_default(0.7).means("outer learning rate η"),
       number("outer_momentum").at_least(0).at_most(1).by_default(0.9).means("outer momentum μ"),
       integer("momentum_every")
           .at_least(1)
           .by_default(1)
           .in("outer steps")
           .means("outer steps for each step of the momentum (K), those between being plain; 1: each, which "
                  "is diloco"),
       dynamic_steps_option()});
}

std::vector<std::string> keeps(const Json&) {
  return {kSlowWeightsRow, kOuterMomentumRow, "outer_buffer"};
}

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  return {{all_reduce_rule("outer", "delta", method.options, model)}};
}

}  // namespace delayed_nesterov

Method delayed_nesterov_method() {
  using namespace delayed_nesterov;
  return Method("delayed-nesterov",
                "outer momentum at every K-th outer step, plain gradients between (arXiv 2401.09135)",
                options(), plan, {check_inner_steps}, {overlap_warnings, dynamic_steps_warnings}, keeps);
}

}  // namespace longhaul
