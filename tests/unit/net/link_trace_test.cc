// The step functions of trace files, and what is said of files that are none.
#include <gtest/gtest.h>

#include "net/variation/variation.h"
#include "tests/support/said.h"

namespace longhaul::link_trace_test {

constexpr std::int64_t kSecond = 1000000000;

TraceSpec once() {
  return {};
}

TraceSpec repeating(std::optional<double> period_s = std::nullopt) {
  TraceSpec spec;
  spec.repeats = true;
  spec.period_s = period_s;
  return spec;
}

LinkTrace trace_of(const std::string& text, const TraceSpec& spec = once()) {
  return LinkTrace::parse(text, "some.csv", spec, "network.variation.traces[0]");
}

std::string error_of(const std::string& text, const TraceSpec& spec = once()) {
  return said_by([&] { trace_of(text, spec); });
}

TEST(LinkTrace, ARowHoldsUntilTheNextOne) {
  const LinkTrace trace = trace_of("time_s,rate_bps,delay_s\n2,1e8,0.01\n3.5,5e7,0.02\n");
  EXPECT_FALSE(trace.at(0).rate.has_value()) << "the link's own";
  EXPECT_FALSE(trace.at(2 * kSecond - 1).delay_s.has_value());
  EXPECT_EQ(trace.at(2 * kSecond).rate, 1e8);
  EXPECT_EQ(trace.at(3500000000 - 1).delay_s, 0.01);
  EXPECT_EQ(trace.at(3500000000).rate, 5e7);
  EXPECT_EQ(trace.at(1000000 * kSecond).delay_s, 0.02) << "for ever";
  EXPECT_EQ(trace.next_change_ns(0), 2 * kSecond);
  EXPECT_EQ(trace.next_change_ns(2 * kSecond), 3500000000);
  EXPECT_EQ(trace.next_change_ns(3500000000), LinkTrace::kNever);
}

TEST(LinkTrace, AnEmptyCellKeepsWhatHeldBefore) {
  const LinkTrace trace = trace_of("# made up\ndelay_s, time_s, rate_bps\r\n0.01,0,\n\n,1,2e6\n0.03,2,\n");
  EXPECT_FALSE(trace.at(0).rate.has_value());
  EXPECT_EQ(trace.at(0).delay_s, 0.01);
  EXPECT_EQ(trace.at(kSecond).delay_s, 0.01);
  EXPECT_EQ(trace.at(2 * kSecond).rate, 2e6);
  EXPECT_EQ(trace.at(2 * kSecond).delay_s, 0.03);
}

TEST(LinkTrace, RepeatsAtTheTimeOfItsLastRow) {
  for (const char* last : {"10,", "10,1e6"}) {
    const LinkTrace trace = trace_of(std::string("time_s,rate_bps\n0,1e6\n4,2e6\n") + last, repeating());
    for (const int round : {0, 1, 7}) {
      EXPECT_EQ(trace.at((10 * round + 3) * kSecond).rate, 1e6);
      EXPECT_EQ(trace.at((10 * round + 9) * kSecond).rate, 2e6);
      EXPECT_EQ(trace.next_change_ns((10 * round + 3) * kSecond), (10 * round + 4) * kSecond);
      EXPECT_EQ(trace.next_change_ns((10 * round + 4) * kSecond), (10 * round + 10) * kSecond);
    }
  }
}

TEST(LinkTrace, RepeatsWithAPeriodAndTheLinksOwnValuesFirst) {
  const LinkTrace trace = trace_of("time_s,rate_bps\n2,1e6\n", repeating(5));
  EXPECT_FALSE(trace.at(1 * kSecond).rate.has_value());
  EXPECT_EQ(trace.at(4 * kSecond).rate, 1e6);
  EXPECT_FALSE(trace.at(6 * kSecond).rate.has_value());
  EXPECT_EQ(trace.next_change_ns(4 * kSecond), 5 * kSecond);
  EXPECT_EQ(trace.next_change_ns(5 * kSecond), 7 * kSecond);
}

// 64 bits of nanoseconds are 292 years: behind them nothing changes.
TEST(LinkTrace, DoesNotRepeatBehindTheEndOfTime) {
  const LinkTrace trace = trace_of("time_s,rate_bps\n1,1e6\n2,1e7\n", repeating(2e8));
  const std::int64_t period_ns = 200'000'000'000'000'000, last = LinkTrace::kNever / period_ns;
  EXPECT_EQ(trace.next_change_ns((last - 1) * period_ns), (last - 1) * period_ns + 1'000'000'000);
  EXPECT_EQ(trace.next_change_ns(last * period_ns + 3'000'000'000), LinkTrace::kNever);
}

TEST(LinkTrace, KnowsWhenAnOutageEnds) {
  EXPECT_EQ(trace_of("time_s,rate_bps\n1,0\n3,0\n5,1e6\n").outage_end_ns(kSecond), 5 * kSecond);
  EXPECT_EQ(trace_of("time_s,rate_bps\n1,1e6\n3,0\n").outage_end_ns(4 * kSecond), LinkTrace::kNever);
  EXPECT_EQ(trace_of("time_s,rate_bps\n0,1e6\n3,0\n", repeating(10)).outage_end_ns(24 * kSecond),
            30 * kSecond);
  EXPECT_EQ(trace_of("time_s,rate_bps\n0,0\n3,0\n", repeating(10)).outage_end_ns(24 * kSecond),
            LinkTrace::kNever);
  EXPECT_EQ(trace_of("time_s,rate_bps\n3,0\n", repeating(10)).outage_end_ns(24 * kSecond), 30 * kSecond)
      << "the link's own rate is none of the trace's, and above 0";
}

TEST(LinkTrace, ErrorsNameFileLineColumnAndWhatWasFound) {
  const std::pair<const char*, const char*> wrong[] = {
      {"time_s,rate_bps\n0,1e6\n# a remark\n1,fast\n",
       "line 4, column rate_bps: found \"fast\"; allowed: a number"},
      {"time_s,delay_s\n0,-0.1\n", "line 2, column delay_s: found -0.1; allowed: seconds of at least 0"},
      {"time_s,rate_bps\n5,1e6\n5,2e6\n",
       "line 3, column time_s: found 5; allowed: more than in the row before: 5"},
      {"time_s,rate_bps\n0,0.5\n",
       "line 2, column rate_bps: found 0.5; allowed: at least 1 bit/s, or 0 for an outage"},
      {"time_s,rate_bps\n0,1e6,7\n", "line 2: has 3 cells; allowed: as many as the header: 2"},
      {"time_s,rate_bps\n-1,1e6\n", "line 2, column time_s: found -1; allowed: seconds from 0 to 4e+09"},
      {"time_s,rate_bps\n,1e6\n", "line 2, column time_s: the cell is empty; allowed: a time in seconds"},
      {"time_s,rate_mbps\n0,1\n",
       "line 1: found the column \"rate_mbps\"; allowed: time_s, rate_bps, delay_s"},
      {"time_s\n0\n", "line 1: found the columns time_s; allowed: time_s and rate_bps, delay_s or both"},
      {"time_s,rate_bps,time_s\n0,1,1\n",
       "line 1: found the column \"time_s\" twice; allowed: each column once"}};
  for (const auto& [text, said] : wrong) EXPECT_EQ(error_of(text), std::string("some.csv: ") + said);
  EXPECT_SAYS(error_of("time_s,rate_bps\n"), "some.csv: has no rows");
  EXPECT_SAYS(error_of("time_s,rate_bps\n0,\n"), "has neither rates nor delays");
}

// The values of a last row that ends the period never hold: they must not say anything.
TEST(LinkTrace, ErrorsOfPeriods) {
  EXPECT_SAYS(error_of("time_s,rate_bps\n0,1e6\n5,2e6\n9,3e6\n", repeating()), "line 4: is where the trace");
  EXPECT_EQ(error_of("time_s,rate_bps\n0,1e6\n5,2e6\n", repeating(5)),
            "network.variation.traces[0].repeat: found a period of 5 s; allowed: more than the time of the "
            "last row, 5 s");
  EXPECT_SAYS(error_of("time_s,rate_bps\n0,1e6\n", repeating()), "line 2: is where");
}

}  // namespace longhaul::link_trace_test
