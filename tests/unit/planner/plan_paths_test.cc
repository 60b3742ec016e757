// Mistakes that only a candidate's scenario shows are said of keys that the plan file has.
#include "planner/plan_paths.h"

#include <gtest/gtest.h>

#include "planner/candidates.h"
#include "planner/plan_request.h"
#include "planner/search.h"
#include "tests/support/said.h"
#include "tests/unit/planner/in_process.h"

namespace longhaul::plan_paths_test {

// What the search of a changed star says where no candidate is left.
InputErrorParts refused(const Json& change) {
  return refused_parts([&] { planned(star(change)); });
}

TEST(PlanPaths, NodesAreNoReplicas) {
  Json change =
      Json::parse(R"({"candidates": {"methods": ["diloco", {"name": "noloco", "group_size": 9}]}})");
  change["candidates"]["methods"].erase(0);
  const InputErrorParts parts = refused(change);
  EXPECT_EQ(parts.path, "nodes");
  EXPECT_SAYS(parts.found, "found 4 with groups of 9");
  EXPECT_SAYS(parts.allowed + parts.hint, "candidates.methods[0].group_size");
  change["network"] = nullptr;
  change["nodes"] = nullptr;
  change["sites"] = Json::parse(R"([{"name": "a", "nodes": 2, "latitude": 50, "longitude": 3},
                                    {"name": "b", "nodes": 2, "latitude": 60, "longitude": 3}])");
  EXPECT_EQ(refused(change).path, "sites[].nodes");
}

TEST(PlanPaths, AnAxisOrTheMethodsOwnKey) {
  // 400,000 tokens of 4 · 100 a step are 1000 steps.
  const auto path = [](const char* methods, const char* more = R"({})") {
    Json change = {{"candidates", Json::parse(more)}};
    change["candidates"]["methods"] = Json::parse(methods);
    return refused(change).path;
  };
  EXPECT_EQ(path(R"(["diloco"])", R"({"inner_steps": [1001]})"), "candidates.inner_steps");
  EXPECT_EQ(path(R"([{"name": "diloco", "inner_steps": 1001}])"), "candidates.methods[0].inner_steps");
}

// A method by its name alone has no key "name".
TEST(PlanPaths, PathsByHand) {
  const auto path = [](const Json& change, const char* of_scenario) {
    const PlanFolder folder;
    const PlanRequest plan = plan_of_json(folder, star(change));
    const std::vector<Candidate> all = candidates_of(plan, network_in(folder, plan), {{"noloco", 400000}});
    return path_in_plan(of_scenario, plan, all.at(0));
  };
  const Json by_name = {{"candidates", {{"methods", {"diloco", "noloco"}}}}};
  EXPECT_EQ(path(by_name, "methods[0].name"), "candidates.methods[1]");
  EXPECT_EQ(path(by_name, "method.alpha"), "candidates.methods[1].alpha");
  EXPECT_EQ(path({{"candidates", {{"methods", {Json{{"name", "noloco"}}}}}}}, "methods[0].name"),
            "candidates.methods[0].name");
  EXPECT_EQ(path({{"candidates", {{"methods", nullptr}}}}, "methods[0].alpha"), "candidates.methods");
  for (const auto& [of_scenario, of_plan] : {std::pair("workload.wire", "candidates.wires"),
                                             {"workload.tokens", "tokens_per_step"},
                                             {"workload.steps", "tokens"},
                                             {"workload.step_time.constant", "step_time.constant"},
                                             {"network.rank_order", "candidates.rank_orders"},
                                             {"network.tcp.connections", "candidates.connections"},
                                             {"network.tcp.segment", "network.tcp.segment"},
                                             {"seed", "seed"},
                                             {"methods_of_ours", "methods_of_ours"}})
    EXPECT_EQ(path(by_name, of_scenario), of_plan);
}

// 362 million parameters have no layers to cut: the plan gives a model, no workload.
TEST(PlanPaths, WordsNameKeysOfThePlanToo) {
  const InputErrorParts parts = refused({{"candidates", {{"methods", {"streaming-diloco"}}}}});
  EXPECT_EQ(parts.path, "candidates.methods[0].fragments");
  EXPECT_EQ(parts.hint, "parameters says nothing of layers; or give model");
  EXPECT_EQ((parts.found + parts.allowed + parts.hint).find("workload"), std::string::npos);
}

// Two nodes a replica: 200 tokens. Of two replicas there is no group of three.
TEST(PlanPaths, StagesOfAReplica) {
  Json change = Json::parse(
      R"({"candidates": {"pipelines": [{"stages": 2, "microbatches": 3, "bytes_per_token": 8}]}})");
  EXPECT_EQ(refused(change).path, "candidates.pipelines[0].microbatches");
  change["candidates"]["pipelines"][0]["microbatches"] = 4;
  change["candidates"]["methods"] = Json::parse(R"([{"name": "noloco", "group_size": 3}])");
  const InputErrorParts parts = refused(change);
  EXPECT_EQ(parts.path, "nodes");
  EXPECT_SAYS(parts.found, "2 replicas: 4 nodes, 2 stages each");
}

// Of several methods the one that is left out is named by its place.
TEST(PlanPaths, NotesOfWhatIsLeftOut) {
  const SearchResult search =
      planned(star({{"candidates", {{"methods", {"diloco", "streaming-diloco"}}}}})).search;
  EXPECT_SAYS(join(search.notes),
              "streaming-diloco is left out: candidates.methods[1].fragments: found 0 without a model");
}

}  // namespace longhaul::plan_paths_test
