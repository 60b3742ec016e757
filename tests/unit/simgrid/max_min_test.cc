// Plain max-min against SimGrid's: random stars and trunks, random flows, the same completion times. No
// acknowledgements, no window, the same latency on every route (SimGrid weights flows by its inverse).
// network/optim:Full, because the default, Lazy, leaves single transfers off by up to a per cent.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "net/sharing/fair_shares.h"

namespace longhaul::max_min_test {

namespace sg4 = simgrid::s4u;
constexpr double kLatencyS = 0.01;

struct Transfer {
  int source = 0, target = 0;
  double begin_s = 0, bytes = 0;
  std::vector<LinkDirection> path;
};

struct Network {
  int hosts = 0;
  std::vector<double> bytes_per_s;  // by direction: up and down of every host, then a trunk each way
  std::vector<Transfer> transfers;
};

// Hosts with even numbers are on one side of the trunk, if there is one. One transfer for each pair of hosts:
// there is no queue behind it.
Network draw(std::mt19937_64& random) {
  const auto pick = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
  std::uniform_real_distribution<double> part(0, 1);
  Network network;
  network.hosts = pick(2, 12);
  for (int i = 0; i < 2 * network.hosts + 2; ++i)
    network.bytes_per_s.push_back(pick(0, 2) ? 1e6 * (1 + 9 * part(random)) : 5e6);
  const bool has_trunk = pick(0, 1);
  for (int source = 0; source < network.hosts; ++source)
    for (int target = 0; target < network.hosts; ++target) {
      if (source == target || pick(0, 2) > 0) continue;
      Transfer transfer{
          source, target, pick(0, 2) ? part(random) : 0.25, std::floor(1e5 + 5e6 * part(random)), {}};
      transfer.path = {2 * source};
      if (has_trunk && source % 2 != target % 2) transfer.path.push_back(2 * network.hosts + source % 2);
      transfer.path.push_back(2 * target + 1);
      network.transfers.push_back(transfer);
    }
  return network;
}

// Fluids from one start or end of a transfer to the next.
std::vector<double> our_ends_s(const Network& network) {
  const std::vector<Transfer>& transfers = network.transfers;
  FairShares shares(network.bytes_per_s, 0);
  std::vector<double> left, ends(transfers.size(), -1);
  for (const Transfer& transfer : transfers) {
    shares.add({&transfer.path});
    left.push_back(transfer.bytes);
  }
  std::vector<bool> is_sending(transfers.size());
  for (double now = 0, next;; now = next) {
    shares.solve();
    next = kUnlimited;
    for (std::size_t i = 0; i < ends.size(); ++i)
      if (ends[i] < 0)
        next = std::min(
            next, is_sending[i] ? now + left[i] / shares.rate(static_cast<int>(i)) : transfers[i].begin_s);
    if (next == kUnlimited) return ends;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const int flow = static_cast<int>(i);
      if (is_sending[i]) {
        left[i] -= (next - now) * shares.rate(flow);
        if (left[i] > 1e-6) continue;
        shares.stop(flow);
        is_sending[i] = false;
        ends[i] = next + kLatencyS;
      } else if (ends[i] < 0 && transfers[i].begin_s <= next) {
        shares.start(flow);
        is_sending[i] = true;
      }
    }
  }
}

void simulate(const Network& network, std::vector<double>& ends) {
  std::vector<std::string> words = {"test", "--log=root.thresh:error"};
  for (const char* setting : {"network/optim:Full", "network/model:CM02", "network/latency-factor:1",
                              "network/bandwidth-factor:1", "network/TCP-gamma:0", "network/crosstraffic:0",
                              "network/weight-S:0", "maxmin/precision:1e-9", "surf/precision:1e-9"})
    words.push_back(std::string("--cfg=") + setting);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int count = static_cast<int>(words.size());
  sg4::Engine engine(&count, pointers.data());
  sg4::NetZone* zone = sg4::create_full_zone("all");
  std::vector<sg4::Host*> hosts;
  std::vector<sg4::Link*> links;
  for (int i = 0; i < network.hosts; ++i)
    hosts.push_back(zone->create_host("host" + std::to_string(i), 1e9)->seal());
  for (std::size_t i = 0; i < network.bytes_per_s.size(); ++i) {
    const bool is_up = i % 2 == 0 && i < hosts.size() * 2;  // every route has one
    links.push_back(zone->create_link("link" + std::to_string(i), network.bytes_per_s[i])
                        ->set_latency(is_up ? kLatencyS : 0)
                        ->seal());
  }
  for (std::size_t i = 0; i < network.transfers.size(); ++i) {
    const Transfer& transfer = network.transfers[i];
    sg4::Host* source = hosts[static_cast<std::size_t>(transfer.source)];
    sg4::Host* target = hosts[static_cast<std::size_t>(transfer.target)];
    std::vector<sg4::LinkInRoute> route;
    for (const LinkDirection direction : transfer.path)
      route.emplace_back(links[static_cast<std::size_t>(direction)]);
    zone->add_route(source->get_netpoint(), target->get_netpoint(), nullptr, nullptr, route, false);
    sg4::Actor::create("sender", source, [&ends, &transfer, i, source, target] {
      sg4::this_actor::sleep_until(transfer.begin_s);
      sg4::Comm::sendto(source, target, static_cast<std::uint64_t>(transfer.bytes));
      ends[i] = sg4::Engine::get_clock();
    });
  }
  zone->seal();
  engine.run();
}

// SimGrid's engine is one global object: a process for each network.
std::vector<double> simgrid_ends_s(const Network& network) {
  std::vector<double> ends(network.transfers.size(), -1);
  const std::size_t size = ends.size() * sizeof(double);  // fits into a pipe's buffer
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return ends;
  const pid_t child = fork();
  if (child == 0) {
    simulate(network, ends);
    _exit(write(pipe_ends[1], ends.data(), size) == static_cast<ssize_t>(size) ? 0 : 1);
  }
  close(pipe_ends[1]);
  const ssize_t got = read(pipe_ends[0], ends.data(), size);
  close(pipe_ends[0]);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(got, static_cast<ssize_t>(size));
  return ends;
}

TEST(MaxMinAndSimGrid, GiveTheSameCompletionTimes) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const Network network = draw(random);
    const std::vector<double> ours = our_ends_s(network), theirs = simgrid_ends_s(network);
    for (std::size_t i = 0; i < ours.size(); ++i)
      ASSERT_NEAR(ours[i] / theirs[i], 1, 1e-6) << "trial " << trial << ", transfer " << i;
  }
}

}  // namespace longhaul::max_min_test
