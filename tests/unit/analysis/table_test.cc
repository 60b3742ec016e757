#include "analysis/table.h"

#include <gtest/gtest.h>

#include "tests/support/said.h"
#include "tests/unit/analysis/compared_runs.h"

namespace longhaul::table_test {

Json record(const std::string& label, int connections, double loss, double sync_s) {
  return compared_record(label, 1, {{"network.tcp.connections", connections}},
                         {{"final_loss", loss},
                          {"sync_time_s", {{"mean", sync_s}, {"p95", 2 * sync_s}}},
                          {"exchanges", 2},
                          {"simulated_time_s", 100 + sync_s},
                          {"idle_fraction", {{"mean", 0.25}}}});
}

Json summary_of(const std::vector<Json>& records) {
  return {{"cases", records}};
}

TEST(SummaryTable, AlignsAndMarksTheBestOfEachSweepPoint) {
  const Json summary = summary_of({record("diloco", 1, 2.5, 3.5), record("noloco", 1, 2.625, 0.5),
                                   record("diloco", 8, 2.5, 0.5), record("noloco", 8, 2.625, 0.25)});
  EXPECT_EQ(summary_table(summary),
            "method  connections   loss     sync      p95     idle   simulated   syncs\n"
            "diloco            1  2.500*   3.5 s      7 s   25.0 %  1 min 44 s       2\n"
            "noloco            1  2.625   500 ms*     1 s*  25.0 %  1 min 41 s*      2\n"
            "diloco            8  2.500*  500 ms      1 s   25.0 %  1 min 41 s       2\n"
            "noloco            8  2.625   250 ms*  500 ms*  25.0 %  1 min 40 s*      2\n"
            "  loss       validation loss after the last step, mean over replicas, in nats\n"
            "  sync       from the moment all it needs are ready until a replica goes on\n"
            "  p95        95th percentile of the synchronization time\n"
            "  idle       share of its time in which an accelerator could compute and does not\n"
            "  simulated  the clock of the last replica after the last step\n"
            "  syncs      how many times each replica synchronized\n"
            "* best of those it may be compared with\n");
}

TEST(SummaryTable, LeavesOutTheLeastImportantColumnsOfANarrowTerminal) {
  const Json summary = summary_of({record("diloco", 1, 2.5, 3.5), record("noloco", 1, 2.625, 0.5)});
  EXPECT_EQ(summary_table(summary, {40, false, false}),
            "method  connections   loss     sync\n"
            "diloco            1  2.500*   3.5 s\n"
            "noloco            1  2.625   500 ms*\n"
            "  loss  validation loss after the last step, mean over replicas, in nats\n"
            "  sync  from the moment all it needs are ready until a replica goes on\n"
            "* best of those it may be compared with\n"
            "4 columns more: --all-columns, the report, and summary.json\n");
}

// Nine columns are one too many: the least important is left out, unless all are asked for.
TEST(SummaryTable, HasEightColumnsUnlessAllAreAskedFor) {
  Json entry = record("diloco", 1, 2.5, 3.5);
  entry["wait_s"] = {{"mean", 1}};
  const std::string usual = summary_table(summary_of({entry})),
                    all = summary_table(summary_of({entry}), {0, false, true});
  EXPECT_EQ(usual.rfind("method  connections   loss   sync  p95  wait    idle   simulated\n", 0), 0u)
      << usual;
  EXPECT_EQ(all.rfind("method  connections   loss   sync  p95  wait    idle   simulated  syncs\n", 0), 0u)
      << all;
  EXPECT_EQ(all.find("--all-columns"), std::string::npos);
}

TEST(SummaryTable, ShowsWhatDidNotFinish) {
  Json interrupted = {{"label", "noloco"}, {"status", "interrupted"}, {"seed", 1}, {"swept", Json::object()}};
  const std::string text = summary_table(summary_of({record("diloco", 1, 2.5, 3.5), interrupted}));
  EXPECT_SAYS(text, "status");
  EXPECT_SAYS(text, "interrupted");
  EXPECT_EQ(text.find('*'), std::string::npos);  // nobody to be compared with
}

// As many digits as a reader uses; small ones with their power of ten.
TEST(SummaryTable, WritesPlainNumbersAsPeopleDo) {
  for (const auto& [value, text] : std::vector<std::pair<double, std::string>>{
           {24.2, " 24.2"}, {0.3871234, " 0.3871"}, {1234.5, " 1234"}, {0.00157, " 1.57e-03"}}) {
    Json entry = record("diloco", 1, 2.5, 3.5);
    entry["useful_steps_per_s"] = value;
    EXPECT_SAYS(summary_table(summary_of({entry}), {0, false, true}), text + " ");
  }
}

TEST(SummaryTable, OfARunWithoutCases) {
  EXPECT_EQ(summary_table(summary_of({}), {80, false, false}), "no cases\n");
}

TEST(BestValues, NeedAChoiceThatShows) {
  const Metric& loss = columns()[0];
  ASSERT_EQ(loss.path, "final_loss");
  using Marks = std::vector<bool>;
  EXPECT_EQ(best_values({record("a", 1, 2.5, 1)}, loss), Marks({false}));
  EXPECT_EQ(best_values({record("a", 1, 2.5, 1), record("b", 1, 2.5001, 1)}, loss), Marks({false, false}));
  EXPECT_EQ(best_values({record("a", 1, 2.5, 1), record("b", 1, 2.6, 1)}, loss), Marks({true, false}));
}

// Who never exchanges synchronizes in no time; that is no merit.
TEST(BestValues, OfExchangesLeaveOutWhoNeverExchanges) {
  Json independent = record("independent", 1, 3, 0);
  independent["exchanges"] = 0;
  independent["sync_time_s"] = nullptr;
  const Metric* time = nullptr;
  for (const Metric& metric : columns())
    if (metric.path == "simulated_time_s") time = &metric;
  ASSERT_NE(time, nullptr);
  EXPECT_EQ(best_values({independent, record("a", 1, 2, 10), record("b", 1, 2, 20)}, *time),
            std::vector<bool>({false, true, false}));
}

TEST(SamplingNote, SaysHowManyWindowsAndTheRangeOfTheErrors) {
  const Json a = {{"final_loss_sampling_error", 0.0123}, {"evaluated_sequences", 64}};
  const Json b = {{"final_loss_sampling_error", 0.0456}, {"evaluated_sequences", 64}};
  const std::string note = sampling_note({a, Json::object(), b});
  EXPECT_SAYS(note, "over 64 windows");
  EXPECT_SAYS(note, "0.012 to 0.046 nats");
  EXPECT_SAYS(sampling_note({a}), "sample is 0.012 nats");
  EXPECT_EQ(sampling_note({Json{{"final_loss", 1.5}}}), "");
}

}  // namespace longhaul::table_test
