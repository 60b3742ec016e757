// What links have at a moment: jitter, traffic of others, traces, and which names they go by. The step
// functions of trace files, and what is said of files that are none.
#include "net/variation/variation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "net/overrides.h"
#include "net/variation/link_jitter.h"
#include "net/variation/link_trace.h"
#include "net/variation/on_off_source.h"
#include "tests/support/files.h"
#include "tests/support/said.h"

namespace longhaul::variation_test {

constexpr std::int64_t kSecond = 1000000000;

// Replicas around a core, links of 100 Mb/s and 10 ms; `extra` more of them in front.
Topology star(int replicas, int extra = 0) {
  Topology topology(replicas + extra);
  const int core = topology.add_router("core");
  const auto add = [&](int replica, const std::string& name) {
    topology.add_link({name, replica, core, 1e8, 1e8, 0.01});
  };
  for (int i = 0; i < extra; ++i) add(replicas + i, "extra" + std::to_string(i));
  for (int i = 0; i < replicas; ++i) add(i, topology.node_name(i) + "-core");
  return topology;
}

VariationSpec with_trace(const std::string& link, const std::string& text, Directions directions = {}) {
  VariationSpec spec;
  static const TemporaryFolder folder;
  const std::string file = folder.file("trace.csv");
  write_text(file, text);
  spec.traces = {{link, file, directions, false, {}}};
  return spec;
}

// Traffic on links.
BackgroundSpec traffic_on(const std::string& link, std::optional<double> rate, std::optional<double> share,
                          std::optional<double> on_s = {}, std::optional<double> off_s = {}) {
  return {link, {}, "", "", {}, rate, share, on_s, off_s, {}};
}

VariationSpec with_background(const BackgroundSpec& traffic) {
  VariationSpec spec;
  spec.background = {traffic};
  return spec;
}

// E exp(σ z − σ²/2) = 1 and Var = exp(σ²) − 1: the mean of n draws is within four of its standard deviations.
TEST(LinkJitter, FactorsHaveMeanOneAndTheVarianceOfALogNormal) {
  const double sigma = 0.5, variance = std::exp(sigma * sigma) - 1;
  const LinkJitter jitter({sigma, sigma, 1}, 7);
  const int draws = 100000;
  double sum = 0, squares = 0, delays = 0;
  for (int i = 0; i < draws; ++i) {
    const LinkJitter::Factors factors = jitter.factors("a-b", i % 2, i / 2 * kSecond);
    sum += factors.rate;
    squares += factors.rate * factors.rate;
    delays += factors.delay;
  }
  const double error = 4 * std::sqrt(variance / draws);
  EXPECT_NEAR(sum / draws, 1, error);
  EXPECT_NEAR(delays / draws, 1, error);
  EXPECT_NEAR(squares / draws - 1, variance, 0.1 * variance);
}

TEST(LinkJitter, ADrawStaysForItsPeriodAndBelongsToItsLinkAndDirection) {
  const LinkJitter jitter({0.3, 0, 2}, 7);
  const double first = jitter.factors("a-b", 0, 0).rate;
  EXPECT_EQ(jitter.factors("a-b", 0, 2 * kSecond - 1).rate, first);
  EXPECT_NE(jitter.factors("a-b", 0, 2 * kSecond).rate, first);
  EXPECT_NE(jitter.factors("a-b", 1, 0).rate, first);
  EXPECT_NE(jitter.factors("a-c", 0, 0).rate, first);
  EXPECT_NE(LinkJitter({0.3, 0, 2}, 8).factors("a-b", 0, 0).rate, first);
  EXPECT_EQ(LinkJitter({0.3, 0.9, 2}, 7).factors("a-b", 0, 0).rate, first);
  EXPECT_EQ(jitter.factors("a-b", 0, 0).delay, 1);
  EXPECT_EQ(jitter.next_change_ns(0), 2 * kSecond);
  EXPECT_EQ(jitter.next_change_ns(2 * kSecond), 4 * kSecond);
}

// The last links of both networks are the same ones, with other numbers.
TEST(Variation, AnotherLinkChangesNoDrawOfTheOthers) {
  VariationSpec spec = with_background(traffic_on("replica*-core", {}, 0.5, 0.7, 0.7));
  spec.jitter = {0.3, 0.2, 1};
  const Topology small = star(3), large = star(3, 2);
  Variation variation(spec, small, 5), other(spec, large, 5);
  for (int second = 0; second < 50; ++second) {
    variation.advance_to(second * kSecond);
    other.advance_to(second * kSecond);
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(variation.capacities()[i], other.capacities()[i + 4]);
      EXPECT_EQ(variation.delays_s()[i], other.delays_s()[i + 4]);
    }
  }
}

