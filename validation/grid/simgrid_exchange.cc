#include "validation/grid/simgrid_exchange.h"

#include <sys/wait.h>
#include <unistd.h>

#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "net/collectives/collective.h"

namespace longhaul {
namespace {

namespace sg4 = simgrid::s4u;

struct Platform {
  std::vector<sg4::Host*> hosts;
  std::vector<sg4::Link*> links;  // by direction: full duplex is two links
};

void add_route(sg4::NetZone* zone, const Topology& topology, const Platform& platform, int source,
               int target) {
  std::vector<sg4::LinkInRoute> path;
  for (const LinkDirection direction : topology.path(source, target).directions)
    path.emplace_back(platform.links[static_cast<std::size_t>(direction)]);
  zone->add_route(platform.hosts[static_cast<std::size_t>(source)]->get_netpoint(),
                  platform.hosts[static_cast<std::size_t>(target)]->get_netpoint(), nullptr, nullptr, path,
                  false);
}

Platform build(const Topology& topology) {
  sg4::NetZone* zone = sg4::create_full_zone("net");
  Platform platform;
  for (int i = 0; i < topology.replicas(); ++i)
    platform.hosts.push_back(zone->create_host(topology.node_name(i), 1e9)->seal());
  for (std::size_t direction = 0; direction < 2 * topology.links().size(); ++direction)
    platform.links.push_back(zone->create_link("link" + std::to_string(direction),
                                               topology.rate(static_cast<LinkDirection>(direction)) / 8)
                                 ->set_latency(topology.links()[direction / 2].delay_s)
                                 ->seal());
  for (int i = 0; i < topology.replicas(); ++i)
    for (int j = 0; j < topology.replicas(); ++j)
      if (i != j) add_route(zone, topology, platform, i, j);
  zone->seal();
  return platform;
}

sg4::Mailbox* box(int from, int to) {
  return sg4::Mailbox::by_name(std::to_string(from) + ">" + std::to_string(to));
}

int payload = 0;  // what the messages point to

sg4::CommPtr send(int from, int to, std::int64_t bytes) {
  return box(from, to)->put_async(&payload, static_cast<std::uint64_t>(bytes));
}

// One member's rounds: the next begins when everything that it must receive is there.
void walk(const Collective& collective, const GroupExchange& exchange, int member) {
  std::vector<sg4::CommPtr> sent;
  for (int index = 0; index < collective.rounds(exchange); ++index) {
    const Round round = collective.round(exchange, member, index);
    for (const Message& message : round.sends) sent.push_back(send(member, message.peer, message.bytes));
    std::vector<int*> taken(round.receives.size());
    std::vector<sg4::CommPtr> received;
    for (std::size_t i = 0; i < round.receives.size(); ++i)
      received.push_back(box(round.receives[i].peer, member)->get_async<int>(&taken[i]));
    for (const sg4::CommPtr& message_here : received) message_here->wait();
    if (collective.awaits_delivery())
      for (const sg4::CommPtr& message_here : sent) message_here->wait();
    if (collective.awaits_delivery()) sent.clear();
  }
  for (const sg4::CommPtr& message_here : sent) message_here->wait();
}

void start(const GridCase& grid_case, const Platform& platform) {
  const int pairs = grid_case.replicas / 2;
  for (int i = 0; i < grid_case.replicas; ++i) {
    sg4::Host* host = platform.hosts[static_cast<std::size_t>(i)];
    const int peer = i < pairs ? i + pairs : i - pairs;
    const bool sends = grid_case.kind == "pair" || i < pairs,
               receives = grid_case.kind == "pair" || i >= pairs;
    if (grid_case.is_collective()) {
      sg4::Actor::create("member", host, [grid_case, i] {
        walk(find_collective(grid_case.kind), {grid_case.replicas, grid_case.bytes, 1}, i);
      });
      continue;
    }
    if (sends) sg4::Actor::create("sender", host, [=] { send(i, peer, grid_case.bytes)->wait(); });
    if (receives) sg4::Actor::create("receiver", host, [=] { box(peer, i)->get<int>(); });
  }
}

double simulated_s(const GridCase& grid_case) {
  std::vector<std::string> words = {"residuals", "--log=root.thresh:error"};
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int count = static_cast<int>(words.size());
  sg4::Engine engine(&count, pointers.data());
  start(grid_case, build(topology_of(grid_case)));
  engine.run();
  return sg4::Engine::get_clock();
}

}  // namespace

double simgrid_default_s(const GridCase& grid_case) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    const double seconds = simulated_s(grid_case);
    _exit(write(ends[1], &seconds, sizeof seconds) == sizeof seconds ? 0 : 1);
  }
  close(ends[1]);
  double seconds = -1;
  if (child < 0 || read(ends[0], &seconds, sizeof seconds) != sizeof seconds) seconds = -1;
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return seconds;
}

}  // namespace longhaul
