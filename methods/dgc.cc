// Deep Gradient Compression (arXiv 1712.01887): in each step every replica sends the largest columns of its
// accumulated momentum to all others; the rest stays with it. Sparsity rises in stages.
#include <fmt/core.h>

#include "methods/common/compression.h"

namespace longhaul {
namespace dgc {

// What travels of 4096 columns in the stages before the last: 25, 6.25, 1.56, 0.4 % (the paper's).
constexpr int kStages[] = {1024, 256, 64, 16};

std::vector<Node> options() {
  const Json top_k = {{"top_k", {{"chunk", 4096}, {"kept", 4}, {"numbers", "wire"}}}};
  return joined(
      {{number("momentum").at_least(0).at_most(1).by_default(0.9).means("momentum of each replica"),
        boolean("factor_masking")
            .by_default(true)
            .means("true: the momentum of a column that was sent starts anew"),
        integer("warm_up").at_least(0).by_default(100).in("steps").means(
            "steps, in four equal stages, in which 25, 6.25, 1.56 and 0.4 % of the columns travel; after "
            "them it is as codec says")},
       compression_options({top_k, "classic", 1})});
}

std::vector<std::string> keeps(const Json&) {
  return {"velocity"};
}

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  OperationRule rule{"gradient", OperationKind::kAllGather, "all-gather"};
  rule.before_optimizer = true;
  rule.payload = whole({"velocity"}, model.wire);
  compress(method.options, model, rule);
  OperationPlan plan;
  const int warm_up = method.options.at("warm_up");
  for (int stage = 0; stage < 4; ++stage) {
    OperationRule dense = rule;
    dense.name = fmt::format("warm-up-{}", stage);
    dense.first_step = warm_up * stage / 4 + 1;
    dense.last_step = warm_up * (stage + 1) / 4;
    dense.payload[0].codec.format = TopK{4096, kStages[stage], model.wire};
    if (dense.last_step >= dense.first_step) plan.rules.push_back(dense);
  }
  rule.first_step = warm_up + 1;
  plan.rules.push_back(rule);
  return plan;
}

}  // namespace dgc

Method dgc_method() {
  using namespace dgc;
  return Method("dgc", "the largest columns of the accumulated momentum every step (arXiv 1712.01887)",
                options(), plan, {check_exchanging, check_compression, check_own_optimizer}, {}, keeps,
                {{"lr", 0.1}});
}

}  // namespace longhaul
