#include "core/plan/operations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/plan/program.h"
#include "tests/support/traces.h"
#include "core/plan/rule_json.h"

namespace longhaul::operations_test {

using Groups = std::vector<std::vector<int>>;

OperationPlan presend_plan() {
  OperationRule outer = rule_of("outer", "pair", 10);
  outer.grouping = Grouping::kRandom;
  outer.group_size = 2;
  OperationRule presend = outer;
  presend.name = "presend";
  presend.payload = whole({"phi"}, Wire::kBf16);
  presend.overlap_steps = 10;
  return {{presend, outer}};
}

const PlanContext kContext{1, 8, 35, 1000};

TEST(OperationPlan, BlockingFirstAndThePresendOneGoesToTheNextGroups) {
  const OperationPlan plan = presend_plan();
  const auto at_10 = operations_at(plan, kContext, 10);
  ASSERT_EQ(at_10.size(), 2u);
  EXPECT_EQ(at_10[0].rule->name, "outer");
  EXPECT_EQ(at_10[0].bytes, 2000);
  EXPECT_EQ(at_10[1].await_step, 20);
  EXPECT_EQ(at_10[1].groups, operations_at(plan, kContext, 20)[0].groups);
  EXPECT_EQ(operations_at(plan, kContext, 30).size(), 1u);  // step 40 never comes: nothing is sent ahead
}

TEST(OperationRule, IsPostedInItsPhaseAndInItsRangeOfSteps) {
  using Steps = std::vector<int>;
  const auto posting_steps = [](int phase, int overlap_steps, int first_step, int last_step) {
    OperationRule rule = rule_of("outer", "pair", 10);
    rule.phase = phase;
    rule.overlap_steps = overlap_steps;
    rule.first_step = first_step;
    rule.last_step = last_step;
    Steps found;
    for (int step = 0; step <= 30; ++step)
      if (is_posted_at(rule, 30, step)) found.push_back(step);
    return found;
  };
  EXPECT_EQ(posting_steps(5, 0, 1, 0), (Steps{5, 15, 25}));
  EXPECT_EQ(posting_steps(5, 6, 1, 0), (Steps{5, 15})) << "25 would be awaited after the end";
  EXPECT_EQ(posting_steps(5, 0, 6, 24), Steps{15});
  EXPECT_EQ(posting_steps(0, 0, 1, 0), (Steps{10, 20, 30}));
}

TEST(OperationPlan, WhatIsDueWasPostedItsOverlapEarlier) {
  OperationRule rule = rule_of("fragment", "ring", 4);
  rule.overlap_steps = 6;
  const OperationPlan plan{{rule}};
  const std::vector<Operation> due = operations_due(plan, kContext, 10);
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].post_step, 4);
  EXPECT_TRUE(operations_due(plan, kContext, 11).empty());
}

TEST(OperationPlan, BytesAreThoseOfItsColumnsAndCodecs) {
  OperationRule rule;
  rule.payload = {{"delta", {TopK{16, 3, Wire::kBf16}}, {{0, 20}, {50, 70}}}, {"phi", {Wire::kFp32}}};
  OperationPlan plan{{rule}};
  // 40 columns: two chunks of 16 with 3 values of 2 bytes and 3 places of 4 bits, and one of 8 with as much.
  EXPECT_EQ(operations_at(plan, {1, 4, 1, 100}, 1)[0].bytes, 3 * (3 * 2 + 2) + 400);
  plan.rules[0].sharded = true;  // a fourth each: one chunk of 10 of the 40 columns, 25 of the 100
  EXPECT_EQ(operations_at(plan, {1, 4, 1, 100}, 1)[0].bytes, 8 + 100);
}

using Kind = Instruction::Kind;

std::vector<Kind> kinds_of(const Program& program) {
  std::vector<Kind> kinds;
  for (const Instruction& instruction : program.instructions) kinds.push_back(instruction.kind);
  return kinds;
}

