// Every row of the table of what cannot be had together: a case with both is refused, one with either is not.
#include "core/plan/combinations.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

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

void crash(Asked& asked) {
  Fault fault;
  fault.kind = "crash";
  fault.replicas = {1, 1};
  fault.absence = true;
  asked.config.faults = {fault};
}

void stages(Asked& asked) {
  asked.config.pipeline.stages = asked.plan.pipeline.stages = 2;
  asked.plan.pipeline.parts.resize(2);
}

void train(Asked& asked) {
  asked.config.train.emplace();
}

void learned(Asked& asked) {
  train(asked);
  stages(asked);
  asked.config.pipeline.boundary.learned.emplace();
}

void quorum(Asked& asked) {
  asked.plan.rules[0].before_optimizer = false;
  asked.plan.rules[0].completion = {2, 1, {}};
  asked.config.method.options["quorum"] = 2;
}

Change both(const Change& one, const Change& other) {
  return [one, other](Asked& asked) { one(asked), other(asked); };
}

void throughput(Asked& asked) {
  stages(asked);
  asked.config.pipeline.routing = asked.plan.pipeline.routing = MicrobatchRouting::kThroughput;
}

// In the order of the table: what makes a case have the feature, and what it cannot have beside.
const std::vector<std::pair<Change, Change>>& pairs() {
  const Change deal_out = [](Asked& asked) { asked.plan.rules[0].kind = OperationKind::kAllToAll; };
  const Change merges = [](Asked& asked) { asked.plan.rules[0].kind = OperationKind::kMerge; };
  const Change ef21 = [](Asked& asked) { asked.plan.rules[0].payload[0].codec.feedback = Feedback::kEf21; };
  const Change late = [](Asked& asked) { asked.plan.delays = {{1, {}}}; };
  const Change fetches = [](Asked& asked) { asked.plan.rules[0].completion = {2, 1, {}, true}; };
  const Change rebalances = [](Asked& asked) { asked.config.pipeline.rebalance_every = 5; };
  const Change outer = [](Asked& asked) { asked.plan.rules[0].before_optimizer = false; };
  const Change ranks = [](Asked& asked) { asked.executor.ranks = 2; };
  const Change card = [](Asked& asked) { asked.executor.is_on_card = true; };
  const Change dynamic = [](Asked& asked) { asked.config.method.options["dynamic_steps"] = true; };
  const Change random = [](Asked& asked) {
    train(asked), stages(asked);
    asked.config.pipeline.routing = asked.plan.pipeline.routing = MicrobatchRouting::kRandom;
  };
  const Change subspace = [](Asked& asked) {
    train(asked), stages(asked);
    asked.config.pipeline.boundary.subspace = 8;
  };
  const Change measured = [](Asked& asked) {
    asked.config.workload.step_time.kind = StepTime::Kind::kMeasured;
  };
  const Change python = [](Asked& asked) {
    train(asked);
    asked.config.method.options["python"] = Json::object();
  };
  static const std::vector<std::pair<Change, Change>> all = {
      {both(crash, [](Asked& asked) { asked.config.recovery.on_failure = RecoverySpec::OnFailure::kWait; }),
       stages},
      {both(crash, stages), throughput},
      {crash, fetches},
      {both(crash, train), ef21},
      {both(crash, train), late},
      {quorum, stages},
      {dynamic, stages},
      {merges, stages},
      {deal_out, stages},
      {both(throughput, rebalances), outer},
      {both(throughput, train), outer},
      {random, ranks},
      {subspace, card},
      {learned, [](Asked& asked) { asked.config.train.reset(); }},
      {learned, card},
      {learned,
       [](Asked& asked) {
         if (asked.config.train) asked.config.train->precision = Precision::kBf16;
       }},
      {learned, ranks},
      {learned, [](Asked& asked) { asked.plan.takes_whole_batch = true; }},
      {both(learned, [](Asked& asked) { asked.config.pipeline.stages = 1; }), quorum},
      {measured, quorum},
      {python, card},
      {python, ranks},
  };
  return all;
}

TEST(Combinations, EachRowRefusesBothAndNeitherAlone) {
  ASSERT_EQ(refused_combinations().size(), pairs().size());
  EXPECT_FALSE(Asked().is_refused());
  for (std::size_t i = 0; i < pairs().size(); ++i) {
    const auto& [feature, with] = pairs()[i];
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
  crash(asked), train(asked);
  asked.plan.rules[0].payload[0].codec.feedback = Feedback::kEf21;
  EXPECT_TRUE(asked.is_refused());
  asked.config.recovery.on_failure = RecoverySpec::OnFailure::kWait;
  EXPECT_FALSE(asked.is_refused());
}

TEST(Combinations, TheErrorNamesPathFoundAllowedAndWhy) {
  Asked asked;
  crash(asked), throughput(asked);
  const InputErrorParts parts = thrown_by([&] { check_combinations(asked.config, asked.plan); }).parts();
  EXPECT_EQ(parts.path, "faults[0].kind");
  EXPECT_EQ(parts.found, "found \"crash\" with micro-batches that take other paths than straight ones");
  EXPECT_EQ(parts.allowed, "routing \"straight\"");
  EXPECT_EQ(parts.hint, refused_combinations()[1].why);
}

}  // namespace longhaul::combinations_test
