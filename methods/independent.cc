// Independent replicas: no exchange at all, the zero-communication bound. On data of their own they are
// experts whose weights or predictions are averaged in the end (Branch-Train-Merge, arXiv 2208.03306).
#include "methods/common/method.h"

namespace longhaul {
namespace independent {

std::vector<Node> options() {
  return {choice("data", {"shared", "own"})
              .by_default("shared")
              .later()
              .means("own: the training text is cut into as many equal parts as there are replicas, and each "
                     "draws from its own alone")};
}

OperationPlan plan(const MethodSpec& method, const PlannedModel&) {
  OperationPlan plan;
  plan.has_own_data = method.options.value("data", "shared") == "own";
  return plan;
}

}  // namespace independent

Method independent_method() {
  using namespace independent;
  return Method("independent", "no exchange: the zero-communication bound", options(), plan, {});
}

}  // namespace longhaul
