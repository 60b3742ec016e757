// What every topology brings: options, checks, a graph, words; and what each one says of settings that it
// cannot carry.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "net/topologies/registry.h"
#include "tests/support/said.h"
#include "tests/unit/net/cases.h"

namespace longhaul::topology_kinds_test {

constexpr char kGraph[] = LONGHAUL_SOURCE_DIR "/tests/data/four-corners.graphml";

// A section as a scenario writes it, and its words in the report. A new topology needs an entry here.
struct Example {
  Json section;
  std::string words;
};

const Example& example_of(const std::string& name) {
  static const std::map<std::string, Example> all = {
      {"star",
       {{{"up", "20Mbps"}, {"down", "1Gbps"}, {"rtt", "50ms"}},
        "star of access links with 20Mbps up, 1Gbps down, round trip 50ms"}},
      {"mesh",
       {{{"rate", "1Gbps"}, {"rtt", "50ms"}},
        "mesh, every two replicas on a link of their own of 1Gbps, round trip 50ms"}},
      {"regions",
       {{{"matrix", "aws-2022"}, {"replicas", {{"oregon", 1}, {"london", 3}}}},
        "measured matrix aws-2022, replicas 1 in oregon, 3 in london, access links 10Gbps"}},
      {"homes",
       {Json::object(),
        "homes with log-normal access rates, up median 22.6Mbps, σ 1.65, down median 193.7Mbps, σ 0.55, "
        "round trip to the core 14ms"}},
      {"hierarchical",
       {{{"sites", 2},
         {"inside", {{"rate", "10Gbps"}, {"rtt", "1ms"}}},
         {"trunk", {{"rate", "1Gbps"}, {"rtt", "80ms"}}}},
        "2 sites with 10Gbps and 1ms inside, joined by links of 1Gbps, round trip between sites 80ms"}},
      {"graphml",
       {{{"file", kGraph}, {"replicas", "even"}, {"default_rate", "1Gbps"}},
        std::string("network of ") + kGraph + ", replicas spread evenly, access links 10Gbps"}}};
  return all.at(name);
}

// A case on this topology, its section resolved as in a scenario.
Case case_on(const std::string& name) {
  Case config = star_case(4, 0, 0);
  const Json& section = example_of(name).section;
  config.network.topology = {name,
                             resolve(topology_named(name).options, section, "network.topology." + name)};
  return config;
}

void expect_said(const Node& option, const std::string& path) {
  const std::string here = path + "." + option.key;
  EXPECT_FALSE(option.meaning.empty()) << here << " has no meaning";
  if (option.kind == NodeKind::kSection)
    for (const Node& child : option.children)
      if (child.key != "median" && child.key != "sigma") expect_said(child, here);
}

class EveryTopology : public testing::TestWithParam<std::string> {};

TEST_P(EveryTopology, HasOptionsWithMeaningsAndWordsForTheReport) {
  const TopologyKind& kind = topology_named(GetParam());
  EXPECT_EQ(kind.options.kind, NodeKind::kSection);
  EXPECT_FALSE(kind.options.children.empty());
  expect_said(kind.options, "network.topology");
  ASSERT_NE(kind.words, nullptr) << "the report has no words for " << GetParam();
  EXPECT_EQ(kind.words(case_on(GetParam()).network.topology.options), example_of(GetParam()).words);
  EXPECT_NO_THROW(kind.words(Json::object())) << "a scenario that lacks keys";
}

TEST_P(EveryTopology, IsCheckedAndBuilt) {
  const TopologyKind& kind = topology_named(GetParam());
  ASSERT_NE(kind.check, nullptr);
  ASSERT_NE(kind.build, nullptr);
  const Topology topology = build_topology(case_on(GetParam()));
  EXPECT_EQ(topology.replicas(), 4);
  EXPECT_EQ(topology.site_of().empty(), !kind.has_sites);
  for (int other = 1; other < 4; ++other) EXPECT_GT(topology.rtt_s(0, other), 0);
}

// Silence would let a user believe that an order without effect was tried.
TEST_P(EveryTopology, HasAnOrderOfRanksWhereItHasSites) {
  Case config = case_on(GetParam());
  config.network.rank_order.kind = RankOrderSpec::Kind::kRandom;
  if (topology_named(GetParam()).has_sites) {
    EXPECT_NO_THROW(check_topology(config));
    return;
  }
  const InputErrorParts error = thrown_by([&] { check_topology(config); }).parts();
  EXPECT_EQ(error.path, "network.rank_order");
  EXPECT_EQ(error.found, "found \"random\" on a topology without sites");
  EXPECT_EQ(error.allowed, "\"blocks\", or the topology regions, hierarchical or graphml");
  EXPECT_SAYS(error.hint, GetParam() == "homes" ? "drawn" : "alike");
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const TopologyKind& kind : topologies()) names.push_back(kind.name());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Topologies, EveryTopology, testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

TEST(Topologies, AnUnknownNameIsNamedWithTheNearestOne) {
  const InputErrorParts parts = refused_parts([&] { topology_named("regoins"); });
  EXPECT_EQ(parts.path, "network.topology");
  EXPECT_EQ(parts.hint, "did you mean \"regions\"?");
}

// Ookla's published means: 88.8 up and 225.5 down; a log-normal has median · exp(sigma² / 2).
TEST(Homes, ByDefaultAreThoseOfTheSpeedTests) {
  const Json homes = case_on("homes").network.topology.options;
  const auto mean = [&](const char* way) {
    const double sigma = homes[way]["sigma"];
    return parse_rate(homes[way]["median"]) * std::exp(sigma * sigma / 2);
  };
  EXPECT_DOUBLE_EQ(parse_rate(homes["up"]["median"]), 22.6e6);
  EXPECT_DOUBLE_EQ(parse_rate(homes["down"]["median"]), 193.7e6);
  EXPECT_NEAR(mean("up") / 88.8e6, 1, 0.01);
  EXPECT_NEAR(mean("down") / 225.5e6, 1, 0.01);
  EXPECT_DOUBLE_EQ(parse_duration(homes["rtt"]), 0.014);
}

}  // namespace longhaul::topology_kinds_test
