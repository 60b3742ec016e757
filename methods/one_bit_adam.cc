// 1-bit Adam (arXiv 2102.02888): a first stage of all-reduced gradients and Adam; then the variance is
// frozen, and every replica sends the signs of its momentum and one scale a block, with error feedback. Each
// is the server of its 1/N of the columns, whose mean it sends in the same way, with a feedback of its own.
#include <fmt/core.h>

#include "core/base/errors.h"
#include "methods/common/compression.h"

namespace longhaul {
namespace one_bit_adam {

std::vector<Node> options() {
  return joined({{integer("freeze_step")
                      .at_least(1)
                      .by_default(100)
                      .in("steps")
                      .means("the last step of the first stage, in which gradients travel whole and the "
                             "variance is found")},
                 compression_options({"sign", "classic", 1}),
                 {all_reduce_option().by_default("direct"),
                  reduction_option({"once", "two-shot", "servers"}).by_default("servers")}});
}

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  OperationRule first{"gradient", OperationKind::kAllReduce, method.options.at("all_reduce")};
  first.before_optimizer = true;
  first.last_step = method.options.at("freeze_step");
  first.payload = whole({"gradient"}, model.wire);
  OperationRule second = first;
  second.name = "momentum";
  second.first_step = first.last_step + 1;
  second.last_step = 0;
  second.payload = whole({"momentum"}, model.wire);
  compress(method.options, model, second);
  return {{first, second}};
}

}  // namespace one_bit_adam

Method one_bit_adam_method() {
  using namespace one_bit_adam;
  return Method("one-bit-adam", "signs of the momentum once the variance is frozen (arXiv 2102.02888)",
                options(), plan, {check_exchanging, check_compression, check_own_optimizer});
}

}  // namespace longhaul
