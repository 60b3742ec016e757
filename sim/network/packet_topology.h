// The topology as ns-3 nodes, point-to-point links, queues and static routes.
#pragma once

#include <ns3/ipv4-address.h>
#include <ns3/net-device-container.h>
#include <ns3/node-container.h>
#include <ns3/point-to-point-net-device.h>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "core/scenario/case.h"
#include "net/topology.h"
#include "replay/network/network.h"

namespace longhaul {

class PacketTopology {
 public:
  // Creates all nodes and links. `ends`: who will send to whom; routes exist for them (both ways) alone. All
  // of the arguments must outlive it. `seed` is for random loss.
  PacketTopology(const TcpSpec& tcp, const Topology& topology, const std::vector<std::pair<int, int>>& ends,
                 std::uint64_t seed, LinkLoads& loads);

  ns3::Ptr<ns3::Node> node(int replica) const { return nodes_.Get(static_cast<std::uint32_t>(replica)); }
  ns3::Ipv4Address address(int replica) const;

  // From now on, for packets whose transmission begins later.
  void set_rate(LinkDirection direction, double rate);
  void set_delay(int link, double delay_s);

 private:
  void add_link(std::size_t number);
  void install_queue(ns3::Ptr<ns3::NetDevice> device, LinkDirection direction);
  void add_loss(const ns3::NetDeviceContainer& devices);
  void add_routes(int source, int target);
  void add_route(int node, int target, LinkDirection out);

  const TcpSpec& tcp_;
  const Topology& topology_;
  const std::vector<std::pair<int, int>>& ends_;
  LinkLoads& loads_;
  ns3::NodeContainer nodes_;
  std::vector<ns3::Ptr<ns3::PointToPointNetDevice>> devices_;  // by the direction that begins there
  std::vector<ns3::Ipv4Address> begin_address_;  // of the node where a direction begins, on that link
  std::vector<std::uint32_t> begin_interface_;
  std::vector<double> longest_rtt_s_;     // by direction, of the connections that use it
  std::set<std::pair<int, int>> routed_;  // (node, target)
  std::int64_t next_stream_ = 0;
};

}  // namespace longhaul