// A gradient in two buckets before the optimizer, an outer step at 4, a fragment that is under way 2 steps.
TEST(Program, IsTheOneWorkedOutByHand) {
  OperationRule gradient, outer, fragment;
  gradient.before_optimizer = true;
  gradient.overlap_backward = 0.5;
  gradient.buckets = 2;
  outer.every = 4;
  fragment.every = 2;
  fragment.overlap_steps = 2;
  const OperationPlan plan{{fragment, outer, gradient}};
  std::vector<Kind> kinds = {Kind::kCompute, Kind::kPost,  Kind::kCompute,
                             Kind::kPost,    Kind::kAwait, Kind::kOptimize};
  const Program at_3 = program_of_step(plan, 10, 3);
  EXPECT_EQ(kinds_of(at_3), kinds);
  EXPECT_EQ(at_3.instructions[0].left, 0.25);  // half of the backward pass, which is half of the step
  EXPECT_EQ(at_3.instructions[3].bucket, 1);
  EXPECT_EQ(at_3.waits_end, 6u);
  kinds.insert(kinds.end(), {Kind::kPost, Kind::kAwait, Kind::kAwait, Kind::kPost});
  const Program at_4 = program_of_step(plan, 10, 4);
  EXPECT_EQ(kinds_of(at_4), kinds);
  EXPECT_EQ(at_4.instructions[6].rule, 1);
  EXPECT_EQ(at_4.instructions[8].rule, 0);
  EXPECT_EQ(at_4.instructions[8].post_step, 2);
  EXPECT_EQ(at_4.waits_end, 9u) << "what is posted last is not waited for";
  const Program at_10 = program_of_step(plan, 10, 10);
  EXPECT_EQ(at_10.waits_end, at_10.instructions.size()) << "nothing is posted that would be awaited later";
}

// Two overlapped rules of H = 3 and a local step after the third: one posts what the replica has before it
// takes what is due, the other one after that.
TEST(Program, WhatIsPostedFirstGoesBeforeWhatIsDue) {
  OperationRule late;
  late.name = "late";
  late.every = late.overlap_steps = 3;
  OperationRule early = late;
  early.name = "early";
  early.posts_first = true;
  const OperationPlan plan{{late, early}, {{"first", 3, 0, 3, 3}}};
  using Expected = std::vector<std::tuple<Kind, int, int>>;
  const auto after_the_optimizer = [&plan](int step) {
    Expected found;
    for (const Instruction& instruction : program_of_step(plan, 9, step).instructions)
      found.push_back({instruction.kind, instruction.rule, instruction.post_step});
    EXPECT_EQ(found.at(0), std::tuple(Kind::kCompute, 0, 0));
    EXPECT_EQ(found.at(1), std::tuple(Kind::kOptimize, 0, 0));
    return Expected(found.begin() + 2, found.end());
  };
  EXPECT_EQ(after_the_optimizer(3),
            (Expected{{Kind::kPost, 1, 3}, {Kind::kLocal, 0, 3}, {Kind::kPost, 0, 3}}));
  EXPECT_EQ(after_the_optimizer(6),
            (Expected{{Kind::kPost, 1, 6}, {Kind::kAwait, 0, 3}, {Kind::kAwait, 1, 3}, {Kind::kPost, 0, 6}}));
  EXPECT_EQ(after_the_optimizer(9), (Expected{{Kind::kAwait, 0, 6}, {Kind::kAwait, 1, 6}}));
}

