// Traces of somebody else's: what cannot be is refused with its line and key, before anything divides by it,
// draws with it or makes room for it.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "tests/support/said.h"
#include "tests/support/traces.h"

namespace longhaul::hostile_trace_test {

Json header() {
  return Json::parse(R"({"longhaul_trace": 2, "seed": 1, "replicas": 4, "steps": 8, "parameters": 1000,
      "evaluate_every": 0, "rules": [{"name": "outer", "kind": "group-average", "collective": "pair",
      "every": 2, "grouping": "random", "group_size": 2,
      "payload": [{"tensor": "phi", "codec": {"numbers": "bf16"}}]}]})");
}

std::string groups_of(int step) {
  return Json({{"rule", 0}, {"step", step}, {"groups", {{0, 3}, {1, 2}}}}).dump() + "\n";
}

// Of a header, lines behind it and those of its groups where these are drawn.
std::string refusal(const Json& head, const std::string& lines = "") {
  const bool draws = head.dump().find("random") != std::string::npos;
  std::string text = head.dump() + "\n" + lines + (lines.empty() ? "" : "\n");
  for (const int step : {2, 4, 6, 8}) text += draws ? groups_of(step) : "";
  return said_by([&] { trace_from(text); });
}

std::string refusal_of_rule(const Json& patch) {
  Json head = header();
  head["rules"][0].update(patch);
  return refusal(head);
}

std::string refusal_of_header(const Json& patch) {
  Json head = header();
  head.update(patch);
  return refusal(head);
}

TEST(HostileTrace, NothingIsDividedByZero) {
  EXPECT_EQ(refusal_of_rule({{"every", 0}}), "t.jsonl: line 1, every: found 0; allowed: 1 to 1000000000");
  EXPECT_EQ(refusal_of_rule({{"group_size", 0}}), "t.jsonl: line 1, group_size: found 0; allowed: 2 to 4");
  EXPECT_EQ(refusal_of_rule({{"group_size", 5}}), "t.jsonl: line 1, group_size: found 5; allowed: 2 to 4");
  const auto of_groups = [](const char* grouping, int across_every, int size) {
    return refusal_of_rule({{"grouping", grouping}, {"across_every", across_every}, {"group_size", size}});
  };
  for (const char* everyone : {"everyone", "two-level"})  // where it counts who contributes
    EXPECT_SAYS(of_groups(everyone, 2, 1000000000), "group_size: found 1000000000; allowed: 0 to 4");
  for (const char* grouping : {"grid", "targets", "sites"})
    EXPECT_SAYS(of_groups(grouping, 1, 0), "line 1, group_size: found 0") << grouping;
  for (const char* grouping : {"two-level", "sites"})
    EXPECT_SAYS(refusal_of_rule({{"grouping", grouping}}), "line 1, across_every: found 0") << grouping;
  EXPECT_SAYS(refusal_of_rule({{"grouping", "grid"}, {"group_size", 3}}), "group_size: found 3")
      << "4 is no power of 3";
  EXPECT_SAYS(refusal_of_rule({{"buckets", 0}}), "buckets: found 0");
  EXPECT_SAYS(refusal_of_rule({{"sizes", {1, 0}}}), "sizes: found 0; allowed: 1 or more");
  EXPECT_SAYS(refusal_of_rule({{"sizes", {1, 2, 3}}, {"buckets", 2}}), "sizes: found 3 with 2 buckets");
  EXPECT_SAYS(refusal_of_rule({{"sizes", std::vector<int>(4097, 1)}}), "sizes: found 4097 with 1 buckets");
  EXPECT_SAYS(refusal_of_rule({{"overlap_steps", -1}}), "overlap_steps: found -1");
}

