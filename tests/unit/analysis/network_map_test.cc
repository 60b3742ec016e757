#include "analysis/report/parts.h"

#include "core/errors.h"
#include "tests/unit/analysis/run_fixture.h"

namespace longhaul {
namespace {

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

TEST(NetworkMap, NamesTheFullestOfTheBusiest) {
  TemporaryFolder folder;
  write_two_sites(folder.path);
  const Json map = network_map(folder.path, 10);
  EXPECT_EQ(
      map["bottleneck"],
      Json({{"link", "east-west"}, {"direction", "forward"}, {"busy_s", 0.01}, {"full", 0.8}, {"alike", 2}}));
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

TEST(NetworkMap, RefusesALinkThatIsNowhere) {
  TemporaryFolder folder;
  write_two_sites(folder.path);
  write_text(folder.path + "/links.csv", "link,direction,bytes,busy_s\nnorth-south,forward,1,1\n");
  EXPECT_THROW(network_map(folder.path, 10), RunError);
  std::filesystem::remove(folder.path + "/network.csv");
  EXPECT_TRUE(network_map(folder.path, 10).is_null());
}

}  // namespace
}  // namespace longhaul