TEST(GridGroups, GoAlongOneDimensionAfterTheOther) {
  EXPECT_EQ(grid_groups(9, 3, 0), (Groups{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}}));
  EXPECT_EQ(grid_groups(9, 3, 1), (Groups{{0, 3, 6}, {1, 4, 7}, {2, 5, 8}}));
  EXPECT_EQ(grid_groups(9, 3, 2), grid_groups(9, 3, 0));
  EXPECT_EQ(grid_groups(8, 2, 2), (Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(grid_dimensions(1024, 2), 10);
  EXPECT_EQ(grid_dimensions(12, 2), 0);
  EXPECT_THROW(grid_groups(12, 2, 0), std::logic_error);
}

TEST(RandomTargets, AreOthersDrawnAnewAndByEachReplicaForItself) {
  for (const int replicas : {12, 5}) {  // of five each sends to all others
    const Groups targets = random_targets(3, replicas, 4, 50);
    ASSERT_EQ(targets.size(), as_index(replicas));
    for (int replica = 0; replica < replicas; ++replica) {
      const std::vector<int>& mine = targets[as_index(replica)];
      const std::set<int> different(mine.begin(), mine.end());
      EXPECT_EQ(different.size(), 4u);
      EXPECT_EQ(different.count(replica), 0u);
      EXPECT_TRUE(*different.begin() >= 0 && *different.rbegin() < replicas);
    }
  }
  const Groups targets = random_targets(3, 12, 4, 50);
  EXPECT_NE(targets, random_targets(3, 12, 4, 100));
  EXPECT_NE(targets, random_targets(4, 12, 4, 50));
  EXPECT_EQ(targets, random_targets(3, 12, 4, 50));
}

// How many hear a replica is fixed; by how many it is heard is binomial (n - 1, s / (n - 1)): of 20 replicas
// with 2 targets 18/19 of its mean, 2, is its variance.
TEST(RandomTargets, HearDifferentlyMany) {
  double squares = 0;
  constexpr int kSteps = 500;
  for (int step = 1; step <= kSteps; ++step)
    for (const auto& senders : senders_of(random_targets(7, 20, 2, step)))
      squares += std::pow(static_cast<double>(senders.size()) - 2, 2) / 20 / kSteps;
  EXPECT_NEAR(squares, 2. * 17 / 19, 0.1);
}

TEST(SendersOf, AreTheReverse) {
  EXPECT_EQ(senders_of({{2, 1}, {2}, {0}}), (Groups{{2}, {0}, {0, 1}}));
  EXPECT_TRUE(senders_of({}).empty());
}

TEST(Targets, AreOfEveryoneAndReadBackFromATrace) {
  OperationRule rule = rule_of("average", "send", 5, "weights");
  rule.kind = OperationKind::kSend;
  rule.grouping = Grouping::kTargets;
  rule.group_size = 3;
  const OperationPlan plan{{rule}};
  const Operation operation = operations_at(plan, kContext, 10).at(0);
  EXPECT_EQ(operation.targets, random_targets(1, 8, 3, 10));
  EXPECT_EQ(groups_of(operation, 8), (Groups{{0, 1, 2, 3, 4, 5, 6, 7}}));
  EXPECT_EQ(operation.bytes, 2000) << "whole rows";
  const std::string text = text_of(make_trace(plan, kContext));
  const Trace back = trace_from(text);
  EXPECT_EQ(back.plan.rules[0].kind, OperationKind::kSend);
  EXPECT_EQ(back.plan.rules[0].grouping, Grouping::kTargets);
  EXPECT_EQ(back.operations_at(10)[0].targets, operation.targets);
  const auto with = [&text](const std::string& targets) {
    return trace_from(text + R"({"rule":0,"step":5,"targets":)" + targets + "}\n");
  };
  for (const char* targets : {"[[1]]", "[[1],[2],[3],[4],[5],[6],[7],[8]]",
                              "[[1],[1],[3],[4],[5],[6],[7],[0]]", "[[1,1],[2],[3],[4],[5],[6],[7],[0]]"})
    EXPECT_THROW(with(targets), InputError) << targets;
  EXPECT_EQ(with("[[1],[2],[3],[4],[5],[6],[7],[]]").operations_at(5)[0].targets[7], std::vector<int>{});
}

TEST(Trace, ReadsBackWhoTakesTheWholeBatch) {
  OperationPlan plan;
  plan.takes_whole_batch = true;
  for (const bool is_as_fast_as_all : {false, true}) {
    plan.is_as_fast_as_all = is_as_fast_as_all;
    const Trace back = read_back(make_trace(plan, kContext));
    EXPECT_TRUE(back.plan.takes_whole_batch);
    EXPECT_EQ(back.plan.is_as_fast_as_all, is_as_fast_as_all);
    EXPECT_EQ(training_replicas(back.plan, 8), 1);
  }
  const std::string text = text_of(make_trace(presend_plan(), kContext));
  EXPECT_EQ(text.find("whole_batch"), std::string::npos);
  EXPECT_EQ(training_replicas(trace_from(text).plan, 8), 8);
}

TEST(WholeSites, LeaveASingleReplicaAlone) {
  EXPECT_EQ(whole_sites({0, 1, 0, 2, 1, 0}), (Groups{{0, 2, 5}, {1, 4}}));
  OperationRule rule = rule_of("outer", "ring", 5);
  rule.grouping = Grouping::kTwoLevel;
  rule.across_every = 2;
  const OperationPlan plan{{rule}};
  const PlanContext context{1, 3, 20, 10, {0, 1, 2}};
  EXPECT_EQ(groups_of(operations_at(plan, context, 5).at(0), 3), Groups{}) << "nobody to meet";
  EXPECT_EQ(groups_of(operations_at(plan, context, 10).at(0), 3), (Groups{{0, 1, 2}}));
}

// By definition: group k is π[k], π[k + ⌊N/n⌋], …, and the last N mod n of π sit out.
TEST(RandomGroups, LeaveOverTheLastOfThePermutation) {
  for (const auto& [replicas, size] : {std::pair{8, 2}, {5, 2}, {3, 2}, {12, 3}, {14, 4}, {5, 5}})
    for (const int step : {50, 100}) {
      RandomStream stream(7, Purpose::kGroups, 0, static_cast<std::uint32_t>(step));
      const std::vector<int> order = random_permutation(replicas, stream);
      const std::size_t count = as_index(replicas / size);
      Groups expected(count);
      for (std::size_t i = 0; i < order.size(); ++i)
        if (i < count * as_index(size))
          expected[i % count].push_back(order[i]);
        else
          expected.push_back({order[i]});
      EXPECT_EQ(random_groups(7, replicas, size, step), expected) << replicas << ", " << size;
      OperationRule rule;
      rule.grouping = Grouping::kRandom;
      rule.group_size = size;
      EXPECT_EQ(sitting_out({{rule}}, replicas), static_cast<int>(expected.size() - count));
    }
  EXPECT_EQ(sitting_out({{OperationRule()}}, 5), 0) << "everyone is one group";
}

// What version 1 drew where groups leave no replica over; recorded trainings depend on it.
TEST(RandomGroups, OfWholeGroupsAreThoseOfEarlierVersions) {
  EXPECT_EQ(random_groups(1, 8, 2, 50), (Groups{{7, 0}, {4, 5}, {3, 2}, {1, 6}}));
  EXPECT_EQ(random_groups(3, 12, 3, 50), (Groups{{11, 4, 3}, {0, 10, 2}, {5, 7, 8}, {1, 9, 6}}));
}

TEST(OperationPlan, BucketsAddUpToTheContribution) {
  OperationRule rule;
  rule.buckets = 4;
  Operation exchange;
  exchange.rule = &rule;
  for (const std::int64_t bytes : {1, 3, 8, 11}) {
    exchange.bytes = bytes;
    const std::vector<std::int64_t> parts = bytes_of_operations(exchange);
    ASSERT_EQ(parts.size(), 4u);
    EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}), bytes);
    EXPECT_EQ(parts[3], (bytes + 3) / 4) << "the last one is never empty";
  }
}

