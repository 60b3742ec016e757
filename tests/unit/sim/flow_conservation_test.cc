// The flow fidelity on random stars and trunks. Conservation: what goes into a router comes out, no link
// carries more than it can, no flow goes beyond its window; in the presets debug and sanitize an assertion
// besides looks at every link and flow at every event (FlowNetwork::share_links). And solving what a change
// touches is solving all flows every time: with slow start, caps, several connections and acknowledgements.
#include <gtest/gtest.h>

#include "net/tcp/framing.h"
#include "tests/support/max_min_rates.h"
#include "tests/unit/sim/transfers.h"

namespace longhaul::flow_conservation_test {

Carried run(const RandomStars& stars) {
  FlowNetwork network(stars.tcp, stars.topology);
  return carry(stars.transfers, network);
}

double wire_bytes(const RandomTransfer& random_transfer, int segment) {
  return static_cast<double>(random_transfer.bytes) +
         std::ceil(static_cast<double>(random_transfer.bytes) / segment) * (52 + 38);  // IP, TCP; Ethernet
}

void check_links(const RandomStars& stars, const Carried& outcome) {
  std::vector<double> expected(outcome.loads.size());
  for (const RandomTransfer& random_transfer : stars.transfers)
    for (const LinkDirection direction :
         stars.topology.path(random_transfer.source, random_transfer.target).directions)
      expected[static_cast<std::size_t>(direction)] += wire_bytes(random_transfer, stars.tcp.segment);
  std::vector<double> into(static_cast<std::size_t>(stars.topology.nodes())), out_of(into.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto direction = static_cast<LinkDirection>(i);
    const auto bytes = static_cast<double>(outcome.loads[i].bytes);
    ASSERT_EQ(bytes, expected[i]) << "link direction " << i;
    ASSERT_LE(8 * bytes, outcome.loads[i].busy_s * stars.topology.rate(direction) * (1 + 1e-6));
    out_of[static_cast<std::size_t>(stars.topology.from(direction))] += bytes;
    into[static_cast<std::size_t>(stars.topology.to(direction))] += bytes;
  }
  for (int router = stars.topology.replicas(); router < stars.topology.nodes(); ++router)
    ASSERT_EQ(into[static_cast<std::size_t>(router)], out_of[static_cast<std::size_t>(router)]);
}

// Not before the slowest link could have sent it, nor before its windows could have: one a round trip.
void check_transfers(const RandomStars& stars, const Carried& outcome) {
  for (std::size_t i = 0; i < stars.transfers.size(); ++i) {
    const RandomTransfer& random_transfer = stars.transfers[i];
    const double taken_s = outcome.arrived_s[i] - random_transfer.begin_s;
    const double latency_s = stars.topology.path(random_transfer.source, random_transfer.target).delay_s;
    const double rate = stars.topology.bottleneck(random_transfer.source, random_transfer.target);
    const double wire =
        static_cast<double>(random_transfer.bytes) * 1538 / 1448;  // part of a segment, part of its headers
    ASSERT_GE(taken_s * (1 + 1e-6), latency_s + 8 * wire / rate);
    if (!stars.tcp.window) continue;
    const double windows =
        static_cast<double>(random_transfer.bytes) / (*stars.tcp.window * stars.tcp.connections);
    ASSERT_GE(taken_s * (1 + 1e-6), latency_s + (std::ceil(windows - 1e-6) - 1) * 2 * latency_s)
        << "transfer " << i << " of " << windows << " windows";
  }
}

TEST(FlowConservation, RandomNetworksLoseAndMakeNothing) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(trial);
    RandomStars stars = draw_stars(random, trial);
    stars.tcp.connections = 1 + trial % 4;
    if (trial % 3 == 0) stars.tcp.window = 20000;
    const Carried outcome = run(stars);
    ASSERT_NO_FATAL_FAILURE(check_links(stars, outcome));
    ASSERT_NO_FATAL_FAILURE(check_transfers(stars, outcome));
  }
}

// Where queues mark each connection is a channel of its own: one, so that segments add up.
TEST(FlowConservation, QueuesThatMarkLoseAndMakeNothing) {
  std::mt19937_64 random(8);
  for (int trial = 0; trial < 100; ++trial) {
    SCOPED_TRACE(trial);
    RandomStars stars = draw_stars(random, 1);
    stars.tcp.queue = "fq_codel";
    stars.tcp.ecn = true;
    stars.tcp.connections = 1;
    ASSERT_NO_FATAL_FAILURE(check_links(stars, run(stars)));
  }
}

TEST(FlowSolving, TouchedAndWholeGiveTheSameCompletionTimes) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 500; ++trial) {
    RandomStars stars = draw_stars(random, trial);
    stars.tcp.connections = 1 + trial % 4;
    if (trial % 5 == 0) stars.tcp.window = 100000;
    const auto arrived_s = [&stars](FairShares::Reference reference) {
      FlowNetwork network(stars.tcp, stars.topology, 1, reference);
      return carry(stars.transfers, network).arrived_s;
    };
    const std::vector<double> fast = arrived_s(nullptr);
    const std::vector<double> slow = arrived_s(max_min_rates);
    // The clock counts nanoseconds, and each of a few dozen changes may round the other way.
    for (std::size_t i = 0; i < fast.size(); ++i) {
      ASSERT_GT(slow[i], 0);
      ASSERT_NEAR(fast[i], slow[i], 1e-9 * slow[i] + 2e-8) << "trial " << trial << ", transfer " << i;
    }
  }
}

}  // namespace longhaul::flow_conservation_test
