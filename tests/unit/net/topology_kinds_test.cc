// What every topology brings: options, checks, a graph, words; and what each one says of settings that it
// cannot carry. Files of networks: matrices of sites, and GraphML in the Zoo's form: what becomes of
// coordinates and speeds, and every way in which a file can be wrong. What a scenario may lack:
// tests/data/bad_scenarios.json.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "net/topologies/graph_map.h"
#include "net/topologies/graphml_file.h"
#include "net/topologies/matrix.h"
#include "net/topologies/registry.h"
#include "net/topology.h"
#include "tests/support/files.h"
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

TEST(EveryTopology, HasOptionsWithMeaningsAndWordsForTheReportAndIsBuilt) {
  for (const TopologyKind& kind : topologies()) {
    SCOPED_TRACE(kind.name());
    EXPECT_EQ(kind.options.kind, NodeKind::kSection);
    EXPECT_FALSE(kind.options.children.empty());
    expect_said(kind.options, "network.topology");
    ASSERT_TRUE(kind.words != nullptr && kind.check != nullptr && kind.build != nullptr);
    const Case config = case_on(kind.name());
    EXPECT_EQ(kind.words(config.network.topology.options), example_of(kind.name()).words);
    EXPECT_NO_THROW(kind.words(Json::object())) << "a scenario that lacks keys";
    const Topology topology = build_topology(config);
    EXPECT_EQ(topology.replicas(), 4);
    EXPECT_EQ(topology.site_of().empty(), !kind.has_sites);
    for (int other = 1; other < 4; ++other) EXPECT_GT(topology.rtt_s(0, other), 0);
  }
}

// Silence would let a user believe that an order without effect was tried.
TEST(EveryTopology, HasAnOrderOfRanksWhereItHasSites) {
  for (const TopologyKind& kind : topologies()) {
    SCOPED_TRACE(kind.name());
    Case config = case_on(kind.name());
    config.network.rank_order.kind = RankOrderSpec::Kind::kRandom;
    const InputErrorParts error = refused_parts([&] { check_topology(config); });
    EXPECT_EQ(error.path, kind.has_sites ? "" : "network.rank_order");
    if (kind.has_sites) continue;
    EXPECT_EQ(error.found, "found \"random\" on a topology without sites");
    EXPECT_EQ(error.allowed, "\"blocks\", or the topology regions, hierarchical or graphml");
    EXPECT_SAYS(error.hint, kind.name() == "homes" ? "drawn" : "alike");
  }
}

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

std::string with_pairs(const std::string& pairs) {
  return R"({"about": "a", "source": "s", "sites": ["x", "y", "z"],
             "inside": {"rtt": "1ms", "throughput": "1Gbps"}, "pairs": [)" +
         pairs + "]}";
}

std::string pair_of(const std::string& text, const std::string& other) {
  return R"({"between": [")" + text + R"(", ")" + other + R"("], "rtt": "10ms", "throughput": "1Gbps"})";
}

// Of AWS round trips were published, of GCP one-way delays.
TEST(Matrix, BuiltInOnesAreThePublishedFigures) {
  const Matrix aws = load_matrix("aws-2022", "."), gcp = load_matrix("gcp-2025", ".");
  EXPECT_EQ(built_in_matrices(), (std::vector<std::string>{"aws-2022", "gcp-2025"}));
  EXPECT_EQ(aws.sites().size(), 10u);
  EXPECT_EQ(gcp.sites().size(), 12u);
  for (const Matrix* matrix : {&aws, &gcp}) EXPECT_GT(matrix->source().size(), 20u);
  EXPECT_DOUBLE_EQ(aws.between("oregon", "virginia").rtt, 0.067);
  EXPECT_DOUBLE_EQ(aws.between("ireland", "frankfurt").throughput, 1.08e9);
  EXPECT_DOUBLE_EQ(aws.inside().rtt, 0.005);
  EXPECT_DOUBLE_EQ(gcp.between("australia", "belgium").rtt, 2 * 0.129);
  EXPECT_DOUBLE_EQ(gcp.between("london", "netherlands").throughput, 2083e6)
      << "the published value, corrected";
  EXPECT_DOUBLE_EQ(gcp.inside().rtt, 0.002);
}

