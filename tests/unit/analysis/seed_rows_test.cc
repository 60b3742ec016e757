#include <gtest/gtest.h>

#include "analysis/table.h"
#include "tests/unit/analysis/compared_runs.h"

namespace longhaul::seed_rows_test {

Json record(const std::string& label, int seed, double loss, double time_s, int connections = 1) {
  return compared_record(label, seed, {{"network.tcp.connections", connections}},
                         {{"final_loss", loss}, {"exchanges", 2}, {"simulated_time_s", time_s}});
}

// Of 2.5 and 2.7 the mean is 2.6, its standard error 0.1, t(0.975, 1) = 12.706. 600 and 690 s are 10 min 45 s
// ± 45 s · 12.706 = 572 s.
TEST(SeedRows, AreALineInTheTerminal) {
  const Json summary = {{"cases",
                         {record("a", 1, 2.5, 600), record("b", 1, 2.5, 100), record("a", 2, 2.7, 690),
                          record("b", 2, 2.5, 100)}}};
  EXPECT_EQ(summary_table(summary),
            "method  connections  seeds           loss               simulated   syncs\n"
            "a                 1      2  2.600 ± 1.271   10 min 45 s ± 9.5 min       2\n"
            "b                 1      2          2.500*             1 min 40 s*      2\n"
            "  loss       validation loss after the last step, mean over replicas, in nats\n"
            "  simulated  the clock of the last replica after the last step\n"
            "  syncs      how many times each replica synchronized\n"
            "* best of those it may be compared with\n"
            "means over seeds, ±: half the width of their 95 % interval (--seeds: a line for each seed)\n");
  EXPECT_NE(summary_table(summary, {0, true, false}).find("a                 1     1  2.500"),
            std::string::npos);
}

TEST(SeedRows, AreOfOnePointOfTheSweep) {
  const std::vector<Json> records = {record("a", 1, 1, 1, 1), record("a", 1, 1, 1, 8),
                                     record("a", 2, 1, 1, 1)};
  const std::vector<SeedRow> rows = seed_rows(records);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].indices, std::vector<std::size_t>({0, 2}));
  EXPECT_EQ(rows[1].point, "network.tcp.connections = 8");
}

TEST(SeedRows, ATimeIsAsEverywhereAndANumberHasTheUnitOfItsHalfWidth) {
  const auto text = [](const char* path, double mean, double half) {
    return with_half_width(metric_named(path), mean, half);
  };
  EXPECT_EQ(text("simulated_time_s", 645, 415), "10 min 45 s ± 6.9 min");
  EXPECT_EQ(text("simulated_time_s", 6372, 51), "1 h 46 min ± 1 min");
  EXPECT_EQ(text("simulated_time_s", 59400, 720), "16 h 30 min ± 12 min");
  EXPECT_EQ(text("simulated_time_s", 645, 0), "10 min 45 s");
  EXPECT_EQ(text("simulated_time_s", 456.4, 4.1), "7 min 36 s ± 4 s");
  EXPECT_EQ(text("simulated_time_s", 4977, 23), "1 h 22 min") << "below the last digit";
  EXPECT_EQ(text("simulated_time_s", 2.5 * 86400, 8640), "2.50 ± 0.10 d");
  EXPECT_EQ(text("sync_time_s.mean", 9.48, 0.00855), "9.48 ± 0.01 s");
  EXPECT_EQ(text("sync_time_s.mean", 11.7, 0.00174), "11.7 s") << "below the last digit";
  EXPECT_EQ(text("sync_time_s.mean", 0.0778, 0.00017), "77.8 ± 0.2 ms");
  EXPECT_EQ(text("idle_fraction.mean", 0.605, 0.001), "60.5 ± 0.1 %");
  EXPECT_EQ(text("bytes_sent_per_replica", 1.94e6, 1e4), "1.94 ± 0.01 MB");
  EXPECT_EQ(text("final_loss", 2.15, 0.0109), "2.150 ± 0.011");
}

TEST(SeedRows, SayWhichSeedsReachedTheTarget) {
  Json never = record("a", 1, 3, 10), reached = record("a", 2, 2, 10);
  never["target_loss"] = reached["target_loss"] = 2.5;
  never["time_to_target_s"] = nullptr;
  reached["time_to_target_s"] = 8;
  const Metric metric = metric_named("time_to_target_s");
  const std::vector<Json> both = {never, reached}, never_alone = {never};
  EXPECT_EQ(mean_cell(seed_rows(both).at(0), metric), "8 s (1 of 2 seeds)");
  EXPECT_EQ(mean_cell(seed_rows(never_alone).at(0), metric), "not reached");
  EXPECT_EQ(cell_text(metric, never), "not reached");
  EXPECT_EQ(cell_text(metric, record("a", 1, 3, 10)), "") << "no target was set";
}

// 0.9 ms of wait beside a synchronization of 1 s is rounding, 1.1 ms is not; below a nanosecond it is no
// time.
TEST(BestValues, RoundingIsNoWinner) {
  const auto waits = [](double wait_s) {
    Json entry = record("a" + std::to_string(wait_s), 1, 3, 10);
    entry["wait_s"] = {{"mean", wait_s}};
    entry["sync_time_s"] = {{"mean", 1}};
    return entry;
  };
  const Metric metric = metric_named("wait_s.mean");
  EXPECT_EQ(best_values({waits(0), waits(0.0009)}, metric), std::vector<bool>({false, false}));
  EXPECT_EQ(best_values({waits(0), waits(0.0011)}, metric), std::vector<bool>({true, false}));
  EXPECT_EQ(formatted(metric, 4.2e-10), "0 s");
}

}  // namespace longhaul::seed_rows_test
