#include "sim/network/packet_topology.h"

#include <ns3/boolean.h>
#include <ns3/channel.h>
#include <ns3/data-rate.h>
#include <ns3/double.h>
#include <ns3/error-model.h>
#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4-address-helper.h>
#include <ns3/ipv4-header.h>
#include <ns3/ipv4-static-routing-helper.h>
#include <ns3/nstime.h>
#include <ns3/packet.h>
#include <ns3/point-to-point-helper.h>
#include <ns3/ppp-header.h>
#include <ns3/queue-size.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/string.h>
#include <ns3/tcp-header.h>
#include <ns3/traffic-control-helper.h>
#include <ns3/uinteger.h>

#include <algorithm>
#include <cmath>

#include "core/base/index.h"
#include "net/tcp/connection.h"
#include "net/tcp/fifo.h"
#include "net/tcp/framing.h"

namespace longhaul {
namespace {

constexpr int kPppBytes = 2;  // what ns-3 adds to an IP packet on a point-to-point link
constexpr double kUnlimitedRate = 1e13;

// Slows a link so that a full segment takes as long as with Ethernet's framing.
double framed_rate(double rate, int segment) {
  const double whole = std::isfinite(rate) ? rate : kUnlimitedRate;
  return whole * (segment + kIpTcpBytes + kPppBytes) / (segment + kHeaderBytes);
}

bool has_payload(ns3::Ptr<const ns3::Packet> packet) {
  constexpr std::uint32_t kLargestWithoutPayload = 20 + 60 + kPppBytes;  // with all options of TCP
  if (packet->GetSize() > kLargestWithoutPayload) return true;
  const ns3::Ptr<ns3::Packet> rest = packet->Copy();
  ns3::PppHeader ppp;
  ns3::Ipv4Header ip;
  ns3::TcpHeader tcp;
  rest->RemoveHeader(ppp);
  rest->RemoveHeader(ip);
  rest->RemoveHeader(tcp);
  return rest->GetSize() > 0;
}

// Acknowledgements carry no payload and are not counted, nor are they in the flow fidelity.
void count_packet(LinkLoads* loads, LinkDirection direction, ns3::Ptr<const ns3::Packet> packet) {
  if (!has_payload(packet)) return;
  loads->add_bytes(direction, packet->GetSize() - kIpTcpBytes - kPppBytes + kHeaderBytes);
}

std::string packets(std::int64_t count) {
  return std::to_string(count) + "p";
}

}  // namespace

PacketTopology::PacketTopology(const TcpSpec& tcp, const Topology& topology,
                               const std::vector<std::pair<int, int>>& ends, std::uint64_t seed,
                               LinkLoads& loads)
    : tcp_(tcp),
      topology_(topology),
      ends_(ends),
      loads_(loads),
      longest_rtt_s_(2 * topology.links().size()) {
  // Neighbouring seeds of ns-3's generator give proportional draws, and a rare event would come at the same
  // packet; runs are independent.
  ns3::RngSeedManager::SetSeed(1);
  ns3::RngSeedManager::SetRun(seed);
  for (const auto& [source, target] : ends_) {
    const ConnectionFacts facts = connection_facts(topology_, tcp_, source, target);
    for (const LinkDirection direction : facts.data) {
      double& longest = longest_rtt_s_[as_index(direction)];
      longest = std::max(longest, facts.rtt_s);
    }
  }
  nodes_.Create(static_cast<std::uint32_t>(topology_.nodes()));
  ns3::InternetStackHelper stack;
  stack.SetIpv6StackInstall(false);
  stack.SetRoutingHelper(ns3::Ipv4StaticRoutingHelper());
  stack.Install(nodes_);
  for (std::size_t link = 0; link < topology_.links().size(); ++link) add_link(link);
  for (const auto& [source, target] : ends_) {
    add_routes(source, target);
    add_routes(target, source);
  }
}

void PacketTopology::add_link(std::size_t number) {
  const Link& link = topology_.links()[number];
  ns3::PointToPointHelper helper;
  helper.SetDeviceAttribute("Mtu",
                            ns3::UintegerValue(static_cast<std::uint64_t>(tcp_.segment + kIpTcpBytes)));
  helper.SetChannelAttribute("Delay", ns3::TimeValue(ns3::Seconds(link.delay_s)));
  // Short, so that packets wait where the queue discipline decides (Linux: byte queue limits).
  helper.SetQueue("ns3::DropTailQueue", "MaxSize", ns3::StringValue("2p"));
  const ns3::NetDeviceContainer devices = helper.Install(nodes_.Get(static_cast<std::uint32_t>(link.first)),
                                                         nodes_.Get(static_cast<std::uint32_t>(link.second)));
  for (std::uint32_t end = 0; end < 2; ++end) {
    const auto direction = static_cast<LinkDirection>(2 * number + end);
    const auto device = ns3::DynamicCast<ns3::PointToPointNetDevice>(devices.Get(end));
    devices_.push_back(device);
    set_rate(direction, topology_.rate(direction));
    device->TraceConnectWithoutContext("PhyTxBegin",
                                       ns3::MakeBoundCallback(&count_packet, &loads_, direction));
    install_queue(device, direction);
  }
  if (tcp_.loss > 0) add_loss(devices);
  const auto network = static_cast<std::uint32_t>(number) * 4 + 0x0a000000;
  ns3::Ipv4AddressHelper addresses(ns3::Ipv4Address(network), ns3::Ipv4Mask("255.255.255.252"));
  const ns3::Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
  for (std::uint32_t end = 0; end < 2; ++end) {
    begin_address_.push_back(interfaces.GetAddress(end));
    begin_interface_.push_back(interfaces.Get(end).second);
  }
}

void PacketTopology::set_rate(LinkDirection direction, double rate) {
  const double framed = std::max(1., framed_rate(rate, tcp_.segment));
  devices_[as_index(direction)]->SetDataRate(ns3::DataRate(static_cast<std::uint64_t>(std::llround(framed))));
}

void PacketTopology::set_delay(int link, double delay_s) {
  devices_[as_index(2 * link)]->GetChannel()->SetAttribute("Delay", ns3::TimeValue(ns3::Seconds(delay_s)));
}

void PacketTopology::install_queue(ns3::Ptr<ns3::NetDevice> device, LinkDirection direction) {
  ns3::TrafficControlHelper control;
  const bool is_trunk =
      topology_.from(direction) >= topology_.replicas() && topology_.to(direction) >= topology_.replicas();
  if (tcp_.queue == "fifo" || (is_trunk && tcp_.trunk_queue == "fifo")) {
    const double longest_rtt_s = longest_rtt_s_[as_index(direction)];
    const std::int64_t bytes = fifo_bytes(tcp_, topology_.rate(direction), longest_rtt_s);
    control.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", ns3::StringValue(std::to_string(bytes) + "B"));
  } else {
    // A tuned host queues per connection and does not drop its own packets: TCP small queues hold them back
    // instead.
    const bool never_drops = tcp_.queue == "host";
    // ns-3 3.37's set-associative hash moves a connection to another queue while its packets still wait in
    // the first one, where two connections fall into a set: they overtake each other, and TCP takes that for
    // losses. Linux's fq_codel has 1024 plain queues, its fq one a connection.
    const std::uint32_t queues = never_drops ? 65536 : 1024;
    control.SetRootQueueDisc(
        "ns3::FqCoDelQueueDisc", "Target", ns3::StringValue(never_drops ? "1000s" : "5ms"), "Interval",
        ns3::StringValue(never_drops ? "1000s" : "100ms"), "MaxSize",
        ns3::StringValue(never_drops ? packets(100000000) : packets(10240)), "EnableSetAssociativeHash",
        ns3::BooleanValue(false), "Flows", ns3::UintegerValue(queues), "UseEcn", ns3::BooleanValue(tcp_.ecn));
  }
  control.Install(device);
}

void PacketTopology::add_loss(const ns3::NetDeviceContainer& devices) {
  for (std::uint32_t end = 0; end < 2; ++end) {
    const auto model = ns3::CreateObject<ns3::RateErrorModel>();
    model->SetUnit(ns3::RateErrorModel::ERROR_UNIT_PACKET);
    model->SetRate(tcp_.loss);
    next_stream_ += model->AssignStreams(next_stream_);
    ns3::DynamicCast<ns3::PointToPointNetDevice>(devices.Get(end))->SetReceiveErrorModel(model);
  }
}

ns3::Ipv4Address PacketTopology::address(int replica) const {
  for (std::size_t direction = 0; direction < begin_address_.size(); ++direction)
    if (topology_.from(static_cast<LinkDirection>(direction)) == replica) return begin_address_[direction];
  return {};
}

void PacketTopology::add_routes(int source, int target) {
  // The way from the source is that of the data where the two are asked for in this order, else of
  // acknowledgements; both are the same links.
  const ConnectionFacts facts =
      connection_facts(topology_, tcp_, std::min(source, target), std::max(source, target));
  for (const LinkDirection direction : source < target ? facts.data : facts.acks)
    add_route(topology_.from(direction), target, direction);
}

void PacketTopology::add_route(int node, int target, LinkDirection out) {
  if (!routed_.insert({node, target}).second) return;
  ns3::Ipv4StaticRoutingHelper helper;
  const auto routing =
      helper.GetStaticRouting(nodes_.Get(static_cast<std::uint32_t>(node))->GetObject<ns3::Ipv4>());
  routing->AddHostRouteTo(address(target), begin_address_[as_index(out ^ 1)],
                          begin_interface_[as_index(out)]);
}

}  // namespace longhaul
