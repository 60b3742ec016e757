// The network of a run in a sentence for the top of the report.
#include <gtest/gtest.h>

#include "analysis/report/parts.h"

namespace longhaul::run_in_words_test {

std::string network_words(const char* network) {
  for (const Json& entry : run_in_words({{"network", Json::parse(network)}}, {}))
    if (entry["term"] == "Network") return entry["text"];
  return "";
}

TEST(Words, EveryTopologyHasASentence) {
  EXPECT_NE(
      network_words(R"({"fidelity": "flow", "topology": {"homes": {"up": {"median": "20Mbps", "sigma": 1.5},
                              "down": {"median": "200Mbps", "sigma": 0.5}, "rtt": "14ms"}}})")
          .find("homes with log-normal access rates, up median 20Mbps, σ 1.5, down median 200Mbps, σ 0.5, "
                "round trip to the core 14ms; fidelity flow"),
      std::string::npos);
  EXPECT_NE(
      network_words(R"({"fidelity": "flow", "topology": {"hierarchical": {"sites": {"a": 2, "b": 2},
                              "inside": {"rate": "10Gbps", "rtt": "1ms"},
                              "trunk": {"up": "1Gbps", "down": "2Gbps", "rtt": "80ms"}}}})")
          .find("2 sites with 10Gbps and 1ms inside, joined by links of 1Gbps up, 2Gbps down, round trip "
                "between sites 80ms"),
      std::string::npos);
  EXPECT_NE(
      network_words(R"({"fidelity": "flow", "topology": {"graphml": {"file": "a.graphml", "replicas": "even",
                              "rate": "10Gbps"}}, "overrides": [{"replica": 1, "rate": "1Mbps"}]})")
          .find("network of a.graphml, replicas spread evenly, access links 10Gbps, with overrides "
                "replica 1 rate 1Mbps"),
      std::string::npos);
}

TEST(Words, FilesAreNamedWithoutBrackets) {
  const Json train = {{"data", {{"text", {"a.txt", "b.txt"}}}}, {"steps", 5}, {"batch", 2}};
  std::string text;
  for (const Json& entry : run_in_words({{"train", train}}, {}))
    if (entry["term"] == "Model trained") text = entry["text"];
  EXPECT_NE(text.find("trained on text a.txt, b.txt for 5 steps"), std::string::npos) << text;
}

TEST(Words, APipelineSaysWhatIsLeftOut) {
  const Json pipeline = {{"stages", 6},           {"microbatches", 4},     {"schedule", "1f1b"},
                         {"routing", "straight"}, {"sends", "overlapped"}, {"skip", 2},
                         {"reorder", true}};
  std::string text;
  for (const Json& entry : run_in_words({{"pipeline", pipeline}}, {}))
    if (entry["term"] == "Pipeline") text = entry["text"];
  EXPECT_EQ(
      text,
      "6 stages, each a worker of its own; 4 micro-batches, 1f1b, straight paths, overlapped sends; each "
      "micro-batch leaves out 2 of the stages in the middle; neighbours may be taken in the other order");
}

TEST(Words, FaultsSayWhomTheyStrikeAndWhen) {
  const Json faults = Json::parse(R"([
    {"kind": "slow", "replicas": "3", "factor": 10, "at": "10min", "for": "20min"},
    {"kind": "link", "link": "*-core", "rate": 0.5, "every": "2h", "for": "5min"},
    {"kind": "site", "site": "tokyo"}])");
  std::string text;
  for (const Json& entry : run_in_words({{"faults", faults}}, {}))
    if (entry["term"] == "Faults") text = entry["text"];
  EXPECT_EQ(
      text,
      "replicas 3 10 times slower from 10min for 20min; links *-core with 0.5 of their rate every 2h for "
      "5min on average; site tokyo cut off from the beginning on");
}

TEST(Words, RecoverySaysWhatFollowsACrash) {
  const auto recovery = [](const Json& section, const std::vector<Json>& records) -> std::string {
    for (const Json& entry : run_in_words({{"recovery", section}}, records))
      if (entry["term"] == "Recovery") return entry["text"];
    return "";
  };
  EXPECT_EQ(recovery(Json::object(), {}), "") << "nobody crashes";
  const std::vector<Json> crashes = {{{"crashes", 2}}};
  EXPECT_EQ(
      recovery(Json::object(), crashes),
      "10s after a crash an exchange that lacks a replica begins anew without it; who is back downloads "
      "a peer's state");
  EXPECT_EQ(recovery({{"on_failure", "discard"}, {"detect", "1s"}, {"start", "own"}}, crashes),
            "1s after a crash an exchange that lacks a replica fails for its group; who is back has its own "
            "state");
  EXPECT_EQ(recovery({{"on_failure", "wait"}}, crashes), "all wait for those who are gone");
}

