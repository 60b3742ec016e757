#include "analysis/report/parts.h"
#include "core/base/errors.h"
#include "tests/unit/analysis/run_fixture.h"

namespace longhaul::network_map_test {

// Two sites with a trunk of 1 Mb/s between links of 10 Mb/s. 1000 bytes keep the whole path busy for 10 ms,
// in which the trunk carries 8000 bits of 10,000.
void write_two_sites(const std::string& folder) {
  write_text(folder + "/network.csv",
             "link,from,to,rate_forward_bps,rate_backward_bps,delay_s\n"
             "replica0-east,replica0,east,10000000,10000000,0\n"
             "replica1-west,replica1,west,10000000,10000000,0\n"
             "east-west,east,west,1000000,,0\n");
  write_text(folder + "/links.csv",
             "link,direction,bytes,busy_s\n"
             "replica0-east,forward,1000,0.01\nreplica0-east,backward,0,0\n"
             "replica1-west,forward,0,0\nreplica1-west,backward,1000,0.01\n"
             "east-west,forward,1000,0.01\neast-west,backward,0,0\n");
}

TEST(LinkTable, BeginsWithTheFullestOfTheBusiest) {
  TemporaryFolder folder;
  write_two_sites(folder.path);
  const Json table = link_table(folder.path, 1);
  EXPECT_EQ(table["rows"], Json::array({{"east-west", "forward", 1000, 0.01, 1e6}}));
  EXPECT_EQ(table["alike"], 2);
}

TEST(NetworkMap, JoinsNodesByLinks) {
  TemporaryFolder folder;
  write_two_sites(folder.path);
  const Json map = network_map(folder.path, 10);
  EXPECT_EQ(map["nodes"], Json({"east", "west", "replica0", "replica1"}));
  EXPECT_EQ(map["replicas"], Json({2, 3}));
  EXPECT_EQ(map["links"][0], Json({0, 1, {1000, 0.01, 1e6}, nullptr}));
  EXPECT_EQ(map["links"][1], Json({2, 0, {1000, 0.01, 1e7}, nullptr}));
}

TEST(NetworkMap, LeavesOutTheLeastBusy) {
  TemporaryFolder folder;
  write_two_sites(folder.path);
  const Json map = network_map(folder.path, 1);
  EXPECT_EQ(map["links"].size(), 1u);
  EXPECT_EQ(map["left_out"], 2);
  EXPECT_EQ(map["nodes"], Json({"east", "west"}));
}

// Replica 0 is busy longest; its trunk is as busy within 1 % and fuller.
TEST(LinkTable, BeginsWithTheBottleneckAndItsTrunks) {
  TemporaryFolder folder;
  write_two_sites(folder.path);
  write_text(folder.path + "/links.csv",
             "link,direction,bytes,busy_s\n"
             "replica0-east,forward,1500,0.01\nreplica0-east,backward,10,0.001\n"
             "replica1-west,forward,0,0\nreplica1-west,backward,800,0.009\n"
             "east-west,forward,1000,0.00995\neast-west,backward,20,0.0005\n");
  const Json table = link_table(folder.path, 4);
  EXPECT_EQ(table["used"], 5);
  EXPECT_EQ(table["total_bytes"], 3330);
  EXPECT_EQ(table["alike"], 1);
  EXPECT_EQ(table["rows"], Json({{"east-west", "forward", 1000, 0.00995, 1e6},
                                 {"east-west", "backward", 20, 0.0005, nullptr},
                                 {"replica0-east", "forward", 1500, 0.01, 1e7},
                                 {"replica1-west", "backward", 800, 0.009, 1e7}}));
}

TEST(LinkTable, IsSortedByBusyTimeWhereNoTrunkIsTheBottleneck) {
  TemporaryFolder folder;
  write_two_sites(folder.path);
  write_text(
      folder.path + "/links.csv",
      "link,direction,bytes,busy_s\n"
      "replica0-east,forward,100,0.02\nreplica1-west,backward,900,0.03\neast-west,forward,1000,0.01\n");
  const Json table = link_table(folder.path, 10);
  ASSERT_EQ(table["rows"].size(), 3u);
  EXPECT_EQ(table["rows"][0][0], "replica1-west");
  EXPECT_EQ(table["rows"][1][0], "replica0-east");
  EXPECT_EQ(table["rows"][2][0], "east-west");
  std::filesystem::remove(folder.path + "/network.csv");
  EXPECT_EQ(link_table(folder.path, 10)["rows"][0], Json({"replica1-west", "backward", 900, 0.03, nullptr}));
}

TEST(SitesOfCase, AreWhereTheLinksOfReplicasLead) {
  TemporaryFolder folder;
  write_two_sites(folder.path);
  EXPECT_TRUE(sites_of_case(folder.path).is_null()) << "each replica at a site of its own";
  write_text(folder.path + "/network.csv",
             "link,from,to,rate_forward_bps,rate_backward_bps,delay_s\n"
             "replica0-west,replica0,west,1,1,0\nreplica1-east,replica1,east,1,1,0\n"
             "replica2-west,replica2,west,1,1,0\neast-west,east,west,1,1,0\n");
  EXPECT_EQ(sites_of_case(folder.path), Json({{"sites", {"west", "east"}}, {"site_of", {0, 1, 0}}}));
}

TEST(NetworkMap, RefusesALinkThatIsNowhere) {
  TemporaryFolder folder;
  write_two_sites(folder.path);
  write_text(folder.path + "/links.csv", "link,direction,bytes,busy_s\nnorth-south,forward,1,1\n");
  EXPECT_THROW(network_map(folder.path, 10), RunError);
  std::filesystem::remove(folder.path + "/network.csv");
  EXPECT_TRUE(network_map(folder.path, 10).is_null());
}

}  // namespace longhaul::network_map_test