// 10 + 30 + 60 of 100 in 1000 bytes, and in 7: whole bytes up to 0.7, 2.8 and 7. Products of more than 64
// bits are exact.
TEST(OperationPlan, OperationsOfUnequalSizesAddUpToTheContribution) {
  OperationRule rule;
  rule.sizes = {10, 30, 60};
  Operation exchange;
  exchange.rule = &rule;
  exchange.bytes = 1000;
  EXPECT_EQ(operation_count(rule), 3);
  EXPECT_EQ(bytes_of_operations(exchange), (std::vector<std::int64_t>{100, 300, 600}));
  exchange.bytes = 7;
  EXPECT_EQ(bytes_of_operations(exchange), (std::vector<std::int64_t>{0, 2, 5}));
  constexpr std::int64_t kMuch = std::int64_t{1} << 40;
  rule.sizes = {kMuch, kMuch, kMuch};
  exchange.bytes = 3 * kMuch;
  EXPECT_EQ(operations_by_bytes(exchange), (std::map<std::int64_t, int>{{kMuch, 3}}));
}

// A rule as a trace has it, whose keys are in this order; those that may be missing follow.
OperationRule rule_with(const Json& patch) {
  Json json = Json::parse(R"({"name": "outer", "kind": "all-gather", "collective": "pair", "every": 10,
      "phase": 0, "first_step": 1, "last_step": 0, "before_optimizer": false, "grouping": "everyone",
      "group_size": 0, "sharded": false, "overlap_steps": 0, "overlap_backward": 0, "buckets": 1,
      "payload": [{"tensor": "delta", "codec": {"numbers": "bf16"}}]})");
  json.update(patch);
  const OperationRule rule = rule_from(json, kContext);
  EXPECT_EQ(to_json(rule), json);
  return rule;
}

