#include "analysis/report/network_map.h"
#include "analysis/report/point_tables.h"
#include "analysis/report/run_in_words.h"
#include "analysis/report/sync_times.h"
#include "analysis/table.h"
#include "core/base/errors.h"
#include "tests/unit/analysis/run_fixture.h"

namespace longhaul::report_parts_test {

TEST(RunInWords, AreTheSectionsAsTheyWereWritten) {
  const Json written = Json::parse(R"({"name": "a",
    "methods": [{"name": "ddp"}, {"name": "diloco", "inner_steps": 20}],
    "train": {"data": {"text": ["a.txt", "b.txt"]}},
    "network": {"topology": {"star": {"rate": "1Gbps", "rtt": "50ms"}}}})");
  const std::vector<Json> records = {
      {{"replicas", 8}, {"seed", 1}, {"swept", {{"replicas", 8}}}, {"label", "noloco"}, {"sitting_out", 1}},
      {{"replicas", 16}, {"seed", 2}, {"swept", {{"replicas", 16}}}, {"label", "ddp"}}};
  const Json expected = {{"Replicas", "8, 16; with noloco some sit out each outer step, drawn anew: 1 of 8"},
                         {"Methods", "name ddp; name diloco, inner_steps 20"},
                         {"Model trained", "data (text (a.txt; b.txt))"},
                         {"Network", "topology (star (rate 1Gbps, rtt 50ms))"},
                         {"Swept", "replicas: 8, 16"},
                         {"Seeds", "1, 2"}};
  Json said = Json::object();
  for (const Json& entry : run_in_words(written, records)) said[entry["term"]] = entry["text"];
  EXPECT_EQ(said, expected);
}

Json record(const std::string& label, int seed, double loss) {
  return {{"label", label}, {"status", "done"}, {"seed", seed}, {"exchanges", 1}, {"final_loss", loss}};
}

// What a row has of the loss: "values", "texts" or "best".
Json of_loss(const Json& row, const char* what) {
  std::size_t column = 0;
  while (columns().at(column).path != "final_loss") ++column;
  return row[what][column];
}

// Of 1, 2, 3: mean 2, standard error 1/√3, t(0.975, 2) = 4.302653 (a table of Student's t): half 2.484138.
// The text is that of the terminal. What is not done is left out, and the lowest mean is the best.
TEST(SeedMeans, HaveStudentsIntervalAndMarkTheLowest) {
  Json failed = record("a", 4, 100);
  failed["status"] = "failed";
  const Json rows = seed_means({record("a", 1, 1), record("a", 2, 2), record("a", 3, 3), failed,
                                record("b", 1, 1.5), record("b", 2, 1.7)},
                               {4, 5, 6, 7, 8, 9});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["cases"], Json({4, 5, 6, 7}));
  EXPECT_EQ(rows[0]["seeds"], 3);
  EXPECT_EQ(of_loss(rows[0], "values"), 2);
  EXPECT_EQ(of_loss(rows[0], "texts"), "2.000 ± 2.484");
  EXPECT_EQ(of_loss(rows[0], "best"), 0);
  EXPECT_EQ(of_loss(rows[1], "best"), 1);
}

// What one seed lacks is not averaged as if it had it, and cannot be the best.
TEST(SeedMeans, SayHowManySeedsHaveANumber) {
  Json lacks = record("a", 2, 0);
  lacks.erase("final_loss");
  const Json rows =
      seed_means({record("a", 1, 1), lacks, record("b", 1, 5), record("b", 2, 6)}, {0, 1, 2, 3});
  EXPECT_EQ(of_loss(rows[0], "texts"), "1.000 (1 of 2 seeds)");
  EXPECT_TRUE(of_loss(rows[0], "values").is_null());
  EXPECT_EQ(of_loss(rows[0], "best"), 0);
}

// The page takes the cells of the case itself.
TEST(SeedMeans, OfOneSeedHaveNoCells) {
  EXPECT_FALSE(seed_means({record("a", 1, 1), record("b", 1, 2)}, {0, 1})[0].contains("texts"));
}

// Two sites with a trunk of 1 Mb/s between links of 10 Mb/s. 1000 bytes keep the whole path busy for 10 ms,
// in which the trunk carries 8000 bits of 10,000.
class TwoSites : public testing::Test {
 protected:
  TwoSites() {
    write_text(folder.path + "/network.csv",
               "link,from,to,rate_forward_bps,rate_backward_bps,delay_s\n"
               "replica0-east,replica0,east,10000000,10000000,0\n"
               "replica1-west,replica1,west,10000000,10000000,0\n"
               "east-west,east,west,1000000,,0\n");
    write_links(
        "replica0-east,forward,1000,0.01\nreplica0-east,backward,0,0\nreplica1-west,forward,0,0\n"
        "replica1-west,backward,1000,0.01\neast-west,forward,1000,0.01\neast-west,backward,0,0\n");
  }

  void write_links(const std::string& rows) {
    write_text(folder.path + "/links.csv", "link,direction,bytes,busy_s\n" + rows);
  }

  TemporaryFolder folder;
};

TEST_F(TwoSites, MapJoinsNodesByLinksAndLeavesOutTheLeastBusy) {
  const Json map = network_map(folder.path, 10), small = network_map(folder.path, 1);
  EXPECT_EQ(map["nodes"], Json({"east", "west", "replica0", "replica1"}));
  EXPECT_EQ(map["replicas"], Json({2, 3}));
  EXPECT_EQ(map["links"][0], Json({0, 1, {1000, 0.01, 1e6}, nullptr}));
  EXPECT_EQ(map["links"][1], Json({2, 0, {1000, 0.01, 1e7}, nullptr}));
  EXPECT_EQ(small["links"].size(), 1u);
  EXPECT_EQ(small["left_out"], 2);
  EXPECT_EQ(small["nodes"], Json({"east", "west"}));
}

