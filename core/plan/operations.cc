#include "core/plan/operations.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "core/errors.h"
#include "core/index.h"
#include "core/plan/drawn_groups.h"

namespace longhaul {
namespace {

std::vector<int> everyone(int replicas) {
  std::vector<int> all(as_index(replicas));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void check_groups(const std::vector<std::vector<int>>& groups, int replicas, const Operation& operation) {
  std::vector<bool> seen(as_index(replicas));
  for (const auto& group : groups)
    for (const int replica : group) {
      if (replica < 0 || replica >= replicas || seen[as_index(replica)])
        throw InputError("groups",
                         "found replica " + std::to_string(replica) + " in exchange " + operation.rule->name +
                             " of step " + std::to_string(operation.post_step),
                         "each replica at most once, 0 to " + std::to_string(replicas - 1));
      seen[as_index(replica)] = true;
    }
}

std::vector<std::vector<int>> site_groups(const OperationRule& rule, const PlanContext& context, int step) {
  if (static_cast<int>(context.site_of.size()) != context.replicas)
    throw std::logic_error("groups by sites without the site of every replica");
  const bool is_across = step / rule.every % rule.across_every == 0;
  const auto draw = is_across ? groups_across_sites : groups_inside_sites;
  return draw(context.seed, context.site_of, rule.group_size, step);
}

Operation operation_of(const OperationRule& rule, const PlanContext& context, int step) {
  Operation operation;
  operation.rule = &rule;
  operation.post_step = step;
  operation.await_step = step + rule.overlap_steps;
  const int members = rule.grouping == Grouping::kEveryone ? context.replicas : rule.group_size;
  for (const PayloadPart& part : rule.payload)
    operation.bytes +=
        encoded_bytes(part.codec, contributed_columns(rule, part, context.parameters, members));
  if (rule.grouping == Grouping::kRandom)
    operation.groups = random_groups(context.seed, context.replicas, rule.group_size, operation.await_step);
  if (rule.grouping == Grouping::kSites) operation.groups = site_groups(rule, context, operation.await_step);
  return operation;
}

}  // namespace

const std::vector<std::string>& all_reduce_collectives() {
  static const std::vector<std::string> names = {"ring",        "tree",
                                                 "leaf-tree",   "heap-tree",
                                                 "double-tree", "halving-doubling",
                                                 "direct",      "parameter-server",
                                                 "hierarchical"};
  return names;
}

const std::vector<std::string>& group_average_collectives() {
  static const std::vector<std::string> names = {"pair", "root", "serial"};
  return names;
}

bool needs_sites(const OperationPlan& plan) {
  return std::any_of(plan.rules.begin(), plan.rules.end(),
                     [](const OperationRule& rule) { return rule.grouping == Grouping::kSites; });
}

Payload whole(const std::vector<std::string>& tensors, Wire wire) {
  Payload payload;
  for (const std::string& tensor : tensors) payload.push_back({tensor, {wire}});
  return payload;
}

std::vector<std::string> OperationRule::tensors() const {
  std::vector<std::string> names;
  for (const PayloadPart& part : payload) names.push_back(part.tensor);
  return names;
}

bool is_posted_at(const OperationRule& rule, int steps, int step) {
  const bool is_in_range =
      step >= std::max(1, rule.first_step) && (rule.last_step == 0 || step <= rule.last_step);
  return is_in_range && (step - rule.phase) % rule.every == 0 && step >= rule.phase &&
         step + rule.overlap_steps <= steps;
}

std::vector<std::vector<int>> groups_of(const Operation& operation, int replicas) {
  if (operation.rule->grouping == Grouping::kEveryone && operation.groups.empty())
    return {everyone(replicas)};
  check_groups(operation.groups, replicas, operation);
  return operation.groups;
}

std::vector<Operation> operations_at(const OperationPlan& plan, const PlanContext& context, int step) {
  std::vector<Operation> operations;
  for (const bool blocking : {true, false})
    for (const OperationRule& rule : plan.rules)
      if (rule.is_blocking() == blocking && is_posted_at(rule, context.steps, step))
        operations.push_back(operation_of(rule, context, step));
  return operations;
}

std::vector<Operation> operations_due(const OperationPlan& plan, const PlanContext& context, int step) {
  std::vector<Operation> operations;
  for (const OperationRule& rule : plan.rules)
    if (!rule.is_blocking() && is_posted_at(rule, context.steps, step - rule.overlap_steps))
      operations.push_back(operation_of(rule, context, step - rule.overlap_steps));
  return operations;
}

std::vector<Operation> operations_pending(const OperationPlan& plan, const PlanContext& context, int step) {
  std::vector<Operation> operations;
  for (const OperationRule& rule : plan.rules)
    for (int posted = std::max(1, step - rule.overlap_steps + 1); posted <= step && !rule.is_blocking();
         ++posted)
      if (is_posted_at(rule, context.steps, posted))
        operations.push_back(operation_of(rule, context, posted));
  return operations;
}

std::int64_t bucket_bytes(const Operation& operation, int bucket) {
  const std::int64_t buckets = operation.rule->buckets, each = operation.bytes / buckets;
  return each + (bucket >= buckets - operation.bytes % buckets);
}

std::int64_t contributed_columns(const OperationRule& rule, const PayloadPart& part, std::int64_t parameters,
                                 int members) {
  const std::int64_t columns = column_count(part.columns, parameters);
  return rule.sharded ? (columns + members - 1) / members : columns;
}

}  // namespace longhaul
