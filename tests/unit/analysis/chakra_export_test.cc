#include <set>

#include "analysis/exports/exports.h"
#include "core/base/errors.h"
#include "tests/unit/analysis/run_fixture.h"

namespace longhaul {
namespace {

// The graph without names, a line a node: "type: dependencies".
std::vector<std::string> shape(const Json& graph) {
  std::vector<std::string> lines;
  for (const Json& node : graph["workload_graph"])
    lines.push_back(node["NodeType"].dump() + ": " + node["data_deps"].dump());
  return lines;
}

// run_fixture.h: replica 0 computes 2 s, all-reduces 100 bytes, sends ahead what step 4 needs, computes 2 s
// (it went on at 4 s and is ready at 6 s), and all-reduces again.
TEST(ChakraExport, FollowsTheSchedule) {
  TemporaryFolder folder;
  write_replay(folder.path, kExchangesWithPresend);
  const std::vector<Json> graphs = chakra_graphs(folder.path);
  ASSERT_EQ(graphs.size(), 2u);
  EXPECT_EQ(shape(graphs[0]),
            (std::vector<std::string>{"4: []", "7: [0]", "6: [1]", "5: [1]", "4: [1]", "7: [4]"}));
  const Json& nodes = graphs[0]["workload_graph"];
  EXPECT_EQ(nodes[0]["runtime"], 2000000);
  EXPECT_EQ(nodes[4]["runtime"], 2000000);
  EXPECT_EQ(graphs[1]["workload_graph"][4]["runtime"], 3000000);
  EXPECT_EQ(nodes[1]["comm_type"], 0);
  EXPECT_EQ(nodes[1]["comm_size"], 100);
  EXPECT_EQ(nodes[3]["comm_src"], 0);
  EXPECT_EQ(nodes[3]["comm_dst"], 1);
  EXPECT_EQ(nodes[2]["comm_src"], 1);
  for (std::size_t i = 0; i < nodes.size(); ++i) EXPECT_EQ(nodes[i]["Id"], i);
}

// A member of a pair swaps Δ and φ at once; with `root` the first tensor is there and back before the second.
void write_pairs(const std::string& folder, const std::string& collective) {
  write_text(
      folder + "/trace.jsonl",
      R"({"longhaul_trace":2,"seed":1,"replicas":2,"steps":3,"parameters":50,"evaluate_every":1,)"
      R"("rules":[{"name":"outer","collective":")" +
          collective +
          R"(","every":2,"grouping":"random","group_size":2,"payload":[{"tensor":"delta","codec":{"numbers":"bf16"}},{"tensor":"phi","codec":{"numbers":"bf16"}}],"overlap_steps":0}]})"
          "\n"
          R"({"rule":0,"step":2,"groups":[[1,0]]})"
          "\n");
  write_text(folder + "/exchanges.csv",
             "step,replica,exchange,ready_s,start_s,done_s,bytes,awaited_s\n2,0,outer,2,2,3,200,2\n2,1,outer,"
             "2,2,3,200,2\n");
  write_text(folder + "/steps.csv", "step,replica,computed_s,done_s\n");
  write_text(folder + "/replicas.csv",
             "replica,compute_s,idle_s,clock_s,bytes_sent\n0,3,1,4,200\n1,3,1,4,200\n");
}

TEST(ChakraExport, SaysThatAbsencesHaveNoTraces) {
  TemporaryFolder folder;
  write_replay(folder.path, kExchangesWithPresend);
  EXPECT_NO_THROW(chakra_graphs(folder.path));
  write_text(folder.path + "/absences.csv", "replica\n");
  try {
    chakra_graphs(folder.path);
    FAIL();
  } catch (const RunError& error) {
    EXPECT_NE(std::string(error.what()).find("has replicas that are gone"), std::string::npos)
        << error.what();
  }
}

TEST(ChakraExport, WritesAPairAsMessages) {
  TemporaryFolder folder;
  write_pairs(folder.path, "pair");
  const std::vector<Json> graphs = chakra_graphs(folder.path);
  EXPECT_EQ(shape(graphs[0]), (std::vector<std::string>{"4: []", "6: [0]", "5: [0]", "4: [1,2]"}));
  EXPECT_EQ(graphs[0]["workload_graph"][2]["comm_size"], 200);
  EXPECT_EQ(graphs[0]["workload_graph"][3]["runtime"], 1000000) << "what is left after the last exchange";
}

// It sends nothing, and has no row: its compute is one node.
TEST(ChakraExport, LetsWhoSitsOutComputeOn) {
  TemporaryFolder folder;
  write_pairs(folder.path, "pair");
  std::string trace = read_text(folder.path + "/trace.jsonl");
  trace.replace(trace.find("\"replicas\":2"), 12, "\"replicas\":3");
  trace.replace(trace.find("[[1,0]]"), 7, "[[1,0],[2]]");
  write_text(folder.path + "/trace.jsonl", trace);
  write_text(folder.path + "/replicas.csv",
             "replica,compute_s,idle_s,clock_s,bytes_sent\n0,3,1,4,200\n1,3,1,4,200\n2,3,0,3,0\n");
  const std::vector<Json> graphs = chakra_graphs(folder.path);
  ASSERT_EQ(graphs.size(), 3u);
  EXPECT_EQ(shape(graphs[0]), (std::vector<std::string>{"4: []", "6: [0]", "5: [0]", "4: [1,2]"}));
  EXPECT_EQ(shape(graphs[2]), std::vector<std::string>{"4: []"});
  EXPECT_EQ(graphs[2]["workload_graph"][0]["runtime"], 3000000);
}

// Replica 1 comes first in the group, so it is the root.
TEST(ChakraExport, WritesTheRootPatternTensorByTensor) {
  TemporaryFolder folder;
  write_pairs(folder.path, "root");
  const std::vector<Json> graphs = chakra_graphs(folder.path);
  EXPECT_EQ(shape(graphs[0]),
            (std::vector<std::string>{"4: []", "5: [0]", "6: [1]", "5: [2]", "6: [3]", "4: [4]"}));
  EXPECT_EQ(shape(graphs[1]),
            (std::vector<std::string>{"4: []", "6: [0]", "5: [1]", "6: [2]", "5: [3]", "4: [4]"}));
  EXPECT_EQ(graphs[0]["workload_graph"][1]["comm_size"], 100);
}

// Every message that is sent is received, with the same ends, tag and size.
TEST(ChakraExport, MatchesSendsAndReceives) {
  for (const char* collective : {"pair", "root", "serial"}) {
    TemporaryFolder folder;
    write_pairs(folder.path, collective);
    std::multiset<std::string> sent, received;
    for (const Json& graph : chakra_graphs(folder.path))
      for (const Json& node : graph["workload_graph"])
        if (node.contains("comm_src"))
          (node["NodeType"] == 5 ? sent : received)
              .insert(Json({node["comm_src"], node["comm_dst"], node["comm_tag"], node["comm_size"]}).dump());
    EXPECT_FALSE(sent.empty());
    EXPECT_EQ(sent, received) << collective;
  }
}

TEST(ChakraExport, NeedsTheFilesOfTheCase) {
  TemporaryFolder folder;
  EXPECT_THROW(chakra_graphs(folder.path), RunError);
}

}  // namespace
}  // namespace longhaul