TEST(Words, AMethodSaysHowItsMessagesTravel) {
  const auto words = [](const char* method) -> std::string {
    for (const Json& entry : run_in_words({{"methods", {Json::parse(method)}}}, {}))
      if (entry["term"] == "Methods") return entry["text"];
    return "";
  };
  EXPECT_EQ(words(R"({"name": "diloco", "inner_steps": 20, "all_reduce": "ring", "codec": "wire",
                      "error_feedback": "none"})"),
            "diloco (20 inner steps, ring all-reduce)");
  EXPECT_EQ(words(R"({"name": "diloco", "label": "four", "all_reduce": "tree", "codec": "int4",
                      "error_feedback": "classic"})"),
            "four = diloco (tree all-reduce, codec int4, classic error feedback)");
  EXPECT_EQ(words(R"({"name": "diloco", "all_reduce": "ring", "error_feedback": "none",
                      "codec": {"top_k": {"chunk": 4096, "kept": 64}}})"),
            "diloco (all-gather, codec top_k: chunk 4096, kept 64)");
  EXPECT_EQ(words(R"({"name": "muloco", "all_reduce": "ring", "optimizer": {"name": "muon"}})"),
            "muloco (ring all-reduce, inner optimizer muon)");
  EXPECT_EQ(words(R"({"name": "diloco", "all_reduce": "ring", "codec": {"random_mask": {"share": 0.5}}})"),
            "diloco (ring all-reduce, codec random_mask: share 0.5)");
  EXPECT_EQ(words(R"({"name": "sparta", "inner_steps": 1, "all_reduce": "ring", "share": 0.005})"),
            "sparta (1 inner steps, ring all-reduce, a random 0.5 % of the weights)");
  EXPECT_EQ(words(R"({"name": "epidemic", "inner_steps": 20, "targets": 2})"),
            "epidemic (20 inner steps, to 2 others)");
  EXPECT_EQ(words(R"({"name": "independent", "data": "own"})"),
            "independent (each its own part of the text)");
}

// Until topologies had their words in one place the report showed the JSON of a mesh.
TEST(Words, AMeshHasThemToo) {
  EXPECT_EQ(
      network_words(R"({"fidelity": "analytic", "topology": {"mesh": {"rate": "1Gbps", "rtt": "50ms"}}})"),
      "mesh, every two replicas on a link of their own of 1Gbps, round trip 50ms; fidelity analytic");
  EXPECT_EQ(network_words(R"({"fidelity": "analytic", "topology": {"mesh": {}}})"),
            "mesh, every two replicas on a link of their own; fidelity analytic");
}

std::string regions_words(const std::string& order, const std::vector<Json>& records = {}) {
  Json network = Json::parse(
      R"({"fidelity": "flow", "topology": {"regions": {"matrix": "aws-2022", "replicas": "even"}}})");
  if (!order.empty()) network["rank_order"] = Json::parse(order);
  for (const Json& entry : run_in_words({{"network", network}}, records))
    if (entry["term"] == "Network") return entry["text"];
  return "";
}

TEST(Words, TheOrderOfRanksIsSaidWhereThereAreSites) {
  for (const auto& [order, words] : std::vector<std::pair<std::string, std::string>>{
           {"", "; ranks are numbered site by site"},
           {"\"blocks\"", "; ranks are numbered site by site"},
           {"\"round-robin\"", "; ranks are numbered round robin"},
           {"\"random\"", "; ranks are in random order"},
           {"\"optimized\"", "; ranks are in an order optimized"},
           {"[1, 0]", "; ranks are placed by a list"}})
    EXPECT_NE(regions_words(order).find(words), std::string::npos) << regions_words(order);
  std::vector<Json> records;
  for (const char* order : {"blocks", "random"})
    records.push_back({{"swept", {{"network.rank_order", order}}}, {"rank_order", order}});
  EXPECT_NE(regions_words("\"blocks\"", records).find("; order of ranks over the sites: blocks, random"),
            std::string::npos)
      << regions_words("\"blocks\"", records);
  EXPECT_EQ(network_words(R"({"fidelity": "flow", "rank_order": "blocks",
                              "topology": {"star": {"rate": "1Gbps", "rtt": "50ms"}}})")
                .find("rank"),
            std::string::npos);
}

// Only what differs from the defaults is said.
TEST(Words, HowMessagesAreCutAndSent) {
  const auto words_of = [](const std::string& sending) {
    return network_words(
        (R"({"fidelity": "flow", "topology": {"star": {"rate": "1Gbps", "rtt": "50ms"}}, )" + sending + "}")
            .c_str());
  };
  const std::string plain = words_of(R"("slice": "whole", "eager": "0B")");
  EXPECT_EQ(plain.find("slices"), std::string::npos) << plain;
  EXPECT_EQ(plain.find("eager"), std::string::npos) << plain;
  const std::string cut =
      words_of(R"("slice": "64KiB", "eager": "4MiB", "tcp": {"slow_start_after_idle": false})");
  EXPECT_NE(cut.find("slices: 64KiB; eager: 4MiB"), std::string::npos) << cut;
  EXPECT_NE(cut.find("no slow start after idle"), std::string::npos) << cut;
}

}  // namespace longhaul::run_in_words_test
