// What is exchanged among all replicas, and what among those that have the same part of the model.
#include <gtest/gtest.h>

#include "tests/support/said.h"
#include "tests/unit/methods/one_case.h"

namespace longhaul::shards_test {

using Groups = std::vector<std::vector<int>>;

Case case_of(const Json& parallelism, const Json& method = {{"name", "ddp"}}, Json workload = {}) {
  if (workload.is_null()) workload = {{"parameters", 1000}};
  workload["steps"] = 4;
  workload["tokens"] = 100;
  return one_case(
      {{"replicas", 8}, {"methods", {method}}, {"workload", workload}, {"parallelism", parallelism}});
}

Json experts(Json more = {}) {
  Json json = {
      {"group_size", 4}, {"layers", 2}, {"experts", {{"per_token", 2}, {"hidden", 10}, {"parameters", 800}}}};
  if (!more.is_null()) json.update(more, true);
  return json;
}

std::vector<Operation> operations_of(const Case& config, OperationPlan& plan) {
  plan = plan_of(config);
  return operations_at(plan, plan_context(config), 1);
}

// 800 of 1000 parameters are experts: all have 200, a replica of a group of four has 200 of the others, as
// its peer of the other group has.
TEST(Shards, ExpertsAreExchangedByTheirPeers) {
  OperationPlan plan;
  const std::vector<Operation> operations = operations_of(case_of(experts()), plan);
  ASSERT_EQ(operations.size(), 2u);
  EXPECT_EQ(operations[0].rule->name, "gradient");
  EXPECT_EQ(operations[0].bytes, 200 * 2);
  EXPECT_TRUE(operations[0].groups.empty()) << "everyone";
  EXPECT_EQ(operations[1].rule->name, "gradient.shard");
  EXPECT_EQ(operations[1].bytes, 200 * 2);
  EXPECT_EQ(operations[1].groups, (Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
}

TEST(Shards, PeersOfStridedGroupsAreNeighbours) {
  OperationPlan plan;
  const std::vector<Operation> operations =
      operations_of(case_of(experts({{"groups", "strided"}, {"group_size", 2}})), plan);
  EXPECT_EQ(operations.at(1).bytes, 400 * 2);
  EXPECT_EQ(operations.at(1).groups, (Groups{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(fixed_groups(plan.step_graph.grouping, 8, 2), (Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
}

// One group has no peers: nobody else has the same experts, or the same shard.
TEST(Shards, AGroupOfAllHasNoPeers) {
  OperationPlan plan;
  EXPECT_EQ(operations_of(case_of(experts({{"group_size", 8}})), plan).size(), 1u);
  EXPECT_TRUE(
      operations_of(case_of({{"group_size", 8}, {"layers", 2}, {"sharding", Json::object()}}), plan).empty());
}

// Hybrid sharding: an outer step of 1/4 of the model, among pairs.
TEST(Shards, OuterStepsCarryAShard) {
  OperationPlan plan;
  const Case config = case_of({{"group_size", 4}, {"layers", 2}, {"sharding", Json::object()}},
                              {{"name", "diloco"}, {"inner_steps", 1}});
  const std::vector<Operation> operations = operations_of(config, plan);
  ASSERT_EQ(operations.size(), 1u);
  EXPECT_EQ(operations[0].rule->name, "outer.shard");
  EXPECT_EQ(operations[0].bytes, 250 * 2);
}

// Mixtral-like: experts in each layer but the first, 4 of 3 · 8 · 16 weights; embedding and attention are
// common.
TEST(Shards, AModelSaysWhichParametersAreExperts) {
  const Json model = {{"hidden", 8},
                      {"layers", 3},
                      {"heads", 2},
                      {"ffn", 32},
                      {"context", 10},
                      {"vocabulary", 32},
                      {"experts", {{"count", 4}, {"per_token", 2}, {"ffn", 16}, {"dense_layers", 1}}}};
  OperationPlan plan;
  const Case config =
      case_of({{"group_size", 4}, {"experts", Json::object()}}, {{"name", "ddp"}}, {{"model", model}});
  const std::vector<Operation> operations = operations_of(config, plan);
  const std::int64_t routed = 2 * 4 * 3 * 8 * 16;
  EXPECT_EQ(operations.at(0).bytes, 2 * (config.workload.parameters - routed));
  EXPECT_EQ(operations.at(1).bytes, 2 * routed / 4);
  // Two layers, two passes: each 100 tokens, two experts, eight numbers of two bytes.
  using Sizes = std::map<std::pair<int, std::int64_t>, int>;
  EXPECT_EQ(plan.step_graph.sizes(), (Sizes{{{0, 3200}, 4}, {{1, 3200}, 4}}));
}

TEST(Shards, WhatCannotBeCutIsRefused) {
  for (const Json& method : {Json{{"name", "noloco"}, {"inner_steps", 1}}, Json{{"name", "fsdp"}},
                             Json{{"name", "streaming-diloco"}, {"inner_steps", 2}, {"fragments", 2}},
                             Json{{"name", "diloco"}, {"inner_steps", 2}, {"codec", "int4"}}})
    EXPECT_EQ(refused_path([&] { plan_of(case_of(experts(), method)); }), "parallelism") << method.dump();
  const auto path_of = [](const Json& parallelism) {
    return refused_path([&] { plan_of(case_of(parallelism)); });
  };
  EXPECT_EQ(path_of(experts({{"group_size", 3}})), "parallelism.group_size");
  EXPECT_EQ(path_of({{"group_size", 4}, {"experts", {{"per_token", 2}, {"hidden", 1}, {"parameters", 8}}}}),
            "parallelism.layers");
  EXPECT_EQ(path_of({{"group_size", 4}, {"layers", 1}, {"experts", {{"hidden", 1}, {"parameters", 8}}}}),
            "parallelism.experts.per_token");
  EXPECT_EQ(path_of({{"group_size", 4}, {"layers", 1}, {"experts", {{"per_token", 2}, {"parameters", 8}}}}),
            "parallelism.experts.hidden");
  EXPECT_EQ(path_of({{"group_size", 4}, {"layers", 1}, {"experts", {{"per_token", 2}, {"hidden", 1}}}}),
            "parallelism.experts.parameters");
  EXPECT_EQ(path_of(experts({{"experts", {{"parameters", 2000}}}})), "parallelism.experts.parameters");
  EXPECT_EQ(path_of(experts({{"microbatches", 3}})), "parallelism.microbatches");
}

}  // namespace longhaul::shards_test
