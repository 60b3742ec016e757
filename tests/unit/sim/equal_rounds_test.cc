// Rounds of a ring that the flow fidelity skips, against the same rounds simulated one by one: an action of
// the clock that is still to come, long after everything else, keeps it from skipping.
#include <gtest/gtest.h>
#include <ns3/simulator.h>

#include <cmath>
#include <functional>
#include <memory>
#include <random>

#include "net/topologies/registry.h"
#include "replay/exchange/exchange_run.h"
#include "replay/flow/flow_network.h"
#include "sim/network/clock.h"
#include "tests/unit/sim/replays.h"

namespace longhaul::equal_rounds_test {

constexpr double kFarAway_s = 1e7;

struct Drawn {
  Case config;
  std::string collective;
  std::int64_t bytes = 0;
  double spread_s = 0, pause_s = 0;
  bool has_other = false;  // one transfer between two members, over a connection that the ring does not use
};

Drawn draw(std::mt19937_64& random) {
  std::uniform_real_distribution<double> part(0, 1);
  const auto pick = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
  Drawn drawn;
  const int members = pick(3, 20);
  drawn.config = star_case(members, 1e6 * std::pow(10, 4 * part(random)), 0.2 * part(random) * part(random));
  TcpSpec& tcp = drawn.config.network.tcp;
  tcp.connections = 1 << pick(0, 3);
  tcp.congestion_control = pick(0, 1) ? "cubic" : "reno";
  if (pick(0, 2) == 0) tcp.window = 1448. * pick(2, 60);
  tcp.slow_start_after_idle = pick(0, 1);
  const char* const rings[] = {"ring", "all-gather", "reduce-scatter", "pair"};
  drawn.collective = rings[pick(0, 3)];
  drawn.bytes = members * static_cast<std::int64_t>(std::pow(10, 1 + 5.5 * part(random)));
  drawn.pause_s = pick(0, 1) ? part(random) : 0;
  return drawn;
}

struct Outcome {
  std::vector<MemberTimes> times;  // of three exchanges, one after another, by member
  std::vector<std::int64_t> transfers;
  std::vector<LinkLoad> loads;
  std::uint64_t events = 0, simulated_events = 0;
  bool has_skipped() const { return simulated_events < events; }
};

Outcome run(const Drawn& drawn, bool may_skip) {
  const Topology topology = build_topology(drawn.config);
  FlowNetwork network(drawn.config.network.tcp, topology, simulator_clock());
  if (!drawn.config.network.variation.is_empty())
    network.vary(std::make_unique<Variation>(drawn.config.network.variation, topology, 1));
  const ClockScope scope{simulator_clock()};
  if (!may_skip) after(kFarAway_s, [] {});
  const OperationRule rule = rule_of(drawn.collective);
  const ExchangeContext context{simulator_clock(), network};
  std::vector<int> group;
  for (int member = 0; member < topology.replicas(); ++member) group.push_back(member);
  std::vector<std::unique_ptr<ExchangeRun>> runs;
  std::size_t next = 0;
  const auto post_all = [&] {
    for (const int member : group)
      after(drawn.pause_s + drawn.spread_s * member / topology.replicas(),
            [run = runs[next].get(), member] { run->post(member); });
    ++next;
  };
  for (int exchange = 0; exchange < 3; ++exchange)
    runs.push_back(make_exchange_run(context, {rule, 0, 1, group, drawn.bytes}, [&](int) {
      if (runs[next - 1]->is_finished() && next < runs.size()) post_all();
    }));
  post_all();
  if (drawn.has_other) after(drawn.pause_s, [&] { network.send({2, 0, drawn.bytes}, [] {}); });
  ns3::Simulator::Run();
  Outcome outcome;
  for (const auto& run : runs) {
    EXPECT_TRUE(run->is_finished());
    for (const int member : group) outcome.times.push_back(run->times(member));
    outcome.transfers.push_back(run->transfers());
  }
  outcome.loads = network.loads();
  outcome.events = simulator_clock().events() - (may_skip ? 0 : 1);
  outcome.simulated_events = ns3::Simulator::GetEventCount() - (may_skip ? 0 : 1);
  return outcome;
}

// The last bit counts, but in the times that links were busy: those are sums of whole nanoseconds.
void expect_the_same(const Outcome& skipped, const Outcome& whole) {
  EXPECT_FALSE(whole.has_skipped());
  EXPECT_EQ(skipped.transfers, whole.transfers);
  EXPECT_EQ(skipped.events, whole.events);
  for (std::size_t i = 0; i < whole.times.size(); ++i) {
    const MemberTimes &is = skipped.times[i], &was = whole.times[i];
    EXPECT_EQ(is.ready_s, was.ready_s);
    EXPECT_EQ(is.done_s, was.done_s);
    EXPECT_EQ(is.bytes_sent, was.bytes_sent);
    for (const NamedPart& part : named_parts(NetworkSpec()))
      EXPECT_EQ(is.parts.*part.seconds, was.parts.*part.seconds) << part.name;
  }
  for (std::size_t i = 0; i < whole.loads.size(); ++i) {
    EXPECT_EQ(skipped.loads[i].bytes, whole.loads[i].bytes);
    EXPECT_EQ(std::llround(skipped.loads[i].busy_s * 1e9), std::llround(whole.loads[i].busy_s * 1e9));
  }
}

// In how many of the cases rounds were skipped.
int skipped_of(int cases, double spread_s) {
  int skipped = 0;
  for (int seed = 0; seed < cases; ++seed) {
    std::mt19937_64 random(static_cast<unsigned>(seed));
    Drawn drawn = draw(random);
    drawn.spread_s = spread_s;
    SCOPED_TRACE(fmt::format("seed {}, {} of {} bytes among {}", seed, drawn.collective, drawn.bytes,
                             drawn.config.replicas));
    const Outcome outcome = run(drawn, true);
    expect_the_same(outcome, run(drawn, false));
    skipped += outcome.has_skipped();
    if (testing::Test::HasFailure()) break;
  }
  return skipped;
}

TEST(EqualRounds, SkippedOnesLeaveWhatAllOfThemLeave) {
  EXPECT_GT(skipped_of(300, 0), 150) << "the others have too few rounds, or windows that still grow";
  skipped_of(60, 1);  // members who come at different times are together only when a message has gone round
}

// One thing after the other that makes rounds of this case unequal; the case itself is skipped.
TEST(UnequalRounds, AreAllSimulated) {
  Drawn equal;
  equal.config = star_case(12, 1e8, 0.03);
  equal.collective = "ring";
  equal.bytes = 12 * 100000;
  EXPECT_TRUE(run(equal, true).has_skipped());
  const BackgroundSpec traffic{"replica5-core", {}, "", "", 1, {}, {}, {}, {}};
  const std::pair<const char*, std::function<void(Drawn&)>> changes[] = {
      {"chunks of different sizes", [](Drawn& drawn) { ++drawn.bytes; }},
      {"links of different rates", [](Drawn& drawn) { drawn.config.network.overrides = {up_of(5, 1.01e8)}; }},
      {"loss", [](Drawn& drawn) { drawn.config.network.tcp.loss = 1e-4; }},
      {"queues that signal", [](Drawn& drawn) { drawn.config.network.tcp.queue = "fq_codel"; }},
      {"traffic of others", [&](Drawn& drawn) { drawn.config.network.variation.background = {traffic}; }},
      {"connections that the ring does not use", [](Drawn& drawn) { drawn.has_other = true; }}};
  for (const auto& [what, change] : changes) {
    SCOPED_TRACE(what);
    Drawn drawn = equal;
    change(drawn);
    EXPECT_FALSE(run(drawn, true).has_skipped());
    expect_the_same(run(drawn, true), run(drawn, false));
  }
}

// Of 254 rounds among 128 the first 79 are in transfers.csv. All tables of a run, to the last digit.
TEST(EqualRounds, ARunHasTheSameTables) {
  const Case config = star_case(128, 1e9, 0.05);
  const Trace trace = single_exchange("ring", 128, 128 * 200000);
  int sends = 0;
  const auto replayed = [&](bool may_skip) {
    sends = 0;
    return run_replay(config, trace, [&](auto&&... arguments) {
      if (!may_skip) after(kFarAway_s, [] {});
      return std::make_unique<WatchedNetwork>(make_network(arguments...),
                                              [&](const Transmission&) { return ++sends > 0; });
    });
  };
  const Replayed skipped = replayed(true);
  EXPECT_LT(sends, 90 * 128);
  EXPECT_EQ(skipped.report.at("transfers"), 254 * 128);
  const Replayed whole = replayed(false);
  EXPECT_EQ(sends, 254 * 128);
  for (const auto& [name, text] : whole.files) {
    if (name == "replay.json") continue;
    EXPECT_EQ(skipped.files.at(name), text) << name;
  }
}

}  // namespace longhaul::equal_rounds_test
