// Every row of the table of what cannot be had together: a case with both is refused, one with either is not.
#include "core/plan/combinations.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/support/faults.h"
#include "tests/support/said.h"

namespace longhaul::combinations_test {

struct Asked {
  Case config;
  OperationPlan plan;
  Executor executor;

  Asked() {
    config.replicas = 4;
    config.method = {"ddp", "ddp", {{"name", "ddp"}}};
    plan.rules.resize(1);
    plan.rules[0].before_optimizer = true;
    plan.rules[0].payload.resize(1);
  }
  bool is_refused() const {
    return !said_by([&] { check_combinations(config, plan, executor); }).empty();
  }
};

using Change = std::function<void(Asked&)>;

Change both(const Change& one, const Change& other) {
  return [one, other](Asked& asked) { one(asked), other(asked); };
}

const Change kCrash = [](Asked& a) { a.config.faults = {absence_fault(0, {1, 1}, {})}; };
const Change kTrain = [](Asked& a) { a.config.train.emplace(); };
const Change kWaits = [](Asked& a) { a.config.recovery.on_failure = RecoverySpec::OnFailure::kWait; };
const Change kEf21 = [](Asked& a) { a.plan.rules[0].payload[0].codec.feedback = Feedback::kEf21; };
const Change kStages = [](Asked& a) {
  a.config.pipeline.stages = a.plan.pipeline.stages = 2;
  a.plan.pipeline.parts.resize(2);
};

Change routing(MicrobatchRouting way) {
  return both(kStages, [way](Asked& a) { a.config.pipeline.routing = a.plan.pipeline.routing = way; });
}

Change option(const char* name, const Json& value) {
  return [name, value](Asked& a) { a.config.method.options[name] = value; };
}

// In the order of the table: what makes a case have the feature, and what it cannot have beside.
std::vector<std::pair<Change, Change>> pairs() {
  const auto with_stages = [](const Change& boundary) { return both(both(kTrain, kStages), boundary); };
  const Change deal_out = [](Asked& a) { a.plan.rules[0].kind = OperationKind::kAllToAll; };
  const Change merges = [](Asked& a) { a.plan.rules[0].kind = OperationKind::kMerge; };
  const Change fetches = [](Asked& a) { a.plan.rules[0].completion = {2, 1, {}, true}; };
  const Change outer = [](Asked& a) { a.plan.rules[0].before_optimizer = false; };
  const Change some = [](Asked& a) { a.plan.rules[0].completion = {2, 1, {}}; };
  const Change late = [](Asked& a) { a.plan.delays = {{1, {}}}; };
  const Change rebalances = [](Asked& a) { a.config.pipeline.rebalance_every = 5; };
  const Change ranks = [](Asked& a) { a.executor.ranks = 2; };
  const Change card = [](Asked& a) { a.executor.is_on_card = true; };
  const Change measured = [](Asked& a) { a.config.workload.step_time.kind = StepTime::Kind::kMeasured; };
  const Change bf16 = [](Asked& a) {
    if (a.config.train) a.config.train->precision = Precision::kBf16;
  };
  const Change subspace = with_stages([](Asked& a) { a.config.pipeline.boundary.subspace = 8; });
  const Change learned = with_stages([](Asked& a) { a.config.pipeline.boundary.learned.emplace(); });
  const Change quorum = both(both(outer, some), option("quorum", 2));
  const Change random = both(kTrain, routing(MicrobatchRouting::kRandom));
  const Change throughput = routing(MicrobatchRouting::kThroughput);
  const Change talks = [](Asked& a) { a.config.parallelism.group_size = 2; };
  const Change optimized = [](Asked& a) {
    a.config.network.rank_order.kind = RankOrderSpec::Kind::kOptimized;
  };
  const Change draws = [](Asked& a) {
    a.config.network.message_time = MessageTimeSpec{1, 0.5};
    a.plan.step_graph.tasks.resize(4097);
  };
  const Change dynamic = [](Asked& a) {
    a.plan.dynamic_steps.every = 4, a.plan.dynamic_steps.taken = {4, 4, 4, 2};
  };
  const Change python = both(kTrain, option("python", Json::object()));
  const Change rollouts = [](Asked& a) { a.config.rollouts.emplace(); };
  const Change whole_batch = [](Asked& a) { a.plan.takes_whole_batch = true; };
  return {{both(kCrash, kWaits), kStages},
          {both(kCrash, kStages), throughput},
          {kCrash, fetches},
          {both(kCrash, kTrain), kEf21},
          {both(kCrash, kTrain), late},
          {quorum, kStages},
          {option("dynamic_steps", true), kStages},
          {merges, kStages},
          {both(kTrain, [](Asked& a) { a.config.train->changed_values_every = 1; }), merges},
          {deal_out, kStages},
          {both(throughput, rebalances), outer},
          {both(throughput, kTrain), outer},
          {random, ranks},
          {subspace, card},
          {learned, [](Asked& a) { a.config.train.reset(); }},
          {learned, card},
          {learned, bf16},
          {learned, ranks},
          {learned, whole_batch},
          {both(learned, [](Asked& a) { a.config.pipeline.stages = 1; }), quorum},
          {talks, kTrain},
          {talks, kStages},
          {talks, kCrash},
          {talks, optimized},
          {talks, whole_batch},
          {talks, draws},
          {talks, dynamic},
          {measured, quorum},
          {python, card},
          {python, ranks},
          {rollouts, kTrain},
          {rollouts, kCrash},
          {rollouts, optimized},
          {rollouts, [](Asked& a) { a.config.network.fidelity = "analytic"; }},
          {rollouts,
           [](Asked& a) {
             a.config.network.message_time = MessageTimeSpec{1, 0};
           }},
          {rollouts, whole_batch}};
}

TEST(Combinations, EachRowRefusesBothAndNeitherAlone) {
  const auto all = pairs();
  ASSERT_EQ(refused_combinations().size(), all.size());
  EXPECT_FALSE(Asked().is_refused());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [feature, with] = all[i];
    const RefusedCombination& row = refused_combinations()[i];
    Asked together, one, other;
    feature(together), with(together);
    feature(one);
    with(other);
    const auto found = row.find(together.config, together.plan, together.executor);
    ASSERT_TRUE(found) << row.feature << " with " << row.with;
    EXPECT_FALSE(found->path.empty() || found->found.empty() || found->allowed.empty()) << row.feature;
    EXPECT_TRUE(together.is_refused());
    EXPECT_FALSE(one.is_refused()) << row.feature << " alone (beside " << row.with << ")";
    EXPECT_FALSE(other.is_refused()) << row.with << " alone (beside " << row.feature << ")";
  }
}

// Losses are then those without crashes.
TEST(Combinations, WhereAllWaitATrainingMayKeepWhatHoldsForTheSameMembers) {
  Asked asked;
  both(both(kCrash, kTrain), kEf21)(asked);
  EXPECT_TRUE(asked.is_refused());
  kWaits(asked);
  EXPECT_FALSE(asked.is_refused());
}

TEST(Combinations, TheErrorNamesPathFoundAllowedAndWhy) {
  Asked asked;
  both(kCrash, routing(MicrobatchRouting::kThroughput))(asked);
  const InputErrorParts parts = thrown_by([&] { check_combinations(asked.config, asked.plan); }).parts();
  EXPECT_EQ(parts.path, "faults[0].kind");
  EXPECT_EQ(parts.found, "found \"crash\" with micro-batches that take other paths than straight ones");
  EXPECT_EQ(parts.allowed, "routing \"straight\"");
  EXPECT_EQ(parts.hint, refused_combinations()[1].why);
}

}  // namespace longhaul::combinations_test
