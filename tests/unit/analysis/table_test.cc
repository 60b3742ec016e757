// The table of a run, a case or the seeds of one a row; and texts in the cells of Markdown.
#include "analysis/table.h"

#include <gtest/gtest.h>

#include "analysis/seed_rows.h"
#include "analysis/text.h"
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
  const Json four = summary_of({record("diloco", 1, 2.5, 3.5), record("noloco", 1, 2.625, 0.5),
                                record("diloco", 8, 2.5, 0.5), record("noloco", 8, 2.625, 0.25)});
  EXPECT_EQ(summary_table(four),
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
  // A narrow terminal has no place for the least important columns.
  EXPECT_EQ(summary_table(summary_of({four["cases"][0], four["cases"][1]}), {40, false, false}),
            "method  connections   loss     sync\n"
            "diloco            1  2.500*   3.5 s\n"
            "noloco            1  2.625   500 ms*\n"
            "  loss  validation loss after the last step, mean over replicas, in nats\n"
            "  sync  from the moment all it needs are ready until a replica goes on\n"
            "* best of those it may be compared with\n"
            "4 columns more: --all-columns, the report, and summary.json\n");
  EXPECT_EQ(summary_table(summary_of({}), {80, false, false}), "no cases\n");
}

// Nine columns are one too many: the least important is left out, unless all are asked for.
TEST(SummaryTable, HasEightColumnsUnlessAllAreAskedFor) {
  Json entry = record("diloco", 1, 2.5, 3.5);
  entry["wait_s"] = {{"mean", 1}};
  const std::string usual = summary_table(summary_of({entry})),
                    all = summary_table(summary_of({entry}), {0, false, true});
  EXPECT_SAYS(usual, "method  connections   loss   sync  p95  wait    idle   simulated\n");
  EXPECT_SAYS(all, "method  connections   loss   sync  p95  wait    idle   simulated  syncs\n");
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

TEST(BestValues, NeedAChoiceThatShows) {
  const Metric loss = metric_named("final_loss");
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
  EXPECT_EQ(best_values({independent, record("a", 1, 2, 10), record("b", 1, 2, 20)},
                        metric_named("simulated_time_s")),
            std::vector<bool>({false, true, false}));
}

TEST(SamplingNote, SaysHowManyWindowsAndTheRangeOfTheErrors) {
  const Json a = {{"final_loss_sampling_error", 0.0123}, {"evaluated_sequences", 64}},
             b = {{"final_loss_sampling_error", 0.0456}, {"evaluated_sequences", 64}};
  const std::string note = sampling_note({a, Json::object(), b});
  EXPECT_SAYS(note, "over 64 windows");
  EXPECT_SAYS(note, "0.012 to 0.046 nats");
  EXPECT_SAYS(sampling_note({a}), "sample is 0.012 nats");
  EXPECT_EQ(sampling_note({Json{{"final_loss", 1.5}}}), "");
}

Json of_seed(const std::string& label, int seed, double loss, double time_s, int connections = 1) {
  return compared_record(label, seed, {{"network.tcp.connections", connections}},
                         {{"final_loss", loss}, {"exchanges", 2}, {"simulated_time_s", time_s}});
}

// Of 2.5 and 2.7 the mean is 2.6, its standard error 0.1, t(0.975, 1) = 12.706. 600 and 690 s are 10 min 45 s
// ± 45 s · 12.706 = 572 s.
TEST(SeedRows, AreALineInTheTerminal) {
  const Json summary = summary_of({of_seed("a", 1, 2.5, 600), of_seed("b", 1, 2.5, 100),
                                   of_seed("a", 2, 2.7, 690), of_seed("b", 2, 2.5, 100)});
  EXPECT_EQ(summary_table(summary),
            "method  connections  seeds           loss               simulated   syncs\n"
            "a                 1      2  2.600 ± 1.271   10 min 45 s ± 9.5 min       2\n"
            "b                 1      2          2.500*             1 min 40 s*      2\n"
            "  loss       validation loss after the last step, mean over replicas, in nats\n"
            "  simulated  the clock of the last replica after the last step\n"
            "  syncs      how many times each replica synchronized\n"
            "* best of those it may be compared with\n"
            "means over seeds, ±: half the width of their 95 % interval (--seeds: a line for each seed)\n");
  EXPECT_SAYS(summary_table(summary, {0, true, false}), "a                 1     1  2.500");
}

TEST(SeedRows, AreOfOnePointOfTheSweep) {
  const std::vector<Json> records = {of_seed("a", 1, 1, 1, 1), of_seed("a", 1, 1, 1, 8),
                                     of_seed("a", 2, 1, 1, 1)};
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
  EXPECT_EQ(text("simulated_time_s", 4977, 23), "1 h 23 min") << "below the last digit";
  EXPECT_EQ(text("simulated_time_s", 2.5 * 86400, 8640), "2.50 ± 0.10 d");
  EXPECT_EQ(text("sync_time_s.mean", 9.48, 0.00855), "9.48 ± 0.01 s");
  EXPECT_EQ(text("sync_time_s.mean", 11.7, 0.00174), "11.7 s") << "below the last digit";
  EXPECT_EQ(text("sync_time_s.mean", 0.0778, 0.00017), "77.8 ± 0.2 ms");
  EXPECT_EQ(text("idle_fraction.mean", 0.605, 0.001), "60.5 ± 0.1 %");
  EXPECT_EQ(text("bytes_sent_per_replica", 1.94e6, 1e4), "1.94 ± 0.01 MB");
  EXPECT_EQ(text("final_loss", 2.15, 0.0109), "2.150 ± 0.011");
}

TEST(SeedRows, SayWhichSeedsReachedTheTarget) {
  const std::vector<Json> both = values_of("time_to_target_s", {{"a", {nullptr, 8}}},
                                           {{"target_loss", 2.5}, {"exchanges", 2}}),
                          never = {both[0]};
  const Metric metric = metric_named("time_to_target_s");
  EXPECT_EQ(mean_cell(seed_rows(both).at(0), metric), "8 s (1 of 2 seeds)");
  EXPECT_EQ(mean_cell(seed_rows(never).at(0), metric), "not reached");
  EXPECT_EQ(cell_text(metric, never[0]), "not reached");
  EXPECT_EQ(cell_text(metric, of_seed("a", 1, 3, 10)), "") << "no target was set";
}

// 0.9 ms of wait beside a synchronization of 1 s is rounding, 1.1 ms is not; below a nanosecond it is no
// time.
TEST(BestValues, RoundingIsNoWinner) {
  const auto waits = [](double wait_s) {
    Json entry = of_seed("a" + std::to_string(wait_s), 1, 3, 10);
    entry["wait_s"] = {{"mean", wait_s}};
    entry["sync_time_s"] = {{"mean", 1}};
    return entry;
  };
  const Metric metric = metric_named("wait_s.mean");
  EXPECT_EQ(best_values({waits(0), waits(0.0009)}, metric), std::vector<bool>({false, false}));
  EXPECT_EQ(best_values({waits(0), waits(0.0011)}, metric), std::vector<bool>({true, false}));
  EXPECT_EQ(formatted(metric, 4.2e-10), "0 s");
}

TEST(Text, OneIsSingular) {
  EXPECT_EQ(amount_of("1", "accelerator-hour"), "1 accelerator-hour");
  EXPECT_EQ(amount_of("4.02 k", "accelerator-hour"), "4.02 k accelerator-hours");
}

TEST(Markdown, ATextStaysInItsCell) {
  EXPECT_EQ(markdown_row({"ring", "a|b"}), "| ring | a\\|b |\n");
  EXPECT_EQ(markdown_text("one\r\ntwo"), "one  two");
  EXPECT_EQ(markdown_text("<img src=x>"), "&lt;img src=x>");
  EXPECT_EQ(markdown_text("p < 0.05, \u00b5"), "p &lt; 0.05, \u00b5");
}

// Numbers stand on the right, as the rule says; the second paragraph is 13 columns wide at most.
TEST(Markdown, OnATerminalTablesAreAlignedAndTextIsWrapped) {
  EXPECT_EQ(terminal_text("### A **b**\n\n| of | n |\n|---|---:|\n| a\\|µ | 10 |\n| **x** | 2 |\n\n- one two "
                          "three\n- p &lt; 1\n",
                          13),
            "A b\n\n  of    n\n  a|µ  10\n  x     2\n\n- one two\n  three\n- p < 1\n");
}

}  // namespace longhaul::table_test