TEST(RuleOfATrace, ComesFromItsKeysAndBecomesThem) {
  const OperationRule rule = rule_with(Json::parse(R"({"phase": 3, "first_step": 10, "last_step": 20,
      "before_optimizer": true, "grouping": "sites", "group_size": 2, "sharded": true, "overlap_steps": 5,
      "overlap_backward": 0.6666666666666666, "buckets": 2, "payload": [{"tensor": "phi",
      "codec": {"top_k": 5, "chunk": 64, "numbers": "fp16", "error_feedback": "classic"},
      "columns": [[0, 5], [7, 9]]}], "across_every": 4, "posts_first": true, "is_sent_ahead": true, "stage": 1, "releases": [0.5, 0], "sizes": [3, 1],
      "together": true})"));
  EXPECT_EQ(rule.name + " " + rule.collective, "outer pair");
  EXPECT_EQ(rule.kind, OperationKind::kAllGather);
  EXPECT_EQ(rule.grouping, Grouping::kSites);
  EXPECT_EQ(std::tuple(rule.every, rule.phase, rule.first_step, rule.last_step, rule.group_size,
                       rule.overlap_steps, rule.buckets, rule.across_every, rule.stage),
            std::tuple(10, 3, 10, 20, 2, 5, 2, 4, 1));
  EXPECT_TRUE(rule.before_optimizer && rule.sharded && rule.posts_first && rule.is_sent_ahead);
  EXPECT_EQ(rule.overlap_backward, 2. / 3);
  EXPECT_EQ(rule.releases, (std::vector<double>{0.5, 0}));
  EXPECT_EQ(rule.sizes, (std::vector<std::int64_t>{3, 1}));
  EXPECT_TRUE(rule.together);
  ASSERT_EQ(rule.payload.size(), 1u);
  EXPECT_EQ(rule.payload[0].tensor, "phi");
  EXPECT_EQ(std::get<TopK>(rule.payload[0].codec.format), (TopK{64, 5, Wire::kFp16}));
  EXPECT_EQ(rule.payload[0].codec.feedback, Feedback::kClassic);
  EXPECT_EQ(rule.payload[0].columns, (Columns{{0, 5}, {7, 9}}));
  const OperationRule plain = rule_with(Json::object());
  EXPECT_FALSE(plain.before_optimizer || plain.sharded || plain.posts_first || plain.is_sent_ahead);
  EXPECT_TRUE(plain.completion.is_all());
}

TEST(RuleOfATrace, HasWhatItsKindNeeds) {
  const OperationRule merge = rule_with(Json::parse(R"({"kind": "merge", "overlap_steps": 2,
      "completion": {"quorum": 3, "grace_s": 0.5}, "slack_steps": 1,
      "answer": [{"tensor": "phi", "codec": {"numbers": "fp32"}}]})"));
  EXPECT_EQ(merge.kind, OperationKind::kMerge);
  EXPECT_EQ(std::tuple(merge.slack_steps, merge.completion.quorum, merge.completion.grace_s),
            std::tuple(1, 3, 0.5));
  EXPECT_EQ(answer_bytes(merge, 100), 400);
  const OperationRule deal = rule_with(Json::parse(R"({"kind": "all-to-all",
      "units": [{"count": 13, "matrices": [[0, 8, 1, 0, 8], [200, 1, 8, 13, 1]]}]})"));
  EXPECT_EQ(deal.kind, OperationKind::kAllToAll);
  EXPECT_EQ(deal.units, (std::vector<HiddenUnits>{{13, {{0, 8, 1, 0, 8}, {200, 1, 8, 13, 1}}}}));
  Json adaptive = {{"mads", 2.5}, {"window", 32}, {"at_least_s", 0.25}};
  for (const double start_s : {std::numeric_limits<double>::infinity(), 12.5}) {
    if (std::isfinite(start_s)) adaptive["start_s"] = start_s;
    const OperationRule rule = rule_with({{"completion", {{"quorum", 1}, {"adaptive", adaptive}}}});
    EXPECT_EQ(rule.completion.quorum, 1);
    ASSERT_TRUE(rule.completion.adaptive);
    const AdaptiveGrace& grace = *rule.completion.adaptive;
    EXPECT_EQ(std::tuple(grace.mads, grace.window, grace.at_least_s, grace.start_s),
              std::tuple(2.5, 32, 0.25, start_s));
  }
}

