// Epidemic Learning (arXiv 2310.01972): every H steps each replica sends its weights to s others, drawn anew
// each time, and goes on from the mean of its own and those that were sent to it. Everyone draws its targets
// by itself, so that some hear more and some less, or nobody (the paper's EL-Local).
#include <fmt/core.h>

#include "core/base/errors.h"
#include "methods/common/method.h"

namespace longhaul {
namespace epidemic {

std::vector<Node> options() {
  return {
      inner_steps_option(50),
      integer("targets").at_least(1).by_default(2).in("replicas").means("to how many others each sends (s)")};
}

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  OperationRule rule{"average", OperationKind::kSend, "send", method.options.at("inner_steps")};
  rule.grouping = Grouping::kTargets;
  rule.group_size = method.options.at("targets");
  rule.payload = whole({"weights"}, model.wire);
  return {{rule}};
}

void check(const Case& config) {
  const int targets = config.method.options.at("targets");
  if (targets >= config.replicas)
    throw InputError("method.targets", fmt::format("found {} with {} replicas", targets, config.replicas),
                     fmt::format("at most {}, all others", config.replicas - 1));
}

}  // namespace epidemic

Method epidemic_method() {
  using namespace epidemic;
  return Method(
      "epidemic",
      "mean of one's own weights and those of the replicas that drew one as a target, every H steps (arXiv "
      "2310.01972)",
      options(), plan, {check_inner_steps, check});
}

}  // namespace longhaul
