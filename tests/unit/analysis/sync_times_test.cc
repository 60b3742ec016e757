#include "analysis/case_record.h"
#include "analysis/report/parts.h"
#include "tests/unit/analysis/run_fixture.h"

namespace longhaul::sync_times_test {

// run_fixture.h: 1, 1.5, 0.5 and 1 s.
TEST(SyncTimes, AreThoseOfTheTable) {
  TemporaryFolder folder;
  write_replay(folder.path);
  const SyncTimes times = sync_times(folder.path);
  EXPECT_EQ(times.sync_s, (std::vector<double>{1, 1.5, 0.5, 1}));
  EXPECT_EQ(times.wait_of_replica, (std::vector<double>{2.5, 0}));
}

TEST(SyncTimes, LeaveOutWhatOverlapsAndAddUpWhatFollows) {
  TemporaryFolder folder;
  write_replay(folder.path, kExchangesWithPresend);
  EXPECT_EQ(sync_times(folder.path).sync_s, (std::vector<double>{1, 1.5, 0.5, 1}));
  write_text(folder.path + "/exchanges.csv",
             "step,replica,exchange,ready_s,start_s,done_s,bytes,awaited_s\n"
             "1,0,gather,1,1,2,5,1\n1,0,scatter,2,2.5,4,5,2\n");
  EXPECT_EQ(sync_times(folder.path).sync_s, (std::vector<double>{2.5}));
}

TEST(SyncDistribution, HasTheEndsAndTheMedianOfTheRecord) {
  TemporaryFolder folder;
  write_replay(folder.path);
  const Json quantiles = sync_distribution(sync_times(folder.path));
  const Json record =
      case_record(parse_case(resolved_case("diloco", Json::object(), false)), folder.path, "", "done", "");
  EXPECT_EQ(quantiles.front(), 0.5);
  EXPECT_EQ(quantiles.back(), record["sync_time_s"]["max"]);
  EXPECT_EQ(quantiles[11], record["sync_time_s"]["p50"]);
  EXPECT_EQ(quantile_levels()[11], 0.5);
}

TEST(SyncDistribution, OfEqualTimesIsOneNumber) {
  EXPECT_EQ(sync_distribution({{0.5, 0.5, 0.5}, {}}), Json({0.5}));
  EXPECT_TRUE(sync_distribution({}).is_null());
}

// The three parts of a replica are its clock: 4 + 2.5 + 1.5 = 8 and 6 + 0 + 2.5 = 8.5.
TEST(TimesOfReplicas, AddUpToTheClock) {
  TemporaryFolder folder;
  write_replay(folder.path);
  const Json times = times_of_replicas(folder.path, sync_times(folder.path), 10);
  EXPECT_EQ(times["compute"], Json({4, 6}));
  EXPECT_EQ(times["wait"], Json({2.5, 0}));
  EXPECT_EQ(times["exchange"], Json({1.5, 2.5}));
}

TEST(TimesOfReplicas, ShowsTheLeastAndTheMostIdleOfMany) {
  TemporaryFolder folder;
  std::string text = "replica,compute_s,idle_s,clock_s,bytes_sent\n";
  for (int r = 0; r < 9; ++r) text += std::to_string(r) + ",1," + std::to_string((r * 5) % 9) + ",9,0\n";
  write_text(folder.path + "/replicas.csv", text);
  const Json times = times_of_replicas(folder.path, {}, 3);
  EXPECT_EQ(times["replicas"], 9);
  EXPECT_EQ(times["shown"], Json({0, 7, 8}));  // idle 0, 8 and 4
}

}  // namespace longhaul::sync_times_test
