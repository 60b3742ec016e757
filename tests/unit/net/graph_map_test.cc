// Maps in the forms that are found: GraphML of B-JointSP and of networkx, node-link JSON as topohub has it.
// Rates and delays are those that the file states.
#include "net/topologies/graph_map.h"

#include <gtest/gtest.h>

#include "net/topologies/registry.h"
#include "net/topologies/written_graph.h"
#include "tests/support/files.h"
#include "tests/support/said.h"
#include "tests/unit/net/cases.h"

namespace longhaul::graph_map_test {

GraphMap map_of(const std::string& text, const GraphUnits& units = {}) {
  const TemporaryFolder folder;
  write_text(folder.file("map"), text);
  return read_graph_map(folder.file("map"), units);
}

std::string refused(const std::string& text) {
  return said_by([&] { map_of(text); });
}

// Nodes a, b and c, and edges a-b and b-c with these attributes.
std::string graphml(const Attributes& first, const Attributes& second = {},
                    const std::string& name = "label") {
  std::string keys = "<key id=\"n\" for=\"node\" attr.name=\"" + name + "\" attr.type=\"string\"/>";
  const auto data = [&](const Attributes& attributes) {
    std::string all;
    for (const auto& [key, value] : attributes) {
      if (keys.find("\"" + key + "\" for=\"edge\"") == std::string::npos)
        keys += "<key id=\"" + key + "\" for=\"edge\" attr.name=\"" + key + "\" attr.type=\"string\"/>";
      all += "<data key=\"" + key + "\">" + value + "</data>";
    }
    return all;
  };
  std::string graph;
  for (const char* node : {"a", "b", "c"})
    graph += std::string("<node id=\"") + node + "\"><data key=\"n\">" + node + "</data></node>";
  graph += "<edge source=\"a\" target=\"b\">" + data(first) + "</edge>";
  graph += "<edge source=\"b\" target=\"c\">" + data(second) + "</edge>";
  return "<graphml>" + keys + "<graph edgedefault=\"undirected\">" + graph + "</graph></graphml>";
}

TEST(GraphMap, DelaysAndCapacitiesWithoutAUnitAreMillisecondsAndMegabits) {
  const std::string text = graphml({{"LinkDelay", "10"}, {"LinkFwdCap", "1000"}},
                                   {{"LinkDelay", "50"}, {"LinkFwdCap", "100"}, {"LinkBkwdCap", "40"}});
  const GraphMap map = map_of(text);
  EXPECT_DOUBLE_EQ(*map.edges[0].delay_s, 0.010);
  EXPECT_DOUBLE_EQ(*map.edges[1].delay_s, 0.050);
  EXPECT_DOUBLE_EQ(*map.edges[0].forward, 1e9);
  EXPECT_DOUBLE_EQ(*map.edges[0].backward, 1e9) << "one direction stands for both";
  EXPECT_DOUBLE_EQ(*map.edges[1].forward, 100e6);
  EXPECT_DOUBLE_EQ(*map.edges[1].backward, 40e6);
  ASSERT_EQ(map.notes.size(), 1u);
  EXPECT_SAYS(map.notes[0],
              "reads LinkBkwdCap of 1 edge in Mb/s, LinkDelay of 2 edges in ms, LinkFwdCap of 2 edges in "
              "Mb/s: the file names no unit; rate_unit and delay_unit choose another");
  const GraphMap chosen = map_of(text, {1e9, 1e-6});
  EXPECT_DOUBLE_EQ(*chosen.edges[1].delay_s, 50e-6);
  EXPECT_DOUBLE_EQ(*chosen.edges[1].forward, 100e9);
  EXPECT_TRUE(chosen.notes.empty());
}

TEST(GraphMap, LatencyAndBandwidthMayHaveTheirUnits) {
  const GraphMap map = map_of(graphml({{"latency", "10 ms"}, {"bandwidth", "2.5 Gbit/s"}},
                                      {{"Delay", "300us"}, {"capacity", "10Gbps"}}, "name"));
  EXPECT_EQ(map.nodes[0].name, "a") << "the key name, without a label";
  EXPECT_DOUBLE_EQ(*map.edges[0].delay_s, 0.010);
  EXPECT_DOUBLE_EQ(*map.edges[0].forward, 2.5e9);
  EXPECT_DOUBLE_EQ(*map.edges[1].delay_s, 300e-6);
  EXPECT_DOUBLE_EQ(*map.edges[1].backward, 10e9);
  EXPECT_TRUE(map.notes.empty()) << join(map.notes);
}

TEST(GraphMap, LabelsAreReadOrCounted) {
  const GraphMap map = map_of(graphml({{"LinkLabel", "155 Mbps"}}, {{"LinkNote", "4 x OC-3"}}));
  EXPECT_DOUBLE_EQ(*map.edges[0].forward, 155e6);
  EXPECT_DOUBLE_EQ(*map.edges[1].forward, 4 * 3 * 51.84e6);
  EXPECT_TRUE(map.notes.empty()) << join(map.notes);
  const GraphMap zoo = map_of(graphml({{"LinkSpeed", "10"}, {"LinkSpeedUnits", "G"}},
                                      {{"LinkType", "STM-16"}, {"LinkSpeedRaw", "2.5e9"}}));
  EXPECT_DOUBLE_EQ(*zoo.edges[0].forward, 10e9);
  EXPECT_DOUBLE_EQ(*zoo.edges[1].forward, 2.5e9) << "LinkSpeedRaw comes first";
  const GraphMap dark = map_of(graphml({{"LinkLabel", "Dark fibre"}}, {{"LinkLabel", "N x 10G"}}));
  EXPECT_FALSE(dark.edges[0].forward.has_value());
  ASSERT_EQ(dark.notes.size(), 1u);
  EXPECT_SAYS(dark.notes[0],
              "no rate was read from the label of 2 edges (\"Dark fibre\", \"N x 10G\"): "
              "default_rate holds; LinkSpeedRaw in bit/s, or a label as \"2.5 Gbps\", says another");
  const GraphMap thousands = map_of(graphml({{"LinkLabel", "1.000 Mbps"}}, {{"LinkLabel", "1 Gbps"}}));
  EXPECT_FALSE(thousands.edges[0].forward.has_value()) << "1 or 1000, by country";
  EXPECT_SAYS(join(thousands.notes), "the label of 1 edge (\"1.000 Mbps\")");
}

TEST(GraphMap, SaysWhatIsNotRead) {
  const GraphMap map =
      map_of(graphml({{"packetloss", "0.1"}, {"weight", "3"}}, {{"LinkRTT", "9"}, {"packetloss", "0"}}));
  ASSERT_EQ(map.notes.size(), 1u) << join(map.notes);
  EXPECT_SAYS(map.notes[0], "not read: LinkRTT of 1 edge, packetloss of 2 edges");
}

TEST(GraphMap, WrongValuesAreNamedWithTheirEdge) {
  EXPECT_SAYS(refused(graphml({{"LinkDelay", "-1"}})),
              "edge a-b: LinkDelay is -1; allowed: a time of at least 0");
  EXPECT_SAYS(refused(graphml({{"latency", "fast"}})),
              "edge a-b: latency is \"fast\"; allowed: a number, or a time");
  EXPECT_SAYS(refused(graphml({{"LinkFwdCap", "0"}})),
              "edge a-b: LinkFwdCap is 0; allowed: more than 0 bit/s");
  EXPECT_SAYS(refused(graphml({{"bandwidth", "10 MB/s"}})),
              "edge a-b: bandwidth is \"10 MB/s\"; allowed: a number");
  EXPECT_SAYS(refused(graphml({{"dist", "-3"}})), "edge a-b: dist is -3");
}

// The form of topohub 1.5.1, with numbers of our own: 1000 km at 200 km/ms and inflation 1.5 are 7.5 ms.
constexpr char kNodeLink[] = R"({"directed": false, "multigraph": false, "graph": {"name": "three"},
  "nodes": [{"name": "Oslo", "pos": [10.7, 59.9], "id": 0}, {"id": 5, "pos": [5.3, 60.4]}, {"id": "Tromso"}],
  "edges": [{"dist": 1000.0, "ecmp_fwd": {"uni": 39.39}, "source": 0, "target": 5},
            {"source": 5, "target": "Tromso", "latency": "4ms", "bandwidth": 2500}]})";

