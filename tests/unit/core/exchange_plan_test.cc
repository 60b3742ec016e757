#include "core/exchange_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "core/errors.h"
#include "core/trace.h"

namespace longhaul {
namespace {

ExchangePlan presend_plan() {
  ExchangeRule outer;
  outer.name = "outer";
  outer.collective = "pair";
  outer.every = 10;
  outer.grouping = Grouping::kRandom;
  outer.group_size = 2;
  outer.tensors = {"delta"};
  ExchangeRule presend = outer;
  presend.name = "presend";
  presend.tensors = {"phi"};
  presend.overlap_steps = 10;
  return {{presend, outer}};
}

const PlanContext kContext{1, 8, 35, 1000, 2};

TEST(ExchangePlan, FirstAtStepHAndFloorOfTOverHTimes) {
  int outer = 0;
  const ExchangePlan plan = presend_plan();
  for (int step = 0; step <= 35; ++step)
    for (const Exchange& exchange : exchanges_at(plan, kContext, step)) {
      EXPECT_EQ(step % 10, 0);
      EXPECT_GT(step, 0);
      outer += exchange.rule->name == "outer";
    }
  EXPECT_EQ(outer, 3);
}

TEST(ExchangePlan, BlockingFirstAndThePresendOneGoesToTheNextGroups) {
  const ExchangePlan plan = presend_plan();
  const auto at_10 = exchanges_at(plan, kContext, 10);
  ASSERT_EQ(at_10.size(), 2u);
  EXPECT_EQ(at_10[0].rule->name, "outer");
  EXPECT_EQ(at_10[0].bytes, 2000);
  EXPECT_EQ(at_10[1].await_step, 20);
  EXPECT_EQ(at_10[1].groups, exchanges_at(plan, kContext, 20)[0].groups);
  EXPECT_EQ(exchanges_at(plan, kContext, 30).size(), 1u);  // step 40 never comes: nothing is sent ahead
}

TEST(RandomGroups, ArePartsOfAPermutationDrawnAnew) {
  const auto groups = random_groups(3, 12, 3, 50);
  ASSERT_EQ(groups.size(), 4u);
  std::vector<int> all;
  for (const auto& group : groups) {
    EXPECT_EQ(group.size(), 3u);
    all.insert(all.end(), group.begin(), group.end());
  }
  std::sort(all.begin(), all.end());
  for (int i = 0; i < 12; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], i);
  EXPECT_NE(groups, random_groups(3, 12, 3, 100));
  EXPECT_NE(groups, random_groups(4, 12, 3, 50));
  EXPECT_EQ(groups, random_groups(3, 12, 3, 50));
}

TEST(ExchangePlan, BucketsAddUpToTheContribution) {
  ExchangeRule rule;
  rule.buckets = 4;
  Exchange exchange;
  exchange.rule = &rule;
  for (const std::int64_t bytes : {1, 3, 8, 11}) {
    exchange.bytes = bytes;
    std::int64_t sum = 0;
    for (int bucket = 0; bucket < 4; ++bucket) sum += bucket_bytes(exchange, bucket);
    EXPECT_EQ(sum, bytes);
    EXPECT_EQ(bucket_bytes(exchange, 3), (bytes + 3) / 4) << "the last one is never empty";
  }
}

TEST(Trace, ReadsBackRulesThatOverlapAndShard) {
  ExchangePlan plan = presend_plan();
  plan.rules[1].overlap_backward = 2. / 3;
  plan.rules[1].buckets = 24;
  plan.rules[0].sharded = true;
  std::stringstream text;
  write_trace(make_trace(plan, kContext), text);
  const Trace back = read_trace(text, "trace");
  EXPECT_EQ(back.plan.rules[1].overlap_backward, 2. / 3);
  EXPECT_EQ(back.plan.rules[1].buckets, 24);
  EXPECT_FALSE(back.plan.rules[1].sharded);
  EXPECT_TRUE(back.plan.rules[0].sharded);
}

TEST(Trace, ReadsBackWhatItWrote) {
  Trace trace = make_trace(presend_plan(), kContext);
  trace.evaluate_every = 5;
  trace.measured_s = {{0.5, 0.25}, {0.1, 1. / 3}};
  std::stringstream text;
  write_trace(trace, text);
  const Trace back = read_trace(text, "trace");
  EXPECT_EQ(back.groups, trace.groups);
  EXPECT_EQ(back.measured_s, trace.measured_s);
  EXPECT_EQ(back.evaluate_every, 5);
  EXPECT_EQ(back.context.parameters, 1000);
  ASSERT_EQ(back.exchanges_at(20).size(), 2u);
  EXPECT_EQ(back.exchanges_at(20)[1].groups, trace.exchanges_at(20)[1].groups);
  EXPECT_EQ(back.exchanges_at(20)[1].rule->name, "presend");
}

TEST(Trace, AWrongLineIsNamed) {
  std::stringstream text;
  write_trace(make_trace(presend_plan(), kContext), text);
  text << "{\"rule\": 9, \"step\": 10, \"groups\": []}\n";
  try {
    read_trace(text, "t.jsonl");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("t.jsonl: line "), std::string::npos) << error.what();
  }
  std::stringstream empty;
  EXPECT_THROW(read_trace(empty, "t.jsonl"), InputError);
}

}  // namespace
}  // namespace longhaul
