// The bound without a network: one machine that takes the whole batch, N times that of a replica, at each
// step. It is what data parallelism would give if averages cost nothing.
#include "methods/common/method.h"

namespace longhaul {
namespace single {

std::vector<Node> options() {
  return {choice("machine", {"one", "all"})
              .by_default("one")
              .timing_only()
              .means("how fast it is: as replica 0's accelerator, so that a step takes N times as long, or "
                     "as all of them together")};
}

OperationPlan plan(const MethodSpec& method, const PlannedModel&) {
  OperationPlan plan;
  plan.takes_whole_batch = true;
  plan.is_as_fast_as_all = method.options.at("machine") == "all";
  return plan;
}

}  // namespace single

Method single_method() {
  using namespace single;
  return Method("single", "one machine with the whole batch and no network", options(), plan, {});
}

}  // namespace longhaul
