#include "sim/replay/step_plan.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "core/errors.h"
#include "net/collectives/registry.h"

namespace longhaul {
namespace {

std::vector<int> everyone(int replicas) {
  std::vector<int> all(static_cast<std::size_t>(replicas));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<std::vector<int>> groups_of(const Exchange& exchange, int replicas) {
  if (exchange.rule->grouping == Grouping::kEveryone) return {everyone(replicas)};
  return exchange.groups;
}

void check_groups(const std::vector<std::vector<int>>& groups, int replicas, const Exchange& exchange) {
  std::set<int> seen;
  for (const auto& group : groups)
    for (const int replica : group)
      if (replica < 0 || replica >= replicas || !seen.insert(replica).second)
        throw InputError({"", "groups",
                          "found replica " + std::to_string(replica) + " in exchange " + exchange.rule->name +
                              " of step " + std::to_string(exchange.post_step),
                          "each replica at most once, 0 to " + std::to_string(replicas - 1), ""});
}

int rule_index(const Trace& trace, const Exchange& exchange) {
  return static_cast<int>(exchange.rule - trace.plan.rules.data());
}

void add_connections(const Exchange& exchange, const std::vector<int>& group, const std::vector<int>& site_of,
                     std::set<std::pair<int, int>>& found) {
  const Collective& collective = find_collective(exchange.rule->collective);
  const GroupExchange shape = group_exchange(group, exchange.bytes, exchange.rule->tensors.size(), site_of);
  if (shape.members < 2) return;
  for (int member = 0; member < shape.members; ++member)
    for (int index = 0; index < collective.rounds(shape); ++index)
      for (const Message& message : collective.round(shape, member, index).sends)
        found.insert(
            {group[static_cast<std::size_t>(member)], group[static_cast<std::size_t>(message.peer)]});
}

}  // namespace

bool PlanIndex::posts(int step) const {
  return std::any_of(trace_.plan.rules.begin(), trace_.plan.rules.end(),
                     [&](const ExchangeRule& rule) { return posts(rule, step); });
}

bool PlanIndex::posts(const ExchangeRule& rule, int step) const {
  return step > 0 && step % rule.every == 0 && step + rule.overlap_steps <= trace_.context.steps;
}

bool PlanIndex::has_exchange(int step) const {
  return posts(step) ||
         std::any_of(trace_.plan.rules.begin(), trace_.plan.rules.end(), [&](const ExchangeRule& rule) {
           const int posted = step - rule.overlap_steps;
           return rule.overlap_steps > 0 && posted > 0 && posted % rule.every == 0;
         });
}

StepPlan::StepPlan(const Trace& trace, int step, const std::vector<int>& site_of, Network& network,
                   const MemberDone& on_member_done)
    : runs_of_(static_cast<std::size_t>(trace.context.replicas)), replicas_left_(trace.context.replicas) {
  for (const Exchange& exchange : trace.exchanges_at(step)) {
    const auto groups = groups_of(exchange, trace.context.replicas);
    check_groups(groups, trace.context.replicas, exchange);
    for (const auto& group : groups)
      if (group.size() > 1)
        add_run(exchange, rule_index(trace, exchange), group, site_of, network, on_member_done);
  }
}

void StepPlan::add_run(const Exchange& exchange, int rule, std::vector<int> group,
                       const std::vector<int>& site_of, Network& network, const MemberDone& on_member_done) {
  row_counts_[rule] += group.size();
  const std::size_t index = runs_.size();
  runs_.push_back(std::make_unique<BucketedExchange>(
      exchange, rule, std::move(group), site_of, network,
      [this, index, on_member_done](int replica) { on_member_done(*runs_[index], replica); }));
  for (const int replica : runs_.back()->group())
    runs_of_[static_cast<std::size_t>(replica)].push_back(runs_.back().get());
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
  std::set<const ExchangeRule*> known;  // rules among everyone use the same connections every time
  for (int step = 1; step <= trace.context.steps; ++step)
    for (const Exchange& exchange : trace.exchanges_at(step)) {
      const bool is_everyone = exchange.rule->grouping == Grouping::kEveryone;
      if (is_everyone && !known.insert(exchange.rule).second) continue;
      for (const auto& group : groups_of(exchange, trace.context.replicas))
        add_connections(exchange, group, site_of, found);
    }
  return {found.begin(), found.end()};
}

}  // namespace longhaul
