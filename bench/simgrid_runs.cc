#include "bench/simgrid_runs.h"

#include <ctime>
#include <functional>
#include <simgrid/s4u.hpp>
#include <string>

namespace longhaul {
namespace {

namespace sg4 = simgrid::s4u;

struct Platform {
  std::vector<sg4::Host*> hosts;
  std::vector<sg4::Mailbox*> boxes;
};

// Up and down are links of their own, as full duplex wants it.
Platform build(const std::vector<SpeedLeaf>& leaves) {
  sg4::NetZone* zone = sg4::create_star_zone("star");
  Platform platform;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const std::string name = std::to_string(i);
    sg4::Host* host = zone->create_host(name, 1e9)->seal();
    const auto add = [&](const std::string& side) {
      return zone->create_link(side + name, leaves[i].rate / 8)->set_latency(leaves[i].delay_s)->seal();
    };
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {sg4::LinkInRoute(add("up"))}, false);
    zone->add_route(nullptr, host->get_netpoint(), nullptr, nullptr, {sg4::LinkInRoute(add("down"))}, false);
    platform.hosts.push_back(host);
    platform.boxes.push_back(sg4::Mailbox::by_name(name));
  }
  zone->seal();
  return platform;
}

using Start = std::function<void(const Platform&)>;

double measured_s(const std::vector<SpeedLeaf>& leaves, const Start& start) {
  const std::vector<std::string> settings = {
      "network/model:CM02",    "network/latency-factor:1", "network/bandwidth-factor:1",
      "network/TCP-gamma:0",   "network/crosstraffic:0",   "network/weight-S:0",
      "maxmin/precision:1e-9", "contexts/stack-size:64",
  };
  std::vector<std::string> words = {"speed", "--log=root.thresh:error"};
  for (const std::string& setting : settings) words.push_back("--cfg=" + setting);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int count = static_cast<int>(words.size());
  sg4::Engine engine(&count, pointers.data());
  start(build(leaves));
  const std::clock_t begun = std::clock();
  engine.run();
  return static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
}

}  // namespace

double simgrid_ring_s(const std::vector<SpeedLeaf>& leaves, double bytes_per_message) {
  return measured_s(leaves, [bytes_per_message](const Platform& platform) {
    const std::size_t n = platform.hosts.size();
    for (std::size_t i = 0; i < n; ++i)
      sg4::Actor::create(
          "ring", platform.hosts[i], [=, next = platform.boxes[(i + 1) % n], own = platform.boxes[i]] {
            static int payload = 0;
            for (std::size_t round = 0; round < 2 * (n - 1); ++round) {
              const sg4::CommPtr sent = next->put_async(&payload, static_cast<uint64_t>(bytes_per_message));
              own->get<int>();
              sent->wait();
            }
          });
  });
}

double simgrid_all_to_all_s(const std::vector<SpeedLeaf>& leaves, double bytes_per_message) {
  return measured_s(leaves, [bytes_per_message](const Platform& platform) {
    for (sg4::Host* host : platform.hosts)
      sg4::Actor::create("all", host, [bytes_per_message, host, hosts = platform.hosts] {
        std::vector<sg4::CommPtr> sent;
        for (sg4::Host* other : hosts)
          if (other != host)
            sent.push_back(sg4::Comm::sendto_async(host, other, static_cast<uint64_t>(bytes_per_message)));
        sg4::Comm::wait_all(sent);
      });
  });
}

}  // namespace longhaul