// Replica 0 is busy longest; its trunk is as busy within 1 % and fuller.
TEST_F(TwoSites, LinkTableBeginsWithTheBottleneckAndItsTrunks) {
  const Json first = link_table(folder.path, 1);  // the fullest of the busiest
  EXPECT_EQ(first["rows"], Json::array({{"east-west", "forward", 1000, 0.01, 1e6}}));
  EXPECT_EQ(first["alike"], 2);
  write_links(
      "replica0-east,forward,1500,0.01\nreplica0-east,backward,10,0.001\nreplica1-west,forward,0,0\n"
      "replica1-west,backward,800,0.009\neast-west,forward,1000,0.00995\neast-west,backward,20,0.0005\n");
  const Json table = link_table(folder.path, 4);
  EXPECT_EQ(table["used"], 5);
  EXPECT_EQ(table["total_bytes"], 3330);
  EXPECT_EQ(table["alike"], 1);
  EXPECT_EQ(table["rows"], Json({{"east-west", "forward", 1000, 0.00995, 1e6},
                                 {"east-west", "backward", 20, 0.0005, nullptr},
                                 {"replica0-east", "forward", 1500, 0.01, 1e7},
                                 {"replica1-west", "backward", 800, 0.009, 1e7}}));
}

TEST_F(TwoSites, LinkTableIsSortedByBusyTimeWhereNoTrunkIsTheBottleneck) {
  write_links(
      "replica0-east,forward,100,0.02\nreplica1-west,backward,900,0.03\neast-west,forward,1000,0.01\n");
  const Json rows = link_table(folder.path, 10)["rows"];
  std::vector<Json> links;
  for (const Json& row : rows) links.push_back(row[0]);
  EXPECT_EQ(links, (std::vector<Json>{"replica1-west", "replica0-east", "east-west"}));
  std::filesystem::remove(folder.path + "/network.csv");
  EXPECT_EQ(link_table(folder.path, 10)["rows"][0], Json({"replica1-west", "backward", 900, 0.03, nullptr}));
}

TEST_F(TwoSites, SitesOfCaseAreWhereTheLinksOfReplicasLead) {
  EXPECT_TRUE(sites_of_case(folder.path).is_null()) << "each replica at a site of its own";
  write_text(folder.path + "/network.csv",
             "link,from,to,rate_forward_bps,rate_backward_bps,delay_s\n"
             "replica0-west,replica0,west,1,1,0\nreplica1-east,replica1,east,1,1,0\n"
             "replica2-west,replica2,west,1,1,0\neast-west,east,west,1,1,0\n");
  EXPECT_EQ(sites_of_case(folder.path), Json({{"sites", {"west", "east"}}, {"site_of", {0, 1, 0}}}));
}

TEST_F(TwoSites, MapRefusesALinkThatIsNowhere) {
  write_links("north-south,forward,1,1\n");
  EXPECT_THROW(network_map(folder.path, 10), RunError);
  std::filesystem::remove(folder.path + "/network.csv");
  EXPECT_TRUE(network_map(folder.path, 10).is_null());
}

// The four times are 1, 1.5, 0.5 and 1.
TEST_F(CaseOfRun, SyncTimesAndPartsOfTheClockByHand) {
  const Json quantiles = sync_distribution(sync_times(case_folder));
  EXPECT_EQ(quantiles.front(), 0.5);
  EXPECT_EQ(quantiles.back(), 1.5);
  EXPECT_EQ(quantiles[11], 1);
  EXPECT_EQ(quantile_levels()[11], 0.5);
  EXPECT_EQ(sync_distribution({{0.5, 0.5, 0.5}, {}}), Json({0.5}));
  EXPECT_TRUE(sync_distribution({}).is_null());
  // The three parts of a replica are its clock: 4 + 2.5 + 1.5 = 8 and 6 + 0 + 2.5 = 8.5.
  const Json times = times_of_replicas(case_folder, sync_times(case_folder), 10);
  EXPECT_EQ(times["compute"], Json({4, 6}));
  EXPECT_EQ(times["wait"], Json({2.5, 0}));
  EXPECT_EQ(times["exchange"], Json({1.5, 2.5}));
}

// Of the 1.5 and 2.5 s 0.5 and 2 are waits for samples.
TEST_F(CaseOfRun, WaitsForSamplesAreNoExchanges) {
  write_text(case_folder + "/staleness.csv", "versions,samples\n");
  write_text(
      case_folder + "/replicas.csv",
      "replica,compute_s,idle_s,clock_s,bytes_sent,batch_wait_s\n0,4,4,8,100,0.5\n1,6,2.5,8.5,300,2\n");
  const Json times = times_of_replicas(case_folder, sync_times(case_folder), 10);
  EXPECT_EQ(times["batch_wait"], Json({0.5, 2}));
  EXPECT_EQ(times["exchange"], Json({1, 0.5}));
}

TEST_F(CaseOfRun, TimesOfReplicasShowsTheLeastAndTheMostIdleOfMany) {
  std::string text = "replica,compute_s,idle_s,clock_s,bytes_sent\n";
  for (int r = 0; r < 9; ++r) text += std::to_string(r) + ",1," + std::to_string((r * 5) % 9) + ",9,0\n";
  write_text(case_folder + "/replicas.csv", text);
  const Json times = times_of_replicas(case_folder, {}, 3);
  EXPECT_EQ(times["replicas"], 9);
  EXPECT_EQ(times["shown"], Json({0, 7, 8}));  // idle 0, 8 and 4
}

}  // namespace longhaul::report_parts_test