TEST(Variation, IsAFunctionOfTimeHoweverOftenItIsLookedAt) {
  VariationSpec spec = with_trace("replica0-core", "time_s,rate_bps\n0,5e7\n3,0\n5,2e7\n");
  spec.jitter = {0.3, 0.2, 1};
  spec.background = {traffic_on("replica1-core", {}, 0.5, 0.3, 0.1)};
  const Topology topology = star(2);
  Variation often(spec, topology, 5), once(spec, topology, 5);
  while (often.next_change_ns() <= 60 * kSecond) often.advance_to(often.next_change_ns());
  often.advance_to(60 * kSecond);
  once.advance_to(60 * kSecond);
  EXPECT_EQ(often.capacities(), once.capacities());
  EXPECT_EQ(often.delays_s(), once.delays_s());
  EXPECT_EQ(often.next_change_ns(), once.next_change_ns());
}

TEST(Variation, ATraceChangesTheDirectionsThatItIsFor) {
  const Topology topology = star(2);
  Variation variation(with_trace("replica1-core", "time_s,rate_bps,delay_s\n1,5e7,0.02\n", {false, true}),
                      topology, 1);
  EXPECT_EQ(variation.next_change_ns(), kSecond);
  variation.advance_to(kSecond);
  EXPECT_EQ(variation.changed(), (std::vector<LinkDirection>{3}));
  EXPECT_EQ(variation.rates(), (std::vector<double>{1e8, 1e8, 1e8, 5e7}));
  EXPECT_EQ(variation.delays_s(), (std::vector<double>{0.01, 0.01, 0.01, 0.02}));
  variation.advance_to(2 * kSecond);
  EXPECT_TRUE(variation.changed().empty());
  // In an outage nothing passes; how long a segment takes on the link is known from before.
  Variation outage(with_trace("*", "time_s,rate_bps\n1,5e7\n2,0\n4,1e7\n"), topology, 1);
  outage.advance_to(kSecond);
  outage.advance_to(2 * kSecond);
  EXPECT_EQ(outage.capacities(), std::vector<double>(4, 0));
  EXPECT_EQ(outage.rates(), std::vector<double>(4, 5e7));
  EXPECT_EQ(outage.next_outage_end_ns(), 4 * kSecond);
}

TEST(Variation, TrafficThatYieldsToNobodyIsTakenOffAndLeavesATenth) {
  const Topology topology = star(2);
  VariationSpec spec = with_trace("replica0-core", "time_s,rate_bps\n1,2e7\n");
  spec.background = {traffic_on("replica0-core", 3e7, {}), traffic_on("*", {}, 0.2)};
  spec.background[0].directions = {true, false};
  Variation variation(spec, topology, 1);
  EXPECT_EQ(variation.capacities(), (std::vector<double>{5e7, 8e7, 8e7, 8e7}));
  EXPECT_EQ(variation.rates()[0], 1e8) << "a segment still takes the time of the whole rate";
  variation.advance_to(kSecond);
  EXPECT_NEAR(variation.capacities()[0], 2e6, 1e-6);
}

// Steady state: on for on / (on + off) of the time; the standard deviation over 2000 cycles is below 1 %.
TEST(OnOffSource, IsOnForItsPartOfTheTime) {
  OnOffSource source(3, 1, 1, "a-b forward", 0);
  double on_s = 0;
  std::int64_t time_ns = 0;
  const std::int64_t end_ns = 8000 * kSecond;
  int switches = 0;
  while (time_ns < end_ns) {
    const std::int64_t next_ns = std::min(source.next_change_ns(), end_ns);
    if (source.is_on()) on_s += static_cast<double>(next_ns - time_ns) / 1e9;
    source.advance_to(time_ns = next_ns);
    ++switches;
  }
  EXPECT_NEAR(on_s / 8000, 0.75, 0.03);
  EXPECT_NEAR(switches, 4000, 300);
  // It begins so.
  int on = 0;
  for (int i = 0; i < 4000; ++i) on += OnOffSource(3, 1, 1, "a-b forward", i).is_on();
  EXPECT_NEAR(on / 4000., 0.75, 0.03);
}