TEST(Trace, ReadsBackWhatItWrote) {
  Trace trace = make_trace(presend_plan(), kContext);
  trace.evaluate_every = 5;
  trace.measured_s = {{0.5, 0.25, 1, 2, 3, 4, 5, 6}, {0.1, 1. / 3, 1, 2, 3, 4, 5, 6}};
  const Trace back = read_back(trace);
  EXPECT_EQ(back.groups, trace.groups);
  EXPECT_EQ(back.measured_s, trace.measured_s);
  EXPECT_EQ(back.evaluate_every, 5);
  EXPECT_EQ(back.context.parameters, 1000);
  ASSERT_EQ(back.operations_at(20).size(), 2u);
  EXPECT_EQ(back.operations_at(20)[1].groups, trace.operations_at(20)[1].groups);
  EXPECT_EQ(back.operations_at(20)[1].rule->name, "presend");
}

std::vector<int> sites(const std::vector<int>& counts) {
  std::vector<int> site_of;
  for (std::size_t site = 0; site < counts.size(); ++site)
    site_of.insert(site_of.end(), as_index(counts[site]), static_cast<int>(site));
  return site_of;
}

std::size_t sites_in(const std::vector<int>& group, const std::vector<int>& site_of) {
  std::set<int> met;
  for (const int replica : group) met.insert(site_of[as_index(replica)]);
  return met.size();
}

int groups_inside(const Groups& groups, const std::vector<int>& site_of) {
  return static_cast<int>(std::count_if(groups.begin(), groups.end(), [&](const std::vector<int>& group) {
    return sites_in(group, site_of) == 1;
  }));
}

// Each replica is in one group, all of them of one size; where one is left over, the last one is smaller.
void expect_partition(const Groups& groups, std::size_t replicas, std::size_t size) {
  std::vector<int> all, expected(replicas);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    all.insert(all.end(), groups[i].begin(), groups[i].end());
    EXPECT_EQ(groups[i].size(), std::min(size, replicas - i * size));
  }
  std::sort(all.begin(), all.end());
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(all, expected);
}

TEST(SiteGroups, AreInsideWhereSitesAreEvenAndDrawnAnew) {
  const std::vector<int> site_of = sites({4, 2, 6});
  for (int step = 10; step <= 100; step += 10) {
    const auto groups = groups_inside_sites(3, site_of, 2, step);
    expect_partition(groups, 12, 2);
    EXPECT_EQ(groups_inside(groups, site_of), 6);
  }
  EXPECT_NE(groups_inside_sites(3, site_of, 2, 10), groups_inside_sites(3, site_of, 2, 20));
  EXPECT_EQ(groups_inside_sites(3, site_of, 2, 10), groups_inside_sites(3, site_of, 2, 10));
}

// 3, 5, 1 and 3 replicas leave one over each: two pairs go across, 1 + 2 + 0 + 1 stay inside.
TEST(SiteGroups, WhatAnOddSiteLeavesOverGoesAcross) {
  const std::vector<int> site_of = sites({3, 5, 1, 3});
  std::set<int> left_over;
  for (int step = 1; step <= 60; ++step) {
    const auto groups = groups_inside_sites(1, site_of, 2, step);
    expect_partition(groups, 12, 2);
    EXPECT_EQ(groups_inside(groups, site_of), 4);
    for (const auto& group : groups)
      if (sites_in(group, site_of) == 2) left_over.insert(group.begin(), group.end());
  }
  EXPECT_EQ(left_over.size(), 12u) << "in turn each replica is the one that is left over";
}

