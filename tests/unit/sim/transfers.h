// Transfers over the network of fidelity flow: a single one, and random ones over random networks for
// property tests: stars, or two stars joined by a trunk.
#pragma once

#include <gtest/gtest.h>
#include <ns3/simulator.h>

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "net/topologies/registry.h"
#include "replay/flow/flow_network.h"
#include "sim/network/clock.h"
#include "tests/support/max_min_rates.h"

namespace longhaul {

// When it arrives at replica 1 if replica 0 sends it at `begin_s`, on connections never used.
inline double arrival_s(const Case& config, double bytes, double begin_s = 0) {
  const Topology topology = build_topology(config);
  FlowNetwork network(config.network.tcp, topology, simulator_clock());
  network.vary(std::make_unique<Variation>(config.network.variation, topology, config.seed));
  double arrived_s = -1;
  const ClockScope scope{simulator_clock()};
  after(begin_s, [&] {
    network.send({0, 1, static_cast<std::int64_t>(bytes)}, [&] { arrived_s = now_s(); });
  });
  ns3::Simulator::Run();
  return arrived_s;
}

struct RandomTransfer {
  int source, target;
  double begin_s;
  std::int64_t bytes;
};

struct RandomStars {
  Topology topology{0};
  TcpSpec tcp;
  std::vector<RandomTransfer> transfers;
};

// Rates are drawn, each way for itself. Every other trial has CUBIC. Delays are divided by `shrunk`.
inline RandomStars draw_stars(std::mt19937_64& random, int trial, double shrunk = 1) {
  const auto pick = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
  std::uniform_real_distribution<double> part(0, 1);
  RandomStars stars;
  stars.tcp.congestion_control = trial % 2 ? "cubic" : "reno";
  stars.tcp.queue = "host";
  const int replicas = pick(2, 12);
  const bool has_trunk = pick(0, 1);
  stars.topology = Topology(replicas);
  const auto add = [&](int first, int second, double delay_s) {
    const double forward = 1e7 * (1 + 9 * part(random));
    const double back = pick(0, 1) ? forward : 1e7 * (1 + 9 * part(random));
    const std::string name = stars.topology.node_name(first) + "-" + stars.topology.node_name(second);
    stars.topology.add_link({name, first, second, forward, back, delay_s / shrunk});
  };
  const int cores[] = {stars.topology.add_router("core"), has_trunk ? stars.topology.add_router("far") : 0};
  for (int i = 0; i < replicas; ++i) add(i, cores[has_trunk ? i % 2 : 0], 0.001 + 0.02 * part(random));
  if (has_trunk) add(cores[0], cores[1], 0.02);
  const int count = pick(1, 30);
  for (int i = 0; i < count; ++i) {
    const int source = pick(0, replicas - 1), target = (source + pick(1, replicas - 1)) % replicas;
    stars.transfers.push_back({source, target, pick(0, 3) ? part(random) : 0.25,
                               static_cast<std::int64_t>(std::pow(10, 3 + 4 * part(random)))});
  }
  return stars;
}

struct Carried {
  std::vector<double> arrived_s;  // by transfer; -1: not
  std::vector<LinkLoad> loads;    // by direction
};

// All transfers over a network on which nothing else is sent.
inline Carried carry(const std::vector<RandomTransfer>& transfers, FlowNetwork& network) {
  Carried carried;
  carried.arrived_s.assign(transfers.size(), -1);
  const ClockScope scope{simulator_clock()};
  for (std::size_t i = 0; i < transfers.size(); ++i)
    after(transfers[i].begin_s, [&, i] {
      network.send({transfers[i].source, transfers[i].target, transfers[i].bytes},
                   [&carried, i] { carried.arrived_s[i] = now_s(); });
    });
  ns3::Simulator::Run();
  carried.loads = network.loads();
  return carried;
}

// Solving what a change touches is solving all flows every time. The clock counts nanoseconds, and each of a
// few dozen changes may round the other way: `rounding_s`.
template <typename Vary>
void expect_touched_as_whole(const RandomStars& stars, double rounding_s, const Vary& vary) {
  const auto arrived_s = [&](FairShares::Reference reference) {
    FlowNetwork network(stars.tcp, stars.topology, simulator_clock(), 1, reference);
    vary(network);
    return carry(stars.transfers, network).arrived_s;
  };
  const std::vector<double> fast = arrived_s(nullptr), slow = arrived_s(max_min_rates);
  for (std::size_t i = 0; i < fast.size(); ++i) {
    ASSERT_GT(slow[i], 0);
    ASSERT_NEAR(fast[i], slow[i], 1e-9 * slow[i] + rounding_s) << "transfer " << i;
  }
}

}  // namespace longhaul
