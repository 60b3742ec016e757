// Traces that look like those of another unit. What is right is known: one measurement of a link of 1 Gb/s
// and 12.5 ms one way, written in several units of rate, delay and time.
#include "net/variation/trace_units.h"

#include <gtest/gtest.h>

#include "net/topologies/registry.h"
#include "tests/support/files.h"
#include "tests/support/said.h"
#include "tests/unit/net/cases.h"

namespace longhaul::trace_units_test {

// 40 steps of 1 s with 10 million parameters in bf16: 53 s at most, if all of them travel twice at each step.
std::vector<std::string> doubts(const std::string& text, double rate = 1e9, double rtt_s = 0.05) {
  const TemporaryFolder folder;
  write_text(folder.file("trace.csv"), text);
  Case config = star_case(2, rate, rtt_s);
  config.workload.steps = 40;
  config.workload.parameters = 10'000'000;
  config.network.variation.traces = {{"replica0-core", folder.file("trace.csv"), {}, false, {}}};
  return doubtful_traces(config, build_topology(config));
}

std::string doubt(const std::string& text, double rate = 1e9, double rtt_s = 0.05) {
  const std::vector<std::string> found = doubts(text, rate, rtt_s);
  EXPECT_LE(found.size(), 1u) << "one line a column";
  return found.empty() ? "" : found[0];
}

TEST(DoubtfulTraces, LetRightUnitsPass) {
  for (const char* text :
       {"time_s,rate_bps,delay_s\n0,940e6,0.0125\n1,611e6,0.031\n2,0,0.0125\n3,5e6,0.9\n",
        "time_s,rate_bps\n0,2.5e6\n", "time_s,delay_s\n20,0.28\n", "time_s,delay_s\n0,0\n"})
    EXPECT_EQ(doubt(text), "") << text;
  EXPECT_EQ(doubt("time_s,rate_bps\n0,20e3\n", 10e3), "") << "a slow link";
  EXPECT_EQ(doubt("time_s,delay_s\n0,0.0125\n5,0.0205\n", 1e9, 0.0005), "") << "from 0.125 ms";
}

TEST(DoubtfulTraces, NameRatesOfAnotherUnit) {
  EXPECT_SAYS(
      doubt("time_s,rate_bps\n0,112.3\n1,98.1\n"),
      "trace.csv has rate_bps up to 112.3, 112 b/s on replica0-core, which has 1 Gb/s itself: rate_bps "
      "is in bit/s, are these kb/s or Mb/s?");
  for (const char* text : {"time_s,rate_bps\n0,0\n1,940\n", "time_s,rate_bps\n0,940000\n1,611000\n"})
    EXPECT_SAYS(doubt(text), "rate_bps is in bit/s, are these kb/s or Mb/s?") << text;
  EXPECT_SAYS(doubt("time_s,rate_bps\n0,940e12\n"), "has rate_bps up to 9.4e+14");
}

TEST(DoubtfulTraces, NameDelaysOfAnotherUnit) {
  EXPECT_SAYS(doubt("time_s,delay_s\n0,32\n1,45\n"),
              "trace.csv has a median delay_s of 45, so 45 s one way on replica0-core, which has 12.5 ms "
              "itself: delay_s is in seconds, are these milliseconds?");
  EXPECT_SAYS(doubt("time_s,delay_s\n0,0.4\n"), "are these milliseconds?") << "above a satellite's";
  EXPECT_SAYS(doubt("time_s,delay_s\n0,0.21\n", 1e9, 0.001), "are these milliseconds?") << "from 0.25 ms";
}

TEST(DoubtfulTraces, NameSingleCellsOfAnotherUnit) {
  EXPECT_SAYS(doubt("time_s,rate_bps,delay_s\n0,940e6,0.0125\n# a comment\n1,61.2,0.0125\n2,98e6,0.0125\n"),
              "trace.csv has 61.2 in line 4, column rate_bps, where others go up to 940 Mb/s: rate_bps is in "
              "bit/s, is this in kb/s or Mb/s?");
  EXPECT_SAYS(doubt("time_s,rate_bps\n0,940e6\n1,61.2\n2,\n3,98e6\n4,61.2\n5,70\n"),
              "(and 2 more such cells)")
      << "an empty cell is none";
  EXPECT_SAYS(doubt("time_s,rate_bps,delay_s\n0,940e6,0.0125\n1,940e6,12.5\n2,98e6,0.0126\n"),
              "trace.csv has 12.5 in line 3, column delay_s, where the median is 12.6 ms: delay_s is in "
              "seconds, is this in milliseconds?");
  EXPECT_EQ(doubt("time_s,rate_bps,delay_s\n0,50e6,0.02\n1,120e3,5\n2,0,0.02\n3,5e6,0.02\n"), "")
      << "a bad mobile link";
}

TEST(DoubtfulTraces, NameAnOutageWithoutEnd) {
  EXPECT_SAYS(doubt("time_s,rate_bps\n0,1e9\n20,0\n25,0\n"), "network.variation.traces[0]: ");
  EXPECT_SAYS(
      doubt("time_s,rate_bps,delay_s\n0,1e9,0.01\n20,0,\n25,,0.02\n"),
      "trace.csv ends with rate_bps 0, so that nothing is carried from 20 s on, for good; a row with a "
      "rate after it, or \"repeat\": true, ends the outage")
      << "an empty cell leaves the rate of the row before";
}

TEST(DoubtfulTraces, NameTimesThatDoNotCome) {
  EXPECT_SAYS(doubt("time_s,rate_bps\n1764288000,1e8\n1764288001,2e8\n"),
              "trace.csv begins at time_s = 1764288000, 56 years after the training began: is that since "
              "1970? Subtract the first row's");
  EXPECT_SAYS(doubt("time_s,rate_bps\n3600,1e8\n"), "begins 1 h 0 min after the training began");
  EXPECT_SAYS(doubt("time_s,rate_bps\n0,1e8\n1000,2e8\n2000,1e8\n"), "are these milliseconds?");
  EXPECT_EQ(doubts("time_s,rate_bps,delay_s\n1764288000,112,32\n").size(), 3u) << "one line a column";
}

}  // namespace longhaul::trace_units_test