TEST(GraphMap, ReadsNodeLinkJson) {
  const GraphMap map = map_of(kNodeLink);
  ASSERT_EQ(map.nodes.size(), 3u);
  EXPECT_EQ(map.nodes[0].name, "Oslo");
  EXPECT_EQ(map.nodes[1].name, "node1");
  EXPECT_EQ(map.nodes[2].name, "Tromso");
  EXPECT_DOUBLE_EQ(map.nodes[0].place->latitude, 59.9) << "topohub has longitude first";
  EXPECT_EQ(map.edges[0].name, "Oslo-node1");
  EXPECT_DOUBLE_EQ(*map.edges[0].length_km, 1000);
  EXPECT_DOUBLE_EQ(*map.edges[1].delay_s, 0.004);
  EXPECT_DOUBLE_EQ(*map.edges[1].forward, 2.5e9);
}

TEST(GraphMap, PositionsOnAPlaneAreNoCoordinates) {
  std::string plane = kNodeLink;
  plane.replace(plane.find("5.3"), 3, "812");
  for (const GraphNode& node : map_of(plane).nodes) EXPECT_FALSE(node.place.has_value());
  // Pixels whose lengths are those of a sphere, as in eleven maps of topohub 1.5.1: from 0 to 95 degrees on
  // the equator are 95 / 360 of 40,030 km; of a real plane it is 95 km, which stays.
  const auto pixels = [](const std::string& length) {
    return R"({"nodes": [{"id": 0, "pos": [0, 0]}, {"id": 1, "pos": [95, 0]}, {"id": 2, "pos": [482, 0]}], "edges": [
      {"source": 0, "target": 1, "dist": )" +
           length + "}]}";
  };
  EXPECT_SAYS(refused(pixels("10563.5")),
              "its lengths (dist) are great circles between positions that are no degrees: "
              "the node 2 is at [482,0]");
  EXPECT_DOUBLE_EQ(*map_of(pixels("95")).edges[0].length_km, 95);
}

