// The first exchange of a case on SimGrid, with its default model as it comes (LV08: latency factor 13.01,
// bandwidth factor 0.97, a window of 4 MiB, cross-traffic): what one gets there without calibration.
//
//   simgrid_exchange CASE TRACE [--cfg=KEY:VALUE of SimGrid ...]
//
// CASE and TRACE as longhaul-sim reads them. Prints the simulated seconds of the exchange and the seconds of
// processor time of the simulation proper, without the platform's set-up. SimGrid knows no connections, so
// that the first exchange is like any other. Links have their rate on the wire, headers are in its bandwidth
// factor.
#include <cstdio>
#include <ctime>
#include <fstream>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "core/plan/trace.h"
#include "core/scenario/case.h"
#include "net/collectives/collective.h"
#include "net/topologies/registry.h"

namespace longhaul {
namespace {

namespace sg4 = simgrid::s4u;

class Platform {
 public:
  explicit Platform(const Topology& topology) : topology_(topology) {
    const bool is_star =
        topology.links().size() == as_index(topology.replicas());  // routes of all pairs would be many
    zone_ = is_star ? sg4::create_star_zone("net") : sg4::create_full_zone("net");
    for (int i = 0; i < topology.replicas(); ++i)
      hosts_.push_back(zone_->create_host(topology.node_name(i), 1e9)->seal());
    for (std::size_t direction = 0; direction < 2 * topology.links().size(); ++direction)
      links_.push_back(zone_
                           ->create_link("link" + std::to_string(direction),
                                         topology.rate(static_cast<LinkDirection>(direction)) / 8)
                           ->set_latency(topology.links()[direction / 2].delay_s)
                           ->seal());
    is_star ? add_leaves() : add_routes();
    zone_->seal();
  }

  sg4::Host* host(int replica) const { return hosts_[as_index(replica)]; }

 private:
  // Full duplex is two links: replica i's are 2 i up and 2 i + 1 down.
  void add_leaves() {
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      zone_->add_route(hosts_[i]->get_netpoint(), nullptr, nullptr, nullptr,
                       {sg4::LinkInRoute(links_[2 * i])}, false);
      zone_->add_route(nullptr, hosts_[i]->get_netpoint(), nullptr, nullptr,
                       {sg4::LinkInRoute(links_[2 * i + 1])}, false);
    }
  }

  void add_routes() {
    for (int source = 0; source < topology_.replicas(); ++source)
      for (int target = 0; target < topology_.replicas(); ++target) {
        if (source == target) continue;
        std::vector<sg4::LinkInRoute> path;
        for (const LinkDirection direction : topology_.path(source, target).directions)
          path.emplace_back(links_[as_index(direction)]);
        zone_->add_route(host(source)->get_netpoint(), host(target)->get_netpoint(), nullptr, nullptr, path,
                         false);
      }
  }

  const Topology& topology_;
  sg4::NetZone* zone_;
  std::vector<sg4::Host*> hosts_;
  std::vector<sg4::Link*> links_;  // by direction
};

sg4::Mailbox* box(int from, int to) {
  return sg4::Mailbox::by_name(std::to_string(from) + ">" + std::to_string(to));
}

// One member's rounds: the next begins when everything that it must receive is there, and what it sent.
void walk(const Collective& collective, const GroupExchange& exchange, const std::vector<int>& group,
          int member) {
  static int payload = 0;  // what the messages point to
  const int own = group[as_index(member)];
  for (int index = 0; index < collective.rounds(exchange); ++index) {
    const Round round = collective.round(exchange, member, index);
    std::vector<sg4::CommPtr> open;
    for (const Message& message : round.sends)
      open.push_back(box(own, group[as_index(message.peer)])
                         ->put_async(&payload, static_cast<std::uint64_t>(message.bytes)));
    std::vector<int*> taken(round.receives.size());
    for (std::size_t i = 0; i < round.receives.size(); ++i)
      open.push_back(box(group[as_index(round.receives[i].peer)], own)->get_async<int>(&taken[i]));
    for (const sg4::CommPtr& message : open) message->wait();
  }
}

Trace read_trace_file(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw InputError({file, "", "cannot be read", "a trace written by longhaul", ""});
  return read_trace(in, file);
}

void run(int argc, char** argv) {
  sg4::Engine engine(&argc, argv);  // takes its own arguments away
  if (argc != 3)
    throw InputError({"", "", "not two files", "simgrid_exchange CASE TRACE [--cfg=KEY:VALUE ...]", ""});
  const Topology topology = build_topology(read_case(argv[1]));
  const Trace trace = read_trace_file(argv[2]);
  const Platform platform(topology);
  for (const Operation& operation : trace.operations_at(trace.plan.rules.at(0).first_step))
    for (const std::vector<int>& group : groups_of(operation, topology.replicas()))
      for (std::size_t i = 0; i < group.size(); ++i)
        sg4::Actor::create("member", platform.host(group[i]), [&, group, operation, i] {
          walk(find_collective(operation.rule->collective),
               group_exchange(group, operation.bytes, operation.rule->payload.size(), topology.site_of(),
                              operation.targets),
               group, static_cast<int>(i));
        });
  const std::clock_t begun = std::clock();
  engine.run();
  std::printf("%.17g %.3f\n", sg4::Engine::get_clock(),
              static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace longhaul

int main(int argc, char** argv) try { longhaul::run(argc, argv); } catch (const std::exception& error) {
  std::fprintf(stderr, "simgrid_exchange: %s\n", error.what());
  return 2;
}