TEST(Variation, CrossFlowsTakeThePathBetweenTwoNodes) {
  const Topology topology = star(3);
  const Variation variation(with_background({"", {}, "replica0", "replica2", 4, {}, {}, {}, {}, {}}),
                            topology, 1);
  ASSERT_EQ(variation.cross_flows().size(), 1u);
  const Variation::CrossFlow& flow = variation.cross_flows()[0];
  EXPECT_EQ(flow.data, (std::vector<LinkDirection>{0, 5}));
  EXPECT_EQ(flow.acks, (std::vector<LinkDirection>{4, 1}));
  EXPECT_EQ(flow.weight, 4);
  EXPECT_TRUE(variation.is_on(flow));
  EXPECT_EQ(variation.next_change_ns(), Variation::kNever);
}

TEST(Variation, ErrorsSayWhereAndWhat) {
  Topology topology = star(3);
  topology.add_link({"trunk", 3, topology.add_router("far"), kUnlimited, kUnlimited, 0.1});
  VariationSpec twice = with_trace("*-core", "time_s,rate_bps\n1,2e7\n"), missing = twice;
  twice.traces.push_back(twice.traces[0]);
  twice.traces[1].link = "replica2-core";
  missing.traces[0].file = "/no/such/file.csv";
  const struct {
    VariationSpec spec;
    std::string path, words;  // of what was found, and of the hint
  } wrong[] = {
      {with_trace("replca1-core", "time_s,rate_bps\n1,2e7\n"), "traces[0].link", "\"replica1-core\""},
      {with_background({"", {}, "replica0", "coer", 1, {}, {}, {}, {}, {}}), "background[0].to", "\"core\""},
      {twice, "traces[1]",
       "gives the rate of replica2-core forward, which network.variation.traces[0] gives too"},
      {missing, "traces[0].file", ""},
      {with_background(traffic_on("replica0-core", 9.1e7, {})), "background[0].rate", ""},
      {with_background(traffic_on("trunk", 9.1e7, {})), "background[0]", "no limit"}};
  for (const auto& [spec, path, words] : wrong) {
    const InputErrorParts parts = refused_parts([&, &spec = spec] { Variation(spec, topology, 1); });
    EXPECT_EQ(parts.path, "network.variation." + path);
    EXPECT_SAYS(parts.found + parts.hint, words);
  }
}

TEST(Variation, PacketsHaveNeitherOutagesNorADelayOfOneDirection) {
  const Topology topology = star(1);
  const auto refused = [&](const VariationSpec& spec) {
    EXPECT_THROW(Variation(spec, topology, 1).check_for_packets(spec), InputError);
  };
  refused(with_trace("*", "time_s,rate_bps\n1,0\n"));
  refused(with_trace("*", "time_s,delay_s\n1,0.1\n", {true, false}));
  const VariationSpec fine = with_trace("*", "time_s,rate_bps\n1,5e6\n", {true, false});
  EXPECT_NO_THROW(Variation(fine, topology, 1).check_for_packets(fine));
}

TEST(LinkNames, AreGlobs) {
  const Topology topology = star(12);
  EXPECT_EQ(links_named(topology, "replica1-core", ""), (std::vector<int>{1}));
  EXPECT_EQ(links_named(topology, "replica1?-core", ""), (std::vector<int>{10, 11}));
  EXPECT_EQ(links_named(topology, "*", "").size(), 12u);
  EXPECT_THROW(links_named(topology, "*-far", ""), InputError);
}

// Three sites: tokyo's trunks are cut off, and the links of its own replicas are not.
TEST(LinkFaults, ASiteThatIsCutOffKeepsItsOwnLinks) {
  Topology topology(3);
  const int tokyo = topology.add_router("tokyo"), paris = topology.add_router("paris"),
            oregon = topology.add_router("oregon");
  for (const Link& link : {Link{"replica0-tokyo", 0, tokyo, 1e9, 1e9, 0.01},
                           {"replica1-paris", 1, paris, 1e9, 1e9, 0.01},
                           {"replica2-oregon", 2, oregon, 1e9, 1e9, 0.01},
                           {"tokyo-paris", tokyo, paris, 1e9, 1e9, 0.01},
                           {"oregon-tokyo", oregon, tokyo, 1e9, 1e9, 0.01},
                           {"paris-oregon", paris, oregon, 1e9, 1e9, 0.01}})
    topology.add_link(link);
  VariationSpec spec;
  spec.faults.emplace_back();
  spec.faults[0].site = "tokyo";
  spec.faults[0].rate = 0;
  spec.faults[0].times = {5, 0, 10};
  Variation variation(spec, topology, 1);
  EXPECT_EQ(variation.next_change_ns(), 5 * kSecond);
  variation.advance_to(5 * kSecond);
  std::vector<double> cut_off(12, 1e9);
  std::fill_n(cut_off.begin() + 2 * 3, 4, 0);
  EXPECT_EQ(variation.capacities(), cut_off);
  EXPECT_EQ(variation.next_outage_end_ns(), 15 * kSecond);
  variation.advance_to(15 * kSecond);
  EXPECT_EQ(variation.capacities(), std::vector<double>(12, 1e9));
  EXPECT_EQ(variation.next_change_ns(), Variation::kNever);

  spec.faults[0].site = "replica0";
  EXPECT_THROW(Variation(spec, topology, 1), InputError);
  spec.faults[0].site = "tokio";
  EXPECT_THROW(Variation(spec, topology, 1), InputError);
}