// Of pairs. 3 and 4: inside the odd site one sits out, each in turn. 3, 3 and 5: of the three that are left
// over two meet across, and one sits out. 1, 2 and 2: the single replica sits out at each step that stays
// inside. At a step across, all pairs of 3 and 2 can be across where one of the three sits out.
TEST(SiteGroups, OneOfAnOddNumberSitsOut) {
  using Draw = decltype(&groups_inside_sites);
  const std::tuple<std::vector<int>, Draw, int, std::set<int>> cases[] = {
      {{3, 4}, groups_inside_sites, 3, {0, 1, 2}},
      {{3, 3, 5}, groups_inside_sites, 4, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
      {{1, 2, 2}, groups_inside_sites, 2, {0}},
      {{3, 2}, groups_across_sites, 0, {0, 1, 2}}};
  for (const auto& [counts, draw, pairs_inside, may_sit_out] : cases) {
    const std::vector<int> site_of = sites(counts);
    std::set<int> sat_out;
    for (int step = 1; step <= 200; ++step) {
      const auto groups = draw(1, site_of, 2, step);
      ASSERT_EQ(groups.back().size(), 1u);
      sat_out.insert(groups.back()[0]);
      EXPECT_EQ(groups_inside(groups, site_of), pairs_inside + 1) << "and the group of one";
      expect_partition(groups, site_of.size(), 2);
    }
    EXPECT_EQ(sat_out, may_sit_out);
  }
}

// No pair is inside where no site has more than half; groups of four have four sites where there are enough.
TEST(SiteGroups, GoAcrossAsManySitesAsTheyHaveMembers) {
  const std::pair<std::vector<int>, int> cases[] = {
      {{6, 6}, 2}, {{5, 4, 3}, 2}, {{1, 1, 2}, 2}, {{6, 1, 1, 1, 1, 2}, 2}, {{4, 4, 4, 4, 4}, 4}};
  for (const auto& [counts, size] : cases) {
    const std::vector<int> site_of = sites(counts);
    for (int step = 1; step <= 50; ++step) {
      const auto groups = groups_across_sites(5, site_of, size, step);
      expect_partition(groups, site_of.size(), as_index(size));
      for (const auto& group : groups) EXPECT_EQ(sites_in(group, site_of), group.size());
    }
  }
}

// 8 of 10 at one site: only two can meet somebody else.
TEST(SiteGroups, ALargeSitePairsItsSurplusInside) {
  const std::vector<int> site_of = sites({8, 1, 1});
  for (int step = 1; step <= 20; ++step)
    EXPECT_EQ(groups_inside(groups_across_sites(5, site_of, 2, step), site_of), 3);
}

// Outer steps 1, 2, 4, 5, 7 stay inside, 3 and 6 go across; φ goes ahead to the group of the next outer step.
// A trace has all of them.
TEST(SiteGroups, EveryThirdOuterStepGoesAcross) {
  const PlanContext context{1, 8, 70, 1000, sites({4, 4})};
  OperationPlan plan = presend_plan();
  for (OperationRule& rule : plan.rules) {
    rule.grouping = Grouping::kSites;
    rule.across_every = 3;
  }
  const Trace trace = read_back(make_trace(plan, context));
  EXPECT_EQ(trace.groups.size(), 7u + 6u);
  EXPECT_THROW(operations_at(trace.plan, PlanContext{1, 8, 70, 1000}, 10), std::logic_error) << "no sites";
  for (int outer = 1; outer <= 7; ++outer) {
    const auto exchanges = trace.operations_at(10 * outer);
    EXPECT_EQ(exchanges[0].groups, operations_at(trace.plan, context, 10 * outer)[0].groups);
    EXPECT_EQ(groups_inside(exchanges[0].groups, context.site_of), outer % 3 == 0 ? 0 : 4) << outer;
    if (outer == 7) continue;
    ASSERT_EQ(exchanges.size(), 2u);
    EXPECT_EQ(exchanges[1].groups, trace.operations_at(10 * outer + 10)[0].groups);
  }
}

}  // namespace longhaul::operations_test
