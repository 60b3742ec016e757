// Networks that cannot be: exit status 2, and one message that names the node or the link.
#include <gtest/gtest.h>

#include "core/base/options.h"
#include "tests/integration/command.h"

namespace longhaul {
namespace {

const std::string kData = std::string(LONGHAUL_SOURCE_DIR) + "/tests/data/";

struct BadNetwork {
  const char* name;
  std::string network;            // JSON
  std::vector<std::string> said;  // each must be in the message
};

void PrintTo(const BadNetwork& bad, std::ostream* out) {
  *out << bad.name;
}

std::string topology(const std::string& json, const std::string& more = "") {
  return R"({"topology": )" + json + more + "}";
}

std::string star(const std::string& overrides, const std::string& more = "") {
  return topology(R"({"star": {"rate": "1Gbps", "rtt": "50ms"}})",
                  R"(, "overrides": [)" + overrides + "]" + more);
}

std::string graph(const std::string& file, const std::string& more) {
  return topology(R"({"graphml": {"file": ")" + file + R"(", "replicas": "even")" + more + "}}");
}

std::string sites(const std::string& sites, const std::string& inside_rtt = "1ms") {
  return topology(R"({"hierarchical": {"sites": )" + sites + R"(, "inside": {"rate": "1Gbps", "rtt": ")" +
                  inside_rtt + R"("}, "trunk": {"rate": "100Mbps", "rtt": "50ms"}}})");
}

std::string regions(const std::string& replicas) {
  return topology(R"({"regions": {"matrix": "mine.json", "replicas": )" + replicas + "}}");
}

// A matrix without the pair of sites x and z. In the folder of the scenario.
constexpr char kMatrix[] = R"({"about": "a", "source": "s", "sites": ["x", "y", "z"],
  "inside": {"rtt": "1ms", "throughput": "1Gbps"},
  "pairs": [{"between": ["x", "y"], "rtt": "10ms", "throughput": "1Gbps"},
            {"between": ["y", "z"], "rtt": "10ms", "throughput": "1Gbps"}]})";

std::vector<BadNetwork> bad_networks() {
  return {
      {"DisconnectedGraph",
       graph(kData + "two-islands.graphml", R"(, "default_delay": "1ms")"),
       {"network.topology: no path joins the 2 parts of the network", "Alba", "Corvo"}},
      {"NoCoordinatesAndNoDefault",
       graph(kData + "two-islands.graphml", ""),
       {"network.topology.graphml.default_delay", "the node Elsewhere", "no coordinates"}},
      {"NoSpeedAndNoDefault",
       graph(kData + "four-corners.graphml", ""),
       {"network.topology.graphml.default_rate", "the edge East-North"}},
      {"UnknownNode",
       topology(R"({"graphml": {"file": ")" + kData +
                R"(four-corners.graphml", "default_rate": "1Gbps", "replicas": {"Wset": 4}}})"),
       {"network.topology.graphml.replicas.Wset", "did you mean \"West\"?"}},
      {"GraphmlPlacementDoesNotAddUp",
       topology(R"({"graphml": {"file": ")" + kData +
                R"(four-corners.graphml", "default_rate": "1Gbps", "replicas": {"West": 3}}})"),
       {"network.topology.graphml.replicas", "places 3 replicas, the scenario has 4"}},
      {"NoSuchGraph", graph("nowhere.graphml", ""), {"network.topology.graphml.file", "nowhere.graphml"}},
      {"GraphOfNothing", graph("mine.json", ""), {"mine.json: is not GraphML"}},
      {"GraphWithAnEdgeOfRateZero", graph("zero.graphml", ""), {"zero.graphml: edge A-B: LinkSpeedRaw is 0"}},
      {"MatrixWithAMissingPair",
       regions(R"({"x": 2, "y": 2})"),
       {"mine.json: pairs: the pair x, z is missing"}},
      {"SitesDoNotAddUp",
       sites(R"({"a": 1, "b": 2})"),
       {"network.topology.hierarchical.sites", "places 3 replicas, the scenario has 4"}},
      {"MoreSitesThanReplicas",
       sites("5"),
       {"network.topology.hierarchical.sites", "5 sites for 4 replicas"}},
      {"SitesNearerThanTheirInside",
       sites("2", "80ms"),
       {"network.topology.hierarchical.trunk.rtt", "negative delay"}},
      {"NegativeDelay",
       topology(R"({"star": {"rate": "1Gbps", "rtt": "-50ms"}})"),
       {"network.topology.star.rtt: found \"-50ms\"", "at least 0"}},
      {"OverrideOfAnUnknownLink",
       star(R"({"link": "replica7-core", "rate": "1Mbps"})"),
       {"network.overrides[0].link: no link is called \"replica7-core\"", "replica0-core"}},
      {"OverrideOfRateZero",
       star(R"({"replica": 2, "up": "0bps"})"),
       {"network.overrides[0]", "replica2-core", "more than 0"}},
      {"OverrideWithANegativeDelay",
       star(R"({"replica": "0-1", "rate": "1Mbps"}, {"link": "replica3*", "delay": "-1ms"})"),
       {"network.overrides[1]", "replica3-core", "at least 0"}},
      {"OverrideOfNoReplica",
       star(R"({"replica": "2-4", "rate": "1Mbps"})"),
       {"network.overrides[0].replica: found \"2-4\"", "0 … 3"}},
      {"OverrideOfNothing", star(R"({"rate": "1Mbps"})"), {"exactly one of link and replica"}},
      {"OverrideWithNothing", star(R"({"replica": 1})"), {"network.overrides[0]", "at least one of rate"}},
      {"ASiteTwice",
       topology(
           R"({"regions": {"matrix": "gcp-2025", "sites": ["oregon", "iowa", "oregon"], "replicas": "even"}})"),
       {"network.topology.regions.sites[2]: found \"oregon\" a second time", "each site once"}},
      {"BbrWithLosses",
       star(
           "",
           R"(, "fidelity": "packet", "tcp": {"congestion_control": "bbr", "loss": 5e-4, "loss_response": "ns3-3.37"})"),
       {"network.tcp.loss: found 5e-04 with network.tcp.congestion_control \"bbr\"", "cubic"}},
      {"BbrBeforeAFifoThatOverflows",
       star(
           "",
           R"(, "fidelity": "packet", "tcp": {"congestion_control": "bbr", "queue": "fifo", "queue_size": 0.25})"),
       {"network.tcp.queue_size: found a FIFO of 0.25 bandwidth-delay products", "at least 1.5 products"}},
      {"HomesOfNoRate",
       topology(R"({"homes": {"up": {"median": "0bps"}}})"),
       {"network.topology.homes.up.median"}},
  };
}