TEST(LinkFaults, EachLinkOfAGlobFailsByItself) {
  const Topology topology = star(8);
  VariationSpec spec;
  spec.faults.emplace_back();
  spec.faults[0].link = "*-core";
  spec.faults[0].rate = 0.5;
  spec.faults[0].delay = 3;
  spec.faults[0].times = {0, 100, 100};
  Variation variation(spec, topology, 1);
  std::set<std::vector<double>> seen;
  double halved = 0;
  for (int time = 1; time <= 20000; ++time) {
    variation.advance_to(std::int64_t{time} * 10000000000);
    std::vector<double> rates;
    for (int r = 0; r < 8; ++r) {
      const double rate = variation.rates()[as_index(2 * r)];
      EXPECT_EQ(rate, variation.rates()[as_index(2 * r + 1)]);
      EXPECT_NEAR(variation.delays_s()[as_index(2 * r)], rate < 1e8 ? 0.03 : 0.01, 1e-12);
      halved += rate < 1e8;
      rates.push_back(rate);
    }
    seen.insert(rates);
  }
  EXPECT_NEAR(halved / 160000, 0.5, 0.03);
  EXPECT_EQ(seen.size(), 256u) << "all combinations";
}

TraceSpec repeating(std::optional<double> period_s = {}) {
  return {"", "", {}, true, period_s};
}

LinkTrace trace_of(const std::string& text, const TraceSpec& spec = {}) {
  return LinkTrace::parse(text, "some.csv", spec, "network.variation.traces[0]");
}

std::string error_of(const std::string& text, const TraceSpec& spec = {}) {
  return said_by([&] { trace_of(text, spec); });
}

// A row holds until the next one, an empty cell keeps what held before; before the first row the link's own
// values hold. A trace repeats at the time of its last row, or with a period, and the link's own come first.
TEST(LinkTrace, HoldsRatesAndDelaysFromTimeToTime) {
  struct Moment {
    double time_s;
    std::optional<double> rate, delay_s;
    double next_s;  // 0: never
  };
  const std::string repeats = "time_s,rate_bps\n0,1e6\n4,2e6\n10,";
  std::vector<Moment> of_repeats;
  for (const int begin_s : {0, 10, 70})
    for (const int after_s : {3, 4, 9})
      of_repeats.push_back(
          {begin_s + after_s + 0., after_s < 4 ? 1e6 : 2e6, {}, begin_s + (after_s < 4 ? 4. : 10.)});
  const struct {
    LinkTrace trace;
    std::vector<Moment> moments;
  } rows[] = {{trace_of("time_s,rate_bps,delay_s\n2,1e8,0.01\n3.5,5e7,0.02\n"),
               {{0, {}, {}, 2},
                {1.999999999, {}, {}, 2},
                {2, 1e8, 0.01, 3.5},
                {3.499999999, 1e8, 0.01, 3.5},
                {3.5, 5e7, 0.02, 0},
                {1e6, 5e7, 0.02, 0}}},
              {trace_of("# made up\ndelay_s, time_s, rate_bps\r\n0.01,0,\n\n,1,2e6\n0.03,2,\n"),
               {{0, {}, 0.01, 1}, {1, 2e6, 0.01, 2}, {2, 2e6, 0.03, 0}}},
              {trace_of("\xef\xbb\xbf\"time_s\" , \"rate_bps\"\r\n\"0\",\"1e8\"\r\n 2.5 , \"5e7\" \r\n"),
               {{0, 1e8, {}, 2.5}, {2.5, 5e7, {}, 0}}},
              {trace_of(repeats, repeating()), of_repeats},
              {trace_of(repeats + "1e6", repeating()), of_repeats},
              {trace_of("time_s,rate_bps\n2,1e6\n", repeating(5)),
               {{1, {}, {}, 2}, {4, 1e6, {}, 5}, {5, {}, {}, 7}, {6, {}, {}, 7}}}};
  for (const auto& [trace, moments] : rows)
    for (const auto& [time_s, rate, delay_s, next_s] : moments) {
      const std::int64_t time_ns = std::llround(time_s * 1e9);
      EXPECT_EQ(trace.at(time_ns).rate, rate) << time_s;
      EXPECT_EQ(trace.at(time_ns).delay_s, delay_s) << time_s;
      EXPECT_EQ(trace.next_change_ns(time_ns), next_s > 0 ? std::llround(next_s * 1e9) : LinkTrace::kNever);
    }
}