std::string whole_matrix() {
  return with_pairs(pair_of("x", "y") + "," + pair_of("x", "z") + "," + pair_of("y", "z"));
}

std::string replaced(std::string text, const std::string& old, const std::string& by) {
  return text.replace(text.find(old), old.size(), by);
}

TEST(Matrix, BadFilesAreNamedWithThePlace) {
  const std::pair<std::string, const char*> wrong[] = {
      {"{", "mine.json"},
      {R"({"about": "a", "sorce": "s"})", "sorce"},
      {replaced(whole_matrix(), R"("rtt": "10ms")", R"("rtt": "1ms", "rtt": "10ms")"),
       "pairs[0].rtt: the key \"rtt\" stands twice"},
      {with_pairs(pair_of("x", "q")), "pairs[0].between"},
      {with_pairs(pair_of("x", "y") + "," + pair_of("y", "x")), "twice"},
      {replaced(whole_matrix(), "10ms", "-9ms"), "pairs[0].rtt: found \"-9ms\" (the pair [\"x\",\"y\"])"},
      {with_pairs(pair_of("x", "y") + "," + replaced(pair_of("x", "z"), "1Gbps", "0Gbps")),
       "pairs[1].throughput: found \"0Gbps\" (the pair [\"x\",\"z\"])"}};
  for (const auto& [text, words] : wrong)
    EXPECT_SAYS(said_by([&text = text] { Matrix::parse(text, "mine.json"); }), words);
}

// What planner/measured adds to a pair.
TEST(MatrixFile, WhatThroughputWasChosenFromIsReadOver) {
  const auto with = [](const std::string& way) {
    return replaced(whole_matrix(), R"("rtt": "10ms")", R"("rtt": "10ms", "measured": [{)" + way + "}]");
  };
  const Matrix matrix = Matrix::parse(
      with(
          R"("from": "x", "connections": 8, "throughput": "3Gbps"}, {"connections": 1, "throughput": "1Gbps")"),
      "mine.json");
  EXPECT_DOUBLE_EQ(matrix.between("x", "y").throughput, 1e9);
  for (const auto& [way, words] :
       {std::pair(R"("connections": 0, "throughput": "1Gbps")", "pairs[0].measured[0].connections"),
        std::pair(R"("connections": 1)", "pairs[0].measured[0].throughput"),
        std::pair(R"("streams": 1)", "streams")})
    EXPECT_SAYS(said_by([&, way = way] { Matrix::parse(with(way), "mine.json"); }), words);
}

// Sites 10 ms apart with 25 ms inside: the trunk would need a negative delay.
TEST(MatrixFile, OfTheUserIsReadFromTheScenariosFolder) {
  const TemporaryFolder folder;
  write_text(folder.file("mine.json"), whole_matrix());
  EXPECT_DOUBLE_EQ(load_matrix("mine.json", folder.path).between("z", "y").rtt, 0.01);
  EXPECT_THROW(load_matrix("mine.json", folder.file("elsewhere")), InputError);
  write_text(folder.file("near.json"), replaced(whole_matrix(), "1ms", "25ms"));
  Case config = regions_case("near.json", {{"x", 1}, {"y", 1}});
  config.folder = folder.path;
  EXPECT_SAYS(said_by([&] { build_topology(config); }), "x-y");
}

constexpr double kDegreeKm = 6371 * M_PI / 180;

GraphMap graph_of(const std::string& text) {
  const TemporaryFolder folder;
  write_text(folder.file("mine.graphml"), text);
  return read_graph_map(folder.file("mine.graphml"));
}

std::string error_of_text(const std::string& text) {
  return said_by([&] { graph_of(text); });
}