TEST(GraphMap, WrongNodeLinkJsonIsNamedWithThePlace) {
  const auto with = [&](const std::string& old, const std::string& by) {
    std::string text = kNodeLink;
    return refused(text.replace(text.find(old), old.size(), by));
  };
  EXPECT_SAYS(refused("{}"), "is not GraphML, and as node-link JSON it has no list \"nodes\"");
  EXPECT_SAYS(with("\"edges\"", "\"adjacency\""), "it has no list \"edges\"");
  EXPECT_SAYS(with("\"id\": 5", "\"id\": 0"), "node 0: its id stands twice");
  EXPECT_SAYS(with("\"target\": 5", "\"target\": \"5\""),
              "edges[0]: its target is \"5\"; allowed: the id of a node");
  EXPECT_SAYS(with("\"directed\": false", "\"directed\": true"), "found directed edges");
  EXPECT_SAYS(with("\"id\": 5, ", ""), "has a node without an \"id\"");
}

// Two replicas at the ends of a path: the round trip is twice its delays and those of the access links.
TEST(GraphMap, MakesTheNetworkOfACase) {
  const auto network = [](const std::string& text, const Json& more = Json::object()) {
    const TemporaryFolder folder;
    write_text(folder.file("map.json"), text);
    Case config = corners_case({{"Oslo", 1}, {"Tromso", 1}});
    config.folder = folder.path;
    config.network.topology.options["file"] = "map.json";
    config.network.topology.options.update(more);
    return build_topology(config);
  };
  const Topology topology = network(kNodeLink);
  EXPECT_NEAR(topology.rtt_s(0, 1), 0.004 + 2 * (0.0075 + 0.004), 1e-12);
  EXPECT_DOUBLE_EQ(topology.bottleneck(0, 1), 1e9) << "default_rate of the edge without one";
  EXPECT_NEAR(network(kNodeLink, {{"rate_unit", "kbps"}}).bottleneck(0, 1), 2.5e6, 1e-6);
}

// Of two links with delays of their own each keeps its rate.
TEST(GraphMap, ParallelEdgesKeepTheirDelays) {
  const TemporaryFolder folder;
  write_text(folder.file("map.json"), R"({"nodes": [{"id": "Oslo"}, {"id": "Tromso"}], "links": [
    {"source": "Oslo", "target": "Tromso", "latency": "20ms", "bandwidth": "10Gbps"},
    {"source": "Tromso", "target": "Oslo", "latency": "5ms", "LinkFwdCap": "300 Mbps", "LinkBkwdCap": "100 Mbps"}]})");
  Case config = corners_case({{"Oslo", 1}, {"Tromso", 1}});
  config.folder = folder.path;
  config.network.topology.options["file"] = "map.json";
  const Topology topology = build_topology(config);
  EXPECT_NEAR(topology.rtt_s(0, 1), 0.004 + 2 * 0.005, 1e-12);
  EXPECT_DOUBLE_EQ(topology.bottleneck(0, 1), 100e6) << "from Oslo the link is written backwards";
  EXPECT_DOUBLE_EQ(topology.bottleneck(1, 0), 300e6);
}

}  // namespace longhaul::graph_map_test
