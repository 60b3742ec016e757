#include "core/exchange_plan.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "core/errors.h"
#include "core/random.h"

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

std::vector<std::vector<int>> site_groups(const ExchangeRule& rule, const PlanContext& context, int step) {
  if (static_cast<int>(context.site_of.size()) != context.replicas)
    throw std::logic_error("groups by sites without the site of every replica");
  const bool is_across = step / rule.every % rule.across_every == 0;
  const auto draw = is_across ? groups_across_sites : groups_inside_sites;
  return draw(context.seed, context.site_of, rule.group_size, step);
}

Exchange exchange_of(const ExchangeRule& rule, const PlanContext& context, int step) {
  Exchange exchange;
  exchange.rule = &rule;
  exchange.post_step = step;
  exchange.await_step = step + rule.overlap_steps;
  const int members = rule.grouping == Grouping::kEveryone ? context.replicas : rule.group_size;
  exchange.bytes = static_cast<std::int64_t>(rule.tensors.size()) *
                   contributed_elements(rule, context.parameters, members) * context.wire_bytes;
  if (rule.grouping == Grouping::kRandom)
    exchange.groups = random_groups(context.seed, context.replicas, rule.group_size, exchange.await_step);
  if (rule.grouping == Grouping::kSites) exchange.groups = site_groups(rule, context, exchange.await_step);
  return exchange;
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

bool needs_sites(const ExchangePlan& plan) {
  return std::any_of(plan.rules.begin(), plan.rules.end(),
                     [](const ExchangeRule& rule) { return rule.grouping == Grouping::kSites; });
}

bool is_posted_at(const ExchangeRule& rule, int steps, int step) {
  return step > 0 && step % rule.every == 0 && step + rule.overlap_steps <= steps;
}

std::vector<std::vector<int>> groups_of(const Exchange& exchange, int replicas) {
  if (exchange.rule->grouping == Grouping::kEveryone && exchange.groups.empty()) return {everyone(replicas)};
  check_groups(exchange.groups, replicas, exchange);
  return exchange.groups;
}

std::vector<Exchange> exchanges_at(const ExchangePlan& plan, const PlanContext& context, int step) {
  std::vector<Exchange> exchanges;
  for (const bool blocking : {true, false})
    for (const ExchangeRule& rule : plan.rules)
      if ((rule.overlap_steps == 0) == blocking && is_posted_at(rule, context.steps, step))
        exchanges.push_back(exchange_of(rule, context, step));
  return exchanges;
}

std::int64_t bucket_bytes(const Exchange& exchange, int bucket) {
  const std::int64_t buckets = exchange.rule->buckets, each = exchange.bytes / buckets;
  return each + (bucket >= buckets - exchange.bytes % buckets);
}

std::int64_t contributed_elements(const ExchangeRule& rule, std::int64_t parameters, int members) {
  return rule.sharded ? (parameters + members - 1) / members : parameters;
}

std::vector<std::vector<int>> random_groups(std::uint64_t seed, int replicas, int group_size, int step) {
  RandomStream stream(seed, Purpose::kGroups, 0, static_cast<std::uint32_t>(step));
  const std::vector<int> order = random_permutation(replicas, stream);
  const int count = replicas / group_size;
  std::vector<std::vector<int>> groups(static_cast<std::size_t>(count));
  for (int i = 0; i < count * group_size; ++i)
    groups[static_cast<std::size_t>(i % count)].push_back(order[static_cast<std::size_t>(i)]);
  return groups;
}

}  // namespace longhaul