// 64 bits of nanoseconds are 292 years: behind them nothing changes.
TEST(LinkTrace, DoesNotRepeatBehindTheEndOfTime) {
  const LinkTrace trace = trace_of("time_s,rate_bps\n1,1e6\n2,1e7\n", repeating(2e8));
  const std::int64_t period_ns = 200'000'000'000'000'000, last = LinkTrace::kNever / period_ns;
  EXPECT_EQ(trace.next_change_ns((last - 1) * period_ns), (last - 1) * period_ns + 1'000'000'000);
  EXPECT_EQ(trace.next_change_ns(last * period_ns + 3'000'000'000), LinkTrace::kNever);
}

TEST(LinkTrace, KnowsWhenAnOutageEnds) {
  const auto end_ns = [](const std::string& rows, const TraceSpec& spec, std::int64_t time_s) {
    return trace_of("time_s,rate_bps\n" + rows, spec).outage_end_ns(time_s * kSecond);
  };
  EXPECT_EQ(end_ns("1,0\n3,0\n5,1e6\n", {}, 1), 5 * kSecond);
  EXPECT_EQ(end_ns("1,1e6\n3,0\n", {}, 4), LinkTrace::kNever);
  EXPECT_EQ(end_ns("0,1e6\n3,0\n", repeating(10), 24), 30 * kSecond);
  EXPECT_EQ(end_ns("0,0\n3,0\n", repeating(10), 24), LinkTrace::kNever);
  EXPECT_EQ(end_ns("3,0\n", repeating(10), 24), 30 * kSecond)
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
      {"time_s,rate_bps\n0,\"112,300,000\"\n",
       "line 2, column rate_bps: found \"112,300,000\"; allowed: a number"},
      {"time_s,rate_bps\n0,\"1e6\n",
       "line 2: found a quote that does not end; allowed: quotes around whole cells of one line"},
      {"time_s,rate_bps\n0,1\"e6\n",
       "line 2: found a quote in the middle of a cell; allowed: quotes around whole cells"},
      {"time_s;rate_bps\n0;98,1\n",
       "line 1: found \"time_s;rate_bps\"; allowed: commas between the columns, and points in numbers: "
       "time_s, rate_bps, delay_s"},
      {"time_s,rate_bps,time_s\n0,1,1\n",
       "line 1: found the column \"time_s\" twice; allowed: each column once"}};
  for (const auto& [text, said] : wrong) EXPECT_EQ(error_of(text), std::string("some.csv: ") + said);
  EXPECT_SAYS(error_of(std::string("\xff\xfet\0i\0", 6)), "some.csv: is in UTF-16");
  EXPECT_SAYS(error_of("time_s,rate_bps\n"), "some.csv: has no rows");
  EXPECT_SAYS(error_of("time_s,rate_bps\n0,\n"), "has neither rates nor delays");
  // The values of a last row that ends the period never hold: they must not say anything.
  EXPECT_SAYS(error_of("time_s,rate_bps\n0,1e6\n5,2e6\n9,3e6\n", repeating()), "line 4: is where the trace");
  EXPECT_SAYS(error_of("time_s,rate_bps\n0,1e6\n", repeating()), "line 2: is where");
  EXPECT_EQ(error_of("time_s,rate_bps\n0,1e6\n5,2e6\n", repeating(5)),
            "network.variation.traces[0].repeat: found a period of 5 s; allowed: more than the time of the "
            "last row, 5 s");
}

}  // namespace longhaul::variation_test