// Two nodes and an edge, with these data elements in the second node and in the edge.
std::string pair_with(const std::string& node, const std::string& edge,
                      const std::string& direction = "undirected") {
  return R"(<graphml><key attr.name="label" attr.type="string" for="node" id="l"/>
      <key attr.name="Latitude" attr.type="string" for="node" id="y"/>
      <key attr.name="Longitude" attr.type="float" for="node" id="x"/>
      <key attr.name="LinkSpeedRaw" attr.type="string" for="edge" id="s"/>
      <graph edgedefault=")" +
         direction + R"("><node id="a"><data key="l">Oslo</data></node><node id="b">)" + node +
         R"(</node><edge source="a" target="b">)" + edge + "</edge></graph></graphml>";
}

TEST(GreatCircle, AlongTheEquatorToThePoleAndAcrossTheDateLine) {
  constexpr double kHalfMillimetre = 0.5001e-6;
  EXPECT_NEAR(great_circle_km({0, 0}, {0, 10}), 10 * kDegreeKm, kHalfMillimetre);
  EXPECT_NEAR(great_circle_km({0, 20}, {90, -75.5}), 90 * kDegreeKm, kHalfMillimetre);
  EXPECT_NEAR(great_circle_km({0, 179}, {0, -179}), 2 * kDegreeKm, kHalfMillimetre);
  EXPECT_NEAR(great_circle_km({0, 0}, {0, 180}), 180 * kDegreeKm, kHalfMillimetre);
  EXPECT_EQ(great_circle_km({0, 0}, {0, 10}), 1111.949266) << "a whole number of millimetres";
  // Paris and New York: 5837 km on this sphere, by the spherical law of cosines.
  EXPECT_NEAR(great_circle_km({48.8566, 2.3522}, {40.7128, -74.006}), 5837, 1);
}

TEST(Graphml, DelaysAreGreatCirclesTimesInflationOver200KmPerMs) {
  const Topology topology =
      build_topology(corners_case({{"West", 1}, {"Middle", 1}, {"East", 1}, {"North", 1}}));
  const double ten_degrees_s = 10 * kDegreeKm / 200e3 * 1.5, access_s = 0.004;
  EXPECT_NEAR(topology.rtt_s(0, 1), 2 * ten_degrees_s + access_s, 4e-11);
  EXPECT_NEAR(topology.rtt_s(0, 2), 4 * ten_degrees_s + access_s, 4e-11);
  EXPECT_NEAR(topology.rtt_s(1, 3), 20 * ten_degrees_s + access_s, 4e-11)
      << "1,000 km to West, 10,000 to North";
  EXPECT_DOUBLE_EQ(topology.bottleneck(0, 1), 10e9) << "of parallel edges the fastest carries the traffic";
}

TEST(Graphml, SpeedsAreRawThenOpticalCarrierThenTheDefault) {
  const Topology topology = build_topology(corners_case({{"West", 2}}));
  ASSERT_EQ(topology.links().size(), 2u + 5) << "the edge from North to itself is none";
  const auto rate = [&](const std::string& name) {
    for (const Link& link : topology.links())
      if (link.name == name) return link.rate_forward;
    return -1.;
  };
  EXPECT_DOUBLE_EQ(rate("Middle-East"), 48 * 51.84e6) << "LinkNote, oc48c";
  EXPECT_DOUBLE_EQ(rate("North-West"), 192 * 51.84e6) << "LinkLabel, OC-192";
  EXPECT_DOUBLE_EQ(rate("East-North"), 1e9) << "nothing, so default_rate";
}

TEST(Graphml, ReplicasAtANodeAreASite) {
  const Topology topology = build_topology(corners_case({{"East", 2}, {"West", 1}}));
  EXPECT_EQ(topology.site_of(), (std::vector<int>{0, 0, 1}));
  EXPECT_EQ(topology.links()[0].name, "replica0-East");
  EXPECT_DOUBLE_EQ(topology.rtt_s(0, 1), 0.004);
  // Spread evenly, in the order of the file.
  Case config = corners_case({});
  config.replicas = 6;
  EXPECT_EQ(build_topology(config).site_of(), (std::vector<int>{0, 0, 1, 1, 2, 3}));
}