class BadNetworkTest : public testing::TestWithParam<BadNetwork> {};

TEST_P(BadNetworkTest, ExitsWith2AndOneClearMessage) {
  const std::string folder = fresh_folder("bad");
  write_text(folder + "/mine.json", kMatrix);
  write_text(folder + "/zero.graphml",
             R"(<graphml><key attr.name="label" attr.type="string" for="node" id="l"/>
        <key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="s"/><graph edgedefault="undirected">
        <node id="0"><data key="l">A</data></node><node id="1"><data key="l">B</data></node>
        <edge source="0" target="1"><data key="s">0.0</data></edge></graph></graphml>)");
  Json scenario = Json::parse(read_text(scenario_file("small.json")));
  scenario["network"] = Json::parse(GetParam().network);
  write_text(folder + "/bad.json", scenario.dump(1));
  for (const char* command : {"check", "run"}) {
    const CommandResult result = longhaul({command, folder + "/bad.json"});
    EXPECT_EQ(result.status, 2) << result.out << result.err;
    for (const std::string& words : GetParam().said)
      EXPECT_NE(result.err.find(words), std::string::npos) << words << " not in: " << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, BadNetworkTest, testing::ValuesIn(bad_networks()),
                         [](const auto& info) { return info.param.name; });

TEST(BadNetwork, AStepTimeFactorOfNoReplica) {
  const CommandResult result =
      longhaul({"check", scenario_file("small.json"), "--set", "workload.step_time_factors.9=2"});
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("workload.step_time_factors.9"), std::string::npos) << result.err;
}

TEST(ListNetworks, ExplainsEveryTopologyAndMatrix) {
  const std::string said = longhaul({"list", "networks"}).out;
  for (const char* name :
       {"star: ", "regions: ", "homes: ", "hierarchical: ", "graphml: ", "network.overrides: ", "aws-2022: ",
        "gcp-2025: ", "default_delay", "floor", "trunk"})
    EXPECT_NE(said.find(name), std::string::npos) << name;
}

TEST(Homes, TheScenarioRuns) {
  const std::string out = fresh_folder("homes");
  const CommandResult result = longhaul({"run", scenario_file("homes.json"), "--out", out, "--quiet"});
  ASSERT_EQ(result.status, 0) << result.err;
  const Json summary = Json::parse(read_text(out + "/summary.json"));
  ASSERT_FALSE(summary["cases"].empty());
  for (const Json& entry : summary["cases"]) {
    EXPECT_EQ(entry["status"], "done");
    // Replica 3 takes twice as long: 60 steps of 1 s in the mean of 16, and 120 for it.
    EXPECT_NEAR(entry["compute_time_s"].get<double>(), 60. * 17 / 16, 4);
  }
}

}  // namespace
}  // namespace longhaul
