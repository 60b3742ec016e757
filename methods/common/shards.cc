#include "methods/common/shards.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/base/errors.h"
#include "core/plan/combinations.h"

namespace longhaul {
namespace {

// Among everyone, of all columns in numbers of one width, when all have posted.
bool can_be_cut(const OperationRule& rule) {
  const bool is_whole = std::all_of(rule.payload.begin(), rule.payload.end(), [](const PayloadPart& part) {
    return part.columns.empty() && part.codec.is_plain();
  });
  return rule.grouping == Grouping::kEveryone && rule.completion.is_all() && is_whole && !rule.sharded &&
         rule.sizes.empty() && rule.overlap_backward == 0 &&
         (rule.kind == OperationKind::kAllReduce || rule.kind == OperationKind::kGroupAverage);
}

OperationRule with_columns(OperationRule rule, std::int64_t columns) {
  for (PayloadPart& part : rule.payload) part.columns = {{0, columns}};
  return rule;
}

}  // namespace

OperationPlan with_shards(OperationPlan plan, const Case& config, const StepModel& model) {
  const ParallelismSpec& spec = config.parallelism;
  if (!spec.is_on()) return plan;
  check_combinations(config, plan);
  plan.step_graph = step_graph_of(spec, model);
  const HeldParameters held = held_parameters(spec, model);
  const int peers = config.replicas / spec.group_size;
  std::vector<OperationRule> rules;
  for (const OperationRule& rule : plan.rules) {
    if (!can_be_cut(rule))
      throw InputError(
          "parallelism",
          fmt::format("found {} with operation {} of method \"{}\"", spec.kind, rule.name,
                      config.method.label),
          "a method whose operations are dense all-reduces of the whole model among everyone, in one piece "
          "(ddp, diloco, local-sgd, independent)",
          "what replicas have in common and what only peers have are exchanged apart");
    if (held.shared > 0) rules.push_back(with_columns(rule, held.shared));
    if (held.sharded == 0 || peers == 1) continue;
    OperationRule shard = with_columns(rule, held.sharded);
    shard.name += ".shard";
    shard.grouping =
        spec.groups == ParallelGroups::kConsecutive ? Grouping::kStrided : Grouping::kConsecutive;
    shard.group_size = peers;
    rules.push_back(std::move(shard));
  }
  plan.rules = std::move(rules);
  return plan;
}

}  // namespace longhaul