TEST(GraphmlFile, ThatIsWrongIsNamedWithThePlace) {
  const std::string label = R"(<data key="l">Bergen</data>)";
  EXPECT_EQ(error_of_text(pair_with(label, "")), "");
  for (const char* text : {"<graphml><graph", "{}", "", "<html><body/></html>"})
    EXPECT_SAYS(error_of_text(text), "mine.graphml: ") << text << error_of_text(text);
  EXPECT_SAYS(error_of_text("<graphml>\n<graph"), "is not GraphML (line 2: expected");
  const auto said = [&](const std::string& node, const std::string& edge) {
    return error_of_text(pair_with(label + node, edge));
  };
  EXPECT_SAYS(said(R"(<data key="y">6o.4</data>)", ""), "node Bergen: Latitude is \"6o.4\"");
  EXPECT_SAYS(said(R"(<data key="y">95</data><data key="x">5</data>)", ""), "node Bergen: Latitude is 95");
  EXPECT_SAYS(said("", R"(<data key="s">0</data>)"), "edge Oslo-Bergen: LinkSpeedRaw is 0");
  EXPECT_SAYS(said("", R"(<data key="s">fast</data>)"), "edge Oslo-Bergen: LinkSpeedRaw is \"fast\"");
  EXPECT_SAYS(error_of_text(pair_with(label, "", "directed")), "directed");
  EXPECT_SAYS(error_of_text(replaced(pair_with(label, ""), "target=\"b\"", "target=\"z\"")),
              "an edge of node \"a\": its target \"z\" is no node of the file");
  EXPECT_SAYS(said("", R"(<data key="z">1</data>)"),
              "the edge of \"a\" and \"b\": has data of the key \"z\"");
  EXPECT_SAYS(error_of_text(replaced(pair_with(label, ""), "id=\"b\"", "id=\"a\"")),
              "node \"a\": is there twice");
  EXPECT_SAYS(error_of_text(replaced(pair_with(label, ""), "target=\"b\"", "target=\"b\" directed=\"true\"")),
              "directed");
  EXPECT_SAYS(error_of_text(replaced(pair_with(label, ""), "<node id=\"b\">", "<node>")), "a node has no id");
  // Nodes without a label of their own get one.
  EXPECT_EQ(graph_of(pair_with("", "")).nodes[1].name, "node1");
  const GraphMap graph = graph_of(pair_with(R"(<data key="l">Oslo</data>)", ""));
  EXPECT_EQ(graph.nodes[1].name, "Oslo#2");
  EXPECT_EQ(graph.edges[0].name, "Oslo-Oslo#2");
}

// By the GraphML primer: a key's default is of every node that has no data of it, and an edge's own
// `directed` comes before edgedefault; graphs may stand in nodes, and keys may be of all.
TEST(GraphmlFile, DefaultsGraphsInNodesAndEdgesThatAreNotDirected) {
  const WrittenGraph graph = read_graphml(
      R"(<graphml><key id="c" for="node" attr.name="color"><default>yellow</default></key>
      <key id="w" for="all" attr.name="weight"/><key id="e" for="edge" attr.name="kind"><default>fibre</default></key>
      <graph edgedefault="directed"><node id="n0"><data key="c">green</data></node>
      <node id="n1"><data key="w">2</data><graph edgedefault="undirected"><node id="n1::n0"/>
      <edge source="n1::n0" target="n0"/></graph></node>
      <edge source="n0" target="n1" directed="false"><data key="w"> 1.5 </data></edge></graph></graphml>)",
      "primer.graphml");
  ASSERT_EQ(graph.nodes.size(), 3u);
  EXPECT_EQ(graph.nodes[0], (Attributes{{"color", "green"}}));
  EXPECT_EQ(graph.nodes[1], (Attributes{{"color", "yellow"}, {"weight", "2"}}));
  EXPECT_EQ(graph.nodes[2], (Attributes{{"color", "yellow"}}));
  ASSERT_EQ(graph.edges.size(), 2u);
  EXPECT_EQ(graph.edges[0].first, 2u);
  EXPECT_EQ(graph.edges[0].second, 0u);
  EXPECT_EQ(graph.edges[1].second, 1u);
  EXPECT_EQ(graph.edges[1].attributes, (Attributes{{"kind", "fibre"}, {"weight", "1.5"}}));
}

}  // namespace longhaul::topology_kinds_test
