// The packet fidelity: ns-3's TCP, packet by packet, set up as the hosts of a training job are
// (docs/reference/packet.md).
#pragma once

#include <ns3/ipv4-address.h>
#include <ns3/net-device-container.h>
#include <ns3/node-container.h>
#include <ns3/point-to-point-net-device.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/scenario/case.h"
#include "net/topology.h"
#include "net/variation/variation.h"
#include "replay/network/network.h"
#include "sim/network/packet_channel.h"

namespace longhaul {

// The topology as ns-3 nodes, point-to-point links, queues and static routes.
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

class PacketNetwork : public Network {
 public:
  // Sets ns-3's global defaults. `topology` must outlive it; `ends` are all that will send. `variation`: what
  // changes with time (check_for_packets()), or null.
  PacketNetwork(const TcpSpec& tcp, const Topology& topology, std::vector<std::pair<int, int>> ends,
                std::uint64_t seed, std::unique_ptr<Variation> variation = nullptr);

  void send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts = nullptr) override;
  double ready_s() const override { return ready_s_; }
  const std::vector<LinkLoad>& loads() override { return loads_.loads(); }

 private:
  struct Watched {
    std::unique_ptr<PacketChannel> channel;
    std::int64_t received = 0;  // when it was last seen to move
    double moved_s = 0;
  };

  void add_channels();
  ConnectionFacts facts_between(int source, int target) const;
  void apply_variation(LinkDirection direction);
  void follow_variation();
  bool is_busy() const;
  void connect_all();
  void watch();
  bool check_progress();

  TcpSpec tcp_;
  const Topology& topology_;
  std::vector<std::pair<int, int>> ends_;
  LinkLoads loads_;
  PacketTopology nodes_;
  std::unique_ptr<Variation> variation_;  // null: nothing varies
  bool is_varying_ = false;               // the next change is an event
  std::map<std::pair<int, int>, Watched> channels_;
  double ready_s_ = 0;
  bool is_watching_ = false;
};

}  // namespace longhaul
