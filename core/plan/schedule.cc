#include "core/plan/schedule.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "core/base/index.h"

namespace longhaul {
namespace {

void drop_small_groups(std::vector<std::vector<int>>& groups, std::size_t least) {
  groups.erase(std::remove_if(groups.begin(), groups.end(),
                              [least](const std::vector<int>& group) { return group.size() < least; }),
               groups.end());
}

// The groups of one replica that were drawn, where that replica is there.
std::vector<std::vector<int>> sitting_out(const Operation& drawn, const Schedule& schedule) {
  std::vector<std::vector<int>> alone;
  for (const std::vector<int>& group : drawn.groups)
    if (group.size() == 1 && schedule.absences.computes(group[0], drawn.post_step)) alone.push_back(group);
  return alone;
}

// Who took no part neither sends nor is sent to.
void keep_targets_among(const std::vector<std::vector<int>>& groups, std::vector<std::vector<int>>& targets) {
  std::vector<bool> is_there(targets.size());
  for (const std::vector<int>& group : groups)
    for (const int replica : group)
      if (as_index(replica) < is_there.size()) is_there[as_index(replica)] = true;
  for (std::size_t replica = 0; replica < targets.size(); ++replica) {
    std::vector<int>& of_replica = targets[replica];
    if (!is_there[replica]) of_replica.clear();
    of_replica.erase(std::remove_if(of_replica.begin(), of_replica.end(),
                                    [&](int target) { return !is_there[as_index(target)]; }),
                     of_replica.end());
  }
}

}  // namespace

Schedule synchronous_merges(const OperationPlan& plan, const PlanContext& context) {
  Schedule schedule;
  std::vector<int> counts(plan.rules.size());
  for (int step = 1; step <= context.steps; ++step)
    for (std::size_t i = 0; i < plan.rules.size(); ++i) {
      const OperationRule& rule = plan.rules[i];
      if (rule.kind != OperationKind::kMerge || !is_posted_at(rule, context.steps, step)) continue;
      Merge merge{static_cast<int>(i), counts[i]++, {}};
      for (int replica = 0; replica < context.replicas; ++replica)
        merge.contributions.push_back({replica, step, step + rule.overlap_steps});
      schedule.merges.push_back(std::move(merge));
    }
  return schedule;
}

Operation with_groups(Operation operation, std::vector<std::vector<int>> groups) {
  operation.groups = std::move(groups);
  keep_targets_among(operation.groups, operation.targets);
  return operation;
}

std::vector<Operation> followed(const Schedule& schedule, const OperationPlan& plan,
                                std::vector<Operation> operations) {
  for (Operation& operation : operations) {
    if (!schedule.decides(*operation.rule)) continue;
    const auto found = schedule.groups.find({rule_index(plan, operation), operation.post_step});
    if (found == schedule.groups.end() && !schedule.has_all)
      throw std::logic_error(fmt::format("nobody knows who took part in {} of step {}", operation.rule->name,
                                         operation.post_step));
    std::vector<std::vector<int>> met;
    if (found != schedule.groups.end()) met = found->second;
    const std::vector<std::vector<int>> alone = sitting_out(operation, schedule);
    drop_small_groups(met, operation.rule->is_of_everyone() ? 1 : 2);
    met.insert(met.end(), alone.begin(), alone.end());
    operation = with_groups(std::move(operation), std::move(met));
  }
  const auto has_nobody = [&](const Operation& operation) {
    return schedule.decides(*operation.rule) && operation.groups.empty();
  };
  operations.erase(std::remove_if(operations.begin(), operations.end(), has_nobody), operations.end());
  return operations;
}

}  // namespace longhaul
