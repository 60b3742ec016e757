#include "replay/step_plan.h"

#include <algorithm>
#include <set>

#include "core/errors.h"
#include "core/index.h"
#include "net/collectives/collective.h"

namespace longhaul {
namespace {

void add_connections(const Operation& exchange, const std::vector<int>& group,
                     const std::vector<int>& site_of, std::set<std::pair<int, int>>& found) {
  const Collective& collective = find_collective(exchange.rule->collective);
  const GroupExchange shape = group_exchange(group, exchange.bytes, exchange.rule->payload.size(), site_of);
  if (shape.members < 2) return;
  for (int member = 0; member < shape.members; ++member)
    for (int index = 0; index < collective.rounds(shape); ++index)
      for (const Message& message : collective.round(shape, member, index).sends)
        found.insert({group[as_index(member)], group[as_index(message.peer)]});
}

}  // namespace

StepPlan::StepPlan(const ExchangeContext& context, const Trace& trace, int step,
                   const MemberDone& on_member_done)
    : program_(program_of_step(trace.plan, trace.context.steps, step)),
      runs_of_(as_index(trace.context.replicas)),
      replicas_left_(trace.context.replicas) {
  for (const Operation& exchange : trace.operations_at(step)) {
    for (const auto& group : groups_of(exchange, trace.context.replicas))
      if (group.size() > 1) add_run(context, exchange, rule_index(trace, exchange), group, on_member_done);
  }
}

void StepPlan::add_run(const ExchangeContext& context, const Operation& exchange, int rule,
                       std::vector<int> group, const MemberDone& on_member_done) {
  row_counts_[rule] += group.size();
  const std::size_t index = runs_.size();
  runs_.push_back(std::make_unique<BucketedExchange>(
      context, exchange, rule, std::move(group),
      [this, index, on_member_done](int replica) { on_member_done(*runs_[index], replica); }));
  for (const int replica : runs_.back()->group()) runs_of_[as_index(replica)].push_back(runs_.back().get());
}

BucketedExchange* StepPlan::run_of(int replica, int rule) const {
  for (BucketedExchange* run : runs_of_[as_index(replica)])
    if (run->rule_index() == rule) return run;
  return nullptr;
}

std::vector<std::string> StepPlan::waiting() const {
  std::vector<std::string> lines;
  for (const auto& run : runs_)
    if (!run->is_finished())
      for (std::string& line : run->waiting()) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::pair<int, int>> used_connections(const Trace& trace, const std::vector<int>& site_of) {
  std::set<std::pair<int, int>> found;
  std::set<const OperationRule*> known;  // rules among everyone use the same connections every time
  for (int step = 1; step <= trace.context.steps; ++step)
    for (const Operation& exchange : trace.operations_at(step)) {
      const bool is_everyone = exchange.rule->grouping == Grouping::kEveryone;
      if (is_everyone && !known.insert(exchange.rule).second) continue;
      for (const auto& group : groups_of(exchange, trace.context.replicas))
        add_connections(exchange, group, site_of, found);
    }
  return {found.begin(), found.end()};
}

bool PlanIndex::has_exchange(int step) const {
  const std::vector<OperationRule>& rules = trace_.plan.rules;
  return std::any_of(rules.begin(), rules.end(), [&](const OperationRule& rule) {
    return is_posted_at(rule, trace_.context.steps, step) ||
           is_posted_at(rule, trace_.context.steps, step - rule.overlap_steps);
  });
}

bool PlanIndex::releases_during_compute(int step) const {
  const std::vector<OperationRule>& rules = trace_.plan.rules;
  return std::any_of(rules.begin(), rules.end(), [&](const OperationRule& rule) {
    return rule.buckets > 1 && is_posted_at(rule, trace_.context.steps, step);
  });
}

int rule_index(const Trace& trace, const Operation& exchange) {
  return static_cast<int>(exchange.rule - trace.plan.rules.data());
}

void check_fit(const Case& one, const Trace& trace) {
  if (trace.context.replicas == one.replicas) return;
  throw InputError("replicas",
                   "the trace has " + std::to_string(trace.context.replicas) + " replicas, the case " +
                       std::to_string(one.replicas),
                   "the trace of this case");
}

}  // namespace longhaul
