// The flow fidelity on random stars and trunks. Conservation: what goes into a router comes out, no link
// carries more than it can, no flow goes beyond its window; in the presets debug and sanitize an assertion
// besides looks at every link and flow at every event (FlowNetwork::share_links). And solving what a change
// touches is solving all flows every time: with slow start, caps, several connections and acknowledgements.
#include <gtest/gtest.h>

#include "tests/unit/sim/transfers.h"

namespace longhaul::flow_conservation_test {

void check_links(const RandomStars& stars, const Carried& outcome) {
  std::vector<double> expected(outcome.loads.size());
  for (const auto& [source, target, begin_s, bytes] : stars.transfers) {
    const double payload = static_cast<double>(bytes), segments = std::ceil(payload / stars.tcp.segment);
    for (const LinkDirection direction : stars.topology.path(source, target).directions)
      expected[as_index(direction)] += payload + segments * (52 + 38);  // IP, TCP; Ethernet
  }
  std::vector<double> into(as_index(stars.topology.nodes())), out_of(into.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto direction = static_cast<LinkDirection>(i);
    const auto bytes = static_cast<double>(outcome.loads[i].bytes);
    ASSERT_EQ(bytes, expected[i]) << "link direction " << i;
    ASSERT_LE(8 * bytes, outcome.loads[i].busy_s * stars.topology.rate(direction) * (1 + 1e-6));
    out_of[as_index(stars.topology.from(direction))] += bytes;
    into[as_index(stars.topology.to(direction))] += bytes;
  }
  for (int router = stars.topology.replicas(); router < stars.topology.nodes(); ++router)
    ASSERT_EQ(into[as_index(router)], out_of[as_index(router)]);
}

// Not before the slowest link could have sent it, nor before its windows could have: one a round trip.
void check_transfers(const RandomStars& stars, const Carried& outcome) {
  for (std::size_t i = 0; i < stars.transfers.size(); ++i) {
    const auto& [source, target, begin_s, bytes] = stars.transfers[i];
    const double taken_s = outcome.arrived_s[i] - begin_s, payload = static_cast<double>(bytes);
    const double latency_s = stars.topology.path(source, target).delay_s;
    const double wire = payload * 1538 / 1448;  // part of a segment, part of its headers
    ASSERT_GE(taken_s * (1 + 1e-6), latency_s + 8 * wire / stars.topology.bottleneck(source, target));
    if (!stars.tcp.window) continue;
    const double windows = payload / (*stars.tcp.window * stars.tcp.connections);
    ASSERT_GE(taken_s * (1 + 1e-6), latency_s + (std::ceil(windows - 1e-6) - 1) * 2 * latency_s)
        << "transfer " << i << " of " << windows << " windows";
  }
}

// Where queues mark each connection is a channel of its own: one, so that segments add up.
TEST(FlowConservation, RandomNetworksLoseAndMakeNothing) {
  for (const bool marks : {false, true}) {
    std::mt19937_64 random(marks ? 8 : 7);
    for (int trial = 0; trial < (marks ? 100 : 300); ++trial) {
      SCOPED_TRACE(trial);
      RandomStars stars = draw_stars(random, marks ? 1 : trial);
      stars.tcp.queue = marks ? "fq_codel" : "host";
      stars.tcp.ecn = marks;
      stars.tcp.connections = marks ? 1 : 1 + trial % 4;
      if (!marks && trial % 3 == 0) stars.tcp.window = 20000;
      FlowNetwork network(stars.tcp, stars.topology, simulator_clock());
      const Carried outcome = carry(stars.transfers, network);
      ASSERT_NO_FATAL_FAILURE(check_links(stars, outcome));
      if (marks) continue;
      ASSERT_NO_FATAL_FAILURE(check_transfers(stars, outcome));
    }
  }
}

TEST(FlowSolving, TouchedAndWholeGiveTheSameCompletionTimes) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 500; ++trial) {
    SCOPED_TRACE(trial);
    RandomStars stars = draw_stars(random, trial);
    stars.tcp.connections = 1 + trial % 4;
    if (trial % 5 == 0) stars.tcp.window = 100000;
    ASSERT_NO_FATAL_FAILURE(expect_touched_as_whole(stars, 2e-8, [](FlowNetwork&) {}));
  }
}

}  // namespace longhaul::flow_conservation_test
