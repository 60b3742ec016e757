#include "core/plan/operations.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/random.h"
#include "core/plan/target_graphs.h"

namespace longhaul {
namespace {

using Group = std::vector<int>;
__extension__ typedef __int128 Wide;  // bytes times sizes

int site_at(const std::vector<int>& site_of, int replica) {
  return site_of[as_index(replica)];
}

// Members of `group` other than place `me` that are at the site of `replica`.
int others_at_site(const Group& group, std::size_t me, int replica, const std::vector<int>& site_of) {
  int count = 0;
  for (std::size_t i = 0; i < group.size(); ++i)
    count += i != me && site_at(site_of, group[i]) == site_at(site_of, replica);
  return count;
}

// Lets groups[g][i] change places with the first member, group after group, for which fewer pairs of members
// share a site. Whether there was one.
bool change_places(std::vector<Group>& groups, std::size_t g, std::size_t i,
                   const std::vector<int>& site_of) {
  int& mine = groups[g][i];
  const int shared = others_at_site(groups[g], i, mine, site_of);
  for (std::size_t k = 1; k < groups.size(); ++k) {
    Group& other = groups[(g + k) % groups.size()];
    for (std::size_t j = 0; j < other.size(); ++j) {
      const int before = shared + others_at_site(other, j, other[j], site_of);
      const int after =
          others_at_site(groups[g], i, other[j], site_of) + others_at_site(other, j, mine, site_of);
      if (after >= before) continue;
      std::swap(mine, other[j]);
      return true;
    }
  }
  return false;
}

std::vector<int> everyone(int replicas) {
  std::vector<int> all(as_index(replicas));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<std::vector<int>> site_groups(const OperationRule& rule, const PlanContext& context, int step) {
  if (static_cast<int>(context.site_of.size()) != context.replicas)
    throw std::logic_error("groups by sites without the site of every replica");
  const bool is_across = step / rule.every % rule.across_every == 0;
  if (rule.grouping == Grouping::kTwoLevel)
    return is_across ? std::vector<Group>{everyone(context.replicas)} : whole_sites(context.site_of);
  const auto draw = is_across ? groups_across_sites : groups_inside_sites;
  return draw(context.seed, context.site_of, rule.group_size, step);
}

// `step`: at which the operation is awaited.
std::vector<std::vector<int>> drawn_groups(const OperationRule& rule, const PlanContext& context, int step) {
  switch (rule.grouping) {
    case Grouping::kEveryone:
    case Grouping::kTargets:
      return {};
    case Grouping::kRandom:
      return random_groups(context.seed, context.replicas, rule.group_size, step);
    case Grouping::kSites:
    case Grouping::kTwoLevel:
      return site_groups(rule, context, step);
    case Grouping::kGrid:
      return grid_groups(context.replicas, rule.group_size, (step - rule.phase) / rule.every - 1);
    case Grouping::kConsecutive:
    case Grouping::kStrided:
      return fixed_groups(rule.grouping, context.replicas, rule.group_size);
  }
  throw std::logic_error("a grouping without groups");
}

std::vector<std::vector<int>> drawn_targets(const OperationRule& rule, const PlanContext& context, int step) {
  switch (rule.target_graph) {
    case TargetGraph::kOwn:
      return random_targets(context.seed, context.replicas, rule.group_size, step);
    case TargetGraph::kRing:
      return ring_targets(context.replicas);
    case TargetGraph::kCycles:
      return cycle_targets(context.seed, context.replicas, rule.group_size / 2, step);
  }
  throw std::logic_error("targets without a graph");
}

// Of a rule or a local step.
template <typename Recurring>
bool recurs_at(const Recurring& recurring, int step) {
  const bool is_in_range =
      step >= std::max(1, recurring.first_step) && (recurring.last_step == 0 || step <= recurring.last_step);
  return is_in_range && (step - recurring.phase) % recurring.every == 0 && step >= recurring.phase;
}

// Bytes from each replica to each other.
std::vector<std::int64_t> part_bytes(const OperationRule& rule, const PlanContext& context, int step) {
  std::vector<std::int64_t> parts =
      passed_columns(context.seed, rule.units, context.replicas, round_at(rule, step));
  for (std::int64_t& part : parts) {
    const std::int64_t columns = std::exchange(part, 0);
    for (const PayloadPart& tensor : rule.payload) part += encoded_bytes(tensor.codec, columns);
  }
  return parts;
}

Operation operation_of(const OperationRule& rule, const PlanContext& context, int step) {
  Operation operation;
  operation.rule = &rule;
  operation.post_step = step;
  operation.await_step = step + rule.overlap_steps;
  const int members = rule.group_size > 0 && !has_targets(rule.grouping) ? rule.group_size : context.replicas;
  operation.bytes = payload_bytes(rule, context.parameters, members);
  operation.groups = drawn_groups(rule, context, operation.await_step);
  if (has_targets(rule.grouping)) operation.targets = drawn_targets(rule, context, operation.await_step);
  operation.draw = mask_draw(context.seed, step, rule.stage);
  if (rule.kind == OperationKind::kAllToAll) operation.parts = part_bytes(rule, context, step);
  return operation;
}

}  // namespace

const std::vector<std::string>& all_reduce_collectives() {
  static const std::vector<std::string> names = {"ring",
                                                 "tree",
                                                 "leaf-tree",
                                                 "heap-tree",
                                                 "double-tree",
                                                 "halving-doubling",
                                                 "halving-doubling-far",
                                                 "recursive-doubling",
                                                 "direct",
                                                 "parameter-server",
                                                 "hierarchical"};
  return names;
}

bool has_targets(Grouping grouping) {
  return grouping == Grouping::kTargets;
}

int sitting_out(const OperationPlan& plan, int replicas) {
  int most = 0;
  for (const OperationRule& rule : plan.rules)
    if (rule.grouping == Grouping::kRandom || rule.grouping == Grouping::kSites)
      most = std::max(most, replicas % rule.group_size);
  return most;
}

int training_replicas(const OperationPlan& plan, int replicas) {
  return plan.takes_whole_batch ? 1 : replicas;
}

double whole_batch_steps(const OperationPlan& plan, const std::vector<double>& factors, int replicas) {
  if (!plan.is_as_fast_as_all) return replicas * (factors.empty() ? 1 : factors[0]);
  if (factors.empty()) return 1;
  double speed = 0;
  for (const double factor : factors) speed += 1 / factor;
  return replicas / speed;
}

bool timing_matters(const OperationPlan& plan) {
  return std::any_of(plan.rules.begin(), plan.rules.end(), [](const OperationRule& rule) {
    const bool goes_on = rule.kind == OperationKind::kMerge && rule.slack_steps != 0;
    return !rule.completion.is_all() || goes_on;
  });
}

bool throws_late_work_away(const OperationPlan& plan) {
  return std::any_of(plan.rules.begin(), plan.rules.end(),
                     [](const OperationRule& rule) { return rule.completion.fetches; });
}

bool has_merges(const OperationPlan& plan) {
  return std::any_of(plan.rules.begin(), plan.rules.end(),
                     [](const OperationRule& rule) { return rule.kind == OperationKind::kMerge; });
}

bool exchanges_gradients(const OperationPlan& plan) {
  return std::any_of(plan.rules.begin(), plan.rules.end(),
                     [](const OperationRule& rule) { return rule.before_optimizer; });
}

bool needs_sites(const OperationPlan& plan) {
  return std::any_of(plan.rules.begin(), plan.rules.end(), [](const OperationRule& rule) {
    return rule.grouping == Grouping::kSites || rule.grouping == Grouping::kTwoLevel;
  });
}

Payload whole(const std::vector<std::string>& tensors, Wire wire) {
  Payload payload;
  for (const std::string& tensor : tensors) payload.push_back({tensor, {wire}});
  return payload;
}

double left_at_release(const OperationRule& rule, int bucket) {
  if (!rule.releases.empty()) return rule.releases[as_index(bucket)];
  return rule.overlap_backward * (rule.buckets - 1 - bucket) / rule.buckets;
}

std::vector<std::string> OperationRule::tensors() const {
  std::vector<std::string> names;
  for (const PayloadPart& part : payload) names.push_back(part.tensor);
  return names;
}

int rule_index(const OperationPlan& plan, const Operation& operation) {
  return static_cast<int>(operation.rule - plan.rules.data());
}

bool is_posted_at(const OperationRule& rule, int steps, int step) {
  return recurs_at(rule, step) && step + rule.overlap_steps <= steps;
}

bool is_taken_at(const LocalStep& local, int step) {
  return recurs_at(local, step);
}

void check_groups(const std::vector<std::vector<int>>& groups, int replicas) {
  std::vector<bool> seen(as_index(replicas));
  for (const auto& group : groups)
    for (const int replica : group) {
      if (replica < 0 || replica >= replicas || seen[as_index(replica)])
        throw InputError("groups", fmt::format("found replica {}", replica),
                         fmt::format("0 to {}, each at most once", replicas - 1));
      seen[as_index(replica)] = true;
    }
}

std::vector<std::vector<int>> groups_of(const Operation& operation, int replicas) {
  if (operation.groups.empty() && operation.rule->is_of_everyone()) return {everyone(replicas)};
  check_groups(operation.groups, replicas);
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

int operation_count(const OperationRule& rule) {
  return rule.sizes.empty() ? rule.buckets : static_cast<int>(rule.sizes.size());
}

std::vector<std::int64_t> bytes_of_operations(const Operation& operation) {
  const std::vector<std::int64_t>& sizes = operation.rule->sizes;
  std::vector<std::int64_t> bytes;
  if (sizes.empty()) {
    const std::int64_t buckets = operation.rule->buckets, each = operation.bytes / buckets;
    for (std::int64_t bucket = 0; bucket < buckets; ++bucket)
      bytes.push_back(each + (bucket >= buckets - operation.bytes % buckets));
    return bytes;
  }
  const Wide all = std::accumulate(sizes.begin(), sizes.end(), Wide{0});
  Wide size = 0;
  std::int64_t begin = 0;
  for (const std::int64_t one : sizes) {
    size += one;
    const auto end = static_cast<std::int64_t>(size * operation.bytes / all);
    bytes.push_back(end - begin);
    begin = end;
  }
  return bytes;
}

std::map<std::int64_t, int> operations_by_bytes(const Operation& operation) {
  std::map<std::int64_t, int> counts;
  for (const std::int64_t bytes : bytes_of_operations(operation)) ++counts[bytes];
  return counts;
}

std::int64_t answer_bytes(const OperationRule& rule, std::int64_t parameters) {
  std::int64_t bytes = 0;
  for (const PayloadPart& part : rule.answer)
    bytes += encoded_bytes(part.codec, column_count(part.columns, parameters));
  return bytes;
}

int next_post_step(const OperationRule& rule, int steps, int from) {
  const std::int64_t least = std::max({1, rule.first_step, rule.phase, from});
  const std::int64_t rounds = (least - rule.phase + rule.every - 1) / rule.every;
  const std::int64_t next = rule.phase + rounds * rule.every;
  return next <= steps && is_posted_at(rule, steps, static_cast<int>(next)) ? static_cast<int>(next) : 0;
}

int last_post_step(const OperationRule& rule, int steps) {
  int last = steps - rule.overlap_steps;
  if (rule.last_step > 0) last = std::min(last, rule.last_step);
  if (last < rule.phase) return 0;
  last -= (last - rule.phase) % rule.every;
  return is_posted_at(rule, steps, last) ? last : 0;
}

int round_at(const OperationRule& rule, int step) {
  return (step - rule.phase) / rule.every;
}

std::int64_t contributed_columns(const OperationRule& rule, const PayloadPart& part, std::int64_t parameters,
                                 int members) {
  if (rule.kind == OperationKind::kAllToAll) return most_owned_columns(rule.units, members);
  const std::int64_t columns = column_count(part.columns, parameters);
  return rule.sharded ? (columns + members - 1) / members : columns;
}

std::int64_t payload_bytes(const OperationRule& rule, std::int64_t parameters, int members) {
  std::int64_t bytes = 0;
  for (const PayloadPart& part : rule.payload)
    bytes += encoded_bytes(part.codec, contributed_columns(rule, part, parameters, members));
  return bytes;
}

std::vector<std::vector<int>> random_groups(std::uint64_t seed, int replicas, int group_size, int step) {
  RandomStream stream(seed, Purpose::kGroups, 0, static_cast<std::uint32_t>(step));
  const std::vector<int> order = random_permutation(replicas, stream);
  const int count = replicas / group_size;
  std::vector<std::vector<int>> groups(as_index(count));
  for (int i = 0; i < count * group_size; ++i) groups[as_index(i % count)].push_back(order[as_index(i)]);
  for (int i = count * group_size; i < replicas; ++i) groups.push_back({order[as_index(i)]});
  return groups;
}

std::vector<std::vector<int>> groups_inside_sites(std::uint64_t seed, const std::vector<int>& site_of,
                                                  int group_size, int step) {
  RandomStream stream(seed, Purpose::kGroups, 0, static_cast<std::uint32_t>(step));
  const std::vector<int> order = random_permutation(static_cast<int>(site_of.size()), stream);
  std::map<int, int> places_left;  // of a site, in whole groups
  for (const int site : site_of) ++places_left[site];
  for (auto& [site, count] : places_left) count -= count % group_size;
  std::map<int, Group> open;  // by site
  std::vector<Group> groups;
  Group left_over;
  const auto add = [&](Group& group, int replica) {
    group.push_back(replica);
    if (static_cast<int>(group.size()) < group_size) return;
    groups.push_back(std::move(group));
    group.clear();
  };
  for (const int replica : order) {
    const int site = site_at(site_of, replica);
    add(places_left[site] > 0 ? open[site] : left_over, replica);
    --places_left[site];
  }
  for (const int replica : left_over) groups.push_back({replica});
  return groups;
}

std::vector<std::vector<int>> groups_across_sites(std::uint64_t seed, const std::vector<int>& site_of,
                                                  int group_size, int step) {
  std::vector<Group> groups = random_groups(seed, static_cast<int>(site_of.size()), group_size, step);
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (std::size_t i = 0; i < groups[g].size(); ++i)
        if (others_at_site(groups[g], i, groups[g][i], site_of) > 0)
          has_changed |= change_places(groups, g, i, site_of);
  }
  return groups;
}

std::vector<std::vector<int>> random_targets(std::uint64_t seed, int replicas, int count, int step) {
  std::vector<std::vector<int>> targets;
  for (int replica = 0; replica < replicas; ++replica) {
    RandomStream stream(seed, Purpose::kGroups, static_cast<std::uint32_t>(replica),
                        static_cast<std::uint32_t>(step));
    std::vector<int> others = random_permutation(replicas - 1, stream);
    others.resize(as_index(count));
    for (int& other : others) other += other >= replica;
    targets.push_back(std::move(others));
  }
  return targets;
}

std::uint64_t mask_draw(std::uint64_t seed, int step, int stage) {
  return RandomStream(seed, Purpose::kMasks, static_cast<std::uint32_t>(stage + 1),
                      static_cast<std::uint32_t>(step))
      .bits64();
}

std::vector<std::vector<int>> senders_of(const std::vector<std::vector<int>>& targets) {
  std::vector<std::vector<int>> senders(targets.size());
  for (std::size_t sender = 0; sender < targets.size(); ++sender)
    for (const int target : targets[sender]) senders[as_index(target)].push_back(static_cast<int>(sender));
  return senders;
}

std::vector<std::vector<int>> whole_sites(const std::vector<int>& site_of) {
  std::map<int, Group> by_site;
  for (std::size_t replica = 0; replica < site_of.size(); ++replica)
    by_site[site_of[replica]].push_back(static_cast<int>(replica));
  std::vector<Group> groups;
  for (auto& [site, group] : by_site)
    if (group.size() > 1) groups.push_back(std::move(group));
  return groups;
}

std::vector<std::vector<int>> fixed_groups(Grouping grouping, int replicas, int group_size) {
  const int count = replicas / group_size;
  const bool are_neighbours = grouping == Grouping::kConsecutive;
  std::vector<Group> groups(as_index(count));
  for (int group = 0; group < count; ++group)
    for (int place = 0; place < group_size; ++place)
      groups[as_index(group)].push_back(are_neighbours ? group * group_size + place : group + place * count);
  return groups;
}

int grid_dimensions(int replicas, int base) {
  int dimensions = 0;
  while (replicas > 1 && replicas % base == 0) replicas /= base, ++dimensions;
  return replicas == 1 ? dimensions : 0;
}

std::vector<std::vector<int>> grid_groups(int replicas, int base, int round) {
  const int dimensions = grid_dimensions(replicas, base);
  if (dimensions == 0) throw std::logic_error("a grid whose size is no power of its base");
  int stride = 1;  // between replicas that differ by one in this round's digit
  for (int digit = round % dimensions; digit > 0; --digit) stride *= base;
  std::vector<Group> groups;
  for (int first = 0; first < replicas; ++first) {
    if (first / stride % base != 0) continue;
    Group group;
    for (int k = 0; k < base; ++k) group.push_back(first + k * stride);
    groups.push_back(std::move(group));
  }
  return groups;
}

namespace {

template <typename Is>
bool is_any_codec(const OperationPlan& plan, const Is& is) {
  return std::any_of(plan.rules.begin(), plan.rules.end(), [&is](const OperationRule& rule) {
    return std::any_of(rule.payload.begin(), rule.payload.end(),
                       [&is](const PayloadPart& part) { return is(part.codec); });
  });
}

}  // namespace

bool feeds_back(const OperationPlan& plan, Feedback kind) {
  return is_any_codec(plan, [kind](const Codec& codec) { return codec.feedback == kind; });
}

bool has_servers(const OperationPlan& plan) {
  return is_any_codec(plan, [](const Codec& codec) { return codec.reduction == Reduction::kServers; });
}

std::vector<std::string> kept_rows(const OperationPlan& plan) {
  std::vector<std::string> rows = plan.keeps;
  const bool keeps_mean = feeds_back(plan, Feedback::kEf21);
  if (keeps_mean || feeds_back(plan, Feedback::kClassic)) rows.push_back(kErrorRow);
  if (keeps_mean) rows.push_back(kSentMeanRow);
  if (has_servers(plan)) rows.push_back(kServerErrorRow);
  return rows;
}

}  // namespace longhaul
