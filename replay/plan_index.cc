#include "replay/plan_index.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "core/errors.h"

namespace longhaul {
namespace {

std::vector<int> everyone(int replicas) {
  std::vector<int> all(static_cast<std::size_t>(replicas));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void check_groups(const std::vector<std::vector<int>>& groups, int replicas, const Exchange& exchange) {
  std::vector<bool> seen(static_cast<std::size_t>(replicas));
  for (const auto& group : groups)
    for (const int replica : group) {
      if (replica < 0 || replica >= replicas || seen[static_cast<std::size_t>(replica)])
        throw InputError({"", "groups",
                          "found replica " + std::to_string(replica) + " in exchange " + exchange.rule->name +
                              " of step " + std::to_string(exchange.post_step),
                          "each replica at most once, 0 to " + std::to_string(replicas - 1), ""});
      seen[static_cast<std::size_t>(replica)] = true;
    }
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

std::vector<std::vector<int>> groups_of(const Exchange& exchange, int replicas) {
  if (exchange.rule->grouping == Grouping::kEveryone) return {everyone(replicas)};
  check_groups(exchange.groups, replicas, exchange);
  return exchange.groups;
}

int rule_index(const Trace& trace, const Exchange& exchange) {
  return static_cast<int>(exchange.rule - trace.plan.rules.data());
}

void check_fit(const Case& one, const Trace& trace) {
  if (trace.context.replicas == one.replicas) return;
  throw InputError({"", "replicas",
                    "the trace has " + std::to_string(trace.context.replicas) + " replicas, the case " +
                        std::to_string(one.replicas),
                    "the trace of this case", ""});
}

}  // namespace longhaul