TEST(HostileTrace, NothingIsMadeRoomForThatNobodyReplays) {
  EXPECT_EQ(refusal_of_header({{"replicas", 1000000000}}),
            "t.jsonl: line 1, replicas: found 1000000000; allowed: 1 to 1048576");
  EXPECT_SAYS(refusal_of_header({{"replicas", 4294967300}}), "t.jsonl: line 1, replicas: found 4294967300");
  EXPECT_SAYS(refusal_of_header({{"steps", 0}}), "line 1, steps: found 0");
  EXPECT_SAYS(refusal_of_header({{"parameters", std::int64_t{1} << 60}}), "line 1, parameters: found");
  EXPECT_SAYS(refusal_of_header({{"sites", {0, 1}}}), "line 1, sites: found 2") << "of two of four replicas";
  EXPECT_SAYS(refusal_of_header({{"replicas", 1 << 20}, {"parameters", 1000000000000000}}),
              "payload: found 2e+15 bytes among 1048576 replicas");
}

TEST(HostileTrace, GroupsNameReplicasThatThereAreAndAStepAtWhichTheyMeet) {
  const auto of_groups = [](std::int64_t rule, int step, const char* groups) {
    return refusal(header(), fmt::format(R"({{"rule":{},"step":{},"groups":{}}})", rule, step, groups));
  };
  EXPECT_EQ(of_groups(0, 2, "[[0,3],[1,2]]"), "");
  EXPECT_EQ(of_groups(0, 2, "[[0,100000]]"),
            "t.jsonl: line 2, groups: found replica 100000; allowed: 0 to 3, each at most once");
  for (const char* groups : {"[[0,-1]]", "[[0,1],[1,2]]"})
    EXPECT_SAYS(of_groups(0, 2, groups), "line 2, groups: found replica") << groups;
  EXPECT_SAYS(of_groups(4294967296, 2, "[]"), "t.jsonl: line 2, rule: found 429496729");
  EXPECT_EQ(of_groups(0, 9, "[]"), "t.jsonl: line 2, step: found 9; allowed: 1 to 8");
  EXPECT_SAYS(of_groups(0, 3, "[[0,3],[1,2]]"),
              "t.jsonl: line 2, step: found 3, after which outer is not posted");
}

TEST(HostileTrace, ColumnsFollowEachOtherInsideTheModel) {
  const auto of_columns = [](const char* columns) {
    Json payload = header()["rules"][0]["payload"];
    payload[0]["columns"] = Json::parse(columns);
    return refusal_of_rule({{"payload", payload}});
  };
  EXPECT_EQ(of_columns("[[0,10],[20,1000]]"), "");
  for (const char* columns : {"[[0,1001]]", "[[10,20],[5,9]]", "[[0,10],[10,20]]", "[[7,7]]"})
    EXPECT_SAYS(of_columns(columns), "line 1, columns: found [") << columns;
}

TEST(HostileTrace, WhatDoesNotWaitForAllHasAQuorumAWindowAndAnOverlap) {
  EXPECT_SAYS(refusal_of_rule({{"completion", {{"quorum", 0}}}}), "line 1, completion: found");
  const Json adaptive = {{"mads", 2.5}, {"window", 0}};
  EXPECT_SAYS(refusal_of_rule({{"completion", {{"quorum", 1}, {"adaptive", adaptive}}}}),
              "line 1, adaptive: found");
  Json merge = {{"kind", "merge"}, {"grouping", "everyone"}, {"answer", header()["rules"][0]["payload"]}};
  EXPECT_SAYS(refusal_of_rule(merge), "line 1, kind: found \"merge\" of rule \"outer\"");
  merge["overlap_steps"] = 1;
  EXPECT_EQ(refusal_of_rule(merge), "");
}

TEST(HostileTrace, AnAllToAllHasUnits) {
  const auto of_units = [](const Json& units) {
    Json rule = header()["rules"][0];
    rule.update({{"kind", "all-to-all"}, {"grouping", "everyone"}, {"units", units}});
    return refusal_of_header({{"parameters", 1000000000000}, {"rules", {rule}}});
  };
  const auto family = [](int count) { return Json{{"count", count}, {"matrices", {{0, 8, 1, 0, 8}}}}; };
  EXPECT_EQ(of_units({family(13), family(13)}), "");
  EXPECT_SAYS(of_units({family(13), family(0)}), "line 1, units: found 0 units");
  EXPECT_SAYS(of_units({family(13), family(20000000)}), "found 20000013 together");
  EXPECT_SAYS(of_units(Json::array()), "line 1, units: this key is missing");
}

