#include "core/plan/schedule.h"

#include <fmt/core.h>

#include <algorithm>
#include <istream>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/plan/lines.h"

namespace longhaul {
namespace {

void check_header(const Json& json, const PlanContext& context) {
  if (json.at("longhaul_schedule") != 1)
    throw InputError("longhaul_schedule", "found version " + json["longhaul_schedule"].dump(), "1");
  if (json.at("replicas") != context.replicas)
    throw InputError("replicas", "found " + json["replicas"].dump(),
                     fmt::format("{}, as the case has", context.replicas));
}

// What was said before of the rules of merges.
struct MergesSoFar {
  std::map<int, int> count;                                        // by rule
  std::map<std::pair<int, int>, Merge::Contribution> contributed;  // by rule and replica, the last one
};

// One who crashed takes up nothing, and contributes again when it is back.
bool may_follow(const Merge::Contribution& next, const Merge::Contribution& last, bool may_be_gone) {
  if (last.taken_step > 0) return last.taken_step <= next.post_step;
  return may_be_gone && last.post_step <= next.post_step;
}

void read_merge(const Json& json, const OperationPlan& plan, const PlanContext& context, MergesSoFar& so_far,
                Schedule& schedule) {
  Merge merge{json.at("rule"), json.at("merge"), {}};
  if (merge.rule < 0 || merge.rule >= static_cast<int>(plan.rules.size()) ||
      plan.rules[as_index(merge.rule)].kind != OperationKind::kMerge)
    throw InputError("rule", fmt::format("found {}", merge.rule),
                     "the number of a rule of merges of the method's plan");
  const OperationRule& rule = plan.rules[as_index(merge.rule)];
  int& count = so_far.count[merge.rule];
  if (merge.number != count)
    throw InputError("merge", fmt::format("found {}", merge.number), fmt::format("{}, the next one", count));
  ++count;
  int last = -1;
  for (const Json& entry : json.at("contributions")) {
    const Merge::Contribution made{entry.at(0), entry.at(1), entry.at(2)};
    if (made.replica <= last || made.replica >= context.replicas)
      throw InputError("contributions", fmt::format("found replica {}", made.replica),
                       fmt::format("ascending, 0 to {}, each at most once", context.replicas - 1));
    last = made.replica;
    const auto before = so_far.contributed.find({merge.rule, made.replica});
    const bool is_free =
        before == so_far.contributed.end() || may_follow(made, before->second, schedule.has_all);
    if (!is_free || made.post_step < 1 || made.post_step > context.steps ||
        !is_posted_at(rule, context.steps, made.post_step))
      throw InputError("contributions", fmt::format("found step {}", made.post_step),
                       "a step at which the rule is posted and the replica has taken up what was before");
    if (made.taken_step != 0 &&
        (made.taken_step < made.post_step + rule.overlap_steps || made.taken_step > context.steps))
      throw InputError("contributions", fmt::format("found that it was taken up at step {}", made.taken_step),
                       fmt::format("0, or {} to {}", made.post_step + rule.overlap_steps, context.steps));
    so_far.contributed[{merge.rule, made.replica}] = made;
    merge.contributions.push_back(made);
  }
  if (merge.contributions.empty()) throw InputError("contributions", "found none", "one or more of a merge");
  schedule.merges.push_back(std::move(merge));
}

void read_line(const Json& json, const OperationPlan& plan, const PlanContext& context, MergesSoFar& so_far,
               Schedule& schedule) {
  if (json.contains("merge")) return read_merge(json, plan, context, so_far, schedule);
  const int rule = json.at("rule"), step = json.at("step");
  if (rule < 0 || rule >= static_cast<int>(plan.rules.size()))
    throw InputError("rule", fmt::format("found {}", rule), "the number of a rule of the method's plan");
  if (step < 1 || step > context.steps)
    throw InputError("step", fmt::format("found {}", step), fmt::format("1 to {}", context.steps));
  if (!schedule.decides(plan.rules[as_index(rule)])) return;
  const std::vector<int> group = json.at("group");
  std::vector<bool> seen(as_index(context.replicas));
  for (const int replica : group) {
    if (replica < 0 || replica >= context.replicas || seen[as_index(replica)])
      throw InputError("group", fmt::format("found replica {}", replica),
                       fmt::format("0 to {}, each at most once", context.replicas - 1));
    seen[as_index(replica)] = true;
  }
  schedule.groups[{rule, step}].push_back(group);
}

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

Schedule read_schedule(std::istream& in, const std::string& file, const OperationPlan& plan,
                       const PlanContext& context, bool has_all) {
  Schedule schedule;
  MergesSoFar merges;
  schedule.has_all = has_all;
  std::string line;
  int number = 0;
  while (std::getline(in, line)) {
    ++number;
    try {
      const Json json = parse_json(line);
      number == 1 ? check_header(json, context) : read_line(json, plan, context, merges, schedule);
    } catch (const Json::exception& error) {
      throw of_line(in_our_words(error), file, number, "a line of a schedule (docs/formats.md)");
    } catch (const InputError& error) {
      throw of_line(error, file, number, "a line of a schedule (docs/formats.md)");
    }
  }
  if (number == 0) throw InputError({file, "", "is empty", "a schedule written by a replay", ""});
  return schedule;
}

std::vector<Operation> followed(const Schedule& schedule, const OperationPlan& plan,
                                std::vector<Operation> operations) {
  for (Operation& operation : operations) {
    if (!schedule.decides(*operation.rule)) continue;
    const auto found = schedule.groups.find({rule_index(plan, operation), operation.post_step});
    if (found == schedule.groups.end() && !schedule.has_all)
      throw InputError("--schedule",
                       fmt::format("does not say who took part in {} of step {}", operation.rule->name,
                                   operation.post_step),
                       "the schedule of a replay of this case to its end");
    std::vector<std::vector<int>> met;
    if (found != schedule.groups.end()) met = found->second;
    const std::vector<std::vector<int>> alone = sitting_out(operation, schedule);
    drop_small_groups(met, operation.rule->is_of_everyone() ? 1 : 2);
    met.insert(met.end(), alone.begin(), alone.end());
    operation.groups = std::move(met);
    keep_targets_among(operation.groups, operation.targets);
  }
  const auto has_nobody = [&](const Operation& operation) {
    return schedule.decides(*operation.rule) && operation.groups.empty();
  };
  operations.erase(std::remove_if(operations.begin(), operations.end(), has_nobody), operations.end());
  return operations;
}

}  // namespace longhaul
