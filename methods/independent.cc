// Independent replicas: no exchange at all, the zero-communication bound.
#include "methods/common/method.h"

namespace longhaul {
namespace {

OperationPlan plan(const MethodSpec&, const PlannedModel&) {
  return {};
}

}  // namespace

Method independent_method() {
  return {"independent", "no exchange: the zero-communication bound", {}, plan, [](const Case&) {},
          no_warnings};
}

}  // namespace longhaul