TEST(HostileTrace, TimesAreSecondsOfEachReplica) {
  const auto of_times = [](const std::string& times) {
    return refusal(header(), "{\"step\":1,\"compute_s\":[" + times + "]}");
  };
  EXPECT_EQ(of_times("1,2,3,4"), "");
  EXPECT_SAYS(of_times("1,2"), "line 2, compute_s: found 2 times");
  EXPECT_SAYS(of_times("1,2,3,-4"), "line 2, compute_s: found -4");
}

TEST(HostileTrace, DynamicStepsFitTheRounds) {
  const auto refusal_of = [](const Json& every, const Json& taken) {
    return refusal_of_header({{"dynamic_steps", {{"every", every}, {"taken", taken}}}});
  };
  EXPECT_EQ(refusal_of(2, {2, 1, 2, 2}), "");
  const std::tuple<int, Json, const char*> wrong[] = {
      {2, {2, 0, 2, 2}, "taken: found 0; allowed: 1 to 2"},
      {2, {2, 3, 2, 2}, "taken: found 3; allowed: 1 to 2"},
      {2, {2, 4294967297, 2, 2}, "taken: found 4294967297; allowed: 1 to 2"},
      {2, {2, 1, 2}, "taken: found those of 3 replicas; allowed: one for each of the 4 replicas"},
      {2, Json::array(), "taken: found those of 0 replicas"},
      {0, {1, 1, 1, 1}, "every: found 0; allowed: 1 to 1000000000"},
      {3, {1, 1, 1, 1}, "every: found 3 with a rule every 2 steps, phase 0;"}};
  for (const auto& [every, taken, words] : wrong)
    EXPECT_SAYS(refusal_of(every, taken), "t.jsonl: line 1, " + std::string(words));
  for (const Json& other : Json::parse(R"([3, {"taken": [1, 1, 1, 1]}, {"every": 2},
           {"every": 2.5, "taken": [1, 1, 1, 1]}, {"every": 2, "taken": [1, 1.5, 1, 1]},
           {"every": 2, "taken": 1}])"))
    EXPECT_NE(refusal_of_header({{"dynamic_steps", other}}), "") << other;
  Json head = header();
  head["dynamic_steps"] = {{"every", 2}, {"taken", {2, 1, 2, 2}}};
  head["rules"][0]["phase"] = 1;
  EXPECT_SAYS(refusal(head), "phase 1");
  head["rules"] = Json::array();
  head["whole_batch"] = "one";
  EXPECT_SAYS(refusal(head), "dynamic_steps: found beside");
}

TEST(HostileTrace, HasNoWordsOfTheJsonLibrary) {
  Json head = header();
  head.erase("seed");
  EXPECT_EQ(refusal(head),
            "t.jsonl: line 1, seed: this key is missing; allowed: a line of a trace (docs/formats.md)");
  EXPECT_EQ(refusal(header(), std::string(200, '[') + "\n"),
            "t.jsonl: line 2, column 101: found JSON nested 101 deep; allowed: at most 100");
  EXPECT_SAYS(refusal_of_rule({{"grouping", "pairs"}}),
              "grouping: found \"pairs\"; allowed: everyone, random, sites");
  for (const std::string& error : {refusal_of_rule({{"payload", 3}}), refusal_of_rule({{"name", Json()}}),
                                   refusal(3), said_by([] { trace_from(""); })})
    EXPECT_TRUE(error.find("json.exception") == std::string::npos && !error.empty()) << error;
}

// What is missing would be drawn from the seed, whatever the training did.
TEST(HostileTrace, HasALineForEachOperation) {
  const std::string head = header().dump() + "\n";
  EXPECT_EQ(
      said_by([&] { trace_from(head + groups_of(2) + groups_of(4) + groups_of(8)); }),
      "t.jsonl: groups: there is no line of rule 0 (\"outer\") and step 6; allowed: a line for each step "
      "after which the rule is posted; longhaul run writes them all");
  Json sending = header();
  sending["rules"][0].update(Json{{"grouping", "targets"}, {"group_size", 1}});
  EXPECT_SAYS(refusal(sending), "t.jsonl: targets: there is no line of rule 0 (\"outer\") and step 8");
}

}  // namespace longhaul::hostile_trace_test
